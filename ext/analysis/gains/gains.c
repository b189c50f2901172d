#include "gains.h"

#include "base/integers.h"
#include "base/memory.h"
#include "sim_changes.h"
#include "sim_path.h"

/* The state of gains_find(). */
struct gain_finder {
    const struct gains_request *request;
    struct gains *gains;
    uint32_t *gain_of;   /* by part: index of its gain */
    uint32_t *order;     /* parts, grouped by gain */
    int64_t *iterations; /* numbers of the chosen steps, ascending */
    size_t iteration_count;
    size_t first_rank;        /* index of the first rank's gain */
    struct sim_shift *shifts; /* shifts of the current pass */
    unsigned char *of;        /* by shift: bit mask of its lane */
    size_t shift_count, shift_capacity, of_capacity;
    wide_time *lengths; /* room for all steps in all lanes */
    struct failure *failure;
};

/* A gain and the names by which it is sorted. */
struct sortable_gain {
    struct gain item;
    const struct names *names;
};

static int name_order(const struct names *names, uint32_t a, uint32_t b)
{
    if (a == b || a == NAME_NONE || b == NAME_NONE)
        return COMPARE(a != NAME_NONE, b != NAME_NONE);
    return name_compare(&names->items[a], &names->items[b]);
}

static int target_order(const struct sortable_gain *x, const struct sortable_gain *y)
{
    int order = COMPARE(x->item.what, y->item.what);
    order = order ? order : COMPARE(x->item.step_class, y->item.step_class);
    order = order ? order : name_order(x->names, x->item.name, y->item.name);
    return order ? order : COMPARE(x->item.rank, y->item.rank);
}

static int gain_order(const void *a, const void *b)
{
    const struct sortable_gain *x = a, *y = b;
    int order = COMPARE(y->item.none, x->item.none);
    order = order ? order : COMPARE(y->item.half, x->item.half);
    order = order ? order : COMPARE(y->item.path, x->item.path);
    order = order ? order : COMPARE(y->item.time, x->item.time);
    return order ? order : target_order(x, y);
}

static int part_order(const void *a, const void *b)
{
    const struct sortable_gain *x = a, *y = b;
    int order = target_order(x, y);
    return order ? order : COMPARE(x->item.time, y->item.time);
}

/* Makes one gain per kind, class and name of parts, then one per rank of a job with several. */
static bool add_gains(struct gain_finder *finder)
{
    const struct sim_parts *parts = finder->request->parts;
    struct gains *gains = finder->gains;
    struct sortable_gain *sorted = memory_zeroed(parts->count, sizeof *sorted);
    finder->gain_of = memory_zeroed(parts->count, sizeof *finder->gain_of);
    finder->order = memory_zeroed(parts->count, sizeof *finder->order);
    gains->items = memory_zeroed(parts->count + parts->graph->job.rank_count, sizeof *gains->items);
    bool done = (sorted && finder->gain_of && finder->order && gains->items) ||
                failure_memory(finder->failure);
    for (size_t i = 0; done && i < parts->count; i++)
        sorted[i] =
            (struct sortable_gain){{.what = parts->items[i].what,
                                    .step_class = parts->items[i].names.step_class,
                                    .name = sim_part_name(&parts->items[i], finder->request->level),
                                    .rank = NUMBER_NONE,
                                    .time = (wide_time)i}, /* index of the part, only here */
                                   &parts->names};
    done = done && sort_items(sorted, parts->count, sizeof *sorted, part_order,
                              finder->request->stopper, finder->failure);
    for (size_t i = 0; done && i < parts->count; i++) {
        finder->order[i] = (uint32_t)sorted[i].item.time;
        if (i == 0 || target_order(&sorted[i - 1], &sorted[i]) != 0) {
            struct gain *gain = &gains->items[gains->count++];
            *gain = sorted[i].item;
            gain->time = 0;
            gain->first = i;
        }
        finder->gain_of[finder->order[i]] = (uint32_t)gains->count - 1;
        gains->items[gains->count - 1].count++;
    }
    memory_free(sorted);
    finder->first_rank = gains->count;
    const struct job *job = &parts->graph->job;
    for (size_t r = 0; done && job->rank_count > 1 && r < job->rank_count; r++)
        gains->items[gains->count++] =
            (struct gain){.what = SIM_WHATS,
                          .step_class = CLASS_NONE,
                          .name = NAME_NONE,
                          .rank = parts->graph->trace->ranks[job->ranks[r].rank]};
    return done;
}

static bool list_iterations(struct gain_finder *finder)
{
    const struct sim_steps *steps = finder->request->steps;
    finder->iterations = memory_zeroed(steps->count, sizeof *finder->iterations);
    for (size_t i = 0; finder->iterations && i < steps->count; i++)
        if (steps->items[i].chosen)
            finder->iterations[finder->iteration_count++] = steps->items[i].window.iteration;
    if (finder->iterations)
        finder->iteration_count = sort_integers(finder->iterations, finder->iteration_count);
    return finder->iterations || failure_memory(finder->failure);
}

