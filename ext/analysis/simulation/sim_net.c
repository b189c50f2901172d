#include "sim_net.h"

#include "base/memory.h"
#include "simulate.h"

/* While a net is made. */
struct net_maker {
    struct sim_net *net;
    const struct sim_graph *graph;
    uint32_t
        *dependents; /* by node: edges from it, of those that a step depends on; at most MANY */
    const struct stopper *stopper;
    struct failure *failure;
};

enum { MANY = 2 };

static void count_dependent(uint32_t *dependents)
{
    *dependents += *dependents < MANY;
}

/* Finds what steps depend on: goes back from the marks of steps. */
static bool count_dependents(struct net_maker *maker)
{
    const struct sim_graph *graph = maker->graph;
    const struct sim_steps *steps = maker->net->steps;
    maker->dependents = memory_zeroed(graph->nodes, sizeof *maker->dependents);
    if (!maker->dependents)
        return failure_memory(maker->failure);
    for (size_t i = 0; i < steps->mark_count; i++)
        maker->dependents[steps->marks[i].node] = MANY;
    for (size_t node = graph->nodes; node-- > 0;) {
        if (!stopper_goes_on(maker->stopper, node, maker->failure))
            return false;
        for (uint32_t edge = graph->first[node];
             maker->dependents[node] > 0 && edge < graph->first[node + 1]; edge++)
            count_dependent(&maker->dependents[graph->from[edge]]);
    }
    return true;
}

/* Begins a joint with a node. */
static void begin_joint(struct net_maker *maker, uint32_t node)
{
    const struct sim_graph *graph = maker->graph;
    struct sim_net *net = maker->net;
    uint32_t joint = (uint32_t)net->joints++;
    net->joint[node] = joint;
    net->first[joint] = (uint32_t)net->edges;
    for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++) {
        uint32_t from = net->joint[graph->from[edge]];
        net->place[edge] = (uint32_t)net->edges;
        net->slack[net->edges] = graph->slack[edge];
        net->from[net->edges++] = from;
        net->last[from] = joint;
    }
}

static bool join_nodes(struct net_maker *maker)
{
    const struct sim_graph *graph = maker->graph;
    struct sim_net *net = maker->net;
    for (uint32_t node = 0; node < graph->nodes; node++) {
        uint32_t first = graph->first[node], edges = graph->first[node + 1] - first;
        if (!stopper_goes_on(maker->stopper, node, maker->failure))
            return false;
        if (maker->dependents[node] == 0)
            continue;
        if (edges == 1 && maker->dependents[graph->from[first]] == 1)
            net->joint[node] = net->joint[graph->from[first]];
        else
            begin_joint(maker, node);
    }
    net->first[net->joints] = (uint32_t)net->edges;
    return true;
}

bool sim_net_make(struct sim_net *net, const struct sim_steps *steps, const struct stopper *stopper,
                  struct failure *failure)
{
    const struct sim_graph *graph = steps->graph;
    struct net_maker maker = {
        .net = net, .graph = graph, .stopper = stopper, .failure = failure};
    *net = (struct sim_net){.steps = steps};
    bool done = count_dependents(&maker);
    size_t joints = 0, edges = 0;
    for (size_t node = 0; done && node < graph->nodes; node++) {
        size_t count = graph->first[node + 1] - graph->first[node];
        bool begins = maker.dependents[node] > 0 &&
                      (count != 1 || maker.dependents[graph->from[graph->first[node]]] != 1);
        joints += begins;
        edges += begins ? count : 0;
    }
    if (done) {
        net->joint = memory_filled(graph->nodes + 1, sizeof *net->joint);
        net->place = memory_filled(graph->edges + 1, sizeof *net->place);
        net->first = memory_zeroed(joints + 1, sizeof *net->first);
        net->from = memory_zeroed(edges, sizeof *net->from);
        net->last = memory_zeroed(joints, sizeof *net->last);
        net->slack = memory_zeroed(edges, sizeof *net->slack);
        net->longer = memory_zeroed(edges, sizeof *net->longer);
        net->own = memory_zeroed(joints, sizeof *net->own);
        net->shifted = memory_zeroed(joints, sizeof *net->shifted);
        net->later = memory_zeroed(joints, sizeof *net->later);
        net->marks = memory_zeroed(steps->mark_count, sizeof *net->marks);
        done = (net->joint && net->place && net->first && net->from && net->last && net->slack &&
                net->longer && net->own && net->shifted && net->later && net->marks) ||
               failure_memory(failure);
    }
    done = done && join_nodes(&maker);
    memory_free(maker.dependents);
    if (!done)
        sim_net_clear(net);
    return done;
}

