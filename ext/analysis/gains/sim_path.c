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
    bool host_ends = host != SIM_NONE && steps->graph->at[host] == steps->items[step].window.end &&
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

/* The node at which a step ends in a lane; SIM_NONE. Of several marks, the first in the order of
** the graph. A step with device work ends with that, unless it is the whole window of the host
** (A2). */
static uint32_t end_in_lane(const struct sim_net *net, const struct sim_pass *pass, int lane,
                            size_t step)
{
    const struct sim_steps *steps = net->steps;
    uint32_t found[] = {SIM_NONE, SIM_NONE}; /* of the host, of device work */
    wide_time at[2] = {0, 0};
    for (size_t i = 0; i < steps->mark_count; i++) {
        const struct sim_mark *mark = &steps->marks[i];
        bool work = mark->kind == MARK_WORK;
        if (mark->step != step || !(work || mark->kind == MARK_END))
            continue;
        wide_time now =
            (wide_time)steps->graph->at[mark->node] + sim_net_later(net, pass, lane, mark->node);
        if (found[work] == SIM_NONE || now > at[work] ||
            (now == at[work] && mark->node < found[work])) {
            found[work] = mark->node;
            at[work] = now;
        }
    }
    bool whole = sim_steps_whole(steps, step);
    bool host = found[1] == SIM_NONE || (whole && found[0] != SIM_NONE && at[0] > at[1]);
    return found[!host];
}

void sim_path_follow(const struct sim_net *net, const struct sim_pass *pass, int lane, size_t step,
                     wide_time length, sim_path_add *add, void *argument)
{
    const struct sim_graph *graph = net->steps->graph;
    uint32_t node = end_in_lane(net, pass, lane, step);
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
