#include "call_causes.h"

#include "analysis/names/shared_labels.h"
#include "base/memory.h"
#include "step_parts.h"

static bool sum_up_side(struct call *call, struct causes_side *side, struct families *families,
                        const struct call_trace *opened, enum step_clock clock,
                        const struct intervals *drained)
{
    const struct stopper *stopper = call_stopper(call);
    side->attribution = attribution_new(
        &opened->trace, &opened->steps,
        &(struct attribution_request){
            .level = LEVEL_COUNT, .clock = clock, .job = opened->job, .causes = true,
            .drained = drained},
        stopper, &call->failure);
    return side->attribution &&
           attribution_total(side->attribution, &side->total, &call->failure) &&
           families_add(families, &opened->trace, stopper, &call->failure);
}

/* Begins the attribution of each rank's own steps in a job. */
static bool open_ranks(struct call *call, const struct call_causes_request *request, int number,
                       struct causes_side *side, const struct call_trace *opened)
{
    struct selection iterations;
    bool done = call_selection(call, request->iterations[number],
                               argument_of(call, NAMES_ITERATIONS, number), &iterations) &&
                trace_choose_steps(&opened->trace, &iterations, STEPS_OF_ANY,
                                   number == 0 ? "control" : "test", &side->steps, &call->failure);
    if (done)
        side->own = attribution_new(
            &opened->trace, &side->steps,
            &(struct attribution_request){
                .level = LEVEL_COUNT, .clock = request->clock, .causes = true},
            call_stopper(call), &call->failure);
    selection_clear(&iterations);
    return done && side->own;
}

static void clear_side(struct causes_side *side, const struct call_trace *opened)
{
    step_choice_clear(&opened->trace, &side->steps);
    attribution_free(side->own);
    attribution_free(side->attribution);
    memory_free(side->total.rows);
}

bool call_causes_find(struct call *call, const struct call_causes_request *request,
                      const struct call_trace *opened, struct call_causes *found)
{
    const struct stopper *stopper = call_stopper(call);
    struct causes_side *sides = found->sides;
    bool done, jobs = opened[0].job && opened[1].job;
    const struct trace *traces[2] = {&opened[0].trace, &opened[1].trace};
    *found = (struct call_causes){.opened = opened, .drains = {.name = NAME_NONE}};
    done = shared_labels_find(traces, stopper, &call->failure);
    for (int i = 0; i < 2; i++) {
        done = done && (!jobs || open_ranks(call, request, i, &sides[i], &opened[i]));
        found->waits[i] = (struct drain_side){&opened[i].trace,
                                              jobs ? &sides[i].steps : &opened[i].steps};
    }
    done = done && drains_find(&found->drains, found->waits, stopper, &call->failure);
    for (int i = 0; i < 2 && done; i++)
        done = sum_up_side(call, &sides[i], &found->families, &opened[i], request->clock,
                           found->drains.times[i]);
    if (!done)
        return false;
    const struct cause_ranks ranks[2] = {{sides[0].own, &opened[0].trace},
                                         {sides[1].own, &opened[1].trace}};
    struct cause_side given[2];
    for (int i = 0; i < 2; i++)
        given[i] =
            (struct cause_side){&sides[i].total, attribution_names(sides[i].attribution)};
    return causes_find(&found->causes, given, &found->families, &found->drains,
                       jobs ? ranks : NULL, request->shown, stopper, &call->failure);
}

void call_causes_close(struct call_causes *found)
{
    if (!found->opened)
        return;
    causes_clear(&found->causes);
    cause_rates_clear(&found->rates);
    families_clear(&found->families);
    drains_clear(&found->drains, found->waits);
    for (int i = 0; i < 2; i++) {
        clear_side(&found->sides[i], &found->opened[i]);
        shared_labels_clear(&found->opened[i].trace);
    }
}
