/*
** What is said of the difference of two traces: the verdict, beside another load of the host (C7).
*/
#ifndef TRACEDIFF_JUDGEMENT_H
#define TRACEDIFF_JUDGEMENT_H

#include "verdict.h"

enum judged {
    JUDGED_NOTHING,
    JUDGED_CANNOT, /* a recording cannot be trusted (C24) */
    JUDGED_SAME,
    JUDGED_UNCLEAR,
    JUDGED_LOAD,       /* all steps are longer, or shorter, and load explains it */
    JUDGED_OTHER_WORK, /* test does other work */
    JUDGED_CLEAR       /* it is slower or faster, as the verdict says */
};

/* The load of a host without a device. */
struct load {
    bool there;       /* it differs */
    bool one_factor;  /* by one factor */
    double ms;        /* if so: what that makes of the difference */
    double low, high; /* quartiles of the factors of operators */
    bool is_waiting;  /* waits, gaps and calls make half of the difference */
    bool other_work;  /* work changed */
};

enum judged judge(const struct pair *pair, const struct pair_verdict *verdict,
                  const struct load *load);

/* Whether a judgement tells a difference of the program: `test ...`. */
static inline bool judged_is_told(enum judged judged)
{
    return judged >= JUDGED_OTHER_WORK;
}

#endif
