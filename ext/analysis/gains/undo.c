#include "undo.h"

#include "analysis/simulation/simulate.h"
#include "base/integers.h"
#include "base/memory.h"
#include "undo_items.h"

/* While causes are undone. */
struct undoer {
    struct undo *undo;
    const struct undo_request *request;
    struct undo_tokens tokens;
    struct undo_sequence sequences[2]; /* of control and test, like the parts */
    struct undo_pairs pairs;
    struct undo_ghosts ghosts;
    struct sim_parts parts[2];
    struct undo_items items;
    struct sim_steps steps; /* of test */
    struct sim_net net;
    struct sim_shift *shifts;
    size_t shift_count;
    bool *taken;        /* by item: it is among the shifts */
    wide_time *lengths; /* room for all steps */
    const struct stopper *stopper;
    struct failure *failure;
};

/* Lists the numbers of the chosen steps of a side. */
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

/* Finds what both sides run, and which of it is the same. */
static bool find_pairs(struct undoer *undoer)
{
    const struct sim_steps *steps[] = {undoer->request->control, undoer->request->steps};
    struct undo_chosen chosen[2] = {{NULL, 0}, {NULL, 0}};
    bool done = true;
    for (int i = 0; done && i < 2; i++)
        done = list_chosen(steps[i], &chosen[i], undoer->failure) &&
               undo_sequence_make(&undoer->sequences[i], steps[i]->graph, &undoer->tokens,
                                  undoer->stopper, undoer->failure);
    done = done && undo_pairs_make(&undoer->pairs, &undoer->sequences[0], &undoer->sequences[1],
                                   chosen, undoer->stopper, undoer->failure);
    memory_free(chosen[0].items);
    memory_free(chosen[1].items);
    return done;
}

/* Where control shows that device work takes longer to begin than its floor (E3), it has that as
** floor, as far as test allows it. */
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

