#include "spans.h"

#include "base/memory.h"
#include "base/wide.h"
#include "order.h"

void span_put(struct span *spans, size_t *count, int64_t start, int64_t end, uint32_t row)
{
    if ((wide_time)end - start > INT64_MAX) {
        spans[(*count)++] = (struct span){start, -start, row};
        start = 0;
    }
    spans[(*count)++] = (struct span){start, end - start, row};
}

int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(y->dur, x->dur);
}

/* Marks the rows that take part, and counts them by thread. NULL on failure. */
static bool *take_rows(const struct trace_file *file, size_t *counts,
                       bool (*takes_part)(void *argument, size_t row), void *argument,
                       const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    bool *taken = memory_items(columns->count, sizeof *taken);
    bool done = taken || failure_memory(failure);
    for (size_t row = 0; row < columns->count && done; row++) {
        taken[row] = takes_part(argument, row);
        counts[row_place(columns, row)->track] += taken[row];
        done = stopper_goes_on(stopper, row, failure);
    }
    if (done)
        return taken;
    memory_free(taken);
    return NULL;
}

/* Groups the events by thread. Each thread is in file order, or in ORDER_SPANS if that is requested
** and already derived. */
static bool collect_spans(struct spans *spans, const struct trace_file *file,
                          bool (*takes_part)(void *argument, size_t row), void *argument,
                          const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    const uint32_t *order = file->orders[ORDER_SPANS];
    size_t total = 0, *next = spans->first + 1; /* by track, while spans are filled in */
    bool *taken = take_rows(file, next, takes_part, argument, stopper, failure), done = taken;
    for (size_t track = 0; track <= file->tracks.count; track++) {
        size_t count = next[track];
        next[track] = total;
        total += count;
    }
    if (done)
        spans->items = memory_items(total, sizeof *spans->items);
    done = done && (spans->items || failure_memory(failure));
    for (size_t i = 0; i < columns->count && done; i++) {
        uint32_t row = order ? order[i] : (uint32_t)i;
        done = stopper_goes_on(stopper, i, failure);
        if (!taken[row])
            continue;
        int64_t dur = columns->dur[row] == NUMBER_NONE ? 0 : columns->dur[row];
        spans->items[next[row_place(columns, row)->track]++] =
            (struct span){columns->ts[row], dur, row};
    }
    memory_free(taken);
    return done;
}

bool spans_make(struct spans *spans, const struct trace_file *file,
                bool (*takes_part)(void *argument, size_t row), void *argument,
                const struct stopper *stopper, struct failure *failure)
{
    *spans = (struct spans){.first = memory_zeroed(file->tracks.count + 2, sizeof *spans->first)};
    if (!spans->first)
        return failure_memory(failure);
    bool done = collect_spans(spans, file, takes_part, argument, stopper, failure);
    bool ordered = file->orders[ORDER_SPANS] != NULL;
    for (size_t track = 0; track < file->tracks.count && done && !ordered; track++)
        done = stopper_ask(stopper, failure) &&
               sort_items(spans->items + spans->first[track],
                          spans->first[track + 1] - spans->first[track], sizeof *spans->items,
                          span_order, stopper, failure);
    return done;
}

void span_line_add(struct span_line *line, int64_t start, uint32_t row)
{
    struct span_change *last = line->count > 0 ? &line->items[line->count - 1] : NULL;
    if (last && last->start == start)
        last->row = row;
    else
        line->items[line->count++] = (struct span_change){start, row};
}

/* Closes the open spans that have ended by `now`, innermost (last) first. An ended outer span is
** dropped only once it is the last. */
static size_t close_open(struct span_line *line, const struct span **open, size_t count,
                         int64_t now)
{
    while (count > 0 && span_end(open[count - 1]) <= now) {
        int64_t end = span_end(open[--count]);
        while (count > 0 && span_end(open[count - 1]) <= end)
            count--;
        span_line_add(line, end, count > 0 ? open[count - 1]->row : ROW_NONE);
    }
    return count;
}

bool span_line_innermost(struct span_line *line, const struct span *spans, size_t count,
                         const struct stopper *stopper, struct failure *failure)
{
    size_t open_count = 0;
    const struct span **open = memory_items(count, sizeof *open);
    bool done = open || failure_memory(failure);
    for (size_t i = 0; done && i < count; i++) {
        open_count = close_open(line, open, open_count, spans[i].start);
        open[open_count++] = &spans[i];
        span_line_add(line, spans[i].start, spans[i].row);
        done = stopper_goes_on(stopper, i, failure);
    }
    if (done)
        (void)close_open(line, open, open_count, INT64_MAX);
    memory_free(open);
    return done;
}

void spans_clear(struct spans *spans)
{
    memory_free(spans->items);
    memory_free(spans->first);
    *spans = (struct spans){NULL, NULL};
}
