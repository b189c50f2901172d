#include "undo.h"

#include <limits.h>
#include <string.h>

#include "analysis/simulation/simulate.h"
#include "base/integers.h"
#include "base/memory.h"
#include "undo_items.h"

/* The state of undo_find(). */
struct undoer {
    struct undo *undo;
    const struct undo_request *request;
    struct undo_tokens tokens;
    struct undo_sequence sequences[2]; /* control's and test's */
    struct undo_pairs pairs;
    struct undo_chosen chosen[2]; /* numbers of the chosen steps of control and of test */
    struct undo_ghosts ghosts;
    struct sim_parts control_parts;
    struct undo_items items;
    struct sim_steps steps; /* steps of test, with ghosts */
    struct sim_net net;
    unsigned char *of;        /* by item: bit mask of the lanes that undo it */
    struct sim_shift *halves; /* by item: half the shift (E9.8) */
    wide_time *lengths;       /* room for all steps in all lanes */
    struct undo_hidden hidden;
    size_t alone; /* index in undo.items of the cause in lane 0, when lanes have one cause each */
    const struct stopper *stopper;
    struct failure *failure;
};

static bool list_chosen(const struct sim_steps *steps, struct undo_chosen *chosen,
                        struct failure *failure)
{
    *chosen = (struct undo_chosen){memory_zeroed(steps->count, sizeof *chosen->items), 0};
    if (!chosen->items)
        return failure_memory(failure);
    for (size_t i = 0; i < steps->count; i++)
        if (steps->items[i].chosen && steps->items[i].window.iteration != NUMBER_NONE)
            chosen->items[chosen->count++] = steps->items[i].window.iteration;
    chosen->count = sort_integers(chosen->items, chosen->count);
    return true;
}

/* Aligns the events of both sides (E8.5). */
static bool find_pairs(struct undoer *undoer)
{
    const struct sim_steps *steps[] = {undoer->request->control, undoer->request->steps};
    bool done = true;
    for (int i = 0; done && i < 2; i++)
        done = list_chosen(steps[i], &undoer->chosen[i], undoer->failure) &&
               undo_sequence_make(&undoer->sequences[i], steps[i]->graph, &undoer->tokens,
                                  undoer->stopper, undoer->failure);
    done = done &&
           undo_sequence_list_points(&undoer->sequences[0], undoer->stopper, undoer->failure) &&
           undo_pairs_make(&undoer->pairs, &undoer->sequences[0], &undoer->sequences[1],
                           undoer->chosen, undoer->stopper, undoer->failure);
    return done;
}

/* Raises the floor of a dependency to control's lag, as far as test's slack allows (E9.6). */
static void raise_floor(struct sim_graph *test, struct sim_use use, int64_t lag)
{
    if (use.edge == SIM_NONE || lag == NUMBER_NONE)
        return;
    int64_t longer = lag - sim_lag(test, use.node, use.edge);
    if (longer > 0)
        test->slack[use.edge] -= longer < test->slack[use.edge] ? longer : test->slack[use.edge];
}

static void raise_floors(struct undoer *undoer)
{
    struct sim_graph *test = undoer->request->test;
    const struct sim_graph *control = undoer->request->control->graph;
    const struct undo_pairs *pairs = &undoer->pairs;
    for (size_t i = 0; i < pairs->test->event_count; i++) {
        const struct undo_event *event = &pairs->test->events[i];
        if (pairs->pair[i] == UNDO_NONE)
            continue;
        const struct undo_event *twin = &pairs->control->events[pairs->pair[i]];
        if (event->lane == UNDO_DEVICE)
            raise_floor(test, undo_begin_use(test, event),
                        undo_lag(control, undo_begin_use(control, twin)));
        raise_floor(test, undo_wait_use(test, event),
                    undo_lag(control, undo_wait_use(control, twin)));
    }
}

