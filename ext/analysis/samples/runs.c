#include "runs.h"

#include <string.h>

#include "base/memory.h"
#include "base/hash.h"
#include "base/sort.h"
#include "analysis/parts/busy.h"
#include "analysis/parts/step_windows.h"
#include "analysis/steps/attribute.h"

/* a step of one rank */
struct rank_step {
    int64_t iteration, rank;
    wide_time dur; /* ns */
};

/* steps of a run while it is added */
struct run_steps {
    struct rank_step *items; /* by iteration and rank, without duplicates */
    size_t count, capacity;
    int64_t *iterations; /* distinct, ascending */
    int64_t *ranks;      /* by iteration: number of ranks that have it */
    size_t iteration_count;
};

/* an amount before division: ns or events */
struct amount {
    uint32_t op, step;
    wide_time amount;
};

struct amounts {
    struct amount *items;
    size_t count, capacity;
};

static int rank_step_order(const void *a, const void *b)
{
    const struct rank_step *x = a, *y = b;
    int order = COMPARE(x->iteration, y->iteration);
    return order ? order : COMPARE(x->rank, y->rank);
}

/* Adds a member's steps by the device's clock, or the host's without device work (V1.2). */
static bool add_steps_of(struct run_steps *steps, const struct trace_member *member,
                         const unsigned char *chosen, const struct stopper *stopper,
                         struct failure *failure)
{
    struct windows windows;
    if (member->steps->count == 0)
        return true;
    if (!windows_make(&windows, member, busy_any(&member->file->columns), stopper, failure))
        return false;
    bool done = MEMORY_GROW(steps->items, steps->capacity, steps->count + windows.count) ||
                failure_memory(failure);
    for (size_t i = 0; done && i < windows.count; i++) {
        const struct window *window = &windows.items[i];
        if (!chosen || chosen[window->step])
            steps->items[steps->count++] =
                (struct rank_step){window->iteration, member->rank,
                                   (wide_time)window->end - window->start};
    }
    windows_clear(&windows);
    return done;
}

/* Merges steps with the same rank and number, and counts the ranks of each step. */
static void join_steps(struct run_steps *steps)
{
    size_t kept = 0;
    for (size_t i = 0; i < steps->count; i++) {
        if (kept > 0 && rank_step_order(&steps->items[i], &steps->items[kept - 1]) == 0)
            steps->items[kept - 1].dur += steps->items[i].dur;
        else
            steps->items[kept++] = steps->items[i];
    }
    steps->count = kept;
    for (size_t i = 0; i < kept; i++) {
        size_t last = steps->iteration_count;
        if (last > 0 && steps->iterations[last - 1] == steps->items[i].iteration) {
            steps->ranks[last - 1]++;
        } else {
            steps->iterations[last] = steps->items[i].iteration;
            steps->ranks[last] = 1;
            steps->iteration_count++;
        }
    }
}

static bool find_steps(struct run_steps *steps, const struct trace *trace,
                       const struct step_choice *choice, const struct stopper *stopper,
                       struct failure *failure)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].chosen &&
            !add_steps_of(steps, &trace->members[i], choice->everything ? NULL : choice->chosen[i],
                          stopper, failure))
            return false;
    steps->iterations = memory_zeroed(steps->count, sizeof *steps->iterations);
    steps->ranks = memory_zeroed(steps->count, sizeof *steps->ranks);
    if (!steps->iterations || !steps->ranks)
        return failure_memory(failure);
    if (!sort_items(steps->items, steps->count, sizeof *steps->items, rank_step_order, stopper,
                    failure))
        return false;
    join_steps(steps);
    return true;
}

static void steps_free(struct run_steps *steps)
{
    memory_free(steps->items);
    memory_free(steps->iterations);
    memory_free(steps->ranks);
}

/* Returns the index of an iteration, which must exist. */
static uint32_t step_index(const struct run_steps *steps, int64_t iteration)
{
    size_t i = 0;
    LOWER_BOUND(i, steps->iteration_count, steps->iterations[i] < iteration);
    return (uint32_t)i;
}

