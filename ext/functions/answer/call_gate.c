#include "call_gate.h"

/* O3.2 */
static bool find_other_ranks(struct call *call, struct call_gate *gate)
{
    if (call->values[argument_of(call, NAMES_RANKS, 0)] ||
        call->values[argument_of(call, NAMES_RANKS, 1)])
        return true;
    if (!call_common_ranks(call, &gate->common))
        return false;
    for (size_t i = 0; i < gate->common.count; i++)
        if (gate->common.items[i].why == LEFT_ALONE)
            gate->said.reason = GATE_RANKS;
    return true;
}

/* O3.3 to O3.6 */
static bool find_others(struct call *call, struct call_gate *gate)
{
    const struct pair_side *sides = gate->facts.pair.pair.sides;
    const struct checks_request request = {.opened = gate->facts.each,
                                           .clock = gate->facts.pair.clock,
                                           .trust = &gate->facts.trust};
    if (!facts_each(&gate->facts) || !call_checks_find(call, &request, &gate->checks))
        return false;
    const struct checks *checks = &gate->checks;
    int64_t control = checks->sides[0].world, test = checks->sides[1].world;
    gate->has_checks = true;
    if (checks_worst_finding(checks))
        gate->said.reason = GATE_HEALTH;
    else if (control != NUMBER_NONE && test != NUMBER_NONE && control != test)
        gate->said.reason = GATE_WORLD;
    else if (sides[0].of_host != sides[1].of_host)
        gate->said.reason = GATE_WORK;
    for (size_t i = 0; i < checks->count && gate->said.reason == GATE_NO_REASON; i++)
        if (checks->items[i].code == CHECK_DEVICE && checks->items[i].same == 0)
            gate->said.reason = GATE_DEVICE;
    return true;
}

/* Finds why the traces cannot be compared. */
static bool find_reason(struct call *call, struct call_gate *gate)
{
    const struct pair_side *sides = gate->facts.pair.pair.sides;
    if (!gate_has_steps(&sides[0]) || !gate_has_steps(&sides[1])) {
        gate->said.reason = GATE_STEPS;
        return true;
    }
    return find_other_ranks(call, gate) &&
           (gate->said.reason != GATE_NO_REASON || find_others(call, gate));
}

bool call_gate_find(struct call *call, enum step_clock clock, const struct gate_limits *limits,
                    struct call_gate *gate)
{
    struct answer_facts *facts = &gate->facts;
    *gate = (struct call_gate){.said = {GATE_NOT_KNOWN, GATE_NO_REASON}};
    if (!facts_open(call, clock, limits, facts))
        return false;
    if (!find_reason(call, gate))
        return false;
    const struct pair_side *sides = facts->pair.pair.sides;
    bool several = !facts->pair.is_job && (sides[0].ranks > 1 || sides[1].ranks > 1);
    if (gate->said.reason == GATE_NO_REASON)
        gate->said =
            gate_decide(&facts->pair.pair, &facts->pair.verdict, facts->judged, several, limits);
    return true;
}

void call_gate_close(struct call_gate *gate)
{
    if (gate->has_checks)
        checks_clear(&gate->checks);
    common_ranks_clear(&gate->common);
    facts_close(&gate->facts);
    *gate = (struct call_gate){.has_checks = false};
}
