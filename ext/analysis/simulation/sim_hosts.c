/*
** Points of host threads (E2), and their waits for other threads (E7) and host collectives (E5).
*/
#include "sim_maker.h"

/* Finds the host collective that a thread waited for until the point (Q10.4), or NULL. `last` is
** the time of the thread's previous point. */
static bool find_host_wait(struct sim_maker *maker, int64_t last,
                           const struct job_collective **awaited)
{
    const struct sim_file *of = maker->of;
    const struct job_rank *rank = of->rank;
    uint32_t track = row_place(&of->file->columns, maker->point->row)->track, found;
    int64_t from;
    size_t i = 0;
    *awaited = NULL;
    if (of->first == of->end || (wide_time)maker->now - last <= SIM_IDLE)
        return true;
    LOWER_BOUND(i, rank->part_count, rank->parts[i].end < maker->now);
    if (i == rank->part_count || rank->parts[i].end != maker->now ||
        rank->parts[i].owner != JOB_NONE)
        return true;
    uint32_t window = job_rank_window(rank, maker->now, &from);
    if (window == JOB_NONE || rank->windows[window].window.track != track ||
        rank->windows[window].member != maker->member)
        return true;
    if (!job_rank_awaited(rank, &rank->parts[i], maker->now, &maker->steps, &found, maker->stopper,
                          maker->failure))
        return false;
    if (found != JOB_NONE && rank->collectives[found].member == maker->member)
        *awaited = &rank->collectives[found];
    return true;
}

/* E7.4: adds the edges to the point after a wait for a host collective. */
static bool add_host_wait(struct sim_maker *maker, uint32_t before,
                          const struct job_collective *collective)
{
    bool met = false;
    uint32_t start = maker->rows->begins[collective->row];
    if (start == SIM_NONE)
        return sim_add_edge(maker, before, 0, EDGE_HOST);
    return sim_add_floor(maker, before, LEAST_IDLE, EDGE_HOST) &&
           sim_leave_meeting(maker, collective, EDGE_WAIT, &met) &&
           (met || sim_add_edge(maker, start, 0, EDGE_WAIT));
}

/* E7: returns the last point of another idle thread that this thread waited for, or SIM_NONE. */
static uint32_t find_quiet(const struct sim_maker *maker, const struct sim_thread *thread)
{
    const struct sim_graph *graph = maker->graph;
    bool first = thread->last == SIM_NONE;
    int64_t last = first ? 0 : graph->at[thread->last];
    if (thread->polls || (!first && (wide_time)maker->now - last <= SIM_IDLE))
        return SIM_NONE;
    uint32_t other = sim_threads_quiet(&maker->of->threads, thread);
    bool holds = other != SIM_NONE && (first || graph->at[other] > last) &&
                 (wide_time)maker->now - graph->at[other] <= MOST_HANDOVER;
    return holds ? other : SIM_NONE;
}

/* E4.6: returns the end of the work that the step thread waited for without a recorded call,
** because XLA records none; SIM_NONE. */
static uint32_t find_silent_wait(const struct sim_maker *maker, const struct sim_thread *thread)
{
    const struct sim_file *of = maker->of;
    if (of->file->xla_count == 0 || thread->last == SIM_NONE ||
        of->threads.main == TRACK_NONE || thread != &of->threads.items[of->threads.main])
        return SIM_NONE;
    int64_t last = maker->graph->at[thread->last];
    size_t i = path_ended_work(&of->work->path, maker->now);
    if ((wide_time)maker->now - last <= SIM_IDLE || i == WORK_NONE)
        return SIM_NONE;
    const struct path_work *work = &of->work->path.work[i];
    bool holds = work->end > last && (wide_time)maker->now - work->end <= MOST_HANDOVER;
    return holds ? maker->rows->ends[work->row] : SIM_NONE;
}

/* Adds the edges from the thread's previous point and from another thread, if given. */
static bool add_both(struct sim_maker *maker, uint32_t before, uint32_t other)
{
    if (other == SIM_NONE)
        return before == SIM_NONE || sim_add_edge(maker, before, 0, EDGE_HOST);
    return (before == SIM_NONE || sim_add_floor(maker, before, LEAST_IDLE, EDGE_HOST)) &&
           sim_add_edge(maker, other, 0, EDGE_THREAD);
}

/* E7.3: adds the edges to the begin of a host collective. The later of the thread's previous point
** and the step thread's last point binds. */
static bool begin_collective(struct sim_maker *maker, uint32_t before, uint32_t main)
{
    bool queued = before != SIM_NONE && before > main;
    return (before == SIM_NONE || (queued ? sim_add_edge(maker, before, 0, EDGE_HOST)
                                          : sim_add_floor(maker, before, 0, EDGE_HOST))) &&
           (queued ? sim_add_floor(maker, main, 0, EDGE_THREAD)
                   : sim_add_edge(maker, main, 0, EDGE_THREAD));
}

static bool add_edges(struct sim_maker *maker, const struct sim_thread *thread, bool call)
{
    const struct job_collective *collective = sim_collective(maker), *awaited = NULL;
    bool end = point_is(maker->point, POINT_END), met = false;
    uint32_t before = thread->last;
    if (collective && !end) {
        uint32_t main = sim_threads_main(&maker->of->threads, thread);
        if (main != SIM_NONE)
            return begin_collective(maker, before, main);
    } else if (collective) {
        if (!sim_leave_meeting(maker, collective, EDGE_TRANSFER, &met) || met)
            return met;
    }
    if (call && end && before != SIM_NONE)
        return thread->calls == 1 ? sim_end_call(maker, before)
                                  : sim_add_edge(maker, before, 0, EDGE_HOST);
    if (before != SIM_NONE && !find_host_wait(maker, maker->graph->at[before], &awaited))
        return false;
    uint32_t work = awaited ? SIM_NONE : find_silent_wait(maker, thread);
    if (work != SIM_NONE)
        return sim_add_floor(maker, before, LEAST_IDLE, EDGE_HOST) &&
               sim_add_edge(maker, work, 0, EDGE_SYNC);
    return awaited ? add_host_wait(maker, before, awaited)
                   : add_both(maker, before, find_quiet(maker, thread));
}

bool sim_pass_host(struct sim_maker *maker)
{
    const struct columns *columns = &maker->of->file->columns;
    uint32_t track = row_place(columns, maker->point->row)->track;
    struct sim_thread *thread = &maker->of->threads.items[track];
    enum kind kind = (enum kind)columns->kind[maker->point->row];
    bool call = kind == KIND_CALL || kind == KIND_DRIVER_CALL;
    bool end = point_is(maker->point, POINT_END);
    thread->calls += call && !end;
    bool done = add_edges(maker, thread, call);
    thread->calls -= call && end;
    sim_threads_pass(&maker->of->threads, track, maker->node,
                     point_is(maker->point, POINT_QUIET));
    return done;
}