/* Makes the steps of test, in which ghosts count, too. They must be as recorded. */
static bool make_steps(struct undoer *undoer)
{
    struct sim_graph *test = undoer->request->test;
    struct sim_steps *steps = &undoer->steps;
    const struct undo_ghosts *ghosts = &undoer->ghosts;
    bool done = sim_steps_make(steps, test, undoer->request->choice, undoer->stopper,
                               undoer->failure);
    for (size_t i = 0; done && i < ghosts->count; i++)
        done = sim_steps_add(steps, ghosts->items[ghosts->of[i].index].end, ghosts->of[i].member,
                             ghosts->of[i].step, undoer->failure);
    int64_t *later = done ? memory_zeroed(test->nodes, sizeof *later) : NULL;
    undoer->lengths = done ? memory_zeroed(steps->count, sizeof *undoer->lengths) : NULL;
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

static bool make_items(struct undoer *undoer)
{
    const struct undo_request *request = undoer->request;
    const struct undo_items_request items = {.pairs = &undoer->pairs,
                                             .ghosts = &undoer->ghosts,
                                             .parts = {&undoer->parts[0], &undoer->parts[1]},
                                             .causes = request->causes,
                                             .families = request->families,
                                             .stopper = undoer->stopper};
    bool done = sim_parts_make(&undoer->parts[0], request->control->graph, true, undoer->stopper,
                               undoer->failure) &&
                sim_parts_make(&undoer->parts[1], request->test, true, undoer->stopper,
                               undoer->failure) &&
                undo_items_make(&undoer->items, &items, undoer->failure) &&
                sim_net_make(&undoer->net, &undoer->steps, undoer->stopper, undoer->failure);
    undoer->shifts = done ? memory_zeroed(undoer->items.count, sizeof *undoer->shifts) : NULL;
    undoer->taken = done ? memory_zeroed(undoer->items.count, sizeof *undoer->taken) : NULL;
    return done && ((undoer->shifts && undoer->taken) || failure_memory(undoer->failure));
}

/* The first owner of a cause, or the end. */
static size_t first_owner(const struct undo_items *items, size_t cause)
{
    size_t i = 0;
    LOWER_BOUND(i, items->owner_count, items->owners[i].cause < cause);
    return i;
}

/* Adds the items of a cause that are not taken yet. */
static void take_items(struct undoer *undoer, size_t cause)
{
    const struct undo_items *items = &undoer->items;
    size_t end = first_owner(items, cause + 1);
    for (size_t i = first_owner(items, cause); i < end; i++) {
        uint32_t item = items->owners[i].item;
        if (undoer->taken[item])
            continue;
        undoer->taken[item] = true;
        undoer->shifts[undoer->shift_count++] = items->items[item];
    }
}

static void drop_items(struct undoer *undoer)
{
    for (size_t i = 0; i < undoer->items.count; i++)
        undoer->taken[i] = false;
    undoer->shift_count = 0;
}

/* Simulates what is taken; ns of the chosen steps. */
static bool run(struct undoer *undoer, wide_time *sum)
{
    bool done = sim_net_run(&undoer->net, undoer->shifts, undoer->shift_count, undoer->lengths,
                            undoer->stopper, undoer->failure);
    *sum = done ? sim_steps_sum(&undoer->steps, undoer->lengths) : 0;
    return done;
}

/* The same with half of each shift (E9.8). */
static bool run_half(struct undoer *undoer, wide_time *sum)
{
    for (size_t i = 0; i < undoer->shift_count; i++)
        undoer->shifts[i].longer /= sim_shift_holds(&undoer->shifts[i]) ? 1 : 2;
    return run(undoer, sum);
}

static int undone_order(const void *a, const void *b)
{
    const struct undone *x = a, *y = b;
    int order = COMPARE(y->known, x->known);
    order = order ? order : COMPARE(y->gain, x->gain);
    return order ? order : COMPARE(x->cause, y->cause);
}

/* Undoes each cause alone, then one after the other by gain. */
static bool undo_all(struct undoer *undoer)
{
    struct undo *undo = undoer->undo;
    const struct causes *causes = undoer->request->causes;
    undo->items = memory_zeroed(causes->count, sizeof *undo->items);
    bool done = undo->items || failure_memory(undoer->failure);
    for (size_t i = 0; done && i < causes->count; i++) {
        struct undone *undone = &undo->items[undo->count++];
        wide_time sum;
        *undone = (struct undone){.cause = i};
        drop_items(undoer);
        take_items(undoer, i);
        undone->known = undoer->shift_count > 0;
        done = run(undoer, &sum);
        undone->gain = undo->recorded - sum;
        if (undoer->request->halves) {
            done = done && run_half(undoer, &sum);
            undone->half = undo->recorded - sum;
        }
    }
    done = done && sort_items(undo->items, undo->count, sizeof *undo->items, undone_order,
                              undoer->stopper, undoer->failure);
    drop_items(undoer);
    undo->after = undo->recorded;
    for (size_t i = 0; done && i < undo->count; i++) {
        take_items(undoer, undo->items[i].cause);
        done = !undo->items[i].known || run(undoer, &undo->after);
        undo->items[i].after = undo->after;
    }
    return done;
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
    for (int i = 0; i < 2; i++) {
        undo_sequence_clear(&undoer.sequences[i]);
        sim_parts_clear(&undoer.parts[i]);
    }
    undo_ghosts_clear(&undoer.ghosts);
    undo_items_clear(&undoer.items);
    sim_steps_clear(&undoer.steps);
    sim_net_clear(&undoer.net);
    memory_free(undoer.shifts);
    memory_free(undoer.taken);
    memory_free(undoer.lengths);
    if (!done)
        undo_clear(undo);
    return done;
}

void undo_clear(struct undo *undo)
{
    memory_free(undo->items);
    *undo = (struct undo){.count = 0};
}