static bool add_amount(struct amounts *amounts, uint32_t op, uint32_t step, wide_time amount)
{
    if (!MEMORY_GROW(amounts->items, amounts->capacity, amounts->count + 1))
        return false;
    amounts->items[amounts->count++] = (struct amount){op, step, amount};
    return true;
}

static bool add_step_amounts(struct amounts *amounts, const struct run_steps *steps,
                             bool everything)
{
    for (size_t i = 0; i < steps->count; i++)
        if (!add_amount(amounts, OP_STEP,
                        everything ? 0 : step_index(steps, steps->items[i].iteration),
                        steps->items[i].dur))
            return false;
    return true;
}

#define UNWANTED (NAME_NONE - 1)

/* Returns the id of a name in the runs, UNWANTED, or NAME_NONE if out of memory. `scratch` needs
** room for the name and 2 bytes more. */
static uint32_t name_id(struct runs *runs, const struct runs_request *request, const char *text,
                        size_t length, char *scratch)
{
    if (request->rename)
        length = request->rename(text, length, scratch);
    else
        memcpy(scratch, text, length);
    scratch[length] = 0;
    return !request->wanted || request->wanted(request->argument, scratch)
               ? names_intern(&runs->names, scratch, length)
               : UNWANTED;
}

/* Maps each name of a summary to its id in the runs, or UNWANTED. NULL on failure. */
static uint32_t *name_ids(struct runs *runs, const struct runs_request *request,
                          const struct names *names)
{
    uint32_t *ids = memory_filled(names->count, sizeof *ids);
    char *scratch = memory_allocate(names_longest(names) + 2);
    bool done = ids && scratch;
    for (size_t i = 0; done && i < names->count; i++) {
        ids[i] = name_id(runs, request, names->items[i].text, names->items[i].length, scratch);
        done = ids[i] != NAME_NONE;
    }
    memory_free(scratch);
    if (!done) {
        memory_free(ids);
        ids = NULL;
    }
    return ids;
}

static wide_time amount_of(const struct summary_row *row, enum run_measure measure)
{
    if (measure == MEASURE_COUNT)
        return row->counts;
    return measure == MEASURE_SELF && row->seen != SEEN_ON_DEVICE ? row->self : row->total;
}

static bool add_amounts(struct amounts *amounts, struct runs *runs,
                        const struct runs_request *request, const struct summary *summary,
                        const struct run_steps *steps, bool everything,
                        const struct stopper *stopper, struct failure *failure)
{
    uint32_t *ids = name_ids(runs, request, &summary->names);
    bool done = ids != NULL;
    for (size_t i = 0; done && i < summary->count; i++) {
        const struct summary_row *row = &summary->rows[i];
        if (ids[row->name] != UNWANTED)
            done = add_amount(amounts, op_of(ids[row->name], row->seen == SEEN_ON_DEVICE),
                              everything ? 0 : step_index(steps, row->iteration),
                              amount_of(row, request->measure));
        done = done && stopper_goes_on(stopper, i, failure);
    }
    memory_free(ids);
    return done || failure_memory(failure);
}

static int amount_order(const void *a, const void *b)
{
    const struct amount *x = a, *y = b;
    int order = COMPARE(x->op, y->op);
    return order ? order : COMPARE(x->step, y->step);
}

/* Divides the amounts of a run by ranks or steps, and adds them as values. */
static bool add_values(struct runs *runs, enum run_measure measure, const struct amounts *amounts,
                       const struct run_steps *steps, int64_t everything)
{
    for (size_t i = 0; i < amounts->count;) {
        const struct amount *first = &amounts->items[i];
        wide_time sum = 0;
        for (; i < amounts->count && amount_order(&amounts->items[i], first) == 0; i++)
            sum += amounts->items[i].amount;
        double parts = (double)(everything ? everything : steps->ranks[first->step]);
        double unit = measure == MEASURE_COUNT && first->op != OP_STEP ? 1 : 1000; /* ns to us */
        if (!MEMORY_GROW(runs->values, runs->value_capacity, runs->value_count + 1))
            return false;
        runs->values[runs->value_count++] = (struct run_value){
            first->op, (uint32_t)runs->count, first->step, (double)sum / unit / parts};
    }
    return true;
}

