#include "sim_path.h"

#include "base/memory.h"

/* The edge of a node that binds; of several the first. SIM_NONE: it depends on nothing. */
static uint32_t binding(const struct sim_graph *graph, uint32_t node)
{
    for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++)
        if (graph->slack[edge] == 0)
            return edge;
    return SIM_NONE;
}

/* The node at which a step ends; SIM_NONE. Of several marks, the first in the order of the
** graph. */
static uint32_t end_node(const struct sim_steps *steps, size_t step)
{
    uint32_t found = SIM_NONE, host = SIM_NONE;
    for (size_t i = 0; i < steps->mark_count; i++) {
        const struct sim_mark *mark = &steps->marks[i];
        uint32_t *to = mark->kind == MARK_WORK ? &found : mark->kind == MARK_END ? &host : NULL;
        if (mark->step != step || !to)
            continue;
        int64_t at = steps->graph->at[mark->node];
        if (*to == SIM_NONE || at > steps->graph->at[*to] ||
            (at == steps->graph->at[*to] && mark->node < *to))
            *to = mark->node;
    }
    bool host_ends = host != SIM_NONE &&
                     steps->graph->at[host] == steps->items[step].window.end &&
                     (found == SIM_NONE || steps->graph->at[found] < steps->graph->at[host]);
    return host_ends ? host : found;
}

wide_time sim_path_find(const struct sim_steps *steps, size_t step, sim_path_add *add,
                        void *argument)
{
    const struct sim_graph *graph = steps->graph;
    const struct window *window = &steps->items[step].window;
    wide_time left = (wide_time)window->end - window->start, rest = 0;
    uint32_t node = end_node(steps, step);
    if (left <= 0)
        return 0;
    if (node != SIM_NONE && window->end > graph->at[node]) /* a file without steps */
        rest = (wide_time)window->end - graph->at[node];
    rest = rest < left ? rest : left;
    left -= rest;
    while (left > 0 && node != SIM_NONE) {
        uint32_t edge = binding(graph, node);
        if (edge == SIM_NONE)
            break;
        wide_time lag = sim_lag(graph, node, edge);
        lag = lag < left ? lag : left;
        if (lag > 0)
            add(argument, (struct sim_use){edge, node}, lag);
        left -= lag;
        node = graph->from[edge];
    }
    return left + rest;
}

bool sim_path_mark(const struct sim_steps *steps, bool *marked, const struct stopper *stopper,
                   struct failure *failure)
{
    const struct sim_graph *graph = steps->graph;
    bool *passed = memory_zeroed(graph->nodes, sizeof *passed);
    bool done = passed || failure_memory(failure);
    for (size_t i = 0; done && i < steps->mark_count; i++) {
        uint32_t node = steps->marks[i].node, edge;
        for (size_t n = 0; done && !passed[node]; node = graph->from[edge], n++) {
            passed[node] = true;
            done = stopper_goes_on(stopper, n, failure);
            edge = binding(graph, node);
            if (edge == SIM_NONE)
                break;
            marked[edge] = true;
        }
    }
    memory_free(passed);
    return done;
}
