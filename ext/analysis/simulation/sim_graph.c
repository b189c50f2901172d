#include "sim_graph.h"

#include "base/memory.h"
#include "sim_maker.h"

/* E11: at the first point of a member's next simulated stretch, forgets the points before, because
** nothing depends on them. */
static void enter_stay(struct sim_maker *maker)
{
    struct sim_file *of = maker->of;
    while (of->share && of->stay + 1 < of->share->count &&
           of->share->stays[of->stay + 1].start <= maker->now) {
        of->stay++;
        of->first_node = (uint32_t)maker->graph->nodes;
        sim_threads_forget(&of->threads);
    }
}

static bool pass_point(struct sim_maker *maker, const struct sim_point *point)
{
    bool end = point_is(point, POINT_END), host = point_is(point, POINT_HOST), done;
    maker->point = point;
    maker->member = point_member(point);
    maker->of = &maker->files[maker->member];
    maker->rows = &maker->graph->rows[maker->member];
    maker->now = point_own_time(point, &maker->of->file->columns);
    enter_stay(maker);
    maker->node = sim_begin_node(maker, maker->now, point->row);
    (end ? maker->rows->ends : maker->rows->begins)[point->row] = maker->node;
    done = host ? sim_pass_host(maker) : end ? sim_end_work(maker) : sim_begin_work(maker);
    const struct job_collective *collective = done && !end ? sim_collective(maker) : NULL;
    return done && (!collective || sim_join_meeting(maker, collective)) &&
           stopper_goes_on(maker->stopper, maker->steps++, maker->failure);
}

/* Finds the rank of a member in the job, and the range of its collectives. */
static void find_rank(struct sim_maker *maker, size_t member)
{
    const struct job *job = &maker->graph->job;
    struct sim_file *of = &maker->files[member];
    for (size_t r = 0; r < job->rank_count; r++) {
        const struct job_rank *rank = &job->ranks[r];
        if (rank->rank != maker->graph->trace->members[member].rank_index)
            continue;
        of->rank = rank;
        of->rank_number = (uint32_t)r;
        LOWER_BOUND(of->first, rank->collective_count,
                    rank->collectives[of->first].member < member);
        of->end = of->first;
        LOWER_BOUND(of->end, rank->collective_count, rank->collectives[of->end].member <= member);
    }
}

static bool open_member(struct sim_maker *maker, size_t member)
{
    const struct trace_member *of = &maker->graph->trace->members[member];
    struct sim_file *file = &maker->files[member];
    struct sim_rows *rows = &maker->graph->rows[member];
    if (!of->chosen)
        return true;
    file->file = of->file;
    file->work = &maker->works[member];
    file->share = sim_share_of(maker->graph->sample, member);
    find_rank(maker, member);
    if (!file->rank)
        return true;
    rows->begins = memory_filled(of->file->columns.count + 1, sizeof *rows->begins);
    rows->ends = memory_filled(of->file->columns.count + 1, sizeof *rows->ends);
    return ((rows->begins && rows->ends) || failure_memory(maker->failure)) &&
           sim_threads_make(&file->threads, of, member, file->rank, file->work->track_count,
                            maker->stopper, maker->failure) &&
           sim_points_add(&maker->points, of->file, (uint32_t)member, file->share,
                          &maker->graph->clocks.ranks[file->rank_number], maker->stopper,
                          maker->failure);
}

/* E1.4: opens members by rank, because simultaneous points keep this order. */
static bool open_members(struct sim_maker *maker)
{
    const struct trace *trace = maker->graph->trace;
    const struct job *job = &maker->graph->job;
    bool done = true;
    for (size_t r = 0; done && r < job->rank_count; r++)
        for (size_t i = 0; done && i < trace->count; i++)
            done = trace->members[i].rank_index != job->ranks[r].rank || open_member(maker, i);
    return done;
}

static bool pass_points(struct sim_maker *maker)
{
    struct sim_graph *graph = maker->graph;
    size_t most = maker->points.count + graph->job.member_count;
    if (most >= SIM_NONE)
        return failure_set(maker->failure, FAILURE_REQUEST,
                           "the trace has too many events to be simulated");
    graph->at = memory_items(most, sizeof *graph->at);
    graph->first = memory_items(most + 1, sizeof *graph->first);
    graph->row = memory_items(most, sizeof *graph->row);
    graph->member = memory_items(most, sizeof *graph->member);
    bool done = (graph->at && graph->first && graph->row && graph->member) ||
                failure_memory(maker->failure);
    /* A typical number of edges; the array grows. */
    done = done && sim_reserve_edges(maker, most + most / 4 + 64);
    for (size_t i = 0; done && i < maker->points.count; i++)
        done = pass_point(maker, &maker->points.items[i]);
    if (done)
        graph->first[graph->nodes] = (uint32_t)graph->edges;
    return done;
}

