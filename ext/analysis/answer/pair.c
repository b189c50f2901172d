#include "pair.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "file/columns.h"
#include "thresholds.h"

bool pair_add(struct pair *pair, int side, const struct pair_window *window)
{
    struct pair_side *to = &pair->sides[side];
    if (pair->strata.count == 0 && names_intern(&pair->strata, "", 0) == NAME_NONE)
        return false;
    uint32_t stratum = names_intern(&pair->strata, window->stratum, window->stratum_length);
    if (stratum == NAME_NONE || !MEMORY_GROW(to->steps, to->capacity, to->count + 1))
        return false;
    to->steps[to->count++] = (struct pair_step){.iteration = window->iteration,
                                                .windows = 1,
                                                .ns = window->ns,
                                                .low = window->ns,
                                                .high = window->ns,
                                                .rank = window->rank,
                                                .silent = window->silent,
                                                .compiling = window->compiling,
                                                .of_host = window->of_host,
                                                .first_stratum = stratum,
                                                .last_stratum = stratum};
    return true;
}

static int step_order(const void *a, const void *b)
{
    const struct pair_step *x = a, *y = b;
    return COMPARE(x->iteration, y->iteration);
}

static uint32_t of_strata(const struct pair *pair, uint32_t a, uint32_t b, bool last)
{
    int order = name_compare(&pair->strata.items[a], &pair->strata.items[b]);
    return (order < 0) == last ? b : a;
}

/* Adds a window to the step of its iteration. */
static void join(const struct pair *pair, struct pair_step *step, const struct pair_step *window)
{
    step->windows++;
    step->ns += window->ns;
    step->low = window->low < step->low ? window->low : step->low;
    step->high = window->high > step->high ? window->high : step->high;
    step->rank = window->rank < step->rank ? window->rank : step->rank;
    step->silent += window->silent;
    step->compiling += window->compiling;
    step->of_host = step->of_host || window->of_host;
    step->first_stratum = of_strata(pair, step->first_stratum, window->first_stratum, false);
    step->last_stratum = of_strata(pair, step->last_stratum, window->last_stratum, true);
}

static bool join_windows(struct pair *pair, struct pair_side *side, const struct stopper *stopper,
                         struct failure *failure)
{
    size_t count = 0;
    if (!sort_items(side->steps, side->count, sizeof *side->steps, step_order, stopper, failure))
        return false;
    for (size_t i = 0; i < side->count; i++)
        if (count > 0 && side->steps[count - 1].iteration == side->steps[i].iteration)
            join(pair, &side->steps[count - 1], &side->steps[i]);
        else
            side->steps[count++] = side->steps[i];
    side->count = count;
    for (size_t i = 0; i < count; i++)
        side->steps[i].ms = quotient(side->steps[i].ns, side->steps[i].windows) / 1e6;
    return true;
}

static int number_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return COMPARE(*x, *y);
}

