#include "call_undo.h"

#include "base/memory.h"

bool call_undo_find(struct call *call, const struct call_trace *opened, struct call_causes *found,
                    const struct call_undo_request *request, struct call_undo *undone)
{
    struct call_simulation *simulations = undone->simulations;
    *undone = (struct call_undo){.undo = {.count = 0}};
    size_t most = request->most_steps > 0 ? request->most_steps : SIZE_MAX;
    if (!call_simulations_open(call, opened, 2, most, simulations))
        return false;
    call_simulation_forget_works(&simulations[0]);
    for (int i = 0; i < 2; i++) {
        memory_free(simulations[i].later); /* undoing has times of its own */
        simulations[i].later = NULL;
    }
    const struct undo_request of = {.control = &simulations[0].steps,
                                    .steps = &simulations[1].steps,
                                    .test = &simulations[1].graph,
                                    .works = simulations[1].works,
                                    .choice = simulations[1].choice,
                                    .causes = &found->causes,
                                    .families = &found->families,
                                    .most = request->most,
                                    .halves = request->halves,
                                    .hiders = request->hiders,
                                    .cumulative = request->cumulative,
                                    .together = request->together,
                                    .stopper = call_stopper(call)};
    return undo_find(&undone->undo, &of, &call->failure);
}

void call_undo_close(struct call_undo *undone)
{
    undo_clear(&undone->undo);
    for (int i = 0; i < 2; i++)
        call_simulation_close(&undone->simulations[i]);
}
