#include "sort.h"

#include <string.h>

#include "../reader/memory.h"

enum { RUN = 24 /* items sorted by insertion */ };

/* Insertion sort, in place, for a few items. */
static void insert(char *items, size_t count, size_t size, int (*order)(const void *, const void *),
                   char *spare)
{
    for (size_t i = 1; i < count; i++) {
        size_t to = i;
        while (to > 0 && order(items + (to - 1) * size, items + i * size) > 0)
            to--;
        if (to == i)
            continue;
        memcpy(spare, items + i * size, size);
        memmove(items + (to + 1) * size, items + to * size, (i - to) * size);
        memcpy(items + to * size, spare, size);
    }
}

/* Merges two adjacent runs; `*steps` counts for the stopper. */
static bool merge(const char *a, size_t a_count, size_t b_count, char *to, size_t size,
                  int (*order)(const void *, const void *), const struct stopper *stopper,
                  size_t *steps, struct failure *failure)
{
    const char *b = a + a_count * size, *a_end = b, *b_end = b + b_count * size;
    while (a < a_end && b < b_end) {
        const char **least = order(b, a) < 0 ? &b : &a;
        memcpy(to, *least, size);
        *least += size;
        to += size;
        if (!stopper_goes_on(stopper, (*steps)++, failure))
            return false;
    }
    memcpy(to, a, (size_t)(a_end - a));
    memcpy(to + (a_end - a), b, (size_t)(b_end - b));
    return true;
}

bool sort_items(void *items, size_t count, size_t size, int (*order)(const void *, const void *),
                const struct stopper *stopper, struct failure *failure)
{
    size_t steps = 0;
    size_t ordered = 1;
    for (const char *p = items; ordered < count && order(p, p + size) <= 0; p += size)
        if (!stopper_goes_on(stopper, ordered++, failure))
            return false;
    if (ordered >= count)
        return true;
    char *spare = memory_allocate(count * size); /* cannot overflow: there are as many items */
    if (!spare)
        return failure_memory(failure);
    char *from = items, *to = spare;
    for (size_t i = 0; i < count && failure->code == FAILURE_NONE; i += RUN) {
        insert(from + i * size, count - i < RUN ? count - i : RUN, size, order, spare);
        for (int item = 0; item < RUN; item++)
            if (!stopper_goes_on(stopper, steps++, failure))
                break;
    }
    for (size_t run = RUN; run < count && failure->code == FAILURE_NONE; run *= 2) {
        for (size_t i = 0; i < count && failure->code == FAILURE_NONE; i += 2 * run) {
            size_t a = count - i < run ? count - i : run;
            size_t b = count - i - a < run ? count - i - a : run;
            merge(from + i * size, a, b, to + i * size, size, order, stopper, &steps, failure);
        }
        if (failure->code == FAILURE_NONE) {
            char *next = from;
            from = to;
            to = next;
        }
    }
    if (from != (char *)items)
        memcpy(items, from, count * size);
    memory_free(spare);
    return failure->code == FAILURE_NONE;
}
