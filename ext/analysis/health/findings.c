#include "finder.h"

#include "base/memory.h"
#include "base/sort.h"
#include "naming/step_form.h"
#include "text/ascii.h"
#include "trace/step_choice.h"

static void add_time(int64_t *total, int64_t ns)
{
    if (ns > 0 && __builtin_add_overflow(*total, ns, total))
        *total = INT64_MAX;
}

/* Collects the steps, and which are chosen. */
static bool find_steps(struct health_finder *finder, const unsigned char *chosen)
{
    const struct steps *steps = finder->member->steps;
    finder->steps = memory_zeroed(steps->iteration_count, sizeof *finder->steps);
    finder->chosen = memory_zeroed(steps->iteration_count, 1);
    if (!finder->steps || !finder->chosen)
        return failure_memory(finder->failure);
    for (size_t i = 0; i < steps->iteration_count; i++) {
        finder->steps[i].worked_until = NUMBER_NONE;
        if (chosen)
            finder->chosen[i] = chosen[i];
    }
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        struct step_state *state = &finder->steps[step->iteration];
        finder->step_count += !state->exists;
        state->start = state->exists && state->start < step->start ? state->start : step->start;
        state->end = state->exists && state->end > step->end ? state->end : step->end;
        state->exists = true;
    }
    return chosen || trace_steady_steps(finder->member, finder->chosen, finder->failure);
}

/* Counts events, and finds the steps that have device work. */
static bool count_events(struct health_finder *finder)
{
    const struct trace_file *file = finder->file;
    const struct columns *columns = &file->columns;
    finder->whole_us = true;
    for (size_t row = columns_find(columns, 0, KIND_WORK); row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        int64_t ts = columns->ts[row], dur = columns->dur[row];
        uint32_t step = step_of(finder->member->steps, row);
        if (!stopper_goes_on(finder->stopper, row, finder->failure))
            return false;
        bool kernel = row_is(file, row, CATEGORY_KERNEL);
        finder->work++;
        finder->kernels += kernel;
        if (step != STEP_NONE)
            finder->steps[step].works = true;
        if (ts == NUMBER_NONE || dur < 0)
            continue;
        uint64_t written = (uint64_t)ts - (uint64_t)file->base;
        finder->whole_us = finder->whole_us && dur % 1000 == 0 && written % 1000 == 0;
        finder->short_kernels += kernel && dur == 0;
        add_time(&finder->work_time, dur);
        if (step != STEP_NONE && ts + dur > finder->steps[step].worked_until)
            finder->steps[step].worked_until = ts + dur;
    }
    return true;
}

/* Counts host events with a duration. */
static bool count_hosts(struct health_finder *finder)
{
    const struct columns *columns = &finder->file->columns;
    for (size_t row = 0; row < columns->count; row++) {
        finder->hosts += !kind_is_device(columns->kind[row]) && columns->kind[row] != KIND_TRACE;
        if (!stopper_goes_on(finder->stopper, row, finder->failure))
            return false;
    }
    return true;
}

/* Finds events that are too long, on the device or the host (I1, I2). */
static void find_too_long(struct health_finder *finder, bool host)
{
    const struct trace_file *file = finder->file;
    int64_t alone = 0, most = -1;
    bool step = false;
    struct health_finding finding;
    finding_begin(finder, HEALTH_TOO_LONG, &finding);
    finding.host = host;
    finding.total = host ? finder->hosts : finder->work;
    for (size_t i = 0; i < file->health.odd_count; i++) {
        const struct odd_event *odd = &file->health.odd[i];
        bool work = file->columns.kind[odd->row] == KIND_WORK;
        if (odd->what != ODD_DURATION || work == host)
            continue;
        finding.count++;
        add_time(&finding.time, odd->dur);
        add_time(&finding.other, file->columns.dur[odd->row]);
        add_time(&alone, odd->alone ? file->columns.dur[odd->row] : 0);
        step = step || odd->step;
        finding_tell_step(finder, step_of(finder->member->steps, odd->row));
        if (odd->dur > most) {
            most = finding.longest = odd->dur;
            finding.row = odd->row;
            finding.ts = odd->ts;
        }
    }
    if (is_many(finding.count, finding.total) || step ||
        (alone > 0 && alone >= finder->work_time / OVERRUN_LONE_PART))
        finding.severity = HEALTH_WRONG;
    finding_end(finder, &finding);
}

