#include "undo_pairs.h"

#include "analysis/sums/align.h"
#include "base/integers.h"
#include "base/memory.h"
#include "sim_changes.h"

static struct sim_use use_of(const struct sim_graph *graph, uint32_t node, enum sim_edge kind)
{
    return (struct sim_use){sim_edge_to(graph, node, kind), node};
}

struct sim_use undo_begin_use(const struct sim_graph *graph, const struct undo_event *event)
{
    uint32_t node = graph->rows[event->member].begins[event->row];
    return use_of(graph, node, event->lane == UNDO_DEVICE ? EDGE_LAUNCH : EDGE_HOST);
}

struct sim_use undo_end_use(const struct sim_graph *graph, const struct undo_event *event)
{
    uint32_t node = graph->rows[event->member].ends[event->row];
    struct sim_use transfer = use_of(graph, node, EDGE_TRANSFER);
    return transfer.edge != SIM_NONE ? transfer
                                     : use_of(graph, node,
                                              event->lane == UNDO_DEVICE ? EDGE_DEVICE : EDGE_HOST);
}

struct sim_use undo_wait_use(const struct sim_graph *graph, const struct undo_event *event)
{
    const struct sim_rows *rows = &graph->rows[event->member];
    return event->lane == UNDO_DEVICE ? use_of(graph, rows->begins[event->row], EDGE_STREAM)
                                      : use_of(graph, rows->ends[event->row], EDGE_SYNC);
}

int64_t undo_lag(const struct sim_graph *graph, struct sim_use use)
{
    return use.edge == SIM_NONE ? NUMBER_NONE : sim_lag(graph, use.node, use.edge);
}

/* Returns the end of the launch at which a launch-latency edge begins. */
static uint32_t launch_end(const struct sim_graph *graph, struct sim_use use)
{
    uint32_t begin = graph->from[use.edge];
    return graph->rows[graph->member[begin]].ends[graph->row[begin]];
}

int64_t undo_launching(const struct sim_graph *graph, struct sim_use use)
{
    int64_t lag = sim_lag(graph, use.node, use.edge);
    int64_t takes = graph->at[launch_end(graph, use)] - graph->at[graph->from[use.edge]];
    return lag < takes ? lag : takes;
}

uint32_t undo_launch_edge(const struct sim_graph *graph, struct sim_use use)
{
    return sim_edge_to(graph, launch_end(graph, use), EDGE_HOST);
}

int64_t undo_copy_longer(const struct undo_pairs *pairs, const struct undo_event *event,
                         const struct undo_event *twin)
{
    const struct sim_graph *control = pairs->control->graph, *test = pairs->test->graph;
    int64_t was = undo_lag(control, sim_copy_use(control, twin->member, twin->row));
    int64_t own = undo_lag(test, sim_copy_use(test, event->member, event->row));
    return own == NUMBER_NONE ? 0 : was == NUMBER_NONE ? SIM_GONE : was - own;
}

int64_t undo_wait_longer(const struct undo_pairs *pairs, struct sim_use wait, uint32_t was)
{
    const struct undo_sequence *control = pairs->control, *test = pairs->test;
    struct sim_use of = wait, twin = use_of(control->graph, was, EDGE_WAIT);
    if (twin.edge == SIM_NONE) {
        uint32_t member = test->graph->member[wait.node];
        uint32_t row = sim_transfer_row(test->graph, wait.edge);
        uint32_t event = test->event_of[member][row];
        uint32_t pair = event == UNDO_NONE ? UNDO_NONE : pairs->pair[event];
        if (pair == UNDO_NONE)
            return 0;
        of = undo_end_use(test->graph, &test->events[event]);
        twin = undo_end_use(control->graph, &control->events[pair]);
    }
    int64_t lag = undo_lag(control->graph, twin), own = undo_lag(test->graph, of);
    return lag == NUMBER_NONE || own == NUMBER_NONE ? 0 : lag - own;
}

struct side_step {
    int64_t rank;      /* number of the rank; 0 on both sides if each has only one */
    int64_t iteration; /* number of the step */
    size_t first, end; /* its events */
};

struct side_steps {
    struct side_step *items; /* by rank, then by iteration */
    size_t count;
};

static int step_order(const void *a, const void *b)
{
    const struct side_step *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    order = order ? order : COMPARE(x->iteration, y->iteration);
    return order ? order : COMPARE(x->first, y->first);
}

