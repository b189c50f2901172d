#include "run_changes.h"

#include <string.h>

#include "analysis/names/same_names.h"
#include "analysis/sums/graphs.h"
#include "base/memory.h"
#include "file/spans.h"
#include "given_work.h"
#include "naming/short_name.h"

#define WINDOW_NONE UINT32_MAX

struct run_finder {
    struct run_changes *changes;
    bool kernels;
    const struct stopper *stopper;
    struct failure *failure;
    struct side_runs sides[2];
    size_t subjects;
    bool *changed;    /* by subject */
    bool *in_graphs;  /* by subject: its work moved into graphs or out of them (L5.7) */
    int64_t *numbers; /* scratch for all executions and all windows */
};

/* The latest end among the executions of a name on a thread. */
struct reach {
    int64_t end;
    bool known;
    uint32_t track;
};

/* The state while the executions of a file are collected. */
struct run_collector {
    struct run_finder *finder;
    struct side_runs *side;
    const struct trace_member *member;
    uint32_t *names;     /* by name id of the file: id of its stable name, or NAME_NONE at first */
    uint32_t *windows;   /* by iteration; WINDOW_NONE: not chosen */
    struct reach *reach; /* by name */
    uint32_t *around;    /* by row of a launch or an operator: the innermost execution there */
    uint32_t *replays;   /* by row of a graph launch: its number */
    char *scratch;       /* room for the longest name */
};

static uint32_t window_of(const struct run_collector *collector, size_t row)
{
    const struct steps *steps = collector->member->steps;
    uint32_t iteration = steps->count > 0 ? step_of(steps, row) : 0;
    return iteration == STEP_NONE ? WINDOW_NONE : collector->windows[iteration];
}

static bool is_operator(const struct trace_file *file, size_t row)
{
    return file->columns.kind[row] == KIND_HOST && row_is(file, row, CATEGORY_OPERATOR);
}

/* Selects operators and, if kernels are compared, launches. */
static bool takes_part(void *argument, size_t row)
{
    const struct run_collector *collector = argument;
    const struct trace_file *file = collector->member->file;
    const struct columns *columns = &file->columns;
    enum kind kind = columns->kind[row];
    bool is_call = kind == KIND_CALL || kind == KIND_DRIVER_CALL;
    return (is_call ? collector->finder->kernels && columns->link[row] != ROW_NONE
                    : is_operator(file, row) && row_counts(columns, row)) &&
           columns->ts[row] != NUMBER_NONE && window_of(collector, row) != WINDOW_NONE;
}

static bool add_execution(struct run_collector *collector, const struct execution *execution)
{
    struct side_runs *side = collector->side;
    if (!MEMORY_GROW(side->items, side->capacity, side->count + 1))
        return failure_memory(collector->finder->failure);
    side->items[side->count++] = *execution;
    return true;
}

/* L5.3: returns the name id of a row; NAME_NONE if out of memory. */
static uint32_t stable_name(struct run_collector *collector, size_t row)
{
    const struct trace_file *file = collector->member->file;
    uint32_t *id = &collector->names[file->columns.name[row]];
    if (*id == NAME_NONE) {
        const struct name *name = &file->names.items[file->columns.name[row]];
        size_t length = name_stable(name->text, name->length, collector->scratch);
        if (file->xla_count > 0)
            length = name_without_numbers(collector->scratch, length);
        *id = names_intern(&collector->finder->changes->names, collector->scratch, length);
        if (*id == NAME_NONE)
            failure_memory(collector->finder->failure);
    }
    return *id;
}

/* Returns the innermost execution at an instant, from a given one outwards. */
static uint32_t innermost(const struct side_runs *side, uint32_t of, int64_t at)
{
    while (of != EXECUTION_NONE && side->items[of].start + side->items[of].dur <= at)
        of = side->items[of].around;
    return of;
}

