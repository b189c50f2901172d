#include "judgement.h"

#include <math.h>

#include "thresholds.h"

/* C7.3: whether the sides differ by more than load explains. */
static bool is_beyond_load(const struct pair *pair, const struct load *load)
{
    double diff = pair_diff(pair), control = pair->sides[0].mean;
    double explained =
        diff > 0 ? control * (fmax(load->high, 1) - 1) : control * (1 - fmin(load->low, 1));
    return fabs(diff) - explained >= LOAD_LEAVES * fabs(diff);
}

enum judged judge(const struct pair *pair, const struct pair_verdict *verdict,
                  const struct load *load)
{
    if (verdict->is == VERDICT_NOTHING)
        return JUDGED_NOTHING;
    if (verdict->is == VERDICT_SAME)
        return JUDGED_SAME;
    if (verdict->is == VERDICT_UNCLEAR)
        return JUDGED_UNCLEAR;
    if (!load->there || load->is_waiting || verdict->of == OF_COMPILING)
        return JUDGED_CLEAR;
    if (pair_is_apart(pair) && is_beyond_load(pair, load))
        return JUDGED_CLEAR;
    return load->other_work      ? JUDGED_OTHER_WORK
           : pair_is_apart(pair) ? JUDGED_LOAD
                                 : JUDGED_UNCLEAR;
}