/* Finds events without a time, on the device or the host (I3). */
static void find_untimed(struct health_finder *finder, bool host)
{
    const struct trace_file *file = finder->file;
    struct health_finding finding;
    finding_begin(finder, HEALTH_NO_TIME, &finding);
    finding.host = host;
    finding.total = host ? finder->hosts : finder->work;
    for (size_t i = 0; i < file->health.odd_count; i++) {
        const struct odd_event *odd = &file->health.odd[i];
        enum kind kind = file->columns.kind[odd->row];
        if (odd->what != ODD_UNTIMED || (host ? kind_is_device(kind) : kind != KIND_WORK))
            continue;
        finding.count++;
        finding_exemplify(&finding, odd->row, odd->ts);
    }
    if (is_many(finding.count, finding.total))
        finding.severity = HEALTH_INCOMPLETE;
    finding_end(finder, &finding);
}

/* Finds kernels of duration 0 (I3). */
static bool find_short(struct health_finder *finder)
{
    const struct trace_file *file = finder->file;
    const struct columns *columns = &file->columns;
    struct health_finding finding;
    if (!is_many(finder->short_kernels, finder->kernels))
        return true;
    finding_begin(finder, HEALTH_NO_TIME, &finding);
    finding.rounded = true;
    finding.count = finder->short_kernels;
    finding.total = finder->kernels;
    finding.severity = finder->whole_us ? HEALTH_NOTE : HEALTH_WRONG;
    for (size_t row = columns_find(columns, 0, KIND_WORK); row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        if (!stopper_goes_on(finder->stopper, row, finder->failure))
            return false;
        if (columns->dur[row] != 0 || columns->ts[row] == NUMBER_NONE ||
            !row_is(file, row, CATEGORY_KERNEL))
            continue;
        finding_exemplify(&finding, (uint32_t)row, columns->ts[row]);
        finding_tell_step(finder, step_of(finder->member->steps, row));
    }
    finding_end(finder, &finding);
    return true;
}

/* Returns whether a launch counts for the severity. */
static bool is_chosen(const struct health_finder *finder, const struct launch *launch)
{
    uint32_t step = step_of(finder->member->steps, launch->row);
    return finder->step_count == 0 || (step != STEP_NONE && finder->chosen[step]);
}

static void count_launches(struct health_finder *finder)
{
    const struct file_health *of = &finder->file->health;
    for (size_t i = 0; i < of->launch_count; i++) {
        const struct launch *launch = &of->launches[i];
        uint32_t step = step_of(finder->member->steps, launch->row);
        finder->launches[launch->graph]++;
        finder->chosen_launches[launch->graph] += is_chosen(finder, launch);
        if (step == STEP_NONE)
            continue;
        finder->steps[step].launches++;
        finder->steps[step].lost += launch->state != LAUNCH_RAN;
    }
}

/* Finds the first launch in file order with a state. `graph` selects the kind; negative: any. */
static void find_example(const struct health_finder *finder, enum launch_state state, int graph,
                         struct health_finding *finding)
{
    const struct file_health *of = &finder->file->health;
    for (size_t i = 0; i < of->launch_count; i++) {
        const struct launch *launch = &of->launches[i];
        if (launch->state == state && (graph < 0 || launch->graph == graph) &&
            launch->row < finding->row)
            finding->row = launch->row;
    }
    if (finding->row != ROW_NONE)
        finding->ts = finder->file->columns.ts[finding->row];
}

