/*
** Drains: GPU idle time after a call that made the host wait for the device. Only operators that
** wait more often on one side than on the other cause drains (L8).
*/
#ifndef TRACEDIFF_DRAINS_H
#define TRACEDIFF_DRAINS_H

#include <string.h>

#include "text/ascii.h"
#include "trace/step_choice.h"
#include "analysis/sums/intervals.h"

struct drains {
    struct names names; /* operators that synchronize, and calls outside of operators */
    uint32_t name;      /* id of the one that waits longest, or NAME_NONE */
    int64_t operators;  /* number of operators that synchronize more often on a side */
    bool as_cuda[2];    /* by side: whether its HIP calls count as CUDA calls (L2.1) */
    struct intervals *times[2]; /* drained intervals by side and member; NULL: none */
};

/* A side: its trace, and the chosen steps of all its ranks. */
struct drain_side {
    const struct trace *trace;
    const struct step_choice *choice;
};

/* Whether a text starts with a call of a runtime: its prefix and a capital letter. */
static inline bool is_of_runtime(const char *p, const char *end, const char *prefix)
{
    return begins(p, end, prefix) && p + strlen(prefix) < end && is_capital(p[strlen(prefix)]);
}

/* Finds the drains of two sides. On failure there is nothing to clear. */
bool drains_find(struct drains *drains, const struct drain_side *sides,
                 const struct stopper *stopper, struct failure *failure);

void drains_clear(struct drains *drains, const struct drain_side *sides);

#endif