/* Makes the steps of test, with ghosts as work of their steps. Fails if a simulation without
** changes does not reproduce the recorded times. */
static bool make_steps(struct undoer *undoer)
{
    struct sim_graph *test = undoer->request->test;
    struct sim_steps *steps = &undoer->steps;
    const struct undo_ghosts *ghosts = &undoer->ghosts;
    bool done =
        sim_steps_make(steps, test, undoer->request->choice, undoer->stopper, undoer->failure);
    for (size_t i = 0; done && i < ghosts->count; i++)
        done = sim_steps_add(steps, ghosts->items[ghosts->of[i].index].end, ghosts->of[i].member,
                             ghosts->of[i].step, undoer->failure);
    int64_t *later = done ? memory_items(test->nodes, sizeof *later) : NULL;
    undoer->lengths =
        done ? memory_zeroed(SIM_LANES * steps->count, sizeof *undoer->lengths) : NULL;
    done = done && ((later && undoer->lengths) || failure_memory(undoer->failure)) &&
           simulate_check(test, later, undoer->stopper, undoer->failure);
    memory_free(later);
    if (!done)
        return false;
    sim_steps_find(steps, NULL, undoer->lengths);
    undoer->undo->recorded = sim_steps_sum(steps, undoer->lengths);
    undoer->undo->steps = steps->chosen;
    return true;
}

static bool make_halves(struct undoer *undoer)
{
    const struct undo_items *items = &undoer->items;
    undoer->halves = memory_items(items->count, sizeof *undoer->halves);
    for (size_t i = 0; undoer->halves && i < items->count; i++) {
        undoer->halves[i] = items->items[i];
        undoer->halves[i].longer /= sim_shift_holds(&items->items[i]) ? 1 : 2;
    }
    return undoer->halves || failure_memory(undoer->failure);
}

/* True if all host lags before an event's points have names. */
static bool is_named(const struct sim_parts *parts, const struct undo_event *event)
{
    for (int end = 0; end < 2 && event->lane != UNDO_DEVICE; end++) {
        struct sim_use use = undo_point_use(parts->graph, event, end);
        if (use.edge != SIM_NONE && parts->part_of[use.edge] == SIM_NONE)
            return false;
    }
    return true;
}

/* Names all lags of test. In control, it names only the lags that a cause may need: before points
** that test lacks, and before points whose lag has no name in test. */
static bool name_lags(struct undoer *undoer)
{
    const struct undo_pairs *pairs = &undoer->pairs;
    const struct undo_sequence *control = pairs->control, *test = pairs->test;
    const struct sim_parts *parts = &undoer->undo->parts;
    uint32_t *alone = memory_zeroed(control->event_count + 1, sizeof *alone);
    bool *wanted = memory_zeroed(control->graph->nodes, sizeof *wanted);
    bool done = ((alone && wanted) || failure_memory(undoer->failure)) &&
                sim_parts_make(&undoer->undo->parts, test->graph, true, NULL, undoer->stopper,
                               undoer->failure);
    for (size_t i = 0; done && i < pairs->step_count; i++) {
        alone[pairs->steps[i].first[0]]++;
        alone[pairs->steps[i].end[0]]--;
    }
    for (size_t i = 1; done && i < control->event_count; i++)
        alone[i] += alone[i - 1];
    for (size_t i = 0; done && i < test->event_count; i++)
        if (pairs->pair[i] != UNDO_NONE && is_named(parts, &test->events[i]))
            alone[pairs->pair[i]]--;
    for (size_t i = 0; done && i < control->event_count; i++) {
        const struct undo_event *event = &control->events[i];
        const struct sim_rows *rows = &control->graph->rows[event->member];
        wanted[rows->begins[event->row]] = wanted[rows->ends[event->row]] = alone[i] > 0;
    }
    done = done && sim_parts_make(&undoer->control_parts, control->graph, true, wanted,
                                  undoer->stopper, undoer->failure);
    memory_free(alone);
    memory_free(wanted);
    return done;
}

static bool make_items(struct undoer *undoer)
{
    const struct undo_request *request = undoer->request;
    const struct undo_items_request items = {
        .pairs = &undoer->pairs,
        .ghosts = &undoer->ghosts,
        .parts = {&undoer->control_parts, &undoer->undo->parts},
        .causes = request->causes,
        .families = request->families,
        .stopper = undoer->stopper};
    bool done = name_lags(undoer) &&
                undo_items_make(&undoer->items, &items, undoer->failure) &&
                sim_net_make(&undoer->net, &undoer->steps, undoer->stopper, undoer->failure);
    undoer->of = done ? memory_zeroed(undoer->items.count, sizeof *undoer->of) : NULL;
    return done && (undoer->of || failure_memory(undoer->failure)) &&
           (!request->halves || make_halves(undoer)) &&
           (!request->hiders ||
            undo_hidden_make(&undoer->hidden, &undoer->undo->parts, &undoer->steps,
                             undoer->items.count, undoer->stopper, undoer->failure));
}

