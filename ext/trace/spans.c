#include "spans.h"

#include "../reader/memory.h"

int64_t span_end(const struct span *span)
{
    return span->start + span->dur;
}

static int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->dur != y->dur)
        return x->dur > y->dur ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
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

/* Sorts a thread; most are in order already. `*steps` counts the spans of all threads, so that
** the stopper is asked now and then even if each thread is short. */
static bool sort_thread(struct span *items, size_t count, size_t *steps,
                        const struct stopper *stopper, struct failure *failure)
{
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        if (!stopper_goes_on(stopper, (*steps)++, failure))
            return false;
        sorted = sorted && (i == 0 || span_order(&items[i - 1], &items[i]) <= 0);
    }
    return sorted || sort_items(items, count, sizeof *items, span_order, stopper, failure);
}

bool spans_make(struct spans *spans, const struct trace_file *file,
                bool (*takes_part)(void *argument, size_t row), void *argument,
                const struct stopper *stopper, struct failure *failure)
{
    *spans = (struct spans){.first = memory_zeroed(file->tracks.count + 2, sizeof *spans->first)};
    if (!spans->first)
        return failure_memory(failure);
    size_t steps = 0;
    bool done = collect_spans(spans, file, takes_part, argument, stopper, failure);
    for (size_t track = 0; track < file->tracks.count && done; track++)
        done = sort_thread(spans->items + spans->first[track],
                           spans->first[track + 1] - spans->first[track], &steps, stopper, failure);
    return done;
}

void spans_clear(struct spans *spans)
{
    memory_free(spans->items);
    memory_free(spans->first);
    *spans = (struct spans){NULL, NULL};
}