/* Returns the gain of a node's rank; NULL if the job has only one rank. */
static struct gain *rank_gain(const struct gain_finder *finder, uint32_t node)
{
    const struct sim_graph *graph = finder->request->parts->graph;
    int64_t rank = graph->trace->members[graph->member[node]].rank;
    size_t i = finder->first_rank;
    LOWER_BOUND(i, finder->gains->count, finder->gains->items[i].rank < rank);
    return i < finder->gains->count ? &finder->gains->items[i] : NULL;
}

/* A rank's gain covers all its lags except transfers, which depend on other ranks, too (E8.6). */
static bool is_own(const struct sim_part *part)
{
    return part->what != SIM_TRANSFER;
}

static bool is_chosen(const struct gain_finder *finder, uint32_t node)
{
    const struct sim_graph *graph = finder->request->parts->graph;
    const struct trace_member *member = &graph->trace->members[graph->member[node]];
    uint32_t step = step_of(member->steps, graph->row[node]);
    return has_integer(finder->iterations, finder->iteration_count,
                       step == STEP_NONE ? NUMBER_NONE : member_iteration(member, step));
}

/* Sums the lags in the chosen steps (`time`, E8.6). */
static bool add_times(struct gain_finder *finder)
{
    const struct sim_parts *parts = finder->request->parts;
    const struct sim_graph *graph = parts->graph;
    for (size_t part = 0; part < parts->count; part++)
        for (size_t i = parts->first[part]; i < parts->first[part + 1]; i++) {
            const struct sim_use *use = &parts->uses[i];
            struct gain *rank = rank_gain(finder, use->node);
            if (!stopper_goes_on(finder->request->stopper, i, finder->failure))
                return false;
            if (!is_chosen(finder, use->node) ||
                graph->kind[use->edge] == EDGE_WAIT || /* E8.6: a collective counts where it ends */
                graph->kind[use->edge] == EDGE_COPY)
                continue;
            finder->gains->items[finder->gain_of[part]].time +=
                sim_lag(graph, use->node, use->edge);
            if (rank && is_own(&parts->items[part]))
                rank->time += sim_lag(graph, use->node, use->edge);
        }
    return true;
}

/* A sim_path_add: adds the time to the gain of the edge's part and of its rank. */
static void add_path(void *argument, struct sim_use use, wide_time time)
{
    struct gain_finder *finder = argument;
    const struct sim_parts *parts = finder->request->parts;
    uint32_t part = parts->part_of[use.edge];
    if (part == SIM_NONE) {
        finder->gains->rest += time;
        return;
    }
    finder->gains->items[finder->gain_of[part]].path += time;
    struct gain *rank = rank_gain(finder, use.node);
    if (rank && is_own(&parts->items[part]))
        rank->path += time;
}

/* Sums the path of the chosen steps, and finds the gains whose lags bind in any step. */
static bool add_paths(struct gain_finder *finder)
{
    const struct sim_parts *parts = finder->request->parts;
    const struct sim_steps *steps = finder->request->steps;
    bool *marked = memory_zeroed(parts->graph->edges, sizeof *marked);
    bool done = (marked || failure_memory(finder->failure)) &&
                sim_path_mark(steps, marked, finder->request->stopper, finder->failure);
    uint32_t *ends = done ? sim_path_ends(steps, finder->failure) : NULL;
    done = done && ends;
    for (size_t i = 0; done && i < steps->count; i++)
        if (steps->items[i].chosen)
            finder->gains->rest += sim_path_find(steps, i, ends[i], add_path, finder);
    for (size_t part = 0; done && part < parts->count; part++)
        for (size_t i = parts->first[part]; i < parts->first[part + 1]; i++) {
            if (!marked[parts->uses[i].edge])
                continue;
            finder->gains->items[finder->gain_of[part]].depends = true;
            struct gain *rank = rank_gain(finder, parts->uses[i].node);
            if (rank && is_own(&parts->items[part]))
                rank->depends = true;
        }
    memory_free(ends);
    memory_free(marked);
    return done;
}

enum { LANES_OF_GAIN = 2 }; /* halved, and removed */

/* Adds two shifts of one lag: to half in `lane`, to 0 in the next lane. */
static bool add_shift(struct gain_finder *finder, const struct sim_use *use, int lane)
{
    int64_t lag = sim_lag(finder->request->parts->graph, use->node, use->edge);
    size_t count = finder->shift_count + LANES_OF_GAIN;
    if (!MEMORY_GROW(finder->shifts, finder->shift_capacity, count) ||
        !MEMORY_GROW(finder->of, finder->of_capacity, count))
        return failure_memory(finder->failure);
    for (int i = 0; i < LANES_OF_GAIN; i++) {
        finder->of[finder->shift_count] = (unsigned char)(1u << (lane + i));
        finder->shifts[finder->shift_count++] =
            (struct sim_shift){*use, (i == 0 ? sim_times(lag, 0.5) : 0) - lag};
    }
    return true;
}