/* True if a file has no device work. Only then can a single rank wait for its own collectives
** (E7.5). */
static bool has_host_work(const struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].chosen && !busy_any(&trace->members[i].file->columns))
            return true;
    return false;
}

bool sim_graph_make(struct sim_graph *graph, const struct trace *trace,
                    const struct sim_sample *sample, const struct sim_work *works,
                    const struct stopper *stopper, struct failure *failure)
{
    struct sim_maker maker = {
        .graph = graph, .works = works, .stopper = stopper, .failure = failure};
    *graph = (struct sim_graph){.trace = trace, .sample = sample};
    maker.files = memory_zeroed(trace->count, sizeof *maker.files);
    graph->rows = memory_zeroed(trace->count, sizeof *graph->rows);
    bool done = ((maker.files && graph->rows) || failure_memory(failure)) &&
                job_make(&graph->job, trace, true, has_host_work(trace), stopper, failure) &&
                sim_clocks_make(&graph->clocks, &graph->job, failure) &&
                sim_find_meetings(&maker) && open_members(&maker);
    done = done && sim_points_sort(&maker.points, stopper, failure) && pass_points(&maker);
    for (size_t i = 0; maker.files && i < trace->count; i++) {
        sim_threads_clear(&maker.files[i].threads);
        row_types_clear(&maker.files[i].types);
    }
    memory_free(maker.files);
    memory_free(maker.meetings);
    sim_points_clear(&maker.points);
    if (!done)
        sim_graph_clear(graph);
    return done;
}

uint32_t sim_edge_to(const struct sim_graph *graph, uint32_t node, enum sim_edge kind)
{
    for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++)
        if (graph->kind[edge] == kind)
            return edge;
    return SIM_NONE;
}

struct sim_use sim_copy_use(const struct sim_graph *graph, size_t member, uint32_t copy)
{
    uint32_t call = graph->trace->members[member].file->columns.link[copy];
    uint32_t end = call == ROW_NONE ? SIM_NONE : graph->rows[member].ends[call];
    uint32_t edge = end == SIM_NONE ? SIM_NONE : sim_edge_to(graph, end, EDGE_COPY);
    bool own = edge != SIM_NONE && graph->from[edge] == graph->rows[member].begins[copy];
    return (struct sim_use){own ? edge : SIM_NONE, end};
}

/* Returns the lag of an edge from a meeting; NULL for other edges. */
static const struct sim_far *far_of(const struct sim_graph *graph, uint32_t edge)
{
    size_t i = 0;
    if (graph->kind[edge] != EDGE_TRANSFER && graph->kind[edge] != EDGE_WAIT)
        return NULL;
    LOWER_BOUND(i, graph->far_count, graph->far[i].edge < edge);
    return i < graph->far_count && graph->far[i].edge == edge ? &graph->far[i] : NULL;
}

uint32_t sim_transfer_row(const struct sim_graph *graph, uint32_t edge)
{
    const struct sim_far *far = far_of(graph, edge);
    return far ? far->row : graph->row[graph->from[edge]];
}

int64_t sim_lag(const struct sim_graph *graph, uint32_t node, uint32_t edge)
{
    const struct sim_far *far = far_of(graph, edge);
    uint64_t lag = 0; /* unsigned: the lag is >= 0, even if a time overflows */
    if (far)
        lag = (uint64_t)far->lag;
    else if (graph->kind[edge] != EDGE_MEETING && graph->kind[edge] != EDGE_GHOST)
        lag = (uint64_t)graph->at[node] - (uint64_t)graph->at[graph->from[edge]] -
              (uint64_t)graph->slack[edge];
    return lag < SIM_LONGEST ? (int64_t)lag : SIM_LONGEST;
}

void sim_graph_clear(struct sim_graph *graph)
{
    for (size_t i = 0; graph->rows && i < graph->trace->count; i++) {
        memory_free(graph->rows[i].begins);
        memory_free(graph->rows[i].ends);
    }
    memory_free(graph->rows);
    sim_clocks_clear(&graph->clocks);
    job_clear(&graph->job);
    memory_free(graph->at);
    memory_free(graph->row);
    memory_free(graph->member);
    memory_free(graph->first);
    memory_free(graph->from);
    memory_free(graph->slack);
    memory_free(graph->kind);
    memory_free(graph->far);
    *graph = (struct sim_graph){.trace = NULL};
}