/* L5.1: collects the executions of a thread. Spans are sorted from outer to inner, so a span is
** inside each earlier one that ends after its start. */
static bool collect_thread(struct run_collector *collector, uint32_t track,
                           const struct span *spans, size_t count)
{
    struct run_finder *finder = collector->finder;
    const struct trace_file *file = collector->member->file;
    int64_t end = INT64_MIN; /* the latest end of the operators so far */
    uint32_t inner = EXECUTION_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        bool operates = is_operator(file, span->row);
        if (!stopper_goes_on(finder->stopper, i, finder->failure))
            return false;
        inner = innermost(collector->side, inner, span->start);
        if (operates) {
            uint32_t name = stable_name(collector, span->row);
            if (name == NAME_NONE)
                return false;
            struct reach *reach = &collector->reach[name];
            bool known = reach->known && reach->track == track, first = end == INT64_MIN;
            const struct execution own = {.start = span->start,
                                          .dur = span->dur,
                                          .of = 2 * name,
                                          .window = window_of(collector, span->row),
                                          .around = inner,
                                          .begins = first};
            if (!known || reach->end <= span->start) {
                inner = (uint32_t)collector->side->count;
                if (!add_execution(collector, &own))
                    return false;
            }
            if (!known || span_end(span) > reach->end)
                *reach = (struct reach){span_end(span), true, track};
        }
        if (inner != EXECUTION_NONE)
            collector->around[span->row] = inner;
        else if (operates || span->start < end)
            collector->around[span->row] = EXECUTION_OTHER;
        if (operates)
            end = span_end(span) > end ? span_end(span) : end;
    }
    return true;
}

static bool add_work(struct run_collector *collector, const struct device_run *run)
{
    struct side_runs *side = collector->side;
    if (!MEMORY_GROW(side->work, side->work_capacity, side->work_count + 1))
        return failure_memory(collector->finder->failure);
    side->work[side->work_count++] = *run;
    return true;
}

/* Returns the number of a graph launch; REPLAY_NONE for another call. */
static uint32_t replay_of(struct run_collector *collector, uint32_t launch)
{
    const struct trace_file *file = collector->member->file;
    const struct columns *columns = &file->columns;
    struct side_runs *side = collector->side;
    if (launch == ROW_NONE || columns->name[launch] == NAME_NONE ||
        (columns->kind[launch] != KIND_CALL && columns->kind[launch] != KIND_DRIVER_CALL))
        return REPLAY_NONE;
    const struct name *name = &file->names.items[columns->name[launch]];
    if (!is_graph_launch(name))
        return REPLAY_NONE;
    if (collector->replays[launch] == REPLAY_NONE)
        collector->replays[launch] = side->replays++;
    side->graph_api = strncmp(name->text, "cu", 2) == 0    ? GRAPH_CUDA
                      : strncmp(name->text, "hip", 3) == 0 ? GRAPH_HIP
                                                           : GRAPH_OTHER;
    return collector->replays[launch];
}

/* L5.2: collects the kernels of a file. */
static bool collect_kernels(struct run_collector *collector)
{
    const struct columns *columns = &collector->member->file->columns;
    for (size_t row = columns_find(columns, 0, KIND_WORK); row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        uint32_t window = window_of(collector, row), launch = columns->link[row];
        if (!stopper_goes_on(collector->finder->stopper, row, collector->finder->failure))
            return false;
        if (window == WINDOW_NONE || columns->ts[row] == NUMBER_NONE || !row_counts(columns, row))
            continue;
        uint32_t name = stable_name(collector, row);
        const struct execution own = {.start = columns->ts[row],
                                      .dur = columns->dur[row],
                                      .of = 2 * name + 1,
                                      .window = window,
                                      .around = EXECUTION_NONE};
        struct device_run run = {
            .launched = launch == ROW_NONE ? own.start : columns->ts[launch],
            .dur = own.dur,
            .kernel = name,
            .window = window,
            .around = launch == ROW_NONE ? EXECUTION_NONE : collector->around[launch],
            .replay = replay_of(collector, launch)};
        if (name == NAME_NONE || !add_work(collector, &run) ||
            (run.around == EXECUTION_NONE && !add_execution(collector, &own)))
            return false;
    }
    return true;
}

/* Numbers the chosen steps of a file. A file without steps is one step. */
static void number_windows(struct run_collector *collector, const unsigned char *chosen)
{
    const struct trace_member *member = collector->member;
    uint32_t *next = &collector->side->windows;
    if (member->steps->count == 0 && member->file->first != NUMBER_NONE)
        collector->windows[0] = (*next)++;
    for (size_t i = 0; member->steps->count > 0 && i < member->steps->iteration_count; i++)
        if (chosen[i])
            collector->windows[i] = (*next)++;
}