static bool list_steps(struct side_steps *steps, const struct undo_sequence *side, bool alone,
                       const struct stopper *stopper, struct failure *failure)
{
    const struct undo_event *events = side->events;
    steps->items = memory_zeroed(side->block_count, sizeof *steps->items);
    if (!steps->items)
        return failure_memory(failure);
    for (size_t i = 0, end; i < side->event_count; i = end) {
        const struct trace_member *member = &side->graph->trace->members[events[i].member];
        for (end = i; end < side->event_count && events[end].member == events[i].member &&
                      events[end].step == events[i].step;
             end++)
            ;
        steps->items[steps->count++] = (struct side_step){
            alone ? 0 : member->rank,
            member->steps->count > 0 ? member_iteration(member, events[i].step) : 0, i, end};
    }
    return sort_items(steps->items, steps->count, sizeof *steps->items, step_order, stopper,
                      failure);
}

/* The steps of a rank on one side, and the range of the chosen ones (all steps if none is
** chosen). */
struct rank_steps {
    size_t first, end, chosen, chosen_end;
};

static struct rank_steps find_rank(const struct side_steps *steps, int64_t rank,
                                   const struct undo_chosen *chosen)
{
    struct rank_steps found = {0, 0, 0, 0};
    LOWER_BOUND(found.first, steps->count, steps->items[found.first].rank < rank);
    found.end = found.first;
    LOWER_BOUND(found.end, steps->count, steps->items[found.end].rank <= rank);
    found.chosen = found.first;
    found.chosen_end = found.end;
    while (chosen->count > 0 && found.chosen < found.end &&
           steps->items[found.chosen].iteration < chosen->items[0])
        found.chosen++;
    while (chosen->count > 0 && found.chosen_end > found.chosen &&
           steps->items[found.chosen_end - 1].iteration > chosen->items[chosen->count - 1])
        found.chosen_end--;
    return found;
}

/* Returns the step of control to compare with a step of test (E8.5). `number` is 1 for the first
** chosen step of test; `listed` has control's chosen steps. */
static size_t control_of(const struct undo_chosen *chosen, const struct rank_steps *of,
                         const struct rank_steps *test, size_t step, size_t number,
                         const size_t *listed, size_t listed_count)
{
    if (step < test->chosen) {
        size_t before = test->chosen - step;
        return of->chosen - of->first >= before ? of->chosen - before : of->chosen;
    }
    if (step >= test->chosen_end) {
        size_t after = step - test->chosen_end;
        return of->end - of->chosen_end > after ? of->chosen_end + after : of->chosen_end - 1;
    }
    size_t place = chosen->count > 0 ? (number - (number > 0)) % chosen->count : 0;
    return place < listed_count ? listed[place] : of->chosen;
}

/* Pairs the steps of a test rank with steps of control. `listed` has room for all steps of
** control. */
static void pair_rank(struct undo_pairs *pairs, const struct side_steps *steps,
                      const struct undo_chosen *chosen, size_t first, size_t *listed)
{
    int64_t rank = steps[1].items[first].rank;
    const struct rank_steps of = find_rank(&steps[0], rank, &chosen[0]);
    const struct rank_steps test = find_rank(&steps[1], rank, &chosen[1]);
    size_t number = 0, listed_count = 0;
    for (size_t i = of.chosen; i < of.chosen_end; i++)
        if (has_integer(chosen[0].items, chosen[0].count, steps[0].items[i].iteration))
            listed[listed_count++] = i;
    for (size_t i = test.first; of.chosen < of.chosen_end && i < test.end; i++) {
        const struct side_step *step = &steps[1].items[i];
        number += has_integer(chosen[1].items, chosen[1].count, step->iteration);
        const struct side_step *control =
            &steps[0].items[control_of(&chosen[0], &of, &test, i, number, listed, listed_count)];
        pairs->steps[pairs->step_count++] = (struct undo_pair_of_steps){
            {control->first, step->first}, {control->end, step->end}};
    }
}

static bool pair_steps(struct undo_pairs *pairs, const struct undo_chosen *chosen,
                       const struct stopper *stopper, struct failure *failure)
{
    const struct undo_sequence *sides[] = {pairs->control, pairs->test};
    struct side_steps steps[2] = {{NULL, 0}, {NULL, 0}};
    bool alone = sides[0]->graph->job.rank_count == 1 && sides[1]->graph->job.rank_count == 1;
    bool done = true;
    for (int i = 0; done && i < 2; i++)
        done = list_steps(&steps[i], sides[i], alone, stopper, failure);
    pairs->steps = done ? memory_zeroed(steps[1].count, sizeof *pairs->steps) : NULL;
    size_t *listed = done ? memory_items(steps[0].count, sizeof *listed) : NULL;
    done = done && ((pairs->steps && listed) || failure_memory(failure));
    for (size_t i = 0; done && i < steps[1].count; i++) {
        if (i == 0 || steps[1].items[i].rank != steps[1].items[i - 1].rank)
            pair_rank(pairs, steps, chosen, i, listed);
        done = stopper_goes_on(stopper, i, failure);
    }
    memory_free(listed);
    memory_free(steps[0].items);
    memory_free(steps[1].items);
    return done;
}