/* Finds lost kernels, or graphs (I4). */
static void find_lost(struct health_finder *finder, bool graph)
{
    const struct file_health *of = &finder->file->health;
    int64_t chosen = 0;
    bool whole_step = false;
    struct health_finding finding;
    finding_begin(finder, graph ? HEALTH_GRAPHS_LOST : HEALTH_KERNELS_LOST, &finding);
    finding.total = finder->launches[graph];
    for (size_t i = 0; i < of->launch_count; i++) {
        const struct launch *launch = &of->launches[i];
        uint32_t step = step_of(finder->member->steps, launch->row);
        if (launch->state != LAUNCH_LOST || launch->graph != graph)
            continue;
        finding.count++;
        finding_tell_step(finder, step);
        if (!is_chosen(finder, launch))
            continue;
        chosen++;
        whole_step = whole_step || (step != STEP_NONE &&
                                    finder->steps[step].lost == finder->steps[step].launches);
    }
    find_example(finder, LAUNCH_LOST, graph, &finding);
    if ((graph && chosen > 0) || whole_step || is_many(chosen, finder->chosen_launches[graph]))
        finding.severity = HEALTH_INCOMPLETE;
    finding_end(finder, &finding);
}

static bool has_category(const struct trace_file *file, const char *category)
{
    const struct places *places = &file->columns.places;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].cat != NAME_NONE &&
            text_is(file->names.items[places->items[i].cat].text,
                    file->names.items[places->items[i].cat].length, category))
            return true;
    return false;
}

/* Finds out whether the file has no device work at all (I4.3). */
static void find_no_work(struct health_finder *finder)
{
    const struct file_health *of = &finder->file->health;
    struct health_finding finding;
    finding_begin(finder, HEALTH_NO_DEVICE_WORK, &finding);
    finding.count = finding.total = (int64_t)of->launch_count;
    for (size_t i = 0; i < of->launch_count; i++)
        finding_tell_step(finder, step_of(finder->member->steps, of->launches[i].row));
    find_example(finder, LAUNCH_LOST, -1, &finding);
    if (!has_category(finder->file, "cuda_profiler_range"))
        finding.severity = HEALTH_INCOMPLETE;
    finding_end(finder, &finding);
}

/* Finds launches that had not run when the recording ended (I5). */
static void find_end(struct health_finder *finder)
{
    const struct file_health *of = &finder->file->health;
    const int64_t *ts = finder->file->columns.ts;
    struct health_finding finding;
    finding_begin(finder, HEALTH_END, &finding);
    finding.total = (int64_t)of->launch_count;
    for (size_t i = 0; i < of->launch_count; i++) {
        const struct launch *launch = &of->launches[i];
        if (launch->state != LAUNCH_WAITS)
            continue;
        finding.count++;
        finding_tell_step(finder, step_of(finder->member->steps, launch->row));
        if (finding.row == ROW_NONE || ts[launch->row] < finding.ts) {
            finding.row = launch->row;
            finding.ts = ts[launch->row];
        }
    }
    int64_t backlog = of->backlog_kernels;
    if (finder->step_count == 0 && is_many(finding.count - backlog, finding.total))
        finding.severity = HEALTH_INCOMPLETE;
    finding_end(finder, &finding);
}

static bool is_idle(const struct health_finder *finder, uint32_t step)
{
    const struct steps *steps = finder->member->steps;
    uint32_t form = steps->items[steps->first[step]].form;
    const struct name *name = form == NAME_NONE ? NULL : &finder->file->names.items[form];
    struct step_form read;
    return name && step_form_read(name->text, name->length, &read) &&
           text_is(read.phase, read.phase_length, "idle");
}

/* Finds steady steps with neither device work nor lost launches (I6). */
static void find_empty(struct health_finder *finder)
{
    const struct steps *steps = finder->member->steps;
    bool works = false;
    struct health_finding finding;
    finding_begin(finder, HEALTH_EMPTY_STEPS, &finding);
    for (uint32_t i = 0; i < steps->iteration_count; i++) {
        const struct step_state *state = &finder->steps[i];
        works = works || (state->exists && state->works);
        if (!state->exists || !finder->chosen[i] || is_idle(finder, i))
            continue;
        finding.total++;
        if (state->works || state->lost > 0)
            continue;
        finding.count++;
        finding_tell_step(finder, i);
    }
    if (finder->step_count > 2)
        finding.severity = HEALTH_INCOMPLETE;
    if (works)
        finding_end(finder, &finding);
}