static bool collect_file(struct run_finder *finder, struct side_runs *side,
                         const struct trace_member *member, const unsigned char *chosen)
{
    const struct trace_file *file = member->file;
    struct run_collector collector = {.finder = finder, .side = side, .member = member};
    struct spans spans = {.items = NULL};
    collector.names = memory_filled(file->names.count, sizeof *collector.names);
    collector.windows =
        memory_filled(member->steps->iteration_count + 1, sizeof *collector.windows);
    collector.reach = memory_zeroed(finder->changes->names.count + file->names.count,
                                    sizeof *collector.reach);
    collector.around = memory_filled(file->columns.count, sizeof *collector.around);
    collector.replays =
        memory_filled(finder->kernels ? file->columns.count : 0, sizeof *collector.replays);
    collector.scratch = memory_allocate(names_longest(&file->names) + 1);
    bool done = (collector.names && collector.windows && collector.reach &&
                 collector.around && collector.replays && collector.scratch) ||
                failure_memory(finder->failure);
    if (done) {
        number_windows(&collector, chosen);
        done = spans_make(&spans, file, takes_part, &collector, finder->stopper, finder->failure);
    }
    for (uint32_t track = 0; done && track < file->tracks.count; track++)
        done = collect_thread(&collector, track, spans.items + spans.first[track],
                              spans.first[track + 1] - spans.first[track]);
    done = done && (!finder->kernels || collect_kernels(&collector));
    spans_clear(&spans);
    memory_free(collector.names);
    memory_free(collector.windows);
    memory_free(collector.reach);
    memory_free(collector.around);
    memory_free(collector.replays);
    memory_free(collector.scratch);
    return done;
}

/* Groups the executions of a side by subject. */
static bool group_runs(struct run_finder *finder, struct side_runs *side)
{
    size_t total = 0;
    side->first = memory_zeroed(finder->subjects + 2, sizeof *side->first);
    side->order = memory_items(side->count, sizeof *side->order);
    side->counts = memory_zeroed(side->windows, sizeof *side->counts);
    if (!side->first || !side->order || !side->counts)
        return failure_memory(finder->failure);
    size_t *next = side->first + 1; /* by subject: next free index, while `order` is filled */
    for (size_t i = 0; i < side->count; i++)
        next[side->items[i].of]++;
    for (size_t i = 0; i <= finder->subjects; i++) {
        size_t count = next[i];
        next[i] = total;
        total += count;
    }
    for (size_t i = 0; i < side->count; i++) {
        if (!stopper_goes_on(finder->stopper, i, finder->failure))
            return false;
        side->order[next[side->items[i].of]++] = (uint32_t)i;
    }
    return true;
}

/* Finds the range of executions per step. `outside`: skip executions inside others. */
static void find_range(struct side_runs *side, subject of, bool outside, uint32_t *low,
                       uint32_t *high)
{
    uint32_t least = UINT32_MAX, most = 0, windows = 0;
    for (size_t i = side->first[of]; i < side->first[of + 1]; i++) {
        const struct execution *execution = &side->items[side->order[i]];
        side->counts[execution->window] += !outside || !execution->inside;
    }
    for (size_t i = side->first[of]; i < side->first[of + 1]; i++) {
        uint32_t *count = &side->counts[side->items[side->order[i]].window];
        if (*count == 0)
            continue;
        least = *count < least ? *count : least;
        most = *count > most ? *count : most;
        windows++;
        *count = 0;
    }
    *low = windows < side->windows ? 0 : least;
    *high = most;
}

/* L5.4: whether the ranges of a subject are apart. Gives both ranges. */
static bool changed_range(struct run_finder *finder, subject of, bool outside,
                          struct run_change *change)
{
    for (int side = 0; side < 2; side++)
        find_range(&finder->sides[side], of, outside, &change->low[side], &change->high[side]);
    return change->high[0] < change->low[1] || change->high[1] < change->low[0];
}

static int number_order(const void *a, const void *b)
{
    return COMPARE(*(const int64_t *)a, *(const int64_t *)b);
}

