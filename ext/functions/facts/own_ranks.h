/*
** Ranks that are compared each with itself, as nothing ties them (Q1.6).
*/
#ifndef TRACEDIFF_OWN_RANKS_H
#define TRACEDIFF_OWN_RANKS_H

#include "analysis/answer/gate.h"
#include "pair_steps.h"
#include "trace/common_ranks.h"

/* Finds them, of ranks that both sides list one by one. If collectives tie all of them, there are
** none. `limits`: the rank is the one that a gate stops at (O2); NULL: Q1.6 says which. On failure,
** fills call->failure. */
bool own_ranks_find(struct call *call, const struct selection *each, enum step_clock clock,
                    const struct gate_limits *limits, struct own_ranks *own);

#endif
