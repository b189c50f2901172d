#include "simulate.h"

bool simulate_too_far(struct failure *failure)
{
    return failure_set(failure, FAILURE_REQUEST,
                       "the changes move events beyond 64 bits of nanoseconds");
}

bool simulate(const struct sim_graph *graph, const int64_t *longer, int64_t *later,
              const struct stopper *stopper, struct failure *failure)
{
    const uint32_t *first = graph->first, *from = graph->from;
    int64_t furthest = 0;
    for (size_t node = 0; node < graph->nodes; node++) {
        int64_t latest =
            first[node] < first[node + 1] ? -SIM_FURTHEST : 0; /* no edges: keeps its time */
        if (!stopper_goes_on(stopper, node, failure))
            return false;
        for (uint32_t edge = first[node]; edge < first[node + 1]; edge++) {
            int64_t then = later[from[edge]] - graph->slack[edge] + (longer ? longer[edge] : 0);
            latest = then > latest ? then : latest;
        }
        later[node] = latest;
        furthest = latest > furthest ? latest : furthest;
        if (furthest >= SIM_FURTHEST)
            break;
    }
    return furthest < SIM_FURTHEST || simulate_too_far(failure);
}

bool simulate_check(const struct sim_graph *graph, int64_t *later, const struct stopper *stopper,
                    struct failure *failure)
{
    if (!simulate(graph, NULL, later, stopper, failure))
        return false;
    for (size_t node = 0; node < graph->nodes; node++)
        if (later[node] != 0)
            return failure_set(failure, FAILURE_REQUEST,
                               "the simulation does not give the recorded times: point %lld is "
                               "%lld ns off; this is an error of tracediff",
                               (long long)node, (long long)later[node]);
    return true;
}