/* Returns the time of day at which a trace starts, or NUMBER_NONE. */
static int64_t start_of(const struct trace *trace)
{
    static const int64_t year_2000 = 946684800000000000; /* earlier times are not times of day */
    int64_t start = NUMBER_NONE;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_file *file = trace->members[i].file;
        if (!trace->members[i].chosen || file->first == NUMBER_NONE)
            continue;
        if (file->first < year_2000)
            return NUMBER_NONE;
        start = start == NUMBER_NONE || file->first < start ? file->first : start;
    }
    return start;
}

/* Hashes the names, starts and durations of all events, whatever their order (V11). */
static uint64_t fingerprint_of(const struct trace_file *file)
{
    const struct columns *columns = &file->columns;
    uint64_t fingerprint = 0;
    for (size_t row = 0; row < columns->count; row++) {
        uint32_t name = columns->name[row];
        uint64_t hash = name == NAME_NONE ? 1 : file->names.items[name].hash;
        hash = hash_mixed(hash ^ (uint64_t)columns->ts[row], hash_key());
        fingerprint += hash_mixed(hash ^ (uint64_t)columns->dur[row], hash_key());
    }
    return fingerprint;
}

static bool add_files(struct runs *runs, const struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (!member->chosen)
            continue;
        uint32_t path =
            names_intern(&runs->paths, member->file->shown, strlen(member->file->shown));
        if (path == NAME_NONE ||
            !MEMORY_GROW(runs->files, runs->file_capacity, runs->file_count + 1))
            return false;
        runs->files[runs->file_count++] = (struct run_file){
            (uint32_t)runs->count, path, member->rank, fingerprint_of(member->file)};
    }
    return true;
}

bool runs_add(struct runs *runs, const struct runs_request *request, int side,
              const struct trace *trace, const struct step_choice *choice,
              const struct stopper *stopper, struct failure *failure)
{
    struct run_steps steps = {.count = 0};
    struct amounts amounts = {.count = 0};
    struct summary summary = {.count = 0};
    const struct summary_request sums = {.trace = trace,
                                         .choice = choice,
                                         .device_type = request->device_type,
                                         .grouping = BY_EVERYTHING,
                                         .self = request->measure == MEASURE_SELF};
    bool everything = choice->everything;
    bool done =
        find_steps(&steps, trace, choice, stopper, failure) &&
        summary_make(&summary, &sums, stopper, failure) &&
        add_amounts(&amounts, runs, request, &summary, &steps, everything, stopper, failure);
    bool has_steps = request->device_type == DEVICE_ALL && steps.count > 0;
    bool empty = summary.count == 0 && !has_steps;
    summary_clear(&summary);
    if (done && has_steps && (!request->wanted || request->wanted(request->argument, "step")))
        done = add_step_amounts(&amounts, &steps, everything) || failure_memory(failure);
    done = done && sort_items(amounts.items, amounts.count, sizeof *amounts.items, amount_order,
                              stopper, failure);
    if (done)
        done = (MEMORY_GROW(runs->items, runs->capacity, runs->count + 1) &&
                add_files(runs, trace) &&
                add_values(runs, request->measure, &amounts, &steps,
                           everything ? choice->steps : 0)) ||
               failure_memory(failure);
    if (done)
        runs->items[runs->count++] = (struct run){
            side, everything, empty, everything ? 1 : steps.iteration_count, start_of(trace)};
    steps_free(&steps);
    memory_free(amounts.items);
    return done;
}

/* state while the path of a job is added */
struct path_adding {
    struct runs *runs;
    const struct runs_request *request;
    const struct trace *trace;
    int side;
    bool on_device; /* the trace has device work, so path time counts as device time */
    struct amounts amounts;
    char *scratch;
};

