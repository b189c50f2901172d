/*
** Drains: time in which the device waits for the host because a call made the host wait for the
** device before, where one side of two makes such calls more often (L8).
*/
#ifndef TRACEDIFF_DRAINS_H
#define TRACEDIFF_DRAINS_H

#include <string.h>

#include "text/ascii.h"
#include "trace/step_choice.h"
#include "analysis/sums/intervals.h"

struct drains {
    struct names names; /* of operators that synchronize, and of calls outside of operators */
    uint32_t name;      /* id of the one that waits longest; NAME_NONE: there is none */
    int64_t operators;  /* how many synchronize more often on a side */
    bool as_cuda[2];    /* by side: its calls of HIP count as those of CUDA (L2.1) */
    struct intervals *times[2]; /* by side and member; NULL: none */
};

/* A side: its trace, and the chosen steps of all of its ranks. */
struct drain_side {
    const struct trace *trace;
    const struct step_choice *choice;
};

/* Whether a text begins with a call of a runtime: its prefix and a capital. */
static inline bool is_of_runtime(const char *p, const char *end, const char *prefix)
{
    return begins(p, end, prefix) && p + strlen(prefix) < end && is_capital(p[strlen(prefix)]);
}

/* On failure nothing is left to clear. */
bool drains_find(struct drains *drains, const struct drain_side *sides,
                 const struct stopper *stopper, struct failure *failure);

void drains_clear(struct drains *drains, const struct drain_side *sides);

#endif