/* Buffers for align_lane(). */
struct align_room {
    uint32_t *tokens[2];
    struct aligned *aligned;
};

/* Returns the end of the first lane in [first, end). */
static size_t lane_end(const struct undo_sequence *side, size_t first, size_t end)
{
    size_t i = first;
    while (i < end && side->events[i].lane == side->events[first].lane)
        i++;
    return i;
}

/* Aligns one lane of two steps: [first, end) of control and of test. */
static bool align_lane(struct undo_pairs *pairs, struct align_room *room, const size_t *first,
                       const size_t *end, const struct stopper *stopper, struct failure *failure)
{
    const struct undo_sequence *sides[] = {pairs->control, pairs->test};
    size_t count;
    for (int side = 0; side < 2; side++)
        for (size_t i = first[side]; i < end[side]; i++)
            room->tokens[side][i - first[side]] = sides[side]->events[i].token;
    if (!align(room->tokens[0], end[0] - first[0], room->tokens[1], end[1] - first[1],
               room->aligned, &count, stopper, failure))
        return false;
    for (size_t i = 0; i < count; i++)
        if (room->aligned[i].a != ALIGN_NONE && room->aligned[i].b != ALIGN_NONE)
            pairs->pair[first[1] + room->aligned[i].b] = (uint32_t)(first[0] + room->aligned[i].a);
    return true;
}

/* Aligns the lanes that both steps have. Lanes have the same order on both sides. */
static bool align_steps(struct undo_pairs *pairs, struct align_room *room,
                        const struct undo_pair_of_steps *of, const struct stopper *stopper,
                        struct failure *failure)
{
    const struct undo_event *control = pairs->control->events, *test = pairs->test->events;
    size_t first[2] = {of->first[0], of->first[1]}, end[2];
    bool done = true;
    while (done && first[0] < of->end[0] && first[1] < of->end[1]) {
        end[0] = lane_end(pairs->control, first[0], of->end[0]);
        end[1] = lane_end(pairs->test, first[1], of->end[1]);
        uint32_t lane = control[first[0]].lane, other = test[first[1]].lane;
        if (lane == other)
            done = align_lane(pairs, room, first, end, stopper, failure);
        if (lane <= other)
            first[0] = end[0];
        if (other <= lane)
            first[1] = end[1];
    }
    return done;
}

bool undo_pairs_make(struct undo_pairs *pairs, const struct undo_sequence *control,
                     const struct undo_sequence *test, const struct undo_chosen *chosen,
                     const struct stopper *stopper, struct failure *failure)
{
    struct align_room room = {.aligned = NULL};
    size_t most = 0;
    *pairs = (struct undo_pairs){.control = control, .test = test};
    for (size_t i = 0; i < control->block_count; i++)
        most = control->blocks[i].count > most ? control->blocks[i].count : most;
    for (size_t i = 0; i < test->block_count; i++)
        most = test->blocks[i].count > most ? test->blocks[i].count : most;
    pairs->pair = memory_filled(test->event_count + 1, sizeof *pairs->pair);
    room.tokens[0] = memory_items(most, sizeof *room.tokens[0]);
    room.tokens[1] = memory_items(most, sizeof *room.tokens[1]);
    room.aligned = memory_items(2 * most, sizeof *room.aligned);
    bool done = (pairs->pair && room.tokens[0] && room.tokens[1] && room.aligned) ||
                failure_memory(failure);
    done = done && pair_steps(pairs, chosen, stopper, failure);
    for (size_t i = 0; done && i < pairs->step_count; i++)
        done = align_steps(pairs, &room, &pairs->steps[i], stopper, failure);
    memory_free(room.tokens[0]);
    memory_free(room.tokens[1]);
    memory_free(room.aligned);
    if (!done)
        undo_pairs_clear(pairs);
    return done;
}

void undo_pairs_clear(struct undo_pairs *pairs)
{
    memory_free(pairs->steps);
    memory_free(pairs->pair);
    *pairs = (struct undo_pairs){.pair = NULL};
}

/* Finds the points of control's step. */
static void find_points(struct undo_step *step)
{
    const struct undo_sequence *control = step->pairs->control;
    size_t end = step->from;
    while (end < step->to && control->events[end].lane != UNDO_DEVICE)
        end++;
    step->points = control->points + 2 * step->from;
    step->point_count = 2 * (end - step->from);
    for (size_t i = 0; i < step->point_count; i++)
        (step->points[i].end ? step->ends : step->begins)[step->points[i].event - step->from] = i;
}

static bool make_room(struct undo_step *step)
{
    size_t count = step->to - step->from;
    step->test_of = memory_filled(count, sizeof *step->test_of);
    step->begins = memory_filled(count, sizeof *step->begins);
    step->ends = memory_filled(count, sizeof *step->ends);
    step->last = memory_items(2 * count, sizeof *step->last);
    step->next = memory_items(2 * count, sizeof *step->next);
    return step->test_of && step->begins && step->ends && step->last && step->next;
}

