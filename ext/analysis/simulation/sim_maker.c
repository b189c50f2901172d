#include "sim_maker.h"

#include "base/memory.h"

uint32_t sim_begin_node(struct sim_maker *maker, int64_t at, uint32_t row)
{
    struct sim_graph *graph = maker->graph;
    graph->at[graph->nodes] = at;
    graph->row[graph->nodes] = row;
    graph->member[graph->nodes] = row == SIM_NONE ? SIM_NONE : maker->member;
    graph->first[graph->nodes] = (uint32_t)graph->edges;
    return (uint32_t)graph->nodes++;
}

bool sim_reserve_edges(struct sim_maker *maker, size_t capacity)
{
    struct sim_graph *graph = maker->graph;
    if (capacity >= SIM_NONE)
        return failure_set(maker->failure, FAILURE_REQUEST,
                           "the trace has too many events to be simulated");
    if (!memory_assign(&graph->from,
                       memory_resize(graph->from, capacity * sizeof *graph->from)) ||
        !memory_assign(&graph->slack,
                       memory_resize(graph->slack, capacity * sizeof *graph->slack)) ||
        !memory_assign(&graph->kind, memory_resize(graph->kind, capacity * sizeof *graph->kind)))
        return failure_memory(maker->failure);
    graph->capacity = capacity;
    return true;
}

bool sim_add_edge(struct sim_maker *maker, uint32_t from, wide_time slack, enum sim_edge kind)
{
    struct sim_graph *graph = maker->graph;
    if (slack >= SIM_LONGEST)
        return true;
    if (graph->edges == graph->capacity &&
        !sim_reserve_edges(maker, graph->capacity + graph->capacity / 2 + 64))
        return false;
    graph->from[graph->edges] = from;
    graph->slack[graph->edges] = (int64_t)slack;
    graph->kind[graph->edges++] = (unsigned char)kind;
    return true;
}

bool sim_add_floor(struct sim_maker *maker, uint32_t from, wide_time most, enum sim_edge kind)
{
    wide_time gap = (wide_time)maker->now - maker->graph->at[from];
    return sim_add_edge(maker, from, gap > most ? gap - most : 0, kind);
}
