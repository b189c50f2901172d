#include "sim_ghosts.h"

#include "base/memory.h"
#include "base/wide.h"

enum { NODES = 2, EDGES = 3 }; /* per ghost, at most */

#define OFF (SIM_LONGEST - 1) /* ns: slack of an edge that does not hold yet */

/* The state of sim_ghosts_add(). */
struct extender {
    const struct sim_additions *additions;
    size_t ghost, link, shared; /* index of the next one to add */
    const struct sim_graph *old;
    struct sim_graph new;
    uint32_t *node_of; /* by old node: the new node */
    uint32_t *edge_of; /* by old edge: the new edge */
    const struct stopper *stopper;
    struct failure *failure;
};

static bool make_room(struct extender *extender)
{
    const struct sim_additions *additions = extender->additions;
    const struct sim_graph *old = extender->old;
    struct sim_graph *new = &extender->new;
    size_t nodes = old->nodes + NODES * additions->ghost_count;
    size_t edges = old->edges + EDGES * additions->ghost_count + additions->link_count +
                   additions->shared_count;
    if (nodes >= SIM_NONE || edges >= SIM_NONE)
        return failure_set(extender->failure, FAILURE_REQUEST,
                           "the trace has too many events to be simulated");
    new->at = memory_items(nodes, sizeof *new->at);
    new->row = memory_items(nodes, sizeof *new->row);
    new->member = memory_items(nodes, sizeof *new->member);
    new->first = memory_items(nodes + 1, sizeof *new->first);
    new->from = memory_items(edges, sizeof *new->from);
    new->slack = memory_items(edges, sizeof *new->slack);
    new->kind = memory_items(edges, sizeof *new->kind);
    new->capacity = edges;
    new->nodes = new->edges = 0;
    extender->node_of = memory_items(old->nodes, sizeof *extender->node_of);
    extender->edge_of = memory_items(old->edges, sizeof *extender->edge_of);
    return (new->at && new->row && new->member && new->first && new->from && new->slack &&
            new->kind && extender->node_of && extender->edge_of) ||
           failure_memory(extender->failure);
}

static uint32_t add_node(struct sim_graph *graph, int64_t at, uint32_t row, uint32_t member)
{
    graph->at[graph->nodes] = at;
    graph->row[graph->nodes] = row;
    graph->member[graph->nodes] = member;
    graph->first[graph->nodes] = (uint32_t)graph->edges;
    return (uint32_t)graph->nodes++;
}

static uint32_t add_edge(struct sim_graph *graph, uint32_t from, int64_t slack, enum sim_edge kind)
{
    graph->from[graph->edges] = from;
    graph->slack[graph->edges] = slack;
    graph->kind[graph->edges] = (unsigned char)kind;
    return (uint32_t)graph->edges++;
}

/* Returns the shift that makes an OFF edge hold with this slack. A negative slack delays the node
** by as much. */
static struct sim_shift hold(uint32_t edge, uint32_t node, wide_time slack)
{
    wide_time longer = OFF - slack, most = 2 * (wide_time)SIM_LONGEST;
    return (struct sim_shift){{edge, node}, (int64_t)(longer < most ? longer : most)};
}

/* Adds a ghost at the end of the work before it, with no duration, so it delays nothing yet. */
static void add_ghost(struct extender *extender, struct sim_ghost *ghosts, struct sim_ghost *ghost)
{
    struct sim_graph *new = &extender->new;
    const struct sim_graph *old = extender->old;
    uint32_t host = ghost->launch == SIM_NONE ? SIM_NONE : extender->node_of[ghost->launch];
    uint32_t before = ghost->chain != SIM_NONE    ? ghosts[ghost->chain].end
                      : ghost->before != SIM_NONE ? extender->node_of[ghost->before]
                                                  : SIM_NONE;
    int64_t at = before != SIM_NONE ? new->at[before] : host != SIM_NONE ? new->at[host] : 0;
    uint32_t begin = add_node(new, at, SIM_NONE, SIM_NONE), edge;
    ghost->on_count = 0;
    if (before != SIM_NONE) {
        edge = add_edge(new, before, 0, EDGE_GHOST);
        ghost->on[ghost->on_count++] = (struct sim_shift){{edge, begin}, ghost->gap};
    } else if (host != SIM_NONE) {
        add_edge(new, host, 0, EDGE_GHOST);
    }
    if (host != SIM_NONE) {
        edge = add_edge(new, host, OFF, EDGE_GHOST);
        ghost->on[ghost->on_count++] =
            hold(edge, begin, (wide_time)at - old->at[ghost->launch] - ghost->lag);
    }
    ghost->end = add_node(new, at, SIM_NONE, SIM_NONE);
    edge = add_edge(new, begin, 0, EDGE_GHOST);
    ghost->on[ghost->on_count++] = (struct sim_shift){{edge, ghost->end}, ghost->dur};
}

