#include "spans.h"

#include "../reader/memory.h"

int64_t span_end(const struct span *span)
{
    return span->start + span->dur;
}

static int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(y->dur, x->dur);
}

/* Groups the events by thread, each thread in the order of the file. */
static bool collect_spans(struct spans *spans, const struct trace_file *file,
                          bool (*takes_part)(void *argument, size_t row), void *argument,
                          const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t total = 0, *next = spans->first + 1; /* by track, while spans are filled in */
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        next[columns->track[row]] += takes_part(argument, row);
    }
    for (size_t track = 0; track <= file->tracks.count; track++) {
        size_t count = next[track];
        next[track] = total;
        total += count;
    }
    spans->items = memory_allocate((total + 1) * sizeof *spans->items);
    if (!spans->items)
        return failure_memory(failure);
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        if (!takes_part(argument, row))
            continue;
        int64_t dur = columns->dur[row] == NUMBER_NONE ? 0 : columns->dur[row];
        spans->items[next[columns->track[row]]++] =
            (struct span){columns->ts[row], dur, (uint32_t)row};
    }
    return true;
}

bool spans_make(struct spans *spans, const struct trace_file *file,
                bool (*takes_part)(void *argument, size_t row), void *argument,
                const struct stopper *stopper, struct failure *failure)
{
    *spans = (struct spans){.first = memory_zeroed(file->tracks.count + 2, sizeof *spans->first)};
    if (!spans->first)
        return failure_memory(failure);
    bool done = collect_spans(spans, file, takes_part, argument, stopper, failure);
    for (size_t track = 0; track < file->tracks.count && done; track++)
        done = stopper_ask(stopper, failure) &&
               sort_items(spans->items + spans->first[track],
                          spans->first[track + 1] - spans->first[track], sizeof *spans->items,
                          span_order, stopper, failure);
    return done;
}

void spans_clear(struct spans *spans)
{
    memory_free(spans->items);
    memory_free(spans->first);
    *spans = (struct spans){NULL, NULL};
}