/* Where a shift is kept while a simulation runs; NULL: no step depends on it. */
static int64_t *place_of(const struct sim_net *net, const struct sim_use *use)
{
    uint32_t joint = net->joint[use->node], edge = net->place[use->edge];
    return joint == SIM_NONE ? NULL : edge == SIM_NONE ? &net->own[joint] : &net->longer[edge];
}

/* Computes a joint. */
static int64_t time_of(const struct sim_net *net, size_t joint)
{
    int64_t latest = -SIM_FURTHEST;
    if (net->first[joint] == net->first[joint + 1])
        return net->own[joint];
    for (uint32_t edge = net->first[joint]; edge < net->first[joint + 1]; edge++) {
        int64_t then = net->later[net->from[edge]] - net->slack[edge] + net->longer[edge];
        latest = then > latest ? then : latest;
    }
    return latest > -SIM_FURTHEST ? latest + net->own[joint] : latest;
}

/* Takes shifts in. Finds the first and the last joint that has one; false if none has. */
static bool take_shifts(struct sim_net *net, const struct sim_shift *shifts, size_t count,
                        size_t *first, size_t *last)
{
    *first = SIZE_MAX;
    *last = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t *place = place_of(net, &shifts[i].use);
        size_t joint = net->joint[shifts[i].use.node];
        if (!place)
            continue;
        *place += shifts[i].longer;
        net->shifted[joint] = true;
        *first = joint < *first ? joint : *first;
        *last = joint > *last ? joint : *last;
    }
    return *first != SIZE_MAX;
}

/* Computes the joints that follow shifts. `*end` is after the last one. */
static bool pass_joints(struct sim_net *net, size_t first, size_t last, size_t *end,
                        const struct stopper *stopper, struct failure *failure)
{
    size_t upto = first, joint = first;
    bool done = true;
    for (; done && joint < net->joints && (joint <= upto || joint <= last); joint++) {
        done = stopper_goes_on(stopper, joint, failure);
        if (joint > upto && !net->shifted[joint])
            continue; /* all before it that it depends on is as recorded */
        net->later[joint] = time_of(net, joint);
        if (net->later[joint] != 0 && net->last[joint] > upto)
            upto = net->last[joint];
        done = done && (net->later[joint] < SIM_FURTHEST || simulate_too_far(failure));
    }
    *end = joint;
    return done;
}

bool sim_net_run(struct sim_net *net, const struct sim_shift *shifts, size_t count,
                 wide_time *lengths, const struct stopper *stopper, struct failure *failure)
{
    size_t first, last, end = 0;
    bool any = take_shifts(net, shifts, count, &first, &last);
    bool done = !any || pass_joints(net, first, last, &end, stopper, failure);
    for (size_t i = 0; i < net->steps->mark_count; i++)
        net->marks[i] = net->later[net->joint[net->steps->marks[i].node]];
    sim_steps_find(net->steps, net->marks, lengths);
    for (size_t i = 0; i < count; i++) {
        int64_t *place = place_of(net, &shifts[i].use);
        if (place) {
            *place = 0;
            net->shifted[net->joint[shifts[i].use.node]] = false;
        }
    }
    for (size_t joint = any ? first : 0; joint < end; joint++)
        net->later[joint] = 0;
    return done;
}

void sim_net_clear(struct sim_net *net)
{
    memory_free(net->joint);
    memory_free(net->place);
    memory_free(net->first);
    memory_free(net->from);
    memory_free(net->last);
    memory_free(net->slack);
    memory_free(net->longer);
    memory_free(net->own);
    memory_free(net->shifted);
    memory_free(net->later);
    memory_free(net->marks);
    *net = (struct sim_net){.joints = 0};
}