/* Copies a node with its edges, and adds its links and shared dependencies. */
static void copy_node(struct extender *extender, uint32_t node)
{
    const struct sim_additions *additions = extender->additions;
    const struct sim_graph *old = extender->old;
    struct sim_graph *new = &extender->new;
    uint32_t copy = add_node(new, old->at[node], old->row[node], old->member[node]);
    extender->node_of[node] = copy;
    for (uint32_t edge = old->first[node]; edge < old->first[node + 1]; edge++)
        extender->edge_of[edge] = add_edge(new, extender->node_of[old->from[edge]],
                                           old->slack[edge], (enum sim_edge)old->kind[edge]);
    for (; extender->link < additions->link_count && additions->links[extender->link].node == node;
         extender->link++) {
        struct sim_ghost_link *link = &additions->links[extender->link];
        uint32_t edge = add_edge(new, additions->ghosts[link->ghost].end, OFF, EDGE_GHOST);
        link->on = hold(edge, copy, link->slack);
    }
    for (; extender->shared < additions->shared_count &&
           additions->shared[extender->shared].node == node;
         extender->shared++) {
        const struct sim_shared *shared = &additions->shared[extender->shared];
        add_edge(new, extender->node_of[shared->from], shared->slack, EDGE_THREAD);
    }
}

/* Renumbers the nodes in `rows` and the edges in `far`. */
static void renumber(struct extender *extender, struct sim_graph *graph)
{
    for (size_t i = 0; i < graph->trace->count; i++) {
        struct sim_rows *rows = &graph->rows[i];
        size_t count = rows->begins ? graph->trace->members[i].file->columns.count : 0;
        for (size_t row = 0; row < count; row++) {
            if (rows->begins[row] != SIM_NONE)
                rows->begins[row] = extender->node_of[rows->begins[row]];
            if (rows->ends[row] != SIM_NONE)
                rows->ends[row] = extender->node_of[rows->ends[row]];
        }
    }
    for (size_t i = 0; i < graph->far_count; i++)
        graph->far[i].edge = extender->edge_of[graph->far[i].edge];
}

static void swap(struct sim_graph *graph, struct sim_graph *other)
{
    struct sim_graph old = *graph;
    *graph = *other;
    *other = old;
}

static void free_arrays(struct sim_graph *graph)
{
    memory_free(graph->at);
    memory_free(graph->row);
    memory_free(graph->member);
    memory_free(graph->first);
    memory_free(graph->from);
    memory_free(graph->slack);
    memory_free(graph->kind);
}

bool sim_ghosts_add(struct sim_graph *graph, const struct sim_additions *additions,
                    const struct stopper *stopper, struct failure *failure)
{
    struct extender extender = {.additions = additions,
                                .old = graph,
                                .new = *graph,
                                .stopper = stopper,
                                .failure = failure};
    struct sim_graph *new = &extender.new;
    new->at = new->slack = NULL;
    new->row = new->member = new->first = new->from = NULL;
    new->kind = NULL;
    bool done = make_room(&extender);
    for (uint32_t node = 0; done && node < graph->nodes; node++) {
        copy_node(&extender, node);
        for (; extender.ghost < additions->ghost_count &&
               additions->ghosts[extender.ghost].after == node;
             extender.ghost++)
            add_ghost(&extender, additions->ghosts, &additions->ghosts[extender.ghost]);
        done = stopper_goes_on(stopper, node, failure);
    }
    if (done) {
        new->first[new->nodes] = (uint32_t)new->edges;
        renumber(&extender, graph);
        swap(graph, new); /* the other members are the same in both */
    }
    free_arrays(new);
    memory_free(extender.node_of);
    memory_free(extender.edge_of);
    return done;
}
