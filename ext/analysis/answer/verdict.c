#include "verdict.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort.h"
#include "thresholds.h"

struct ranked_step {
    uint32_t stratum;
    int side;
    double ms;
};

/* The steps of both sides in one stratum, in ms. */
struct stratum {
    size_t steps[2];
    double sum[2], median[2];
    double longer; /* pairs of steps where test's is longer; equal ones count as a half */
};

static int ranked_order(const void *a, const void *b)
{
    const struct ranked_step *x = a, *y = b;
    return x->stratum != y->stratum ? COMPARE(x->stratum, y->stratum) : COMPARE(x->ms, y->ms);
}

/* Returns the steps of both sides by stratum, then length; NULL on failure. */
static struct ranked_step *rank_steps(const struct pair *pair, size_t *count,
                                      const struct stopper *stopper, struct failure *failure)
{
    struct ranked_step *ranked =
        memory_items(pair->sides[0].count + pair->sides[1].count, sizeof *ranked);
    *count = 0;
    for (int side = 0; side < 2 && ranked; side++)
        for (size_t i = 0; i < pair->sides[side].count; i++) {
            const struct pair_step *step = &pair->sides[side].steps[i];
            ranked[(*count)++] = (struct ranked_step){step->first_stratum, side, step->ms};
        }
    if (ranked ? sort_items(ranked, *count, sizeof *ranked, ranked_order, stopper, failure)
               : failure_memory(failure))
        return ranked;
    memory_free(ranked);
    return NULL;
}

/* Sums up a stratum. Its steps are sorted by length. */
static struct stratum stratum_of(const struct ranked_step *steps, size_t count, double *room)
{
    struct stratum stratum = {.longer = 0};
    for (size_t i = 0, from = 0; i < count; from = i) {
        size_t equal[2] = {0, 0};
        for (; i < count && steps[i].ms == steps[from].ms; i++)
            equal[steps[i].side]++;
        stratum.longer += (double)equal[1] * ((double)stratum.steps[0] + (double)equal[0] / 2);
        for (int side = 0; side < 2; side++) {
            stratum.steps[side] += equal[side];
            stratum.sum[side] += (double)equal[side] * steps[from].ms;
        }
    }
    for (int side = 0; side < 2; side++) {
        size_t own = 0;
        for (size_t i = 0; i < count; i++)
            if (steps[i].side == side)
                room[own++] = steps[i].ms;
        stratum.median[side] = median_of(room, own);
    }
    return stratum;
}

/* Numbers of test's steps in slower strata, in faster strata and in all strata that are large
** enough, and the difference at equal sizes. */
struct strata_sums {
    double slower, faster, known, diff;
};

static void add_stratum(struct strata_sums *sums, const struct stratum *of, const struct pair *pair)
{
    const double *median = of->median;
    double own[2];
    if (of->steps[0] == 0 || of->steps[1] == 0)
        return;
    for (int side = 0; side < 2; side++)
        own[side] = (double)of->steps[side];
    sums->diff += (of->sum[1] / own[1] - of->sum[0] / own[0]) *
                  (own[0] / (double)pair->sides[0].count + own[1] / (double)pair->sides[1].count);
    if (of->steps[0] < STRATUM_STEPS || of->steps[1] < STRATUM_STEPS)
        return;
    double pairs = own[0] * own[1], most = STRATUM_PAIRS * pairs;
    sums->known += own[1];
    if (median[1] >= STRATUM_RATIO * median[0] && of->longer >= most)
        sums->slower += own[1];
    if (median[0] >= STRATUM_RATIO * median[1] && pairs - of->longer >= most)
        sums->faster += own[1];
}

/* C5: finds the verdict over strata. */
static bool judge_sizes(struct pair_verdict *verdict, const struct pair *pair,
                        const struct stopper *stopper, struct failure *failure)
{
    struct strata_sums sums = {.known = 0};
    size_t count;
    struct ranked_step *ranked = rank_steps(pair, &count, stopper, failure);
    double *room = ranked ? memory_items(count, sizeof *room) : NULL;
    if (!room) {
        memory_free(ranked);
        return failure_memory(failure);
    }
    for (size_t i = 0, from = 0; i < count; from = i) {
        while (i < count && ranked[i].stratum == ranked[from].stratum)
            i++;
        const struct stratum stratum = stratum_of(ranked + from, i - from, room);
        add_stratum(&sums, &stratum, pair);
    }
    memory_free(room);
    memory_free(ranked);
    if (sums.slower > 0 && sums.faster == 0 && sums.diff >= 0)
        verdict->is = VERDICT_SLOWER;
    else if (sums.faster > 0 && sums.slower == 0 && sums.diff <= 0)
        verdict->is = VERDICT_FASTER;
    else
        return true;
    verdict->of =
        fmax(sums.slower, sums.faster) < STRATA_PART * sums.known ? OF_SOME_SIZES : OF_LIKE_SIZES;
    return true;
}

