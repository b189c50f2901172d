#include "drains.h"

#include <string.h>

#include "text/ascii.h"
#include "base/memory.h"
#include "naming/short_name.h"
#include "file/spans.h"
#include "analysis/parts/busy.h"
#include "analysis/parts/waiting_calls.h"

#define NOT_CHOSEN UINT32_MAX

/* A call that waits for the device (L8.1). */
struct wait {
    int64_t start, end; /* ns */
    uint32_t operator_id; /* id in drains.names */
    uint32_t slot;      /* slot of its rank */
    uint32_t window;    /* index of its step among the chosen of its slot and side, or NOT_CHOSEN */
    uint32_t member;
    int side;
    bool more; /* its operator waits more often on this side */
};

struct drain_finder {
    struct drains *drains;
    const struct drain_side *sides;
    const struct stopper *stopper;
    struct failure *failure;
    struct wait *waits;
    size_t count, capacity;
    size_t slots;
    uint32_t (*windows)[2]; /* number of chosen steps by slot and side */
};

/* The state while the waits of a member are collected. */
struct wait_collector {
    struct drain_finder *finder;
    const struct trace_member *member;
    unsigned char *waits; /* by name id: whether calls of this name wait */
    uint32_t *windows;    /* by iteration */
    char *scratch;        /* room for the longest name */
    size_t next[2]; /* index of the next step for takes_part(): the member's and the profiler's */
    struct wait wait;     /* a template for the member's waits */
};

static bool is_call(const struct columns *columns, size_t row)
{
    return columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL;
}

static bool waits(const struct wait_collector *collector, size_t row)
{
    const struct columns *columns = &collector->member->file->columns;
    return is_call(columns, row) && columns->name[row] != NAME_NONE &&
           collector->waits[columns->name[row]];
}

static bool takes_part(void *argument, size_t row)
{
    struct wait_collector *collector = argument;
    const struct trace_file *file = collector->member->file;
    const struct columns *columns = &file->columns;
    const struct steps *const steps[] = {collector->member->steps, &file->profiler_steps};
    bool is_step = false;
    for (int i = 0; i < 2; i++)
        if (collector->next[i] < steps[i]->count &&
            steps[i]->items[collector->next[i]].row == row) {
            collector->next[i]++;
            is_step = true;
        }
    return !is_step && columns->ts[row] != NUMBER_NONE && columns->dur[row] > 0 &&
           (waits(collector, row) || (columns->kind[row] == KIND_HOST && row_counts(columns, row) &&
                                      row_is(file, row, CATEGORY_OPERATOR)));
}

/* Writes the stable name of a wait. L2.1: hipX counts as cudaX if the other side calls CUDA. */
static size_t write_name(const struct wait_collector *collector, const struct name *name)
{
    if (!collector->finder->drains->as_cuda[collector->wait.side] ||
        !is_of_runtime(name->text, name->text + name->length, "hip"))
        return name_stable(name->text, name->length, collector->scratch);
    memcpy(collector->scratch, "cuda", 4);
    return 4 + name_stable(name->text + 3, name->length - 3, collector->scratch + 4);
}

static bool add_wait(struct wait_collector *collector, const struct span *span, uint32_t named)
{
    struct drain_finder *finder = collector->finder;
    const struct trace_file *file = collector->member->file;
    const struct steps *steps = collector->member->steps;
    const struct name *name = &file->names.items[file->columns.name[named]];
    uint32_t iteration = steps->count > 0 ? step_of(steps, span->row) : 0;
    struct wait wait = collector->wait;
    wait.start = span->start;
    wait.end = span_end(span);
    wait.window = iteration == STEP_NONE ? NOT_CHOSEN : collector->windows[iteration];
    wait.operator_id =
        names_intern(&finder->drains->names, collector->scratch, write_name(collector, name));
    if (wait.operator_id == NAME_NONE ||
        !MEMORY_GROW(finder->waits, finder->capacity, finder->count + 1))
        return failure_memory(finder->failure);
    finder->waits[finder->count++] = wait;
    return true;
}

/* Kinds of spans. */
enum span_kind { SPAN_WAIT, SPAN_ATEN, SPAN_OPERATOR };

static bool is_kind(const struct wait_collector *collector, const struct span *span,
                    enum span_kind kind)
{
    const struct trace_file *file = collector->member->file;
    const struct name *name = &file->names.items[file->columns.name[span->row]];
    return waits(collector, span->row) == (kind == SPAN_WAIT) &&
           (kind != SPAN_ATEN || begins(name->text, name->text + name->length, "aten::"));
}