/* Finds the nearest paired points before and after each point of a thread. */
static void find_paired(struct undo_step *step)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < step->point_count; i++) {
        const struct undo_point *point = &step->points[i];
        if (i > 0 && point->lane != point[-1].lane)
            found = SIZE_MAX;
        if (undo_test_of(step, point->event) != UNDO_NONE)
            found = i;
        step->last[i] = found;
    }
    found = SIZE_MAX;
    for (size_t i = step->point_count; i-- > 0;) {
        const struct undo_point *point = &step->points[i];
        if (i + 1 < step->point_count && point->lane != point[1].lane)
            found = SIZE_MAX;
        if (undo_test_of(step, point->event) != UNDO_NONE)
            found = i;
        step->next[i] = found;
    }
}

bool undo_step_next(struct undo_step *step, const struct stopper *stopper, struct failure *failure)
{
    const struct undo_pairs *pairs = step->pairs;
    size_t number = step->number;
    if (number == pairs->step_count || !stopper_ask(stopper, failure))
        return false;
    const struct undo_pair_of_steps *of = &pairs->steps[number];
    undo_step_clear(step);
    *step = (struct undo_step){.pairs = pairs,
                               .number = number + 1,
                               .first = of->first[1],
                               .end = of->end[1],
                               .from = of->first[0],
                               .to = of->end[0]};
    if (!make_room(step))
        return failure_memory(failure);
    for (size_t i = step->first; i < step->end; i++)
        if (pairs->pair[i] != UNDO_NONE)
            step->test_of[pairs->pair[i] - step->from] = (uint32_t)i;
    find_points(step);
    find_paired(step);
    return true;
}

uint32_t undo_test_node(const struct undo_step *step, size_t point)
{
    const struct undo_point *of = &step->points[point];
    const struct undo_event *event = &step->pairs->test->events[undo_test_of(step, of->event)];
    const struct sim_rows *rows = &step->pairs->test->graph->rows[event->member];
    return (of->end ? rows->ends : rows->begins)[event->row];
}

void undo_step_clear(struct undo_step *step)
{
    memory_free(step->test_of);
    memory_free(step->begins);
    memory_free(step->ends);
    memory_free(step->last);
    memory_free(step->next);
    *step = (struct undo_step){.pairs = step->pairs};
}

/* Returns the outermost event of a call tree (see undo_trees_add()), or UNDO_NONE. */
static uint32_t outermost(const struct undo_step *step, const struct undo_sequence *side,
                          uint32_t event)
{
    bool test = side == step->pairs->test;
    uint32_t found = UNDO_NONE, begin = event;
    while (event != UNDO_NONE) {
        const struct undo_event *of = &side->events[event];
        const struct sim_rows *rows = &side->graph->rows[of->member];
        const struct trace_file *file = side->graph->trace->members[of->member].file;
        enum kind kind = (enum kind)file->columns.kind[of->row];
        bool paired = test ? step->pairs->pair[event] != UNDO_NONE
                           : undo_test_of(step, event) != UNDO_NONE;
        if (rows->ends[of->row] < rows->begins[side->events[begin].row]) /* ended (T5.3) */
            break;
        if (paired || !(kind == KIND_CALL || kind == KIND_DRIVER_CALL ||
                        row_is(file, of->row, CATEGORY_OPERATOR)))
            break;
        found = event;
        event = of->parent;
    }
    return found;
}

bool undo_trees_add(struct undo_trees *trees, const struct undo_step *step,
                    const struct undo_sequence *side, uint32_t event, uint32_t cause,
                    struct failure *failure)
{
    uint32_t tree = cause == UINT32_MAX ? UNDO_NONE : outermost(step, side, event);
    if (tree == UNDO_NONE)
        return true;
    if (!MEMORY_GROW(trees->items, trees->capacity, trees->count + 1))
        return failure_memory(failure);
    trees->items[trees->count++] = (struct undo_tree){tree, cause};
    return true;
}

static int tree_order(const void *a, const void *b)
{
    const struct undo_tree *x = a, *y = b;
    int order = COMPARE(x->event, y->event);
    return order ? order : COMPARE(x->cause, y->cause);
}

bool undo_trees_sort(struct undo_trees *trees, const struct stopper *stopper,
                     struct failure *failure)
{
    size_t kept = 0;
    if (!sort_items(trees->items, trees->count, sizeof *trees->items, tree_order, stopper, failure))
        return false;
    for (size_t i = 0; i < trees->count; i++)
        if (kept == 0 || tree_order(&trees->items[kept - 1], &trees->items[i]) != 0)
            trees->items[kept++] = trees->items[i];
    trees->count = kept;
    return true;
}
