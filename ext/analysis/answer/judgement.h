/*
** The judgement of the difference of two traces: the verdict, checked against a different load of
** the hosts (C7).
*/
#ifndef TRACEDIFF_JUDGEMENT_H
#define TRACEDIFF_JUDGEMENT_H

#include "verdict.h"

enum judged {
    JUDGED_NOTHING,
    JUDGED_CANNOT, /* a recording is unreliable (C24) */
    JUDGED_SAME,
    JUDGED_UNCLEAR,
    JUDGED_LOAD,       /* all steps are longer, or all are shorter, and load explains it */
    JUDGED_OTHER_WORK, /* test does different work */
    JUDGED_CLEAR       /* slower or faster, like the verdict */
};

/* The load of a host without a device. */
struct load {
    bool there;       /* the load differs */
    bool one_factor;  /* one factor fits all operators */
    double ms;        /* ms of the difference that this factor explains */
    double low, high; /* quartiles of the operators' factors */
    bool is_waiting;  /* waits, gaps and calls explain half of the difference */
    bool other_work;  /* the work changed */
};

enum judged judge(const struct pair *pair, const struct pair_verdict *verdict,
                  const struct load *load);

/* Whether a judgement blames the program: `test ...`. */
static inline bool judged_is_told(enum judged judged)
{
    return judged >= JUDGED_OTHER_WORK;
}

#endif
