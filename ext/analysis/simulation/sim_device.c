/*
** Dependencies of device work (E3, E6), and its duration.
*/
#include "sim_maker.h"

/* A dependency of device work. */
struct awaited_node {
    uint32_t node;
    int64_t floor; /* ns */
    enum sim_edge kind;
};

/* Finds the ith dependency of device work: its launch, the work before it, then the waits of its
** stream. False if there is none, or if it has no node yet. */
static bool find_candidate(const struct sim_maker *maker, size_t index, size_t first_wait, size_t i,
                           struct awaited_node *to)
{
    const struct sim_work *work = maker->of->work;
    const struct path_work *of = &work->path.work[index];
    uint32_t before = i == 1 ? work->before[index] : i > 1 ? work->waits[first_wait + i - 2].on : 0;
    if (i == 0) {
        uint32_t node = of->launch == ROW_NONE ? SIM_NONE : maker->rows->begins[of->launch];
        *to = (struct awaited_node){node, work->latency, EDGE_LAUNCH};
    } else {
        uint32_t node =
            before == SIM_NO_WORK ? SIM_NONE : maker->rows->ends[work->path.work[before].row];
        *to = (struct awaited_node){node, work->gap, EDGE_STREAM};
    }
    to->node = sim_node_here(maker, to->node);
    return to->node != SIM_NONE;
}

/* E3.6: true if the launch binds instead of the ith dependency. */
static bool launch_holds(const struct sim_maker *maker, size_t index, size_t first_wait, size_t i)
{
    const struct columns *columns = &maker->of->file->columns;
    uint32_t launch = maker->of->work->path.work[index].launch;
    struct awaited_node own, of;
    if (!find_candidate(maker, index, first_wait, 0, &own) ||
        !find_candidate(maker, index, first_wait, i, &of))
        return false;
    wide_time over = maker->graph->at[of.node];
    return maker->now - over - of.floor > SIM_LONG_LAUNCH &&
           (wide_time)columns->ts[launch] + columns->dur[launch] - over > SIM_LONG_LAUNCH;
}

bool sim_begin_work(struct sim_maker *maker)
{
    const struct sim_work *work = maker->of->work;
    const struct columns *columns = &maker->of->file->columns;
    size_t index = path_work_of(&work->path, maker->point->row), waits, best = SIZE_MAX;
    size_t first = sim_work_waits(work, index, &waits);
    uint32_t launch = work->path.work[index].launch;
    struct awaited_node of;
    wide_time least = 0;
    bool done = true;
    bool early = launch != ROW_NONE && sim_takes_host(columns, launch) &&
                 maker->rows->begins[launch] == SIM_NONE;
    maker->graph->works++;
    maker->graph->early += early;
    maker->graph->dropped += early;
    for (size_t i = 0; i < waits + 2; i++) {
        if (!find_candidate(maker, index, first, i, &of))
            continue;
        wide_time over = (wide_time)maker->now - maker->graph->at[of.node] - of.floor;
        best = best == SIZE_MAX || over < least ? i : best;
        least = best == i ? over : least;
    }
    if (best != SIZE_MAX && launch_holds(maker, index, first, best))
        best = 0;
    for (size_t i = 0; done && i < waits + 2; i++)
        if (find_candidate(maker, index, first, i, &of))
            done = i == best ? sim_add_edge(maker, of.node, 0, of.kind)
                             : sim_add_floor(maker, of.node, of.floor, of.kind);
    return done;
}

bool sim_end_work(struct sim_maker *maker)
{
    uint32_t row = maker->point->row;
    const struct job_collective *collective = sim_collective(maker);
    bool met = false;
    if (collective && !sim_leave_meeting(maker, collective, EDGE_TRANSFER, &met))
        return false;
    bool transfer = row_types_find(&maker->of->types, maker->of->file, row) ==
                    KERNEL_COMMUNICATION;
    return met || sim_add_edge(maker, maker->rows->begins[row], 0,
                               transfer ? EDGE_TRANSFER : EDGE_DEVICE);
}
