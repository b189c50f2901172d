#include "first_calls.h"

#include "analysis/sums/intervals.h"
#include "base/memory.h"
#include "busy.h"
#include "file/stacks.h"
#include "waiting_calls.h"

/* A call whose name also has a long call. */
struct named_call {
    uint32_t name, row;
    uint32_t of;   /* name id of the launched kernel, or of the operator around the call */
    bool launches; /* whether it launches a kernel */
    int64_t start, dur; /* ns */
};

/* The state of the search in one file. */
struct first_finder {
    const struct trace_member *member;
    const struct trace_file *file;
    const struct first_call_limits *limits;
    unsigned char *wanted; /* by name id: enum first_wish */
    int64_t (*launched)[2]; /* by name id of a kernel: starts of its first and second launch */
    unsigned char *firsts; /* by row: whether the call is a first call */
    struct named_call *items; /* by name, then by launches and of, then by start */
    size_t count, capacity;
    int64_t *times; /* scratch for all durations of a name */
    struct intervals busy;
    const struct stopper *stopper;
    struct failure *failure;
};

/* The calls of a name that may be first calls. */
enum first_wish { WISH_UNKNOWN, WISH_NONE, WISH_CALLS, WISH_LOADS };

static bool has_one(const struct name *name, const char *const *words)
{
    while (*words && !name_contains(name, *words))
        words++;
    return *words != NULL;
}

static enum first_call kind_of(const struct name *name)
{
    static const char *const launches[] = {"Launch", NULL};
    static const char *const modules[] = {"ModuleLoad", "LibraryLoad", NULL};
    static const char *const memory[] = {"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister",
                                         "MemCreate", NULL};
    static const char *const libraries[] = {"cudnn",   "cublas",  "cusparse", "cusolver", "hipblas",
                                            "rocblas", "miopen", NULL};
    return has_one(name, modules)     ? FIRST_MODULE
           : has_one(name, libraries) ? FIRST_LIBRARY
           : has_one(name, launches)  ? FIRST_LAUNCH
           : has_one(name, memory)    ? FIRST_MEMORY
                                      : FIRST_OTHER;
}

static bool is_call(const struct columns *columns, size_t row)
{
    return (columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL) &&
           columns->ts[row] != NUMBER_NONE && row_counts(columns, row);
}

/* Finds names with a long call that does not wait for the device. */
static bool find_names(struct first_finder *finder)
{
    const struct columns *columns = &finder->file->columns;
    bool any = false;
    for (size_t row = 0; row < columns->count; row++) {
        if (!is_call(columns, row) || columns->dur[row] < finder->limits->least)
            continue;
        const struct name *name = &finder->file->names.items[columns->name[row]];
        unsigned char *wish = &finder->wanted[columns->name[row]];
        if (*wish == WISH_UNKNOWN)
            *wish = call_waits(name) || name_contains(name, "Memcpy") ? WISH_NONE
                    : kind_of(name) == FIRST_MODULE || kind_of(name) == FIRST_LIBRARY
                        ? WISH_LOADS
                        : WISH_CALLS;
        any = any || *wish > WISH_NONE;
    }
    return any;
}

/* Returns the name id of the operator around a row, or NAME_NONE. */
static uint32_t operator_of(const struct trace_file *file, uint32_t row)
{
    do
        row = file->stacks.parent[row];
    while (row != ROW_NONE && !row_is(file, row, CATEGORY_OPERATOR));
    return row == ROW_NONE ? NAME_NONE : file->columns.name[row];
}

static int named_order(const void *a, const void *b)
{
    const struct named_call *x = a, *y = b;
    int order = COMPARE(x->name, y->name);
    order = order ? order : COMPARE(x->launches, y->launches);
    order = order ? order : COMPARE(x->of, y->of);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

static void add_launch(int64_t *firsts, int64_t start)
{
    bool first = start < firsts[0];
    if (start < firsts[1])
        firsts[1] = first ? firsts[0] : start;
    if (first)
        firsts[0] = start;
}

/* Lists all calls of these names, and finds the first launches of kernels. */
static bool list_calls(struct first_finder *finder)
{
    const struct columns *columns = &finder->file->columns;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(finder->stopper, row, finder->failure))
            return false;
        if (busy_takes(columns, row) &&
            !intervals_add(&finder->busy, columns->ts[row], busy_end(columns, row)))
            return failure_memory(finder->failure);
        if (!is_call(columns, row))
            continue;
        uint32_t work = columns->link[row];
        bool launches = work != ROW_NONE && busy_takes(columns, work);
        if (launches)
            add_launch(finder->launched[columns->name[work]], columns->ts[row]);
        if (finder->wanted[columns->name[row]] <= WISH_NONE)
            continue;
        if (!MEMORY_GROW(finder->items, finder->capacity, finder->count + 1))
            return failure_memory(finder->failure);
        finder->items[finder->count++] = (struct named_call){
            columns->name[row],
            (uint32_t)row,
            launches ? columns->name[work] : operator_of(finder->file, (uint32_t)row),
            launches,
            columns->ts[row],
            columns->dur[row]};
    }
    return sort_items(finder->items, finder->count, sizeof *finder->items, named_order,
                      finder->stopper, finder->failure) &&
           intervals_merge(&finder->busy, finder->stopper, finder->failure);
}