double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, number_order);
    return count == 0 ? 0 : (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Longest first. */
static int longer_order(const void *a, const void *b)
{
    const struct pair_step *x = *(struct pair_step *const *)a, *y = *(struct pair_step *const *)b;
    return x->ms != y->ms ? COMPARE(y->ms, x->ms) : COMPARE(x->iteration, y->iteration);
}

bool pair_step_compiles(const struct pair_step *step)
{
    return step->compiling >= COMPILE_LEAST_NS &&
           (double)step->compiling >= COMPILE_PART * (double)step->ns;
}

size_t pair_compiling(const struct pair_side *side, double *others)
{
    wide_time ns = 0;
    int64_t windows = 0;
    size_t count = 0;
    for (size_t i = 0; i < side->count; i++) {
        bool compiles = pair_step_compiles(&side->steps[i]);
        count += compiles;
        ns += compiles ? 0 : side->steps[i].ns;
        windows += compiles ? 0 : side->steps[i].windows;
    }
    *others = windows > 0 ? quotient(ns, windows) / 1e6 : NAN;
    return count;
}

/* C1: marks the outliers of a side. */
static void mark_outliers(struct pair_side *side, double *room, struct pair_step **longest)
{
    size_t most = (size_t)((double)side->count * OUTLIER_PART);
    for (size_t i = 0; i < side->count; i++) {
        longest[i] = &side->steps[i];
        room[i] = side->steps[i].ms;
    }
    double median = median_of(room, side->count);
    for (size_t i = 0; i < side->count; i++)
        room[i] = fabs(side->steps[i].ms - median);
    double from = median + OUTLIER_DEVIATIONS * median_of(room, side->count);
    qsort(longest, side->count, sizeof *longest, longer_order);
    for (most = most > 1 ? most : 1; side->left_out < most; side->left_out++) {
        struct pair_step *step = longest[side->left_out];
        if (!(step->ms > from) || !(step->ms > OUTLIER_RATIO * median))
            return;
        step->is_out = true;
    }
}

static void sum_up(struct pair_side *side, double *room)
{
    wide_time ns = 0, low = 0, high = 0;
    int64_t windows = 0;
    size_t kept = 0;
    for (size_t i = 0; i < side->count; i++) {
        const struct pair_step *step = &side->steps[i];
        side->all_ns += step->ns;
        side->all_silent += step->silent;
        side->all_compiling += step->compiling;
        side->all_windows += step->windows;
        side->ranks = step->windows > side->ranks ? step->windows : side->ranks;
        side->lowest_rank =
            i == 0 || step->rank < side->lowest_rank ? step->rank : side->lowest_rank;
        side->of_host = side->of_host || step->of_host;
        if (step->is_out)
            continue;
        ns += step->ns;
        windows += step->windows;
        side->windows += step->iteration != NUMBER_NONE ? step->windows : 0;
        low = kept == 0 || step->low < low ? step->low : low;
        high = kept == 0 || step->high > high ? step->high : high;
        room[kept++] = step->ms;
    }
    if (kept == 0)
        return;
    side->mean = quotient(ns, windows) / 1e6;
    side->low = quotient(low, 1) / 1e6;
    side->high = quotient(high, 1) / 1e6;
    side->median = median_of(room, kept);
}

static void count_strata(struct pair *pair, bool *seen, bool *one)
{
    uint32_t first = NAME_NONE;
    *one = true;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < pair->sides[side].count; i++) {
            const struct pair_step *step = &pair->sides[side].steps[i];
            first = first == NAME_NONE ? step->first_stratum : first;
            *one = *one && step->first_stratum == first && step->last_stratum == first;
            pair->strata_count += !seen[step->first_stratum];
            seen[step->first_stratum] = true;
        }
}

bool pair_finish(struct pair *pair, const bool *whole, const struct stopper *stopper,
                 struct failure *failure)
{
    bool one;
    for (int side = 0; side < 2; side++)
        if (!join_windows(pair, &pair->sides[side], stopper, failure))
            return false;
    size_t most =
        pair->sides[0].count > pair->sides[1].count ? pair->sides[0].count : pair->sides[1].count;
    double *room = memory_items(most, sizeof *room);
    struct pair_step **longest = memory_items(most, sizeof *longest);
    bool *seen = memory_zeroed(pair->strata.count, sizeof *seen);
    bool done = (room && longest && seen) || failure_memory(failure);
    if (done) {
        double unused;
        count_strata(pair, seen, &one);
        one = one && pair_compiling(&pair->sides[0], &unused) == 0 && /* CL13 */
              pair_compiling(&pair->sides[1], &unused) == 0;
        for (int side = 0; side < 2; side++) {
            if (one && !whole[side] && pair->sides[side].count >= OUTLIER_STEPS)
                mark_outliers(&pair->sides[side], room, longest);
            sum_up(&pair->sides[side], room);
        }
    }
    memory_free(room);
    memory_free(longest);
    memory_free(seen);
    return done;
}

bool pair_is_equal(const struct pair *pair)
{
    const struct pair_side *control = &pair->sides[0], *test = &pair->sides[1];
    return control->count > 0 && test->count > 0 &&
           control->all_ns * test->all_windows == test->all_ns * control->all_windows;
}

void pair_clear(struct pair *pair)
{
    for (int side = 0; side < 2; side++)
        memory_free(pair->sides[side].steps);
    names_clear(&pair->strata);
    *pair = (struct pair){.strata_count = 0};
}
