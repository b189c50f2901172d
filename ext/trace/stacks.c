#include "stacks.h"

#include <string.h>

#include "../reader/memory.h"

/* An event that takes part. */
struct span {
    int64_t start, dur; /* ns; 0 without a duration */
    uint32_t row;
};

struct sweep {
    struct trace_file *file;
    const struct stopper *stopper;
    struct failure *failure;
    struct span *spans; /* by thread, then from outer to inner */
    size_t *first;      /* by track: its first span; one more at the end */
    const struct span **open;
    size_t open_capacity;
};

/* Behind its last instant, cut at the end of time. */
static int64_t end_of(const struct span *span)
{
    int64_t end;
    return __builtin_add_overflow(span->start, span->dur, &end) ? INT64_MAX : end;
}

/* Rule 2: outer before inner. */
static int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->dur != y->dur)
        return x->dur > y->dur ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool takes_part(const struct columns *columns, size_t row)
{
    return columns->ts[row] != NUMBER_NONE && columns->kind[row] != KIND_TRACE;
}

/* Puts the events of each thread side by side, in the order of the file. */
static bool collect(struct sweep *sweep)
{
    const struct columns *columns = &sweep->file->columns;
    size_t tracks = sweep->file->tracks.count, total = 0;
    sweep->first = memory_zeroed(tracks + 2, sizeof *sweep->first);
    if (!sweep->first)
        return failure_memory(sweep->failure);
    size_t *next = sweep->first + 1; /* by track, while they are filled in */
    for (size_t row = 0; row < columns->count; row++)
        next[columns->track[row]] += takes_part(columns, row);
    for (size_t track = 0; track <= tracks; track++) {
        size_t count = next[track];
        next[track] = total;
        total += count;
    }
    sweep->spans = memory_allocate((total + 1) * sizeof *sweep->spans);
    if (!sweep->spans)
        return failure_memory(sweep->failure);
    for (size_t row = 0; row < columns->count; row++) {
        if (!takes_part(columns, row))
            continue;
        struct span *span = &sweep->spans[next[columns->track[row]]++];
        span->row = (uint32_t)row;
        span->start = columns->ts[row];
        span->dur = columns->dur[row] == NUMBER_NONE ? 0 : columns->dur[row];
    }
    return true;
}

static bool sort_thread(struct sweep *sweep, struct span *spans, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (span_order(&spans[i - 1], &spans[i]) > 0)
            return sort_items(spans, count, sizeof *spans, span_order, sweep->stopper,
                              sweep->failure);
    return true;
}

/* Goes through the open events from `since` to `now`; the innermost is the last one.
** One below it that has ended meanwhile is dropped when it comes to be the last. */
static size_t pass(const struct sweep *sweep, size_t open, int64_t since, int64_t now)
{
    int64_t *self = sweep->file->stacks.self;
    while (open > 0 && end_of(sweep->open[open - 1]) <= now) {
        const struct span *span = sweep->open[--open];
        int64_t end = end_of(span);
        if (end > since) {
            self[span->row] += end - since;
            since = end;
        }
    }
    if (open > 0)
        self[sweep->open[open - 1]->row] += now - since;
    return open;
}

static bool sweep_thread(struct sweep *sweep, const struct span *spans, size_t count)
{
    const struct columns *columns = &sweep->file->columns;
    struct stacks *stacks = &sweep->file->stacks;
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        if (!stopper_goes_on(sweep->stopper, i, sweep->failure))
            return false;
        open = pass(sweep, open, i > 0 ? spans[i - 1].start : 0, span->start);
        uint32_t parent = open > 0 ? sweep->open[open - 1]->row : ROW_NONE;
        stacks->parent[span->row] = parent;
        stacks->depth[span->row] = parent == ROW_NONE ? 0 : stacks->depth[parent] + 1;
        if (columns->dur[span->row] != NUMBER_NONE)
            stacks->self[span->row] = 0;
        if (span->dur == 0)
            continue;
        if (!MEMORY_GROW(sweep->open, sweep->open_capacity, open + 1))
            return failure_memory(sweep->failure);
        sweep->open[open++] = span;
    }
    if (open > 0)
        (void)pass(sweep, open, spans[count - 1].start, INT64_MAX);
    return true;
}

static bool make(struct sweep *sweep)
{
    struct stacks *stacks = &sweep->file->stacks;
    size_t count = sweep->file->columns.count;
    if (!memory_assign(&stacks->parent, memory_allocate((count + 1) * sizeof *stacks->parent)) ||
        !memory_assign(&stacks->depth, memory_allocate((count + 1) * sizeof *stacks->depth)) ||
        !memory_assign(&stacks->self, memory_allocate((count + 1) * sizeof *stacks->self)))
        return failure_memory(sweep->failure);
    memset(stacks->parent, 0xff, count * sizeof *stacks->parent);
    memset(stacks->depth, 0xff, count * sizeof *stacks->depth);
    for (size_t row = 0; row < count; row++)
        stacks->self[row] = NUMBER_NONE;
    if (!collect(sweep))
        return false;
    for (size_t track = 0; track < sweep->file->tracks.count; track++) {
        struct span *spans = sweep->spans + sweep->first[track];
        size_t size = sweep->first[track + 1] - sweep->first[track];
        if (!sort_thread(sweep, spans, size) || !sweep_thread(sweep, spans, size))
            return false;
    }
    return true;
}

bool stacks_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct sweep sweep = {.file = file, .stopper = stopper, .failure = failure};
    if (file->stacks.made)
        return true;
    file->stacks.made = make(&sweep);
    if (!file->stacks.made)
        stacks_clear(&file->stacks);
    memory_free(sweep.spans);
    memory_free(sweep.first);
    memory_free(sweep.open);
    return file->stacks.made;
}

size_t stacks_memory(const struct trace_file *file)
{
    size_t row = 2 * sizeof(uint32_t) + sizeof(int64_t);
    return file->stacks.made ? file->columns.count * row : 0;
}

void stacks_clear(struct stacks *stacks)
{
    memory_free(stacks->parent);
    memory_free(stacks->depth);
    memory_free(stacks->self);
    memset(stacks, 0, sizeof *stacks);
}
