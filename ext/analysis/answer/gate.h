/*
** Whether a step is slower by more than a limit (O1 to O3).
*/
#ifndef TRACEDIFF_GATE_H
#define TRACEDIFF_GATE_H

#include "judgement.h"

enum gate_outcome { GATE_PASS, GATE_FAIL, GATE_NOT_KNOWN };

/* The reason for GATE_NOT_KNOWN; the first that applies. */
enum gate_reason {
    GATE_NO_REASON,
    GATE_STEPS, /* the steps are not comparable: O3 */
    GATE_HEALTH,
    GATE_RANKS,
    GATE_WORLD,
    GATE_WORK,
    GATE_DEVICE,
    GATE_MEAN, /* O1.3 */
    GATE_MEDIAN,
    GATE_LOAD, /* O1.5 */
    GATE_UNCLEAR
};

struct gate_limits {
    double percent, ms;
};

struct gate_decision {
    enum gate_outcome outcome;
    enum gate_reason reason;
};

/* Whether the steps of a side have a mean and a median above 0, so that percentages exist. */
bool gate_has_steps(const struct pair_side *side);

/* Decides for comparable sides. `limits_only`: the difference need not be clear. */
struct gate_decision gate_decide(const struct pair *pair, const struct pair_verdict *verdict,
                        enum judged judged, bool limits_only, const struct gate_limits *limits);

#endif