static bool is_of_device(enum step_class step_class)
{
    return step_class == CLASS_COMPUTE || step_class == CLASS_COMM || step_class == CLASS_MEMORY;
}

/* Adds a part of the path, if its device type and name are wanted. A part without a name takes its
** class as its name. */
static bool add_part(struct path_adding *adding, const struct attributed *part,
                     const struct name *name, uint32_t step)
{
    struct runs *runs = adding->runs;
    bool device = adding->on_device && is_of_device(part->step_class);
    const char *text = name ? name->text : step_class_name(part->step_class);
    if (adding->request->device_type != DEVICE_ALL &&
        (adding->request->device_type == DEVICE_GPU) != device)
        return true;
    uint32_t id = name_id(runs, adding->request, text, name ? name->length : strlen(text),
                          adding->scratch);
    if (id == NAME_NONE || id == UNWANTED)
        return id == UNWANTED;
    if (!MEMORY_GROW(runs->shares, runs->share_capacity, runs->share_count + 1))
        return false;
    runs->shares[runs->share_count++] =
        (struct run_share){op_of(id, device), adding->side, adding->trace->ranks[part->rank],
                           microseconds(part->time)};
    return add_amount(&adding->amounts, op_of(id, device), step, part->time);
}

static bool add_path_step(struct path_adding *adding, const struct attributed_step *step,
                          const struct names *names, uint32_t number)
{
    static const size_t longest_class = 32;
    const struct runs_request *request = adding->request;
    wide_time length = 0;
    bool done = (adding->scratch = memory_allocate(names_longest(names) + longest_class));
    for (size_t i = 0; done && i < step->count; i++) {
        const struct attributed *part = &step->rows[i];
        length += part->time;
        if (part->step_class != CLASS_NONE)
            done = add_part(adding, part,
                            part->name[0] == NAME_NONE ? NULL : &names->items[part->name[0]],
                            number);
    }
    memory_free(adding->scratch);
    if (done && request->device_type == DEVICE_ALL &&
        (!request->wanted || request->wanted(request->argument, "step")))
        done = add_amount(&adding->amounts, OP_STEP, number, length);
    return done;
}

/* Adds the parts of all steps. `*count` becomes the number of steps. */
static bool add_path(struct path_adding *adding, const struct step_choice *choice, size_t *count,
                     const struct stopper *stopper, struct failure *failure)
{
    static const struct attribution_request asked = {
        .level = LEVEL_OP, .clock = CLOCK_DEVICE, .job = true};
    struct attributed_step step = {.count = 0};
    struct attribution *attribution =
        attribution_new(adding->trace, choice, &asked, stopper, failure);
    bool done = attribution != NULL;
    *count = done ? attribution_count(attribution) : 0;
    for (size_t i = 0; done && i < *count; i++)
        done = attribution_step(attribution, i, &step, failure) &&
               (add_path_step(adding, &step, attribution_names(attribution), (uint32_t)i) ||
                failure_memory(failure)) &&
               stopper_goes_on(stopper, i, failure);
    memory_free(step.rows);
    attribution_free(attribution);
    return done;
}

bool runs_add_job(struct runs *runs, const struct runs_request *request, int side,
                  const struct trace *trace, const struct step_choice *choice,
                  const struct stopper *stopper, struct failure *failure)
{
    struct path_adding adding = {.runs = runs, .request = request, .trace = trace, .side = side};
    struct amounts *amounts = &adding.amounts;
    size_t count;
    for (size_t i = 0; i < trace->count; i++)
        adding.on_device |= trace->members[i].chosen && busy_any(&trace->members[i].file->columns);
    bool done = add_path(&adding, choice, &count, stopper, failure) &&
                sort_items(amounts->items, amounts->count, sizeof *amounts->items, amount_order,
                           stopper, failure);
    if (done)
        done = (MEMORY_GROW(runs->items, runs->capacity, runs->count + 1) &&
                add_files(runs, trace) && add_values(runs, request->measure, amounts, NULL, 1)) ||
               failure_memory(failure);
    if (done)
        runs->items[runs->count++] =
            (struct run){side, false, amounts->count == 0, count, start_of(trace)};
    memory_free(amounts->items);
    return done;
}

