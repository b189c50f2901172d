#include "changes.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Values that differ by less than this fraction count as equal, because rounding would decide which
** is greater. The earliest of equal values wins. */
static const double rounding = 1e-10;

struct search {
    wide_number *values; /* values of the series */
    size_t count;
    const struct change_options *options;
    double weak;               /* greatest p of a weak change */
    wide_number *whole, *rest; /* sums for one window, with one more entry; owned */
    bool *cut;                 /* by value: whether a weak change cuts here; owned */
    size_t round;              /* for the stopper */
    const struct stopper *stopper;
    struct failure *failure;
};

/* Returns the energy statistic: n m / (n + m) times (twice the mean distance between the first n
** values and the next m, minus the mean distances within each). `first`, `second` and `both` are
** sums of distances over the pairs in the first part, in the second, and in both together. */
static wide_number energy(size_t n, size_t m, wide_number first, wide_number second,
                          wide_number both)
{
    wide_number a = (wide_number)n, b = (wide_number)m;
    return 2 / (a + b) * (both - first - second - b / (a - 1) * first - a / (b - 1) * second);
}

/* Sets `*at` to the best split of [start, end) (changes.h, rule 1), or to `end`. While i runs back
** from the end, rest[j] is the sum of distances within [i, j), and whole[j] within [start, j). */
static bool best_split(struct search *it, size_t start, size_t end, size_t *at)
{
    const wide_number *values = it->values + start;
    size_t count = end - start;
    wide_number *whole = it->whole, *rest = it->rest, best = 0;
    *at = end;
    memset(rest, 0, (count + 1) * sizeof *rest);
    whole[0] = 0;
    for (size_t j = 0; j < count; j++) {
        whole[j + 1] = whole[j];
        for (size_t i = 0; i < j; i++) {
            whole[j + 1] += fabsl(values[i] - values[j]);
            if (!stopper_goes_on(it->stopper, it->round++, it->failure))
                return false;
        }
    }
    for (size_t i = count; i-- > LEAST_PIECE;) {
        wide_number sum = 0, greatest = 0;
        for (size_t j = i + 1; j < count; j++) {
            sum += fabsl(values[i] - values[j]);
            rest[j + 1] += sum;
            greatest = fmaxl(greatest, energy(i, j + 1 - i, whole[i], rest[j + 1], whole[j + 1]));
            if (!stopper_goes_on(it->stopper, it->round++, it->failure))
                return false;
        }
        if (greatest > 0 && greatest >= best * (1 - rounding)) {
            best = fmaxl(best, greatest);
            *at = start + i;
        }
    }
    return true;
}

/* Runs Student's test on two pieces of the series. */
static bool test_pieces(const struct search *it, size_t start, size_t at, size_t next, size_t end,
                        struct change *change)
{
    struct sample left = {.values = it->values + start, .count = at - start};
    struct sample right = {.values = it->values + next, .count = end - next};
    struct t_tests found;
    if (!t_tests(&left, &right, &found, it->stopper, it->failure))
        return false;
    change->before = found.control_mean;
    change->after = found.test_mean;
    change->diff = found.diff;
    change->p = found.pooled.known ? found.pooled.p : found.diff == 0;
    return true;
}

/* Returns the index of a piece's greatest or least value. */
static size_t extreme(const struct search *it, size_t start, size_t end, bool greatest)
{
    size_t found = start;
    for (size_t i = start; i < end; i++)
        if (greatest ? it->values[i] > it->values[found] : it->values[i] < it->values[found])
            found = i;
    return found;
}

static void swap(wide_number *a, wide_number *b)
{
    wide_number value = *a;
    *a = *b;
    *b = value;
}

/* Tests a change again for its current `start`, `at` and `end` (rule 3). */
static bool test_change(struct search *it, struct change *change)
{
    struct change without = {0};
    size_t last = change->at - 1, first = change->at;
    if (!test_pieces(it, change->start, change->at, change->at, change->end, change))
        return false;
    size_t left = extreme(it, change->start, change->at, change->diff < 0);
    size_t right = extreme(it, change->at, change->end, change->diff > 0);
    swap(&it->values[left], &it->values[last]);
    bool done = test_pieces(it, change->start, last, first, change->end, &without);
    swap(&it->values[left], &it->values[last]);
    change->p = fmax(change->p, without.p);
    swap(&it->values[right], &it->values[first]);
    done = done && test_pieces(it, change->start, first, first + 1, change->end, &without);
    swap(&it->values[right], &it->values[first]);
    change->p = fmax(change->p, without.p);
    return done;
}