/* Marks the items of a cause for undoing in the given lanes, a bit mask. */
static void take_items(struct undoer *undoer, size_t cause, unsigned lanes)
{
    const struct undo_items *items = &undoer->items;
    for (size_t i = items->first[cause]; i < items->first[cause + 1]; i++)
        undoer->of[items->owners[i].item] |= (unsigned char)lanes;
}

/* Simulates the marked items. `sums` becomes the ns of the chosen steps, by lane. */
static bool run(struct undoer *undoer, const struct sim_shift *shifts, size_t lanes,
                sim_pass_seen *seen, wide_time *sums)
{
    const struct sim_pass pass = {shifts,     undoer->of, undoer->items.count,
                                  (int)lanes, seen,       undoer};
    bool done =
        sim_net_run(&undoer->net, &pass, undoer->lengths, undoer->stopper, undoer->failure) &&
        undoer->failure->code == FAILURE_NONE; /* `seen` reports failures only here */
    for (size_t lane = 0; done && lane < lanes; lane++)
        sums[lane] = sim_steps_sum(&undoer->steps, undoer->lengths + lane * undoer->steps.count);
    return done;
}

static int undone_order(const void *a, const void *b)
{
    const struct undone *x = a, *y = b;
    int order = COMPARE(y->known, x->known);
    order = order ? order : COMPARE(y->gain, x->gain);
    return order ? order : COMPARE(x->cause, y->cause);
}

/* Finds the hiders (E9.9) of the causes in a pass that make steps longer but gain less than 90 % of
** that. */
static void find_hiders(void *argument, const struct sim_net *net, const struct sim_pass *pass,
                        const wide_time *lengths)
{
    struct undoer *undoer = argument;
    const struct causes *causes = undoer->request->causes;
    wide_time windows = (wide_time)causes->windows[0] * causes->windows[1];
    bool done = true;
    for (int lane = 0; done && lane < pass->lanes && windows > 0; lane++) {
        const wide_time *of = lengths + (size_t)lane * undoer->steps.count;
        struct undone *undone = &undoer->undo->items[undoer->alone + (size_t)lane];
        wide_time diff = causes->items[undone->cause].diff * (wide_time)undoer->undo->steps;
        diff = (2 * diff + windows) / (2 * windows); /* ns, rounded; less than 0 does not matter */
        wide_time gain = undoer->undo->recorded - sim_steps_sum(&undoer->steps, of);
        if (undone->known && diff > 0 && 10 * gain < 9 * diff)
            done =
                undo_hidden_find(&undoer->hidden, net, pass, lane, of, diff - gain, &undone->hider);
    }
}

/* Undoes each of `count` causes alone, one per lane. */
static bool undo_alone(struct undoer *undoer, size_t first, size_t count)
{
    struct undo *undo = undoer->undo;
    struct undone *items = undo->items + first;
    wide_time sums[SIM_LANES];
    memset(undoer->of, 0, undoer->items.count);
    for (size_t lane = 0; lane < count; lane++)
        take_items(undoer, items[lane].cause, 1u << lane);
    undoer->alone = first;
    bool done =
        run(undoer, undoer->items.items, count, undoer->request->hiders ? find_hiders : NULL, sums);
    for (size_t lane = 0; done && lane < count; lane++)
        items[lane].gain = items[lane].known ? undo->recorded - sums[lane] : 0;
    if (!done || !undoer->request->halves)
        return done;
    done = run(undoer, undoer->halves, count, NULL, sums);
    for (size_t lane = 0; done && lane < count; lane++)
        items[lane].half = undo->recorded - sums[lane];
    return done;
}