static int state_order(const void *a, const void *b)
{
    return COMPARE(((const struct step_state *)a)->start, ((const struct step_state *)b)->start);
}

struct stretch {
    int64_t start, end;
};

static int stretch_order(const void *a, const void *b)
{
    return COMPARE(((const struct stretch *)a)->start, ((const struct stretch *)b)->start);
}

/* Computes how long the device is busy, in ns. */
static bool busy_time(struct health_finder *finder, int64_t *busy)
{
    const struct columns *columns = &finder->file->columns;
    struct stretch *work = memory_items((size_t)finder->work, sizeof *work);
    size_t count = 0;
    int64_t reach = INT64_MIN;
    bool done = work || failure_memory(finder->failure);
    for (size_t row = columns_find(columns, 0, KIND_WORK); done && row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        if (columns->dur[row] > 0 && columns->ts[row] != NUMBER_NONE)
            work[count++] =
                (struct stretch){columns->ts[row], columns->ts[row] + columns->dur[row]};
        done = stopper_goes_on(finder->stopper, row, finder->failure);
    }
    done = done && sort_items(work, count, sizeof *work, stretch_order, finder->stopper,
                              finder->failure);
    *busy = 0;
    for (size_t i = 0; done && i < count; i++) {
        int64_t from = work[i].start > reach ? work[i].start : reach;
        if (work[i].end > from) {
            add_time(busy, work[i].end - from);
            reach = work[i].end;
        }
    }
    memory_free(work);
    return done;
}

/* Returns the time between two instants, at most 2^63 - 1 ns. */
static int64_t between(int64_t from, int64_t to)
{
    int64_t ns;
    return __builtin_sub_overflow(to, from, &ns) ? INT64_MAX : ns;
}

/* Finds device work that is out of step with the host (I7). Reorders the steps. */
static bool find_out_of_step(struct health_finder *finder)
{
    struct step_state *states = finder->steps;
    size_t count = 0;
    int64_t first = 0, reach = INT64_MIN, busy;
    struct health_finding finding;
    finding_begin(finder, HEALTH_OUT_OF_STEP, &finding);
    for (size_t i = 0; i < finder->member->steps->iteration_count; i++)
        finder->steps[i].told = true;
    finding.count = finding.total = finder->step_count;
    if (finder->step_count < OUT_OF_STEP_LEAST || finder->work == 0)
        return true;
    finding_end(finder, &finding); /* undone below if the check passes */
    struct health_finding *made = &finder->health->items[--finder->health->count];
    for (size_t i = 0; i < finder->member->steps->iteration_count; i++)
        if (states[i].exists)
            states[count++] = states[i];
    if (!sort_items(states, count, sizeof *states, state_order, finder->stopper, finder->failure))
        return false;
    for (size_t i = 0; i < count; i++) { /* R of A2 */
        int64_t own = states[i].worked_until == NUMBER_NONE ? states[i].end
                                                            : states[i].worked_until;
        reach = own > reach ? own : reach;
        first = i == 0 ? reach : first;
    }
    made->other = between(states[0].start, states[count - 1].start);
    made->time = made->other - between(first, reach);
    made->severity = HEALTH_WRONG;
    if (between(first, reach) >= made->other / OUT_OF_STEP_PART)
        return true;
    if (!busy_time(finder, &busy))
        return false;
    finder->health->count += busy < made->other / OUT_OF_STEP_PART;
    return true;
}

