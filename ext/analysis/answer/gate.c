#include "gate.h"

#include <math.h>

/* Distance from a limit, as a fraction of the step, within which a time equals it: doubles
** round. */
#define EQUAL_PART 1e-9

bool gate_has_steps(const struct pair_side *side)
{
    return side->windows > 0 && side->mean > 0 && side->median > 0;
}

/* Whether the difference is above both limits. */
static bool is_above(double control, double test, const struct gate_limits *limits)
{
    double diff = test - control, equal = EQUAL_PART * fmax(control, test);
    return diff - control * (limits->percent / 100) > equal && diff - limits->ms > equal;
}

struct gate_decision gate_decide(const struct pair *pair, const struct pair_verdict *verdict,
                        enum judged judged, bool limits_only, const struct gate_limits *limits)
{
    const struct pair_side *control = &pair->sides[0], *test = &pair->sides[1];
    bool mean = is_above(control->mean, test->mean, limits);
    bool median = is_above(control->median, test->median, limits);
    if (!mean && !median)
        return (struct gate_decision){GATE_PASS, GATE_NO_REASON};
    if (!mean || !median)
        return (struct gate_decision){GATE_NOT_KNOWN, mean ? GATE_MEAN : GATE_MEDIAN};
    if (limits_only || (judged == JUDGED_CLEAR && verdict->is == VERDICT_SLOWER))
        return (struct gate_decision){GATE_FAIL, GATE_NO_REASON};
    bool load = judged == JUDGED_LOAD || judged == JUDGED_OTHER_WORK;
    return (struct gate_decision){GATE_NOT_KNOWN, load ? GATE_LOAD : GATE_UNCLEAR};
}
