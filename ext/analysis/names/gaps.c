#include "gaps.h"

#include <string.h>


/* While gaps are found, their `after` holds their step. */
struct gap_builder {
    struct gaps *gaps;
    const struct steps *steps;
    const struct span_line *line; /* the step at each instant */
    size_t at;                    /* index in `line` of the stretch with the last gap */
    const struct span **nearest;  /* by step: its event that ended last or starts next, or NULL */
    const struct stopper *stopper;
    struct failure *failure;
};

/* Returns the step of a row as an index of `nearest`, or STEP_NONE. A file without steps counts as
** one step. */
static uint32_t step_of_row(const struct gap_builder *builder, uint32_t row)
{
    return builder->steps->count == 0 ? 0 : step_of(builder->steps, row);
}

static uint32_t row_of_nearest(const struct gap_builder *builder, uint32_t step)
{
    const struct span *span = step == STEP_NONE ? NULL : builder->nearest[step];
    return span ? span->row : ROW_NONE;
}

/* Adds the gaps between two instants, one per step. */
static bool add_gaps(struct gap_builder *builder, int64_t from, int64_t to)
{
    const struct span_line *line = builder->line;
    struct gaps *gaps = builder->gaps;
    bool stepped = builder->steps->count > 0;
    for (bool more = from < to; more;) {
        while (stepped && builder->at + 1 < line->count &&
               line->items[builder->at + 1].start <= from)
            builder->at++;
        uint32_t step = stepped ? line->items[builder->at].row : 0;
        if (!MEMORY_GROW(gaps->items, gaps->capacity, gaps->count + 1))
            return failure_memory(builder->failure);
        more = stepped && builder->at + 1 < line->count && line->items[builder->at + 1].start < to;
        int64_t end = more ? line->items[builder->at + 1].start : to;
        gaps->items[gaps->count++] =
            (struct gap){from, end, row_of_nearest(builder, step), step, ROW_NONE};
        from = end;
    }
    return true;
}

/* Finds the gaps, and the event that ended last before each one. Spans are sorted from outer to
** inner, so the outermost counts if several end together. */
static bool look_back(struct gap_builder *builder, const struct span *spans, size_t count)
{
    int64_t reach = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        if (!stopper_goes_on(builder->stopper, i, builder->failure) ||
            !add_gaps(builder, reach, spans[i].start))
            return false;
        uint32_t step = step_of_row(builder, spans[i].row);
        if (step != STEP_NONE && (!builder->nearest[step] ||
                                  span_end(&spans[i]) > span_end(builder->nearest[step])))
            builder->nearest[step] = &spans[i];
        reach = span_end(&spans[i]) > reach ? span_end(&spans[i]) : reach;
    }
    return add_gaps(builder, reach, INT64_MAX);
}

/* Finds the event that starts next after each gap. */
static bool look_ahead(struct gap_builder *builder, const struct span *spans, size_t count)
{
    for (size_t i = builder->gaps->count; i-- > 0;) {
        struct gap *gap = &builder->gaps->items[i];
        for (; count > 0 && spans[count - 1].start > gap->start; count--) {
            uint32_t step = step_of_row(builder, spans[count - 1].row);
            if (step != STEP_NONE)
                builder->nearest[step] = &spans[count - 1];
            if (!stopper_goes_on(builder->stopper, count, builder->failure))
                return false;
        }
        gap->after = row_of_nearest(builder, gap->after);
    }
    return true;
}

bool gaps_make(struct gaps *gaps, const struct span *spans, size_t count, const struct steps *steps,
               const struct span_line *line, const struct stopper *stopper,
               struct failure *failure)
{
    size_t step_count = steps->iteration_count + 1;
    struct gap_builder builder = {gaps, steps, line, 0, NULL, stopper, failure};
    *gaps = (struct gaps){.count = 0};
    bool done = false;
    builder.nearest = memory_zeroed(step_count, sizeof *builder.nearest);
    if (builder.nearest)
        done = look_back(&builder, spans, count);
    else
        failure_memory(failure);
    if (done) {
        memset(builder.nearest, 0, step_count * sizeof *builder.nearest);
        done = look_ahead(&builder, spans, count);
    }
    memory_free(builder.nearest);
    if (!done)
        gaps_clear(gaps);
    return done;
}

/* Adds a part of a gap unless it is empty. False if out of memory. */
static bool add_part(struct gaps *to, struct gap gap, int64_t start, int64_t end,
                     uint32_t function)
{
    gap.start = start;
    gap.end = end;
    gap.function = function;
    if (start >= end)
        return true;
    if (!MEMORY_GROW(to->items, to->capacity, to->count + 1))
        return false;
    to->items[to->count++] = gap;
    return true;
}

bool gaps_divide(struct gaps *gaps, const struct span *functions, size_t count,
                 const struct stopper *stopper, struct failure *failure)
{
    struct gaps divided = {.count = 0};
    bool done = true;
    for (size_t i = 0, next = 0; i < gaps->count && done; i++) {
        const struct gap *gap = &gaps->items[i];
        int64_t reach = gap->start;
        for (; next < count && functions[next].start < gap->end && done; next++) {
            const struct span *function = &functions[next];
            int64_t end = span_end(function);
            done = stopper_goes_on(stopper, next, failure);
            if (!done || function->start < gap->start || end > gap->end || end <= reach)
                continue;
            int64_t start = function->start > reach ? function->start : reach;
            done = (add_part(&divided, *gap, reach, start, ROW_NONE) &&
                    add_part(&divided, *gap, start, end, function->row)) ||
                   failure_memory(failure);
            reach = end;
        }
        done = done && stopper_goes_on(stopper, i, failure) &&
               (add_part(&divided, *gap, reach, gap->end, ROW_NONE) || failure_memory(failure));
    }
    gaps_clear(done ? gaps : &divided);
    if (done)
        *gaps = divided;
    return done;
}

size_t gaps_find(const struct gaps *gaps, int64_t instant)
{
    size_t i = 1;
    LOWER_BOUND(i, gaps->count, gaps->items[i].start <= instant);
    return i - 1;
}

static char *put(char *to, const char *word, const struct name *name)
{
    size_t length = strlen(word);
    memcpy(to, word, length);
    memcpy(to + length, name->text, name->length);
    return to + length + name->length;
}

size_t gap_name(char *to, const struct name *before, const struct name *after)
{
    char *end = to;
    if (before)
        end = put(end, after ? "between " : "after ", before);
    if (after)
        end = put(end, before ? " and " : "before ", after);
    return (size_t)(end - to);
}

void gaps_clear(struct gaps *gaps)
{
    memory_free(gaps->items);
    *gaps = (struct gaps){.count = 0};
}