/* Returns the outermost span of a kind around spans[i], or NULL. `first` keeps the result of the
** previous call, which had a smaller i: spans before it have ended. */
static const struct span *outermost(const struct wait_collector *collector, enum span_kind kind,
                                    const struct span *spans, size_t i, size_t *first)
{
    while (*first < i && (span_end(&spans[*first]) <= spans[i].start ||
                          !is_kind(collector, &spans[*first], kind)))
        ++*first;
    return *first < i ? &spans[*first] : NULL;
}

/* Adds the waits of a thread (L8.1). Its spans are sorted from outer to inner. */
static bool add_thread(struct wait_collector *collector, const struct span *spans, size_t count)
{
    size_t first[] = {[SPAN_WAIT] = 0, [SPAN_ATEN] = 0, [SPAN_OPERATOR] = 0};
    for (size_t i = 0; i < count; i++) {
        if (!stopper_goes_on(collector->finder->stopper, i, collector->finder->failure))
            return false;
        if (!is_kind(collector, &spans[i], SPAN_WAIT) ||
            outermost(collector, SPAN_WAIT, spans, i, &first[SPAN_WAIT]))
            continue; /* no wait, or a driver call inside its runtime call */
        const struct span *named =
            outermost(collector, SPAN_ATEN, spans, i, &first[SPAN_ATEN]);
        if (!named)
            named = outermost(collector, SPAN_OPERATOR, spans, i, &first[SPAN_OPERATOR]);
        if (!add_wait(collector, &spans[i], named ? named->row : spans[i].row))
            return false;
    }
    return true;
}

/* Marks the names of waiting calls. Returns whether there are any. */
static bool mark_names(struct wait_collector *collector)
{
    const struct trace_file *file = collector->member->file;
    bool any = false;
    for (size_t i = 0; i < file->names.count; i++)
        if (call_waits(&file->names.items[i])) {
            collector->waits[i] = true;
            any = true;
        }
    return any;
}

static void number_windows(struct wait_collector *collector, const struct step_choice *choice)
{
    const struct steps *steps = collector->member->steps;
    const struct wait *wait = &collector->wait;
    uint32_t *next = &collector->finder->windows[wait->slot][wait->side];
    if (steps->count == 0)
        collector->windows[0] = (*next)++;
    for (size_t i = 0; steps->count > 0 && i < steps->iteration_count; i++)
        if (choice->chosen && choice->chosen[wait->member] && choice->chosen[wait->member][i])
            collector->windows[i] = (*next)++;
}

/* Returns the slot of a member: its rank's index in control, or control's number of ranks if it is
** absent there. */
static size_t slot_of(const struct drain_side *sides, int side, size_t index)
{
    const struct trace *control = sides[0].trace, *trace = sides[side].trace;
    int64_t rank = trace->ranks[trace->members[index].rank_index];
    size_t i = 0;
    LOWER_BOUND(i, control->rank_count, control->ranks[i] < rank);
    return i < control->rank_count && control->ranks[i] == rank ? i : control->rank_count;
}

static bool add_member(struct drain_finder *finder, int side, size_t index, bool by_rank)
{
    const struct trace_member *member = &finder->sides[side].trace->members[index];
    const struct trace_file *file = member->file;
    struct wait_collector collector = {.finder = finder, .member = member};
    struct spans spans = {.items = NULL};
    size_t slot = by_rank ? slot_of(finder->sides, side, index) : 0;
    collector.wait = (struct wait){.slot = (uint32_t)slot, .member = (uint32_t)index, .side = side};
    collector.waits = memory_zeroed(file->names.count, sizeof *collector.waits);
    collector.windows =
        memory_filled(member->steps->iteration_count + 1, sizeof *collector.windows);
    collector.scratch = memory_allocate(names_longest(&file->names) + 2);
    bool done = (collector.waits && collector.windows && collector.scratch) ||
                failure_memory(finder->failure);
    if (done)
        number_windows(&collector, finder->sides[side].choice);
    if (done && mark_names(&collector)) {
        done = spans_make(&spans, file, takes_part, &collector, finder->stopper, finder->failure);
        for (uint32_t track = 0; done && track < file->tracks.count; track++)
            done = add_thread(&collector, spans.items + spans.first[track],
                              spans.first[track + 1] - spans.first[track]);
    }
    spans_clear(&spans);
    memory_free(collector.waits);
    memory_free(collector.windows);
    memory_free(collector.scratch);
    return done;
}

static int wait_order(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;
    int order = COMPARE(x->operator_id, y->operator_id);
    order = order ? order : COMPARE(x->slot, y->slot);
    order = order ? order : COMPARE(x->side, y->side);
    return order ? order : COMPARE(x->window, y->window);
}

