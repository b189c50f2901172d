#include "sim_path.h"

#include "base/memory.h"

/* Returns the edge that binds a node, the first if several do; SIM_NONE: the node depends on
** nothing. */
static uint32_t binding(const struct sim_graph *graph, uint32_t node)
{
    for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++)
        if (graph->slack[edge] == 0)
            return edge;
    return SIM_NONE;
}

/* Keeps the later of two nodes; ties: the first in the order of the graph. `*node` may be
** SIM_NONE. */
static void take_later(uint32_t *node, wide_time *at, uint32_t other, wide_time its)
{
    if (*node == SIM_NONE || its > *at || (its == *at && other < *node)) {
        *node = other;
        *at = its;
    }
}

/* Finds the last marks of the chosen steps: in a lane, or as recorded if `net` is NULL. */
static void find_ends(const struct sim_steps *steps, const struct sim_net *net,
                      const struct sim_pass *pass, int lane, struct sim_path_end *ends)
{
    for (size_t i = 0; i < steps->count; i++)
        ends[i] = (struct sim_path_end){{SIM_NONE, SIM_NONE}, {0, 0}};
    for (size_t i = 0; i < steps->mark_count; i++) {
        const struct sim_mark *mark = &steps->marks[i];
        bool work = mark->kind == MARK_WORK;
        if (!steps->items[mark->step].chosen || !(work || mark->kind == MARK_END))
            continue;
        struct sim_path_end *end = &ends[mark->step];
        wide_time later = net ? sim_net_later(net, pass, lane, mark->node) : 0;
        take_later(&end->node[work], &end->at[work], mark->node,
                   steps->graph->at[mark->node] + later);
    }
}

uint32_t *sim_path_ends(const struct sim_steps *steps, struct failure *failure)
{
    struct sim_path_end *ends = memory_zeroed(steps->count, sizeof *ends);
    uint32_t *nodes = memory_filled(steps->count, sizeof *nodes);
    if (!ends || !nodes) {
        memory_free(ends);
        memory_free(nodes);
        failure_memory(failure);
        return NULL;
    }
    find_ends(steps, NULL, NULL, 0, ends);
    for (size_t i = 0; i < steps->count; i++) {
        const struct sim_path_end *end = &ends[i];
        bool host = end->node[0] != SIM_NONE && end->at[0] == steps->items[i].window.end &&
                    (end->node[1] == SIM_NONE || end->at[1] < end->at[0]);
        nodes[i] = end->node[!host];
    }
    memory_free(ends);
    return nodes;
}

wide_time sim_path_find(const struct sim_steps *steps, size_t step, uint32_t node,
                        sim_path_add *add, void *argument)
{
    const struct sim_graph *graph = steps->graph;
    const struct window *window = &steps->items[step].window;
    wide_time left = (wide_time)window->end - window->start, rest = 0;
    if (left <= 0)
        return 0;
    if (node != SIM_NONE && window->end > graph->at[node]) /* in a file without steps */
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

/* Returns the node at which a step ends in a lane; SIM_NONE. The host ends a step without device
** work, and a whole step (A2.3) if it ends later. Otherwise device work does. */
static uint32_t end_in_lane(const struct sim_steps *steps, size_t step,
                            const struct sim_path_end *end)
{
    bool whole = sim_steps_whole(steps, step);
    bool host = end->node[1] == SIM_NONE ||
                (whole && end->node[0] != SIM_NONE && end->at[0] > end->at[1]);
    return end->node[!host];
}

/* Follows the path of a step in a lane back from its end. */
static void follow_step(const struct sim_net *net, const struct sim_pass *pass, int lane,
                        uint32_t node, wide_time length, sim_path_add *add, void *argument)
{
    const struct sim_graph *graph = net->steps->graph;
    while (length > 0 && node != SIM_NONE) {
        int64_t longer;
        uint32_t edge = sim_net_binding(net, pass, lane, node, &longer);
        if (edge == SIM_NONE)
            break;
        wide_time lag = (wide_time)sim_lag(graph, node, edge) + longer;
        lag = lag < length ? lag : length;
        if (lag > 0) {
            add(argument, (struct sim_use){edge, node}, lag);
            length -= lag;
        }
        node = graph->from[edge];
    }
}

void sim_path_follow(const struct sim_net *net, const struct sim_pass *pass, int lane,
                     const wide_time *lengths, struct sim_path_end *ends, sim_path_add *add,
                     void *argument)
{
    const struct sim_steps *steps = net->steps;
    find_ends(steps, net, pass, lane, ends);
    for (size_t i = 0; i < steps->count; i++)
        if (steps->items[i].chosen)
            follow_step(net, pass, lane, end_in_lane(steps, i, &ends[i]), lengths[i], add,
                        argument);
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
