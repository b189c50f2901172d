#include "intervals.h"

#include <string.h>

#include "base/memory.h"

bool intervals_add(struct intervals *intervals, wide_time start, wide_time end)
{
    struct interval *last = intervals->count > 0 ? &intervals->items[intervals->count - 1] : NULL;
    if (last && start >= last->start && start <= last->end) {
        last->end = end > last->end ? end : last->end;
        return true;
    }
    intervals->unsorted = intervals->unsorted || (last && start < last->start);
    if (!MEMORY_GROW(intervals->items, intervals->capacity, intervals->count + 1))
        return false;
    intervals->items[intervals->count++] = (struct interval){start, end};
    return true;
}

static int interval_order(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return COMPARE(x->start, y->start);
}

bool intervals_merge(struct intervals *intervals, const struct stopper *stopper,
                     struct failure *failure)
{
    size_t merged = 0;
    if (!intervals->unsorted)
        return true;
    if (!sort_items(intervals->items, intervals->count, sizeof *intervals->items, interval_order,
                    stopper, failure))
        return false;
    for (size_t i = 1; i < intervals->count; i++) {
        struct interval *last = &intervals->items[merged], *next = &intervals->items[i];
        if (next->start > last->end)
            intervals->items[++merged] = *next;
        else if (next->end > last->end)
            last->end = next->end;
    }
    intervals->count = merged + 1;
    intervals->unsorted = false;
    return true;
}

wide_time intervals_length(const struct intervals *intervals)
{
    wide_time length = 0;
    for (size_t i = 0; i < intervals->count; i++)
        length += (wide_time)intervals->items[i].end - intervals->items[i].start;
    return length;
}

wide_time intervals_common(const struct intervals *a, const struct intervals *b)
{
    wide_time length = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct interval *x = &a->items[i], *y = &b->items[j];
        wide_time start = x->start > y->start ? x->start : y->start;
        wide_time end = x->end < y->end ? x->end : y->end;
        if (end > start)
            length += end - start;
        if (x->end < y->end)
            i++;
        else
            j++;
    }
    return length;
}

void intervals_clear(struct intervals *intervals)
{
    memory_free(intervals->items);
    memset(intervals, 0, sizeof *intervals);
}
