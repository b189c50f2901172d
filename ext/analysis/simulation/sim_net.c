#include "sim_net.h"

#include <string.h>

#include "base/memory.h"
#include "simulate.h"

/* The state of sim_net_make(). */
struct net_maker {
    struct sim_net *net;
    const struct sim_graph *graph;
    uint32_t *dependents; /* by node: edges from it that chosen steps need, up to MANY */
    const struct stopper *stopper;
    struct failure *failure;
};

enum { MANY = 2 };

static void count_dependent(uint32_t *dependents)
{
    *dependents += *dependents < MANY;
}

/* Finds the nodes that the chosen steps depend on, backwards from the marks of these steps and the
** steps before them. */
static bool count_dependents(struct net_maker *maker)
{
    const struct sim_graph *graph = maker->graph;
    const struct sim_steps *steps = maker->net->steps;
    size_t end = steps->count;
    while (end > 0 && !steps->items[end - 1].chosen)
        end--;
    maker->dependents = memory_zeroed(graph->nodes, sizeof *maker->dependents);
    if (!maker->dependents)
        return failure_memory(maker->failure);
    for (size_t i = 0; i < steps->mark_count; i++)
        if (steps->marks[i].step < end)
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

/* Starts a joint at a node. */
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
    struct net_maker maker = {.net = net, .graph = graph, .stopper = stopper, .failure = failure};
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
        net->from = memory_items(edges, sizeof *net->from);
        net->last = memory_zeroed(joints, sizeof *net->last);
        net->slack = memory_items(edges, sizeof *net->slack);
        net->shifts = memory_filled(edges + joints, sizeof *net->shifts);
        net->shifted = memory_zeroed(joints, sizeof *net->shifted);
        net->later = memory_zeroed(joints, SIM_LANES * sizeof *net->later);
        net->marks = memory_zeroed(steps->mark_count, sizeof *net->marks);
        done = (net->joint && net->place && net->first && net->from && net->last && net->slack &&
                net->shifts && net->shifted && net->later && net->marks) ||
               failure_memory(failure);
    }
    done = done && join_nodes(&maker);
    memory_free(maker.dependents);
    if (!done)
        sim_net_clear(net);
    return done;
}

/* Returns the head of the list for a shift; NULL if no chosen step depends on it. */
static uint32_t *place_of(const struct sim_net *net, const struct sim_use *use)
{
    uint32_t joint = net->joint[use->node], edge = net->place[use->edge];
    return joint == SIM_NONE ? NULL : &net->shifts[edge == SIM_NONE ? net->edges + joint : edge];
}

/* Adds the shifts in a list to the times of their lanes, ns. */
static void add_shifts(const struct sim_net *net, const struct sim_pass *pass, size_t place,
                       int64_t *times)
{
    for (uint32_t i = net->shifts[place]; i != SIM_NONE; i = net->next[i])
        for (int lane = 0; lane < pass->lanes; lane++)
            times[lane] += pass->of[i] >> lane & 1 ? pass->shifts[i].longer : 0;
}

/* Computes a joint with shifts. Returns the latest time of its lanes, ns. */
static int64_t pass_shifted(const struct sim_net *net, const struct sim_pass *pass, size_t joint,
                            size_t lanes)
{
    int64_t furthest = 0;
    int64_t latest[SIM_LANES], then[SIM_LANES], own[SIM_LANES] = {0};
    bool first = net->first[joint] == net->first[joint + 1];
    for (size_t lane = 0; lane < lanes; lane++)
        latest[lane] = first ? 0 : -SIM_FURTHEST;
    for (uint32_t edge = net->first[joint]; edge < net->first[joint + 1]; edge++) {
        for (size_t lane = 0; lane < lanes; lane++)
            then[lane] = net->later[net->from[edge] * lanes + lane] - net->slack[edge];
        add_shifts(net, pass, edge, then);
        for (size_t lane = 0; lane < lanes; lane++)
            latest[lane] = then[lane] > latest[lane] ? then[lane] : latest[lane];
    }
    add_shifts(net, pass, net->edges + joint, own);
    for (size_t lane = 0; lane < lanes; lane++) {
        int64_t later = latest[lane] + (latest[lane] > -SIM_FURTHEST ? own[lane] : 0);
        net->later[joint * lanes + lane] = later;
        furthest = later > furthest ? later : furthest;
    }
    return furthest;
}

/* Computes a joint that has edges and no shifts. Inlined, so that `lanes` is a constant. */
static inline __attribute__((always_inline)) void pass_joint(const struct sim_net *net,
                                                             size_t joint, size_t lanes)
{
    int64_t latest[SIM_LANES];
    for (size_t lane = 0; lane < lanes; lane++)
        latest[lane] = -SIM_FURTHEST;
    for (uint32_t edge = net->first[joint]; edge < net->first[joint + 1]; edge++) {
        const int64_t *from = &net->later[net->from[edge] * lanes], slack = net->slack[edge];
        for (size_t lane = 0; lane < lanes; lane++) {
            int64_t then = from[lane] - slack;
            latest[lane] = then > latest[lane] ? then : latest[lane];
        }
    }
    for (size_t lane = 0; lane < lanes; lane++)
        net->later[joint * lanes + lane] = latest[lane];
}