/* Finds the median of the first `count` items of finder->numbers, and sorts them. */
static bool find_median(struct run_finder *finder, size_t count, double *median)
{
    int64_t *numbers = finder->numbers;
    if (!sort_items(numbers, count, sizeof *numbers, number_order, finder->stopper,
                    finder->failure))
        return false;
    *median = ((double)numbers[(count - 1) / 2] + (double)numbers[count / 2]) / 2;
    return true;
}

/* L5.3 and L5.6: finds the counts, the duration and the size of a change. */
static bool measure(struct run_finder *finder, subject of, struct run_change *change)
{
    size_t executions = 0;
    for (int i = 0; i < 2; i++) {
        struct side_runs *side = &finder->sides[i];
        for (size_t at = side->first[of]; at < side->first[of + 1]; at++)
            side->counts[side->items[side->order[at]].window]++;
        for (size_t window = 0; window < side->windows; window++) {
            finder->numbers[window] = side->counts[window];
            side->counts[window] = 0;
        }
        if (!find_median(finder, side->windows, &change->counts[i]))
            return false;
    }
    for (int i = 0; i < 2; i++) {
        const struct side_runs *side = &finder->sides[i];
        for (size_t at = side->first[of]; at < side->first[of + 1]; at++)
            finder->numbers[executions++] = side->items[side->order[at]].dur;
    }
    if (!find_median(finder, executions, &change->duration))
        return false;
    double more = change->counts[1] - change->counts[0];
    change->size = (more < 0 ? -more : more) * change->duration;
    return true;
}

static bool find_changed(struct run_finder *finder)
{
    struct run_change unused;
    for (subject of = 0; of < finder->subjects; of++) {
        if (!stopper_goes_on(finder->stopper, of, finder->failure))
            return false;
        finder->changed[of] = changed_range(finder, of, false, &unused);
    }
    return true;
}

/* L5.5: marks executions inside other changed operators. */
static bool find_inside(struct run_finder *finder, struct side_runs *side)
{
    int64_t end = INT64_MIN; /* the latest end of operators that changed or moved into graphs */
    for (size_t i = 0; i < side->count; i++) {
        struct execution *execution = &side->items[i];
        if (!stopper_goes_on(finder->stopper, i, finder->failure))
            return false;
        if (execution->begins)
            end = INT64_MIN;
        if (is_kernel(execution->of) ||
            (!finder->changed[execution->of] && !finder->in_graphs[execution->of]))
            continue;
        execution->inside = execution->start < end;
        end = execution->start + execution->dur > end ? execution->start + execution->dur : end;
    }
    return true;
}

/* A change with its name. qsort comparators take no context, so each change carries the pointer. */
struct sortable_change {
    struct run_change change;
    const struct name *name;
};

static int change_order(const void *a, const void *b)
{
    const struct sortable_change *x = a, *y = b;
    int order = COMPARE(y->change.size, x->change.size);
    order = order ? order : COMPARE(x->change.is_kernel, y->change.is_kernel);
    return order ? order : name_compare(x->name, y->name);
}

/* Adds the changes that are not inside other changes, sorted. */
static bool add_changes(struct run_finder *finder)
{
    struct run_changes *changes = finder->changes;
    struct sortable_change *found = memory_zeroed(finder->subjects, sizeof *found);
    bool done = found || failure_memory(finder->failure);
    size_t count = 0;
    for (subject of = 0; done && of < finder->subjects; of++) {
        struct run_change change = {.name = of / 2, .is_kernel = is_kernel(of)};
        if (!finder->changed[of] || !changed_range(finder, of, true, &change))
            continue;
        changed_range(finder, of, false, &change);
        done = measure(finder, of, &change);
        found[count++] = (struct sortable_change){change, &changes->names.items[change.name]};
    }
    done = done &&
           sort_items(found, count, sizeof *found, change_order, finder->stopper, finder->failure);
    changes->items = done ? memory_zeroed(count, sizeof *changes->items) : NULL;
    if (done && !changes->items)
        done = failure_memory(finder->failure);
    for (; done && changes->count < count; changes->count++)
        changes->items[changes->count] = found[changes->count].change;
    memory_free(found);
    return done;
}

