/*
** Compares each rank with itself, because nothing ties the ranks (Q1.6).
*/
#ifndef TRACEDIFF_OWN_RANKS_H
#define TRACEDIFF_OWN_RANKS_H

#include "analysis/answer/gate.h"
#include "pair_steps.h"
#include "trace/common_ranks.h"

/* Finds the ranks to compare with themselves, among the ranks that both sides list one by one.
** There are none if collectives tie all of them. With `limits`, the chosen rank is the one that
** decides the gate (O2); NULL: Q1.6 chooses it. On failure, fills call->failure. */
bool own_ranks_find(struct call *call, const struct selection *each, enum step_clock clock,
                    const struct gate_limits *limits, struct own_ranks *own);

#endif