/* The waits of one operator on one rank. */
struct counted {
    size_t low, high; /* range of the number per step */
    wide_time time;   /* ns */
};

/* Counts waits, which are sorted by window. */
static struct counted count_waits(const struct wait *waits, size_t count, size_t windows)
{
    struct counted found = {SIZE_MAX, 0, 0};
    size_t in = 0; /* windows with waits */
    for (size_t i = 0, end; i < count && waits[i].window != NOT_CHOSEN; i = end, in++) {
        for (end = i; end < count && waits[end].window == waits[i].window; end++)
            found.time += (wide_time)waits[end].end - waits[end].start;
        found.low = end - i < found.low ? end - i : found.low;
        found.high = end - i > found.high ? end - i : found.high;
    }
    found.low = in < windows ? 0 : found.low;
    return found;
}

/* L8.2: marks the waits of operators that wait more often on a side, on the ranks where they do.
** Adds up the length of these waits by operator, times the steps of the other side. */
static bool compare_waits(struct drain_finder *finder, const int64_t *windows, wide_time *times)
{
    struct wait *waits = finder->waits;
    size_t groups = 0;
    for (size_t from = 0, middle, to; from < finder->count; from = to) {
        const struct wait *first = &waits[from];
        for (to = middle = from; to < finder->count && waits[to].slot == first->slot &&
                                 waits[to].operator_id == first->operator_id;)
            middle += waits[to++].side == 0;
        const uint32_t *of_slot = finder->windows[first->slot];
        if (of_slot[0] == 0 || of_slot[1] == 0)
            continue;
        const struct counted found[] = {count_waits(first, middle - from, of_slot[0]),
                                        count_waits(&waits[middle], to - middle, of_slot[1])};
        int side = found[0].high < found[1].low ? 1 : found[1].high < found[0].low ? 0 : -1;
        for (size_t i = from; i < to; i++)
            waits[i].more = waits[i].side == side;
        if (side >= 0)
            times[first->operator_id] += found[side].time * windows[1 - side];
        if (!stopper_goes_on(finder->stopper, groups++, finder->failure))
            return false;
    }
    return true;
}

/* L8.2 and L8.4: counts the operators that wait more often, and finds the one that waits longest;
** ties: by name. */
static bool find_operators(struct drain_finder *finder)
{
    struct drains *drains = finder->drains;
    int64_t windows[2] = {0, 0};
    for (size_t i = 0; i < finder->slots; i++)
        for (int side = 0; side < 2; side++)
            windows[side] += finder->windows[i][side];
    wide_time *times = memory_zeroed(drains->names.count, sizeof *times);
    bool done = times ? compare_waits(finder, windows, times) : failure_memory(finder->failure);
    for (uint32_t i = 0; done && i < drains->names.count; i++) {
        if (times[i] == 0)
            continue;
        drains->operators++;
        if (drains->name == NAME_NONE || times[i] > times[drains->name] ||
            (times[i] == times[drains->name] &&
             name_compare(&drains->names.items[i], &drains->names.items[drains->name]) < 0))
            drains->name = i;
    }
    memory_free(times);
    return done;
}

static int end_order(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;
    int order = COMPARE(x->side, y->side);
    order = order ? order : COMPARE(x->member, y->member);
    order = order ? order : COMPARE(x->end, y->end);
    return order ? order : COMPARE(x->more, y->more);
}

/* L8.3 for one member. `waits` are the member's, sorted by their end. */
static bool add_times(struct drain_finder *finder, const struct wait *waits, size_t count,
                      struct intervals *times)
{
    const struct trace *trace = finder->sides[waits->side].trace;
    struct busy busy = {.items = NULL};
    size_t next = 0;
    wide_time lead = 0; /* ns by which the host would be further ahead */
    if (!busy_make(&busy, trace->members[waits->member].file, finder->stopper, finder->failure))
        return false;
    bool done = true;
    for (size_t i = 0; done && i < busy.count; i++) {
        wide_time from = busy.items[i].start;
        wide_time to = i + 1 < busy.count ? busy.items[i + 1].start : INT64_MAX;
        bool exposed = busy.items[i].type == KERNEL_NONE ||
                       busy.items[i].type == KERNEL_COMMUNICATION;
        done = stopper_goes_on(finder->stopper, i, finder->failure);
        while (done && from < to) {
            const struct wait *wait = next < count && waits[next].end < to ? &waits[next++] : NULL;
            wide_time until = !wait ? to : wait->end > from ? wait->end : from;
            wide_time part = lead < until - from ? lead : until - from;
            if (exposed && part > 0) {
                done = intervals_add(times, from, from + part) || failure_memory(finder->failure);
                lead -= part;
            }
            if (wait)
                lead = wait->more ? lead + wait->end - wait->start : 0;
            from = until;
        }
    }
    for (size_t i = 0; done && i < count; i++)
        if (waits[i].more)
            done = intervals_add(times, waits[i].start, waits[i].end) ||
                   failure_memory(finder->failure);
    busy_clear(&busy);
    return done && intervals_merge(times, finder->stopper, finder->failure);
}

