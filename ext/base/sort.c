#include "sort.h"

#include <string.h>

#include "memory.h"

enum { RUN = 24 /* items sorted by insertion */ };

/* A sort: items, and where their sorted runs end. */
struct sort {
    size_t size;
    int (*compare)(const void *, const void *);
    const struct stopper *stopper;
    struct failure *failure;
    size_t *ends; /* indexes after the last item of each run */
    size_t runs;
    size_t steps; /* for the stopper */
};

/* Insertion sort, in place, for a few items. */
static bool insert(struct sort *sort, char *items, size_t count, char *spare)
{
    size_t size = sort->size;
    for (size_t i = 1; i < count; i++) {
        size_t to = i;
        if (!stopper_goes_on(sort->stopper, sort->steps++, sort->failure))
            return false;
        while (to > 0 && sort->compare(items + (to - 1) * size, items + i * size) > 0)
            to--;
        if (to == i)
            continue;
        memcpy(spare, items + i * size, size);
        memmove(items + (to + 1) * size, items + to * size, (i - to) * size);
        memcpy(items + to * size, spare, size);
    }
    return true;
}

/* Finds the runs that are in order already. Makes short ones longer. */
static bool find_runs(struct sort *sort, char *items, size_t count, char *spare)
{
    size_t size = sort->size, end;
    for (size_t first = 0; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (!stopper_goes_on(sort->stopper, sort->steps++, sort->failure))
                return false;
            else if (sort->compare(items + (end - 1) * size, items + end * size) > 0)
                break;
        if (end - first < RUN) {
            end = count - first < RUN ? count : first + RUN;
            if (!insert(sort, items + first * size, end - first, spare))
                return false;
        }
        sort->ends[sort->runs++] = end;
    }
    return true;
}

/* Merges two adjacent runs. Inlined, so that copies of a known size are moves. */
static inline __attribute__((always_inline)) bool
merge(struct sort *sort, const char *a, const char *b, const char *b_end, char *to, size_t size)
{
    const char *a_end = b;
    while (a < a_end && b < b_end) {
        const char **least = sort->compare(b, a) < 0 ? &b : &a;
        memcpy(to, *least, size);
        *least += size;
        to += size;
        if (!stopper_goes_on(sort->stopper, sort->steps++, sort->failure))
            return false;
    }
    memcpy(to, a, (size_t)(a_end - a));
    memcpy(to + (a_end - a), b, (size_t)(b_end - b));
    return true;
}

/* Merges each run with the next one. */
static bool merge_runs(struct sort *sort, const char *from, char *to)
{
    size_t size = sort->size, first = 0, made = 0;
    bool done = true;
    for (size_t i = 0; i < sort->runs && done; i += 2) {
        size_t middle = sort->ends[i], end = sort->ends[i + 1 < sort->runs ? i + 1 : i];
        const char *a = from + first * size, *b = from + middle * size, *b_end = from + end * size;
        done = size == 16   ? merge(sort, a, b, b_end, to + first * size, 16)
               : size == 24 ? merge(sort, a, b, b_end, to + first * size, 24)
                            : merge(sort, a, b, b_end, to + first * size, size);
        sort->ends[made++] = first = end;
    }
    sort->runs = made;
    return done;
}

bool sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *),
                const struct stopper *stopper, struct failure *failure)
{
    struct sort sort = {.size = size, .compare = compare, .stopper = stopper, .failure = failure};
    size_t ordered = 1;
    for (const char *p = items; ordered < count && compare(p, p + size) <= 0; p += size)
        if (!stopper_goes_on(stopper, ordered++, failure))
            return false;
    if (ordered >= count)
        return true;
    char *spare = memory_items(count, size);
    sort.ends = memory_items(count / RUN + 1, sizeof *sort.ends);
    char *from = items, *to = spare;
    bool done = (spare && sort.ends) || failure_memory(failure);
    done = done && find_runs(&sort, items, count, spare);
    while (done && sort.runs > 1) {
        done = merge_runs(&sort, from, to);
        if (done) {
            char *next = from;
            from = to;
            to = next;
        }
    }
    if (spare && from != (char *)items)
        memcpy(items, from, count * size);
    memory_free(spare);
    memory_free(sort.ends);
    return done;
}

enum { DIGIT = 11 /* bits */, DIGITS = 1 << DIGIT };

static inline int64_t number_of(const char *item)
{
    int64_t number;
    memcpy(&number, item, sizeof number);
    return number;
}

/* The digit of a number's distance from the least one. */
static inline size_t digit_of(const char *item, int64_t least, unsigned shift)
{
    return ((uint64_t)number_of(item) - (uint64_t)least) >> shift & (DIGITS - 1);
}

/* Moves items to where they go by a digit. Inlined, so that copies of a known size are moves. */
static inline __attribute__((always_inline)) void
pass_digit(const char *items, size_t count, size_t size, char *to, int64_t least, unsigned shift)
{
    size_t next[DIGITS] = {0}, total = 0;
    for (size_t i = 0; i < count; i++)
        next[digit_of(items + i * size, least, shift)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t here = next[digit];
        next[digit] = total;
        total += here;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(to + next[digit_of(items + i * size, least, shift)]++ * size, items + i * size,
               size);
}

bool sort_numbered(void *items, size_t count, size_t size, const struct stopper *stopper,
                   struct failure *failure)
{
    int64_t least = INT64_MAX, most = INT64_MIN, last = INT64_MIN;
    bool ordered = true, done = true;
    for (size_t i = 0; i < count; i++) {
        int64_t number = number_of((const char *)items + i * size);
        ordered = ordered && last <= number;
        least = number < least ? number : least;
        most = number > most ? number : most;
        last = number;
    }
    if (ordered)
        return true;
    char *spare = memory_items(count, size), *from = items, *to = spare;
    if (!spare)
        return failure_memory(failure);
    uint64_t range = (uint64_t)most - (uint64_t)least;
    for (unsigned shift = 0; done && shift < 64 && range >> shift > 0; shift += DIGIT) {
        if (size == 16)
            pass_digit(from, count, 16, to, least, shift);
        else if (size == 8)
            pass_digit(from, count, 8, to, least, shift);
        else
            pass_digit(from, count, size, to, least, shift);
        char *next = from;
        from = to;
        to = next;
        done = stopper_ask(stopper, failure);
    }
    if (from != (char *)items)
        memcpy(items, from, count * size);
    memory_free(spare);
    return done;
}