/* Finds device work that names no launch (I8). */
static void find_no_launch(struct health_finder *finder)
{
    const struct trace_file *file = finder->file;
    bool placed = false;
    struct health_finding finding;
    finding_begin(finder, HEALTH_NO_LAUNCH, &finding);
    finding.total = finder->work;
    finding.other = finder->work_time;
    for (size_t i = 0; i < file->health.placed_count; i++) {
        const struct placed_work *work = &file->health.placed[i];
        placed = placed || work->by != ROW_NONE;
        finding.count++;
        add_time(&finding.time, file->columns.dur[work->row]);
        finding_exemplify(&finding, work->row, file->columns.ts[work->row]);
    }
    if (placed)
        finding_end(finder, &finding);
}

/* Finds events lost in skipped bytes (I9). */
static void find_cut(struct health_finder *finder)
{
    const struct skipped_events *skipped = &finder->file->problems.skipped;
    struct health_finding finding;
    finding_begin(finder, HEALTH_CUT, &finding);
    finding.host = true;
    finding.count = skipped->count;
    finding.total = finder->file->events - skipped->elements + skipped->count;
    if (is_many(finding.count, finding.total))
        finding.severity = HEALTH_INCOMPLETE;
    finding_end(finder, &finding);
}

static int finding_order(const void *a, const void *b)
{
    const struct health_finding *x = a, *y = b;
    int order = COMPARE(x->severity, y->severity);
    order = order ? order : COMPARE(x->check, y->check);
    return order ? order : COMPARE(x->host, y->host);
}

static bool find_all(struct health_finder *finder, const unsigned char *chosen)
{
    const struct file_health *of = &finder->file->health;
    if (!find_steps(finder, chosen) || !count_events(finder) ||
        (of->odd_count > 0 && !count_hosts(finder)))
        return false;
    count_launches(finder);
    find_cut(finder);
    for (int host = 0; host < 2 && of->odd_count > 0; host++) {
        find_too_long(finder, host);
        find_untimed(finder, host);
    }
    if (!find_short(finder))
        return false;
    if (finder->work > 0) {
        find_lost(finder, false);
        find_lost(finder, true);
        find_end(finder);
        find_empty(finder);
        find_no_launch(finder);
        if (!find_early(finder))
            return false;
    } else {
        find_no_work(finder);
    }
    return find_processes(finder) && find_out_of_step(finder) &&
           sort_items(finder->health->items, finder->health->count, sizeof *finder->health->items,
                      finding_order, finder->stopper, finder->failure);
}

bool health_find(struct health *health, const struct trace_member *member,
                 const unsigned char *chosen, const struct stopper *stopper,
                 struct failure *failure)
{
    struct health_finder finder = {.health = health,
                                   .member = member,
                                   .file = member->file,
                                   .stopper = stopper,
                                   .failure = failure};
    health->count = 0;
    bool done = find_all(&finder, chosen);
    memory_free(finder.steps);
    memory_free(finder.chosen);
    return done;
}

const char *health_check_name(enum health_check check)
{
    static const char *const names[] = {[HEALTH_BEFORE_LAUNCH] = "before launch",
                                        [HEALTH_COPY] = "copy",
                                        [HEALTH_CUT] = "cut",
                                        [HEALTH_CYCLES] = "cycles",
                                        [HEALTH_EMPTY_STEPS] = "empty steps",
                                        [HEALTH_END] = "end",
                                        [HEALTH_GRAPHS_LOST] = "graphs lost",
                                        [HEALTH_KERNELS_LOST] = "kernels lost",
                                        [HEALTH_NO_DEVICE_WORK] = "no device work",
                                        [HEALTH_NO_LAUNCH] = "no launch",
                                        [HEALTH_NO_TIME] = "no time",
                                        [HEALTH_NOT_TIED] = "not tied",
                                        [HEALTH_OUT_OF_STEP] = "out of step",
                                        [HEALTH_RANKS] = "ranks in one file",
                                        [HEALTH_SEVERAL_PROCESSES] = "several processes",
                                        [HEALTH_TOO_LONG] = "too long"};
    return names[check];
}

const char *health_severity_name(enum health_severity severity)
{
    static const char *const names[] = {"wrong", "incomplete", "note"};
    return names[severity];
}
