#include "call_simulation.h"

#include "base/memory.h"
#include "functions/args/sync_args.h"

/* Finds the work in the files of a trace, and adds their sites. */
static bool find_work(struct call *call, struct call_simulation *simulation,
                      struct sim_sites *sites)
{
    const struct trace *trace = &simulation->opened->trace;
    simulation->syncs = sync_args_read(call, trace);
    simulation->works =
        simulation->syncs ? memory_zeroed(trace->count, sizeof *simulation->works) : NULL;
    if (!simulation->works)
        return failure_memory(&call->failure);
    bool done = true;
    for (size_t i = 0; done && i < trace->count; i++)
        done = !trace->members[i].chosen ||
               sim_work_make(&simulation->works[i], &trace->members[i], &simulation->syncs[i],
                             sites, call_stopper(call), &call->failure);
    return done;
}

/* E1 */
static bool check(struct call *call, const struct call_simulation *simulation)
{
    const struct sim_steps *steps = &simulation->steps;
    if (!simulate_check(&simulation->graph, simulation->later, call_stopper(call), &call->failure))
        return false;
    for (size_t i = 0; i < steps->count; i++) {
        const struct window *window = &steps->items[i].window;
        wide_time length = (wide_time)window->end - window->start;
        if (simulation->recorded[i] != (length > 0 ? length : 0))
            return failure_set(&call->failure, FAILURE_REQUEST,
                               "the simulation does not give the recorded length of step %lld; "
                               "this is an error of tracediff",
                               (long long)window->iteration);
    }
    return true;
}

static bool make(struct call *call, struct call_simulation *simulation,
                 const struct sim_sites *sites)
{
    const struct stopper *stopper = call_stopper(call);
    const struct trace *trace = &simulation->opened->trace;
    bool done = true;
    for (size_t i = 0; done && i < trace->count; i++)
        done = !trace->members[i].chosen || sim_work_find_waits(&simulation->works[i], sites);
    if (!done ||
        !sim_graph_make(&simulation->graph, trace, &simulation->sample, simulation->works,
                        stopper, &call->failure) ||
        !sim_steps_make(&simulation->steps, &simulation->graph, simulation->choice, stopper,
                        &call->failure))
        return false;
    size_t steps = simulation->steps.count;
    simulation->later = memory_items(simulation->graph.nodes, sizeof *simulation->later);
    simulation->marks = memory_zeroed(simulation->steps.mark_count, sizeof *simulation->marks);
    simulation->recorded = memory_zeroed(steps, sizeof *simulation->recorded);
    simulation->simulated = memory_zeroed(steps, sizeof *simulation->simulated);
    if (!simulation->later || !simulation->marks || !simulation->recorded || !simulation->simulated)
        return failure_memory(&call->failure);
    sim_steps_find(&simulation->steps, NULL, simulation->recorded);
    return check(call, simulation);
}

/* Chooses the steps to simulate. */
static bool choose_sample(struct call *call, struct call_simulation *simulation, size_t most)
{
    const struct call_trace *opened = simulation->opened;
    if (!sim_sample_make(&simulation->sample, &opened->trace, &opened->steps, most,
                         call_stopper(call), &call->failure))
        return false;
    simulation->choice = simulation->sample.shares ? &simulation->sample.choice : &opened->steps;
    return true;
}

bool call_simulations_open(struct call *call, const struct call_trace *opened, size_t count,
                           size_t most_steps, struct call_simulation *simulations)
{
    struct sim_sites sites = {.count = 0};
    bool done = true;
    for (size_t i = 0; i < count; i++)
        simulations[i] = (struct call_simulation){.opened = &opened[i]};
    for (size_t i = 0; done && i < count; i++)
        done = choose_sample(call, &simulations[i], most_steps) &&
               find_work(call, &simulations[i], &sites);
    done = done && sim_sites_finish(&sites, call_stopper(call), &call->failure);
    for (size_t i = 0; done && i < count; i++)
        done = make(call, &simulations[i], &sites);
    sim_sites_clear(&sites);
    return done;
}

bool call_simulation_run(struct call *call, struct call_simulation *simulation,
                         const int64_t *longer)
{
    if (!simulate(&simulation->graph, longer, simulation->later, call_stopper(call),
                  &call->failure))
        return false;
    const struct sim_steps *steps = &simulation->steps;
    for (size_t i = 0; i < steps->mark_count; i++)
        simulation->marks[i] = simulation->later[steps->marks[i].node];
    sim_steps_find(steps, simulation->marks, simulation->simulated);
    return true;
}

void call_simulation_forget_works(struct call_simulation *simulation)
{
    for (size_t i = 0; simulation->works && i < simulation->opened->trace.count; i++)
        sim_work_clear(&simulation->works[i]);
    memory_free(simulation->works);
    memory_free(simulation->syncs);
    simulation->works = NULL;
    simulation->syncs = NULL;
}

void call_simulation_close(struct call_simulation *simulation)
{
    if (!simulation->opened)
        return;
    call_simulation_forget_works(simulation);
    sim_sample_clear(&simulation->sample);
    sim_graph_clear(&simulation->graph);
    sim_steps_clear(&simulation->steps);
    memory_free(simulation->later);
    memory_free(simulation->marks);
    memory_free(simulation->recorded);
    memory_free(simulation->simulated);
    *simulation = (struct call_simulation){.opened = NULL};
}
