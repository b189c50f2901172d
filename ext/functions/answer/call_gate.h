/*
** Decides whether a change may be merged (O1 to O3), with the arguments of a call.
*/
#ifndef TRACEDIFF_CALL_GATE_H
#define TRACEDIFF_CALL_GATE_H

#include "analysis/answer/gate.h"
#include "functions/facts/answer_facts.h"

struct call_gate {
    struct gate_decision said;
    struct answer_facts facts;
    bool has_checks;
    struct common_ranks common; /* found if the call names no ranks */
    struct checks checks;
};

/* On failure, fills call->failure. Close the gate in this case, too. */
bool call_gate_find(struct call *call, enum step_clock clock, const struct gate_limits *limits,
                    struct call_gate *gate);

/* Whether the traces can be compared. */
static inline bool call_gate_compares(const struct call_gate *gate)
{
    return gate->said.reason < GATE_STEPS || gate->said.reason > GATE_DEVICE;
}

void call_gate_close(struct call_gate *gate);

#endif