/* Returns the end of a run's files, which begin at `from`. */
static size_t files_end(const struct runs *runs, size_t from)
{
    size_t end = from;
    while (end < runs->file_count && runs->files[end].run == runs->files[from].run)
        end++;
    return end;
}

/* Returns the first rank in `files` that `others` lack, or NUMBER_NONE. */
static int64_t lacking_rank(const struct run_file *files, size_t count,
                            const struct run_file *others, size_t other_count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < other_count && others[k].rank != files[i].rank)
            k++;
        if (k == other_count)
            return files[i].rank;
    }
    return NUMBER_NONE;
}

bool runs_find_rank(const struct runs *runs, uint32_t *has, uint32_t *lacks, int64_t *rank)
{
    size_t first = files_end(runs, 0);
    for (size_t from = first, end; from < runs->file_count; from = end) {
        end = files_end(runs, from);
        *has = 0, *lacks = runs->files[from].run;
        *rank = lacking_rank(runs->files, first, runs->files + from, end - from);
        if (*rank != NUMBER_NONE)
            return true;
        *has = *lacks, *lacks = 0;
        *rank = lacking_rank(runs->files + from, end - from, runs->files, first);
        if (*rank != NUMBER_NONE)
            return true;
    }
    return false;
}

bool runs_find_copy(const struct runs *runs, const struct run_file *pair[2],
                    const struct stopper *stopper, struct failure *failure)
{
    pair[0] = pair[1] = NULL;
    for (size_t i = 0; i < runs->file_count; i++) {
        const struct run_file *file = &runs->files[i], *other = runs->files;
        for (; file->fingerprint != 0 && other->run < file->run; other++)
            if (other->fingerprint == file->fingerprint) {
                pair[0] = other, pair[1] = file;
                return true;
            }
        if (!stopper_goes_on(stopper, i, failure))
            return false;
    }
    return true;
}

static int value_order(const void *a, const void *b)
{
    const struct run_value *x = a, *y = b;
    int order = COMPARE(x->op, y->op);
    order = order ? order : COMPARE(x->run, y->run);
    return order ? order : COMPARE(x->step, y->step);
}

static int share_order(const void *a, const void *b)
{
    const struct run_share *x = a, *y = b;
    int order = COMPARE(x->op, y->op);
    order = order ? order : COMPARE(x->side, y->side);
    return order ? order : COMPARE(x->rank, y->rank);
}

bool runs_sort(struct runs *runs, const struct stopper *stopper, struct failure *failure)
{
    return sort_items(runs->values, runs->value_count, sizeof *runs->values, value_order, stopper,
                      failure) &&
           sort_items(runs->shares, runs->share_count, sizeof *runs->shares, share_order, stopper,
                      failure);
}

bool runs_find_share(const struct runs *runs, uint32_t op, int side, int64_t *rank, double *share)
{
    const struct run_share first = {op, side, INT64_MIN, 0};
    double all = 0, most = 0, of_rank = 0;
    size_t i = 0;
    LOWER_BOUND(i, runs->share_count, share_order(&runs->shares[i], &first) < 0);
    for (const struct run_share *at = runs->shares + i;
         i < runs->share_count && at->op == op && at->side == side; i++, at++) {
        bool same = all > 0 && at[-1].rank == at->rank;
        of_rank = at->time + (same ? of_rank : 0);
        all += at->time;
        if (of_rank > most)
            most = of_rank, *rank = at->rank;
    }
    *share = all > 0 ? most / all : 0;
    return all > 0;
}

void runs_clear(struct runs *runs)
{
    names_clear(&runs->names);
    names_clear(&runs->paths);
    memory_free(runs->files);
    memory_free(runs->items);
    memory_free(runs->values);
    memory_free(runs->shares);
    *runs = (struct runs){.count = 0};
}