/* Adds the shifts of a part's lags; for the gain of a rank, only the lags of this rank. */
static bool add_part(struct gain_finder *finder, const struct gain *gain, size_t part, int lane)
{
    const struct sim_parts *parts = finder->request->parts;
    bool all = gain->what != SIM_WHATS, done = true;
    for (size_t i = parts->first[part]; done && i < parts->first[part + 1]; i++)
        done = (!(all || rank_gain(finder, parts->uses[i].node) == gain) ||
                add_shift(finder, &parts->uses[i], lane)) &&
               stopper_goes_on(finder->request->stopper, i, finder->failure);
    return done;
}

static bool add_gain_shifts(struct gain_finder *finder, const struct gain *gain, int lane)
{
    const struct sim_parts *parts = finder->request->parts;
    bool done = true;
    for (size_t i = gain->first; done && i < gain->first + gain->count; i++)
        done = add_part(finder, gain, finder->order[i], lane);
    for (size_t part = 0; done && gain->what == SIM_WHATS && part < parts->count; part++)
        done = !is_own(&parts->items[part]) || add_part(finder, gain, part, lane);
    return done;
}

/* Simulates as many gains as one pass has lanes for, and advances `*next`. A gain on which no step
** depends stays 0. */
static bool find_gains(struct gain_finder *finder, size_t *next)
{
    const struct gains_request *request = finder->request;
    struct gains *gains = finder->gains;
    struct gain *found[SIM_LANES / LANES_OF_GAIN];
    int count = 0;
    bool done = true;
    finder->shift_count = 0;
    for (; done && *next < gains->count && count < SIM_LANES / LANES_OF_GAIN; ++*next)
        if (gains->items[*next].depends) {
            found[count] = &gains->items[*next];
            done = add_gain_shifts(finder, found[count], LANES_OF_GAIN * count);
            count++;
        }
    const struct sim_pass pass = {.shifts = finder->shifts,
                                  .of = finder->of,
                                  .count = finder->shift_count,
                                  .lanes = LANES_OF_GAIN * count};
    done = done &&
           sim_net_run(request->net, &pass, finder->lengths, request->stopper, finder->failure);
    const wide_time *lengths = finder->lengths;
    for (int i = 0; done && i < count; i++) {
        found[i]->half = gains->total - sim_steps_sum(request->steps, lengths);
        lengths += request->steps->count;
        found[i]->none = gains->total - sim_steps_sum(request->steps, lengths);
        lengths += request->steps->count;
    }
    return done;
}

static bool sort_gains(struct gain_finder *finder)
{
    struct gains *gains = finder->gains;
    struct sortable_gain *sorted = memory_zeroed(gains->count, sizeof *sorted);
    bool done = sorted || failure_memory(finder->failure);
    for (size_t i = 0; done && i < gains->count; i++)
        sorted[i] = (struct sortable_gain){gains->items[i], &finder->request->parts->names};
    done = done && sort_items(sorted, gains->count, sizeof *sorted, gain_order,
                              finder->request->stopper, finder->failure);
    for (size_t i = 0; done && i < gains->count; i++)
        gains->items[i] = sorted[i].item;
    memory_free(sorted);
    return done;
}

bool gains_find(struct gains *gains, const struct gains_request *request, struct failure *failure)
{
    struct gain_finder finder = {.request = request, .gains = gains, .failure = failure};
    *gains = (struct gains){.steps = request->steps->chosen};
    finder.lengths = memory_zeroed(SIM_LANES * request->steps->count, sizeof *finder.lengths);
    bool done = finder.lengths || failure_memory(failure);
    done = done && add_gains(&finder) && list_iterations(&finder) && add_times(&finder) &&
           add_paths(&finder);
    if (done) {
        sim_steps_find(request->steps, NULL, finder.lengths);
        gains->total = sim_steps_sum(request->steps, finder.lengths);
    }
    for (size_t i = 0; done && i < gains->count;)
        done = find_gains(&finder, &i);
    done = done && sort_gains(&finder);
    memory_free(finder.gain_of);
    memory_free(finder.order);
    memory_free(finder.iterations);
    memory_free(finder.shifts);
    memory_free(finder.of);
    memory_free(finder.lengths);
    if (!done)
        gains_clear(gains);
    return done;
}

void gains_clear(struct gains *gains)
{
    memory_free(gains->items);
    *gains = (struct gains){.count = 0};
}
