/*
** Collectives of several ranks (E5). Each rank that starts one joins its meeting. On each rank, the
** collective ends some time after the last start.
*/
#include "base/memory.h"
#include "sim_maker.h"

const struct job_collective *sim_collective(const struct sim_maker *maker)
{
    const struct sim_file *of = maker->of;
    size_t i = of->first;
    LOWER_BOUND(i, of->end, of->rank->collectives[i].row < maker->point->row);
    return i < of->end && of->rank->collectives[i].row == maker->point->row &&
                   of->rank->collectives[i].on_host == point_is(maker->point, POINT_HOST)
               ? &of->rank->collectives[i]
               : NULL;
}

/* Returns the clock offset of the point's rank in the step of a collective, ns. */
static int64_t offset_of(const struct sim_maker *maker, const struct job_collective *collective)
{
    const struct job *job = &maker->graph->job;
    const struct job_match *match = &job->matches[collective->match];
    size_t m = match->first;
    LOWER_BOUND(m, match->first + match->count, job->members[m].rank < maker->of->rank_number);
    return maker->graph->clocks.offsets[m];
}

bool sim_find_meetings(struct sim_maker *maker)
{
    const struct job *job = &maker->graph->job;
    maker->meetings = memory_zeroed(job->match_count, sizeof *maker->meetings);
    if (!maker->meetings)
        return failure_memory(maker->failure);
    for (size_t i = 0; i < job->match_count; i++) {
        bool by_all = job->matches[i].count > 1 && job->matches[i].by_all;
        bool meet = !by_all || sim_clocks_meet(&maker->graph->clocks, job, i);
        maker->meetings[i] =
            (struct sim_meeting){.node = SIM_NONE, .valid = job->matches[i].count > 1 && meet};
        maker->graph->meeting += by_all;
        maker->graph->apart += !meet;
    }
    return true;
}

static struct sim_meeting *meeting_of(const struct sim_maker *maker,
                                      const struct job_collective *collective)
{
    return collective->match != JOB_NONE && maker->meetings[collective->match].valid
               ? &maker->meetings[collective->match]
               : NULL;
}

bool sim_join_meeting(struct sim_maker *maker, const struct job_collective *collective)
{
    struct sim_meeting *meeting = meeting_of(maker, collective);
    if (!meeting)
        return true;
    wide_time at = (wide_time)maker->now - offset_of(maker, collective);
    maker->graph->dropped += meeting->over && maker->graph->job.matches[collective->match].by_all;
    if (meeting->node == SIM_NONE) {
        meeting->node = maker->node;
        meeting->at = at;
        return true;
    }
    wide_time latest = at > meeting->at ? at : meeting->at;
    uint32_t node = sim_begin_node(maker, (int64_t)latest, SIM_NONE), before = meeting->node;
    wide_time slack = latest - meeting->at;
    meeting->node = node;
    meeting->at = latest;
    return sim_add_edge(maker, before, slack, EDGE_MEETING) &&
           sim_add_edge(maker, maker->node, latest - at, EDGE_MEETING);
}

bool sim_leave_meeting(struct sim_maker *maker, const struct job_collective *collective,
                       enum sim_edge kind, bool *met)
{
    struct sim_graph *graph = maker->graph;
    struct sim_meeting *meeting = meeting_of(maker, collective);
    *met = meeting && meeting->node != SIM_NONE;
    if (!*met)
        return true;
    wide_time lag = (wide_time)maker->now - offset_of(maker, collective) - meeting->at;
    meeting->over = meeting->over || kind == EDGE_TRANSFER;
    if (lag < 0 || lag > INT64_MAX) { /* the clock offsets of two steps contradict each other */
        graph->dropped++;
        *met = false;
        return true;
    }
    if (!MEMORY_GROW(graph->far, graph->far_capacity, graph->far_count + 1))
        return failure_memory(maker->failure);
    graph->far[graph->far_count++] =
        (struct sim_far){(uint32_t)graph->edges, collective->row, (int64_t)lag};
    return sim_add_edge(maker, meeting->node, 0, kind) &&
           (kind != EDGE_TRANSFER || /* still binds if the wait for other ranks is removed (E8.4) */
            sim_add_floor(maker, maker->rows->begins[collective->row], 0, EDGE_MEETING));
}