/* Undoes `count` more causes cumulatively (E9.7): each lane undoes one more than the lane before.
** Before the first call, `of` must be all 0. */
static bool undo_more(struct undoer *undoer, size_t first, size_t count)
{
    struct undo *undo = undoer->undo;
    wide_time sums[SIM_LANES];
    for (size_t i = 0; i < undoer->items.count; i++) /* earlier causes stay undone in all lanes */
        undoer->of[i] = undoer->of[i] ? UCHAR_MAX : 0;
    for (size_t lane = 0; lane < count; lane++)
        take_items(undoer, undo->items[first + lane].cause, (unsigned)UCHAR_MAX << lane);
    bool done = run(undoer, undoer->items.items, count, NULL, sums);
    for (size_t lane = 0; done && lane < count; lane++)
        undo->items[first + lane].after = sums[lane];
    return done;
}

static bool undo_together(struct undoer *undoer)
{
    for (size_t i = 0; i < undoer->undo->count; i++)
        take_items(undoer, i, 1);
    return run(undoer, undoer->items.items, 1, NULL, &undoer->undo->after);
}

/* Undoes each cause alone and sorts by gain. Then undoes them cumulatively and all together, as
** requested. */
static bool undo_all(struct undoer *undoer)
{
    struct undo *undo = undoer->undo;
    const struct undo_request *request = undoer->request;
    size_t count = request->causes->count, most = request->most < count ? request->most : count;
    const struct undo_told_request of = {
        &undoer->items,  &undoer->ghosts, &undoer->chosen[1], request->test,
        request->causes, undo->steps,     undoer->stopper};
    bool *told = undo_told_find(&of, undoer->failure), done = told != NULL;
    undo->items = done ? memory_zeroed(count, sizeof *undo->items) : NULL;
    done = done && (undo->items || failure_memory(undoer->failure));
    for (size_t i = 0; done && i < count; i++) {
        bool any = i < most && undoer->items.first[i] < undoer->items.first[i + 1];
        undo->items[undo->count++] = (struct undone){
            .cause = i,
            .known = any && told[i],
            .as_long = any && !told[i],
            .hider = {HIDER_NONE, NAME_NONE, NUMBER_NONE},
            .after = undo->recorded};
    }
    memory_free(told);
    for (size_t i = 0; done && i < most; i += SIM_LANES)
        done = undo_alone(undoer, i, most - i < SIM_LANES ? most - i : SIM_LANES);
    done = done && sort_items(undo->items, count, sizeof *undo->items, undone_order,
                              undoer->stopper, undoer->failure);
    memset(undoer->of, 0, undoer->items.count);
    for (size_t i = 0; done && request->cumulative && i < most; i += SIM_LANES)
        done = undo_more(undoer, i, most - i < SIM_LANES ? most - i : SIM_LANES);
    for (size_t i = most; done && i > 0 && i < count; i++)
        undo->items[i].after = undo->items[i - 1].after;
    return done && (!request->together || undo_together(undoer));
}

bool undo_find(struct undo *undo, const struct undo_request *request, struct failure *failure)
{
    struct undoer undoer = {
        .undo = undo, .request = request, .stopper = request->stopper, .failure = failure};
    *undo = (struct undo){.count = 0};
    bool done = find_pairs(&undoer);
    if (done)
        raise_floors(&undoer);
    done = done &&
           undo_ghosts_make(&undoer.ghosts, &undoer.pairs, request->works, request->test,
                            undoer.stopper, failure) &&
           make_steps(&undoer) && make_items(&undoer) && undo_all(&undoer);
    undo_tokens_clear(&undoer.tokens);
    undo_pairs_clear(&undoer.pairs);
    for (int i = 0; i < 2; i++)
        undo_sequence_clear(&undoer.sequences[i]);
    sim_parts_clear(&undoer.control_parts);
    undo_hidden_clear(&undoer.hidden);
    undo_ghosts_clear(&undoer.ghosts);
    undo_items_clear(&undoer.items);
    sim_steps_clear(&undoer.steps);
    sim_net_clear(&undoer.net);
    memory_free(undoer.chosen[0].items);
    memory_free(undoer.chosen[1].items);
    memory_free(undoer.of);
    memory_free(undoer.halves);
    memory_free(undoer.lengths);
    if (!done)
        undo_clear(undo);
    return done;
}

void undo_clear(struct undo *undo)
{
    memory_free(undo->items);
    sim_parts_clear(&undo->parts);
    *undo = (struct undo){.count = 0};
}