/* C4: whether only some steps of test are slower. */
static bool is_slower_in_some(const struct pair *pair, struct pair_verdict *verdict)
{
    const struct pair_side *control = &pair->sides[0], *test = &pair->sides[1];
    int64_t slow = 0, within = 0, kept = 0,
            steps = test->windows / (test->ranks > 0 ? test->ranks : 1);
    double shortest = INFINITY, longest = 0; /* of the slow steps; of the others */
    for (size_t i = 0; i < test->count; i++) {
        double ms = test->steps[i].ms;
        if (test->steps[i].is_out)
            continue;
        kept++;
        if (ms > 2 * control->high - control->low && ms > SOME_RATIO * control->high) {
            slow++;
            shortest = fmin(shortest, ms);
        } else {
            longest = fmax(longest, ms);
        }
        within += ms <= control->high || ms < 2 * control->high - control->low;
    }
    verdict->slow = slow;
    return control->windows >= SOME_OF_STEPS && test->windows >= SOME_OF_STEPS &&
           slow >= SOME_SLOW_STEPS && kept == steps &&
           ((slow + within == steps && !pair_is_apart(pair)) ||
            shortest >= SOME_FAR_RATIO * longest) &&
           (double)slow >= SOME_PART * (double)steps &&
           (double)slow <= (1 - SOME_PART) * (double)steps;
}

bool pair_is_apart(const struct pair *pair)
{
    const struct pair_side *control = &pair->sides[0], *test = &pair->sides[1];
    return test->low > control->high || control->low > test->high;
}

/* C2.3, C2.4: whether the difference is too small, or its sign uncertain. */
static bool is_unclear(const struct pair *pair)
{
    const struct pair_side *control = &pair->sides[0], *test = &pair->sides[1];
    double diff = test->median - control->median;
    double range = fmax(control->high - control->low, test->high - test->low);
    double part = pair_is_whole(pair) ? WHOLE_PART : CLEAR_PART;
    return fabs(diff) < part * control->median || diff * pair_diff(pair) <= 0 ||
           (!pair_is_apart(pair) && fabs(diff) < range);
}

/* CL13: whether compilation explains most of the difference. */
static bool is_compiling(const struct pair *pair)
{
    const struct pair_side *control = &pair->sides[0], *test = &pair->sides[1];
    double means[2] = {0, 0}, diff = pair_diff(pair);
    for (int side = 0; side < 2; side++)
        if (pair->sides[side].all_windows > 0)
            means[side] =
                quotient(pair->sides[side].all_compiling, pair->sides[side].all_windows) / 1e6;
    double compiled = means[1] - means[0];
    return compiled != 0 && compiled * diff > 0 &&
           fabs(compiled) >= COMPILE_OF_DIFF * fabs(diff) &&
           fabs(compiled) >= COMPILE_OF_STEP * fmax(control->mean, test->mean);
}

bool verdict_find(struct pair_verdict *verdict, const struct pair *pair, bool same,
                  const struct stopper *stopper, struct failure *failure)
{
    const struct pair_side *control = &pair->sides[0], *test = &pair->sides[1];
    *verdict = (struct pair_verdict){.is = VERDICT_UNCLEAR};
    bool some = control->count > 0 && test->count > 0 && is_slower_in_some(pair, verdict);
    if (control->count == 0 || test->count == 0) {
        verdict->is = VERDICT_NOTHING;
    } else if (same) {
        verdict->is = VERDICT_SAME;
    } else if (pair->strata_count > 1) {
        return judge_sizes(verdict, pair, stopper, failure);
    } else if (is_compiling(pair)) {
        verdict->is = pair_diff(pair) > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
        verdict->of = OF_COMPILING;
    } else if (some) {
        verdict->is = VERDICT_SLOWER;
        verdict->of = OF_SOME_STEPS;
    } else if (!is_unclear(pair)) {
        verdict->is = test->median > control->median ? VERDICT_SLOWER : VERDICT_FASTER;
    }
    return true;
}
