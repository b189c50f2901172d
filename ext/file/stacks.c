#include "stacks.h"

#include <string.h>

#include "base/memory.h"
#include "spans.h"

struct stack_sweep {
    struct trace_file *file;
    const struct stopper *stopper;
    struct failure *failure;
    struct spans spans;
    const struct span **open;
    size_t open_capacity;
    size_t steps; /* over all threads, to decide when to call the stopper */
};

/* Applies rule 5. */
static bool takes_part(void *file, size_t row)
{
    const struct columns *columns = &((const struct trace_file *)file)->columns;
    return columns->ts[row] != NUMBER_NONE && columns->kind[row] != KIND_TRACE;
}

/* Distributes the time from `since` to `now` over the open events: each instant goes to the
** innermost, the last one. An ended outer event is dropped only once it is the last. */
static size_t pass(const struct stack_sweep *sweep, size_t open, int64_t since, int64_t now)
{
    int64_t *self = sweep->file->stacks.self;
    while (open > 0 && span_end(sweep->open[open - 1]) <= now) {
        const struct span *span = sweep->open[--open];
        int64_t end = span_end(span);
        if (end > since) {
            self[span->row] += end - since;
            since = end;
        }
    }
    if (open > 0)
        self[sweep->open[open - 1]->row] += now - since;
    return open;
}

static bool sweep_thread(struct stack_sweep *sweep, const struct span *spans, size_t count)
{
    const struct columns *columns = &sweep->file->columns;
    struct stacks *stacks = &sweep->file->stacks;
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        if (!stopper_goes_on(sweep->stopper, sweep->steps++, sweep->failure))
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

static bool make_stacks(struct stack_sweep *sweep)
{
    struct stacks *stacks = &sweep->file->stacks;
    size_t count = sweep->file->columns.count;
    stacks->parent = memory_filled(count, sizeof *stacks->parent);
    stacks->depth = memory_filled(count, sizeof *stacks->depth);
    stacks->self = memory_items(count, sizeof *stacks->self);
    if (!stacks->parent || !stacks->depth || !stacks->self)
        return failure_memory(sweep->failure);
    for (size_t row = 0; row < count; row++) {
        if (!stopper_goes_on(sweep->stopper, row, sweep->failure))
            return false;
        stacks->self[row] = NUMBER_NONE;
    }
    if (!spans_make(&sweep->spans, sweep->file, takes_part, sweep->file, sweep->stopper,
                    sweep->failure))
        return false;
    for (size_t track = 0; track < sweep->file->tracks.count; track++) {
        size_t first = sweep->spans.first[track], end = sweep->spans.first[track + 1];
        if (!sweep_thread(sweep, sweep->spans.items + first, end - first))
            return false;
    }
    return true;
}

bool stacks_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct stack_sweep sweep = {.file = file, .stopper = stopper, .failure = failure};
    if (file->stacks.made)
        return true;
    file->stacks.made = make_stacks(&sweep);
    if (!file->stacks.made)
        stacks_clear(&file->stacks);
    spans_clear(&sweep.spans);
    memory_free(sweep.open);
    return file->stacks.made;
}

static bool is_operator(const struct columns *columns, const bool *wanted, uint32_t row)
{
    enum kind kind = columns->kind[row];
    return columns->name[row] != NAME_NONE && wanted[columns->name[row]] && !kind_is_device(kind) &&
           kind != KIND_CALL && kind != KIND_DRIVER_CALL;
}

uint32_t *stacks_outermost(const struct trace_file *file, const bool *wanted,
                           const struct stopper *stopper, struct failure *failure)
{
    const uint32_t unknown = ROW_NONE - 1, *parent = file->stacks.parent;
    size_t count = file->columns.count;
    uint32_t *outermost = memory_items(count, sizeof *outermost);
    uint32_t *path = memory_items(count, sizeof *path); /* ancestors up to the first known one */
    bool done = (outermost && path) || failure_memory(failure);
    for (size_t row = 0; done && row < count; row++)
        outermost[row] = unknown;
    for (size_t row = 0; done && row < count; row++) {
        size_t length = 0;
        uint32_t at = (uint32_t)row;
        for (; at != ROW_NONE && outermost[at] == unknown; at = parent[at])
            path[length++] = at;
        uint32_t found = at == ROW_NONE ? ROW_NONE : outermost[at];
        while (length > 0) {
            at = path[--length];
            if (found == ROW_NONE && is_operator(&file->columns, wanted, at))
                found = at;
            outermost[at] = found;
        }
        done = stopper_goes_on(stopper, row, failure);
    }
    memory_free(path);
    if (!done) {
        memory_free(outermost);
        outermost = NULL;
    }
    return outermost;
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