/* Cuts [start, end) at its weak changes. `*last` becomes the last cut, or `start`. */
static bool cut_window(struct search *it, size_t start, size_t end, size_t *last)
{
    for (*last = start; start < end;) {
        size_t next = start + 1, at;
        struct change change = {.p = 1};
        while (next < end && !it->cut[next])
            next++;
        if (!best_split(it, start, next, &at) ||
            (at < next && !test_pieces(it, start, at, at, next, &change)))
            return false;
        if (at < next && change.p <= it->weak) {
            it->cut[at] = true;
            *last = at > *last ? at : *last;
        } else {
            start = next;
        }
    }
    return true;
}

static bool cut_series(struct search *it)
{
    size_t window = it->options->window;
    for (size_t start = 0, last; start < it->count;) {
        size_t end = it->count - start > window ? start + window : it->count;
        if (!cut_window(it, start, end, &last))
            return false;
        start += window / 2;
        start = last > start ? last : start;
    }
    return true;
}

/* Returns the change in percent of the smaller mean. */
static double magnitude(const struct change *change)
{
    return 100 * fabs(change->diff) / fmin(fabs(change->before), fabs(change->after));
}

/* Drops changes that are not significant or too small (rule 2). */
static bool drop_changes(struct search *it, struct changes *changes)
{
    struct change *items = changes->items;
    while (changes->count > 0) {
        size_t drop = 0, least = 0;
        for (size_t i = 0; i < changes->count; i++) {
            if (!stopper_goes_on(it->stopper, it->round++, it->failure))
                return false;
            drop = items[i].p * (1 - rounding) > items[drop].p ? i : drop;
            least = magnitude(&items[i]) < magnitude(&items[least]) * (1 - rounding) ? i : least;
        }
        if (items[drop].p < it->options->significance) {
            if (magnitude(&items[least]) >= it->options->min_pct)
                break;
            drop = least;
        }
        struct change dropped = items[drop];
        changes->count--;
        memmove(items + drop, items + drop + 1, (changes->count - drop) * sizeof *items);
        if (drop > 0) {
            items[drop - 1].end = dropped.end;
            if (!test_change(it, &items[drop - 1]))
                return false;
        }
        if (drop < changes->count) {
            items[drop].start = dropped.start;
            if (!test_change(it, &items[drop]))
                return false;
        }
    }
    return true;
}

/* Turns the cuts into changes. */
static bool list_changes(struct search *it, struct changes *changes)
{
    size_t count = 0, start = 0;
    for (size_t at = 1; at < it->count; at++)
        count += it->cut[at];
    if (count == 0)
        return true;
    changes->items = memory_zeroed(count, sizeof *changes->items);
    if (!changes->items)
        return failure_memory(it->failure);
    for (size_t at = 1; at < it->count; at++)
        if (it->cut[at]) {
            changes->items[changes->count++] = (struct change){.start = start, .at = at};
            start = at;
        }
    for (size_t i = 0; i < count; i++) {
        changes->items[i].end = i + 1 < count ? changes->items[i + 1].at : it->count;
        if (!test_change(it, &changes->items[i]))
            return false;
    }
    return true;
}

bool find_changes(struct sample *series, const struct change_options *options,
                  struct changes *changes, const struct stopper *stopper, struct failure *failure)
{
    double level = options->significance;
    size_t most = series->count < options->window ? series->count : options->window;
    struct search it = {.values = series->values,
                        .count = series->count,
                        .options = options,
                        .weak = level < 0.05  ? 10 * level
                                : level < 0.5 ? 2 * level
                                              : level,
                        .whole = memory_zeroed(most + 1, sizeof *it.whole),
                        .rest = memory_zeroed(most + 1, sizeof *it.rest),
                        .cut = memory_zeroed(series->count + 1, sizeof *it.cut),
                        .stopper = stopper,
                        .failure = failure};
    memset(changes, 0, sizeof *changes);
    bool done = it.whole && it.rest && it.cut
                    ? cut_series(&it) && list_changes(&it, changes) && drop_changes(&it, changes)
                    : failure_memory(failure);
    memory_free(it.whole);
    memory_free(it.rest);
    memory_free(it.cut);
    if (!done) {
        memory_free(changes->items);
        memset(changes, 0, sizeof *changes);
    }
    return done;
}