static bool find_times(struct drain_finder *finder)
{
    if (!sort_items(finder->waits, finder->count, sizeof *finder->waits, end_order, finder->stopper,
                    finder->failure))
        return false;
    for (size_t from = 0, to; from < finder->count; from = to) {
        const struct wait *first = &finder->waits[from];
        struct intervals **times = &finder->drains->times[first->side];
        bool any = false;
        for (to = from; to < finder->count && finder->waits[to].side == first->side &&
                        finder->waits[to].member == first->member;
             to++)
            any = any || finder->waits[to].more;
        if (!any)
            continue;
        if (!*times)
            *times = memory_zeroed(finder->sides[first->side].trace->count, sizeof **times);
        if (!*times)
            return failure_memory(finder->failure);
        if (!add_times(finder, first, to - from, &(*times)[first->member]))
            return false;
    }
    return true;
}

/* Finds whether a side calls CUDA, and whether it calls HIP. */
static bool note_calls(struct drain_finder *finder, int side, bool *calls)
{
    static const char *const runtimes[] = {"cuda", "hip"};
    const struct trace *trace = finder->sides[side].trace;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_file *file = trace->members[i].file;
        for (size_t row = 0; trace->members[i].chosen && row < file->columns.count; row++) {
            if (!stopper_goes_on(finder->stopper, row, finder->failure))
                return false;
            if (!is_call(&file->columns, row) || file->columns.name[row] == NAME_NONE)
                continue;
            const struct name *name = &file->names.items[file->columns.name[row]];
            const char *end = name->text + name->length;
            for (int j = 0; j < 2; j++)
                calls[j] = calls[j] || is_of_runtime(name->text, end, runtimes[j]);
        }
    }
    return true;
}

/* L2.1: finds the side whose HIP calls count as CUDA calls. */
static bool find_runtimes(struct drain_finder *finder)
{
    bool calls[2][2] = {{false, false}, {false, false}};
    if (!note_calls(finder, 0, calls[0]) || !note_calls(finder, 1, calls[1]))
        return false;
    for (int side = 0; side < 2; side++) {
        const bool *own = calls[side], *other = calls[1 - side];
        finder->drains->as_cuda[side] = !own[0] && own[1] && other[0] && !other[1];
    }
    return true;
}

/* Whether both sides chose the same ranks. Uses finder->windows as scratch: zero before and
** after. */
static bool same_ranks(struct drain_finder *finder)
{
    bool same = true;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < finder->sides[side].trace->count; i++)
            if (finder->sides[side].trace->members[i].chosen)
                finder->windows[slot_of(finder->sides, side, i)][side] = 1;
    for (size_t i = 0; i < finder->slots; i++) {
        same = same && finder->windows[i][0] == finder->windows[i][1];
        memset(finder->windows[i], 0, sizeof finder->windows[i]);
    }
    return same;
}

bool drains_find(struct drains *drains, const struct drain_side *sides,
                 const struct stopper *stopper, struct failure *failure)
{
    struct drain_finder finder = {
        .drains = drains, .sides = sides, .stopper = stopper, .failure = failure};
    *drains = (struct drains){.name = NAME_NONE};
    finder.slots = sides[0].trace->rank_count + 1;
    finder.windows = memory_zeroed(finder.slots, sizeof *finder.windows);
    bool done = finder.windows || failure_memory(failure);
    bool by_rank = done && same_ranks(&finder);
    done = done && find_runtimes(&finder);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; done && i < sides[side].trace->count; i++)
            if (sides[side].trace->members[i].chosen)
                done = add_member(&finder, side, i, by_rank);
    if (done && finder.count > 0)
        done = sort_items(finder.waits, finder.count, sizeof *finder.waits, wait_order, stopper,
                          failure) &&
               find_operators(&finder) && (drains->name == NAME_NONE || find_times(&finder));
    memory_free(finder.waits);
    memory_free(finder.windows);
    if (!done)
        drains_clear(drains, sides);
    return done;
}

void drains_clear(struct drains *drains, const struct drain_side *sides)
{
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; drains->times[side] && i < sides[side].trace->count; i++)
            intervals_clear(&drains->times[side][i]);
        memory_free(drains->times[side]);
    }
    names_clear(&drains->names);
    *drains = (struct drains){.name = NAME_NONE};
}