/* Lists the shifts of a pass by place. Finds the first and last joint with a shift; first > last if
** there is none. */
static bool take_shifts(struct sim_net *net, const struct sim_pass *pass, size_t *first,
                        size_t *last, struct failure *failure)
{
    *first = SIZE_MAX;
    *last = 0;
    if (!MEMORY_GROW(net->next, net->next_capacity, pass->count))
        return failure_memory(failure);
    for (size_t i = 0; i < pass->count; i++) {
        uint32_t *place = pass->of[i] ? place_of(net, &pass->shifts[i].use) : NULL;
        size_t joint = net->joint[pass->shifts[i].use.node];
        if (!place)
            continue;
        net->next[i] = *place;
        *place = (uint32_t)i;
        net->shifted[joint] = true;
        *first = joint < *first ? joint : *first;
        *last = joint > *last ? joint : *last;
    }
    return true;
}

static void drop_shifts(struct sim_net *net, const struct sim_pass *pass)
{
    for (size_t i = 0; i < pass->count; i++) {
        uint32_t *place = pass->of[i] ? place_of(net, &pass->shifts[i].use) : NULL;
        if (!place)
            continue;
        *place = SIM_NONE;
        net->shifted[net->joint[pass->shifts[i].use.node]] = false;
    }
}

/* Computes the joints that a shift affects. `*end` is the index after the last one. */
static inline __attribute__((always_inline)) bool
pass_joints(struct sim_net *net, const struct sim_pass *pass, size_t lanes, size_t first,
            size_t last, size_t *end, const struct stopper *stopper, struct failure *failure)
{
    size_t upto = first, joint = first;
    bool done = true;
    for (; done && joint < net->joints && (joint <= upto || joint <= last); joint++) {
        done = stopper_goes_on(stopper, joint, failure);
        if (net->shifted[joint]) {
            if (pass_shifted(net, pass, joint, lanes) >= SIM_FURTHEST)
                done = simulate_too_far(failure);
        } else if (joint > upto || net->first[joint] == net->first[joint + 1]) {
            continue; /* no shift reaches it */
        } else {
            pass_joint(net, joint, lanes);
        }
        if (net->last[joint] > upto) {
            int64_t any = 0;
            for (size_t lane = 0; lane < lanes; lane++)
                any |= net->later[joint * lanes + lane];
            upto = any != 0 ? net->last[joint] : upto;
        }
    }
    *end = joint;
    return done;
}

bool sim_net_run(struct sim_net *net, const struct sim_pass *pass, wide_time *lengths,
                 const struct stopper *stopper, struct failure *failure)
{
    const struct sim_steps *steps = net->steps;
    size_t first, last, end = 0, lanes = pass->lanes == 1 ? 1 : SIM_LANES;
    if (!take_shifts(net, pass, &first, &last, failure))
        return false;
    bool any = first <= last;
    bool done = !any || (lanes == 1 ? pass_joints(net, pass, 1, first, last, &end, stopper, failure)
                                    : pass_joints(net, pass, SIM_LANES, first, last, &end, stopper,
                                                  failure));
    for (size_t lane = 0; lane < (size_t)pass->lanes; lane++) {
        for (size_t i = 0; i < steps->mark_count; i++) {
            uint32_t joint = net->joint[steps->marks[i].node];
            net->marks[i] = joint == SIM_NONE ? 0 : net->later[joint * lanes + lane];
        }
        sim_steps_find(steps, net->marks, lengths + lane * steps->count);
    }
    if (done && pass->seen)
        pass->seen(pass->argument, net, pass, lengths);
    drop_shifts(net, pass);
    if (any && end > first)
        memset(&net->later[first * lanes], 0, (end - first) * lanes * sizeof *net->later);
    return done;
}

int64_t sim_net_later(const struct sim_net *net, const struct sim_pass *pass, int lane,
                      uint32_t node)
{
    size_t lanes = pass->lanes == 1 ? 1 : SIM_LANES;
    return net->later[net->joint[node] * lanes + (size_t)lane];
}

/* Returns the sum of a lane's shifts of an edge, ns. */
static int64_t longer_by(const struct sim_net *net, const struct sim_pass *pass, int lane,
                         size_t place, uint32_t edge)
{
    int64_t longer = 0;
    for (uint32_t i = net->shifts[place]; i != SIM_NONE; i = net->next[i])
        if (pass->of[i] >> lane & 1 && pass->shifts[i].use.edge == edge)
            longer += pass->shifts[i].longer;
    return longer;
}

uint32_t sim_net_binding(const struct sim_net *net, const struct sim_pass *pass, int lane,
                         uint32_t node, int64_t *longer)
{
    const struct sim_graph *graph = net->steps->graph;
    uint32_t first = graph->first[node], end = graph->first[node + 1], found = SIM_NONE;
    int64_t latest = -SIM_FURTHEST;
    *longer = 0;
    if (first < end && net->place[first] == SIM_NONE) { /* within a joint */
        *longer = longer_by(net, pass, lane, net->edges + net->joint[node], first);
        return first;
    }
    for (uint32_t edge = first; edge < end; edge++) {
        int64_t more = longer_by(net, pass, lane, net->place[edge], edge);
        int64_t then =
            sim_net_later(net, pass, lane, graph->from[edge]) - graph->slack[edge] + more;
        if (then <= latest)
            continue;
        latest = then;
        *longer = more;
        found = edge;
    }
    return found;
}

void sim_net_clear(struct sim_net *net)
{
    memory_free(net->joint);
    memory_free(net->place);
    memory_free(net->first);
    memory_free(net->from);
    memory_free(net->last);
    memory_free(net->slack);
    memory_free(net->shifts);
    memory_free(net->next);
    memory_free(net->shifted);
    memory_free(net->later);
    memory_free(net->marks);
    *net = (struct sim_net){.joints = 0};
}