/* Whether the device is idle for the required part of a call. */
static bool device_waits(const struct first_finder *finder, const struct named_call *call)
{
    const struct intervals *busy = &finder->busy;
    wide_time end = (wide_time)call->start + call->dur, time = 0;
    size_t i = 0;
    LOWER_BOUND(i, busy->count, busy->items[i].end <= call->start);
    for (; i < busy->count && busy->items[i].start < end; i++) {
        const struct interval *of = &busy->items[i];
        time += (of->end < end ? of->end : end) -
                (of->start > call->start ? of->start : call->start);
    }
    return (double)(call->dur - time) >= finder->limits->waiting * (double)call->dur;
}

/* Returns the start of the second call in the same operator, or of the only one. */
static int64_t second_of(const struct named_call *calls, size_t count)
{
    bool two = count > 1 && calls[1].of == calls->of && calls[1].launches == calls->launches;
    return calls[two].start;
}

/* Finds the first calls among the calls of one name. */
static bool find_firsts(struct first_finder *finder, const struct named_call *calls, size_t count)
{
    const struct first_call_limits *limits = finder->limits;
    bool loads = finder->wanted[calls->name] == WISH_LOADS;
    double least = (double)limits->least;
    int64_t last = 0; /* start of the second call for the same kernel or operator */
    for (size_t i = 0; i < count; i++)
        finder->times[i] = calls[i].dur;
    if (!sort_numbered(finder->times, count, sizeof *finder->times, finder->stopper,
                       finder->failure))
        return false;
    double median = ((double)finder->times[(count - 1) / 2] + (double)finder->times[count / 2]) / 2;
    if (!loads && count < limits->calls)
        return true;
    if (!loads && limits->ratio * median > least)
        least = limits->ratio * median;
    for (size_t i = 0; i < count; i++) {
        const struct named_call *call = &calls[i];
        if (i == 0 || call->of != calls[i - 1].of || call->launches != calls[i - 1].launches)
            last = call->launches ? finder->launched[call->of][1] : second_of(calls + i, count - i);
        finder->firsts[call->row] = (double)call->dur >= least && (loads || call->start <= last) &&
                                    device_waits(finder, call);
    }
    return stopper_ask(finder->stopper, finder->failure);
}

/* Whether a call is inside another first call. */
static bool is_inner(const struct first_finder *finder, uint32_t row)
{
    const uint32_t *parent = finder->file->stacks.parent;
    for (row = parent[row]; row != ROW_NONE; row = parent[row])
        if (finder->firsts[row])
            return true;
    return false;
}

static bool open_finder(struct first_finder *finder)
{
    const struct trace_file *file = finder->file;
    size_t names = file->names.count;
    finder->launched = memory_items(names + 1, sizeof *finder->launched);
    finder->firsts = memory_zeroed(file->columns.count + 1, sizeof *finder->firsts);
    for (size_t i = 0; finder->launched && i < names; i++)
        finder->launched[i][0] = finder->launched[i][1] = INT64_MAX;
    return ((finder->launched && finder->firsts) || failure_memory(finder->failure)) &&
           stacks_find(finder->member->file, finder->stopper, finder->failure);
}

static void add_up(const struct first_finder *finder, const unsigned char *chosen,
                   struct first_calls *found)
{
    for (size_t i = 0; i < finder->count; i++) {
        const struct named_call *call = &finder->items[i];
        uint32_t step = chosen ? step_of(finder->member->steps, call->row) : 0;
        if (!finder->firsts[call->row] || (chosen && (step == STEP_NONE || !chosen[step])) ||
            is_inner(finder, call->row))
            continue;
        enum first_call kind = call->launches
                                   ? FIRST_LAUNCH
                                   : kind_of(&finder->file->names.items[call->name]);
        found->calls[kind]++;
        found->time[kind] += call->dur;
    }
}

bool first_calls_add(struct first_calls *found, const struct trace_member *member,
                     const unsigned char *chosen, const struct first_call_limits *limits,
                     const struct stopper *stopper, struct failure *failure)
{
    struct first_finder finder = {.member = member,
                                  .file = member->file,
                                  .limits = limits,
                                  .stopper = stopper,
                                  .failure = failure};
    finder.wanted = memory_zeroed(member->file->names.count + 1, sizeof *finder.wanted);
    bool done = finder.wanted || failure_memory(failure);
    if (done && find_names(&finder)) {
        done = open_finder(&finder) && list_calls(&finder);
        finder.times = done ? memory_items(finder.count, sizeof *finder.times) : NULL;
        done = done && (finder.times || failure_memory(failure));
        for (size_t i = 0, end; done && i < finder.count; i = end) {
            for (end = i + 1; end < finder.count && finder.items[end].name == finder.items[i].name;
                 end++)
                ;
            done = find_firsts(&finder, &finder.items[i], end - i);
        }
        if (done)
            add_up(&finder, chosen, found);
    }
    intervals_clear(&finder.busy);
    memory_free(finder.wanted);
    memory_free(finder.launched);
    memory_free(finder.firsts);
    memory_free(finder.items);
    memory_free(finder.times);
    return done;
}