/* Replaces the names of operators, or of kernels, by their common names (L12.4). */
static bool join_names(struct run_finder *finder, bool kernels)
{
    struct names *names = &finder->changes->names;
    unsigned char *has = memory_zeroed(names->count + 1, 1); /* by id: bits of the sides */
    uint32_t *same = NULL;
    for (int i = 0; has && i < 2; i++) {
        const struct side_runs *side = &finder->sides[i];
        for (size_t at = 0; !kernels && at < side->count; at++)
            if (!is_kernel(side->items[at].of))
                has[side->items[at].of / 2] |= (unsigned char)(1 << i);
        for (size_t at = 0; kernels && at < side->work_count; at++)
            has[side->work[at].kernel] |= (unsigned char)(1 << i);
    }
    bool done = has || failure_memory(finder->failure);
    if (done)
        same = same_names_make(names, has, finder->failure);
    for (int i = 0; same && i < 2; i++) {
        struct side_runs *side = &finder->sides[i];
        for (size_t at = 0; at < side->count; at++)
            if (is_kernel(side->items[at].of) == kernels)
                side->items[at].of = 2 * same[side->items[at].of / 2] + kernels;
        for (size_t at = 0; kernels && at < side->work_count; at++)
            side->work[at].kernel = same[side->work[at].kernel];
    }
    memory_free(same);
    memory_free(has);
    return done && same;
}

/* L5.7 and C20: finds work that other operators or graphs took over. */
static bool look_at_work(struct run_finder *finder)
{
    struct run_changes *changes = finder->changes;
    struct side_runs *sides = finder->sides;
    return !finder->kernels ||
           (given_work_sort(sides, finder->stopper, finder->failure) &&
            given_work_leave_out(finder->changed, finder->in_graphs, changes->names.count, sides,
                                 finder->stopper, finder->failure) &&
            given_work_to_graphs(&changes->graphs, changes->names.count, sides, finder->stopper,
                                 finder->failure));
}

static bool compare_sides(struct run_finder *finder)
{
    struct side_runs *sides = finder->sides;
    if (!join_names(finder, false) || !join_names(finder, true))
        return false;
    size_t executions = sides[0].count + sides[1].count;
    size_t windows = (size_t)sides[0].windows + sides[1].windows;
    finder->subjects = 2 * finder->changes->names.count;
    finder->changed = memory_zeroed(finder->subjects, sizeof *finder->changed);
    finder->in_graphs = memory_zeroed(finder->subjects, sizeof *finder->in_graphs);
    finder->numbers = memory_zeroed(executions + windows, sizeof *finder->numbers);
    if (!finder->changed || !finder->in_graphs || !finder->numbers)
        return failure_memory(finder->failure);
    return group_runs(finder, &sides[0]) && group_runs(finder, &sides[1]) &&
           find_changed(finder) && look_at_work(finder) && find_inside(finder, &sides[0]) &&
           find_inside(finder, &sides[1]) && add_changes(finder);
}

bool run_changes_find(struct run_changes *changes, const struct run_side *sides, bool kernels,
                      const struct stopper *stopper, struct failure *failure)
{
    struct run_finder finder = {
        .changes = changes, .kernels = kernels, .stopper = stopper, .failure = failure};
    bool done = true;
    *changes = (struct run_changes){.count = 0};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; done && i < sides[side].trace->count; i++)
            if (sides[side].trace->members[i].chosen)
                done = collect_file(&finder, &finder.sides[side], &sides[side].trace->members[i],
                                    sides[side].choice->chosen[i]);
    if (finder.sides[0].windows > 0 && finder.sides[1].windows > 0)
        done = done && compare_sides(&finder);
    for (int side = 0; side < 2; side++) {
        memory_free(finder.sides[side].items);
        memory_free(finder.sides[side].first);
        memory_free(finder.sides[side].order);
        memory_free(finder.sides[side].counts);
        memory_free(finder.sides[side].work);
    }
    memory_free(finder.changed);
    memory_free(finder.in_graphs);
    memory_free(finder.numbers);
    if (!done)
        run_changes_clear(changes);
    return done;
}

void run_changes_clear(struct run_changes *changes)
{
    names_clear(&changes->names);
    memory_free(changes->items);
    *changes = (struct run_changes){.count = 0};
}
