#include "undo_items.h"

#include "base/memory.h"
#include "sim_changes.h"
#include "undo_owners.h"

#define NO_ITEM UINT32_MAX

/* The items of an event of test: [first, end), with the items of the lags before its begin and
** end. */
struct event_items {
    uint32_t first, end, begin_item, end_item;
};

/* The state of undo_items_make(). An item is an index in items.items. */
struct item_maker {
    struct undo_items *items;
    const struct undo_items_request *request;
    const struct sim_graph *test, *control;
    struct undo_causes *causes[2]; /* by side, then by part */
    struct event_items *of;        /* by event of test */
    uint32_t *extra[2]; /* by begin or end, then by control's event: the item that restores it */
    struct undo_trees came, went; /* added trees of test, missing trees of control */
    uint32_t synchronized;       /* index of the `synchronized` cause, or UINT32_MAX */
    struct undo_step step;
    size_t next_ghost;                /* index of the current step's next ghost */
    struct undo_causes *ghost_causes; /* by ghost */
    const struct stopper *stopper;
    struct failure *failure;
};

static const struct undo_causes no_causes = {{UINT32_MAX, UINT32_MAX}};

/* Adds an item; `*item` is NO_ITEM if it would change nothing. */
static bool add_item(struct item_maker *maker, struct sim_use use, int64_t longer, uint32_t *item)
{
    struct undo_items *items = maker->items;
    *item = NO_ITEM;
    if (longer == 0 || use.edge == SIM_NONE)
        return true;
    if (!MEMORY_GROW(items->items, items->capacity, items->count + 1))
        return failure_memory(maker->failure);
    *item = (uint32_t)items->count;
    items->items[items->count++] = (struct sim_shift){use, longer};
    return true;
}

static const struct undo_event *event_here(const struct item_maker *maker)
{
    return &maker->request->pairs->test->events[maker->step.first];
}

/* E9: true if a cause applies to the current step's rank: it has all ranks, or this one. */
static bool is_here(const struct item_maker *maker, uint32_t cause)
{
    int64_t rank = maker->request->causes->items[cause].rank;
    return rank == NUMBER_NONE ||
           rank == maker->test->trace->members[event_here(maker)->member].rank;
}

/* Adds an item to a cause. */
static bool own(struct item_maker *maker, uint32_t cause, uint32_t item)
{
    struct undo_items *items = maker->items;
    if (!MEMORY_GROW(items->owners, items->owner_capacity, items->owner_count + 1))
        return failure_memory(maker->failure);
    items->owners[items->owner_count++] = (struct undo_owner){cause, item};
    return true;
}

/* The same if there is a cause and an item, and the cause applies to the current step. */
static bool add_owner(struct item_maker *maker, uint32_t cause, uint32_t item)
{
    return cause == UINT32_MAX || item == NO_ITEM || !is_here(maker, cause) ||
           own(maker, cause, item);
}

static bool add_owners(struct item_maker *maker, const struct undo_causes *causes, uint32_t item)
{
    for (int i = 0; i < MOST_OWNERS; i++)
        if (!add_owner(maker, causes->items[i], item))
            return false;
    return true;
}

/* Returns the causes of an edge's lag on a side. */
static const struct undo_causes *causes_of(const struct item_maker *maker, int side, uint32_t edge)
{
    uint32_t part = edge == SIM_NONE ? SIM_NONE : maker->request->parts[side]->part_of[edge];
    return part == SIM_NONE ? &no_causes : &maker->causes[side][part];
}

/* Adds the call tree around an event to the trees to undo with a cause. */
static bool add_tree(struct item_maker *maker, struct undo_trees *trees,
                     const struct undo_sequence *side, uint32_t event, uint32_t cause)
{
    return undo_trees_add(trees, &maker->step, side, event, cause, maker->failure);
}

/* ---- the host ---- */

/* Adds the item of a host lag, with its causes. `to` is the new lag, ns, or NUMBER_NONE to keep it.
** `twin` has the causes of the lag in control, for a lag without a name in test. */
static bool add_lag(struct item_maker *maker, struct sim_use use, int64_t to,
                    const struct undo_causes *twin, uint32_t *item)
{
    *item = NO_ITEM;
    if (use.edge == SIM_NONE || to == NUMBER_NONE)
        return true;
    bool named = maker->request->parts[1]->part_of[use.edge] != SIM_NONE;
    return add_item(maker, use, to - sim_lag(maker->test, use.node, use.edge), item) &&
           add_owners(maker, named ? causes_of(maker, 1, use.edge) : twin, *item);
}

/* E9.4: adds items that remove the waits of an added call for device work. */
static bool add_waits(struct item_maker *maker, uint32_t number, struct sim_use end)
{
    const struct undo_sequence *test = maker->request->pairs->test;
    bool waits = false;
    for (uint32_t edge = maker->test->first[end.node]; edge < maker->test->first[end.node + 1];
         edge++) {
        uint32_t item;
        if (maker->test->kind[edge] != EDGE_SYNC && maker->test->kind[edge] != EDGE_COPY)
            continue;
        waits = true;
        if (!add_item(maker, (struct sim_use){edge, end.node}, SIM_GONE, &item) ||
            !add_owners(maker, causes_of(maker, 1, end.edge), item))
            return false;
    }
    return !waits || add_tree(maker, &maker->came, test, number, maker->synchronized);
}

/* Adds the items of a thread's point: for the lag before it, and for the transfer that it waits
** for. A transfer without a cause takes the causes of the lag (Q10.5). `twin` is the event in
** control, or NULL. */
static bool add_point(struct item_maker *maker, const struct undo_event *event,
                      const struct undo_event *twin, bool end, uint32_t *item)
{
    struct sim_use own = undo_point_use(maker->test, event, end), was = {SIM_NONE, SIM_NONE};
    const struct undo_causes *causes = causes_of(maker, 1, own.edge);
    uint32_t transfer;
    if (twin)
        was = undo_point_use(maker->control, twin, end);
    if (!add_lag(maker, own, twin ? undo_lag(maker->control, was) : 0,
                 causes_of(maker, 0, was.edge), item))
        return false;
    own.edge = sim_edge_to(maker->test, own.node, EDGE_WAIT);
    if (causes_of(maker, 1, own.edge)->items[0] != UINT32_MAX)
        causes = causes_of(maker, 1, own.edge);
    return own.edge == SIM_NONE || !twin ||
           (add_item(maker, own, undo_wait_longer(maker->request->pairs, own, was.node),
                     &transfer) &&
            add_owners(maker, causes, transfer));
}

static bool add_host_event(struct item_maker *maker, uint32_t number)
{
    const struct undo_pairs *pairs = maker->request->pairs;
    const struct undo_event *event = &pairs->test->events[number];
    uint32_t pair = pairs->pair[number];
    const struct undo_event *twin = pair == UNDO_NONE ? NULL : &pairs->control->events[pair];
    struct event_items *of = &maker->of[number];
    of->first = (uint32_t)maker->items->count;
    bool done = add_point(maker, event, twin, false, &of->begin_item) &&
                add_point(maker, event, twin, true, &of->end_item) &&
                (twin || add_waits(maker, number, undo_end_use(maker->test, event)));
    of->end = (uint32_t)maker->items->count;
    return done;
}

/* Adds the item that restores a lag of an event that test lacks, before the next point of its
** thread that test has (E9.3). */
static bool add_extra(struct item_maker *maker, uint32_t number, bool end)
{
    const struct undo_pairs *pairs = maker->request->pairs;
    const struct undo_event *event = &pairs->control->events[number];
    size_t index = number - maker->step.from;
    size_t point = (end ? maker->step.ends : maker->step.begins)[index];
    size_t next = maker->step.next[point];
    struct sim_use own = undo_point_use(maker->control, event, end);
    int64_t lag = undo_lag(maker->control, own);
    uint32_t *item = &maker->extra[end][number];
    if (next == SIZE_MAX || lag == NUMBER_NONE)
        return true;
    uint32_t node = undo_test_node(&maker->step, next);
    struct sim_use use = {sim_edge_to(maker->test, node, EDGE_HOST), node};
    return add_item(maker, use, lag, item) &&
           add_owners(maker, causes_of(maker, 0, own.edge), *item);
}

/* ---- device work ---- */

/* E9.1: adds the item of a launch latency while the launch runs. It has the launch's cause, because
** the device waits for the launch (A6). */
static bool add_launching(struct item_maker *maker, struct sim_use use, int64_t longer)
{
    const struct undo_causes *causes = causes_of(maker, 1, undo_launch_edge(maker->test, use));
    uint32_t item;
    return add_item(maker, use, longer, &item) &&
           add_owner(maker, causes->items[OWNER_LAUNCHING], item);
}

/* E9.1: adds the items of a launch latency that both sides have: the time while the launch runs, if
** that is long on a side, and the rest, which is `queued`. */
static bool add_launch(struct item_maker *maker, struct sim_use use, struct sim_use twin)
{
    int64_t own = undo_lag(maker->test, use), was = undo_lag(maker->control, twin), longer = 0;
    uint32_t item;
    if (own == NUMBER_NONE || was == NUMBER_NONE)
        return true;
    int64_t runs = undo_launching(maker->test, use), ran = undo_launching(maker->control, twin);
    if (runs > SIM_LONG_LAUNCH || ran > SIM_LONG_LAUNCH)
        longer = ran - runs;
    return add_launching(maker, use, longer) &&
           add_item(maker, use, was - own - longer, &item) &&
           add_owners(maker, causes_of(maker, 1, use.edge), item);
}

/* Adds an item for a shift of a removal; two if a long launch is removed (E9.1). */
static bool take_removal(void *argument, const struct sim_shift *shift)
{
    struct item_maker *maker = argument;
    bool launch = maker->test->kind[shift->use.edge] == EDGE_LAUNCH;
    int64_t runs = launch ? undo_launching(maker->test, shift->use) : 0;
    uint32_t item;
    if (runs <= SIM_LONG_LAUNCH)
        return add_item(maker, shift->use, shift->longer, &item);
    bool gone = shift->longer == SIM_GONE;
    return add_item(maker, shift->use, gone ? SIM_GONE : shift->longer + runs, &item) &&
           add_launching(maker, shift->use, -runs);
}

/* Removes device work that control lacks (E9.2). */
static bool add_removal(struct item_maker *maker, uint32_t number, struct sim_use end)
{
    const struct undo_sequence *test = maker->request->pairs->test;
    const struct undo_causes *causes = causes_of(maker, 1, end.edge);
    struct event_items *of = &maker->of[number];
    bool done = sim_remove(maker->test, &end, take_removal, maker);
    for (uint32_t item = of->first; done && item < maker->items->count; item++)
        done = add_owners(maker, causes, item);
    uint32_t launch = undo_launch_of(test, &test->events[number]);
    for (int i = 0; done && i < MOST_OWNERS; i++)
        done = add_tree(maker, &maker->came, test, launch, causes->items[i]);
    return done;
}

static bool add_work(struct item_maker *maker, uint32_t number)
{
    const struct undo_pairs *pairs = maker->request->pairs;
    const struct undo_event *event = &pairs->test->events[number];
    uint32_t pair = pairs->pair[number], item;
    struct sim_use end = undo_end_use(maker->test, event),
                   launch = undo_begin_use(maker->test, event);
    struct event_items *of = &maker->of[number];
    of->first = (uint32_t)maker->items->count;
    bool done = true;
    if (end.edge != SIM_NONE && pair == UNDO_NONE) {
        done = add_removal(maker, number, end);
    } else if (pair != UNDO_NONE) {
        const struct undo_event *twin = &pairs->control->events[pair];
        const struct sim_graph *control = maker->control;
        const struct undo_causes *queued = causes_of(maker, 1, launch.edge);
        done = add_lag(maker, end, undo_lag(control, undo_end_use(control, twin)), &no_causes,
                       &item) &&
               add_item(maker, sim_copy_use(maker->test, event->member, event->row),
                        undo_copy_longer(pairs, event, twin), &item) &&
               add_owners(maker, causes_of(maker, 1, end.edge), item) &&
               add_launch(maker, launch, undo_begin_use(control, twin)) &&
               (launch.edge == SIM_NONE ||
                add_lag(maker, undo_wait_use(maker->test, event),
                        undo_lag(control, undo_wait_use(control, twin)), queued, &item));
    }
    of->end = (uint32_t)maker->items->count;
    return done;
}

/* Restores device work that test lacks (E9.3). */
static bool add_ghost(struct item_maker *maker, const struct undo_ghost *ghost)
{
    const struct undo_sequence *control = maker->request->pairs->control;
    const struct sim_ghost *of = &maker->request->ghosts->items[ghost->index];
    const struct undo_event *event = &control->events[ghost->event];
    const struct undo_causes *causes =
        causes_of(maker, 0, undo_end_use(maker->control, event).edge);
    bool done = true;
    maker->ghost_causes[ghost->index] = *causes;
    for (int i = 0; i < MOST_OWNERS; i++)
        if (causes->items[i] != UINT32_MAX && !is_here(maker, causes->items[i]))
            maker->ghost_causes[ghost->index].items[i] = UINT32_MAX;
    for (int i = 0; done && i < of->on_count; i++) {
        uint32_t item;
        done = add_item(maker, of->on[i].use, of->on[i].longer, &item) &&
               add_owners(maker, causes, item);
    }
    for (int i = 0; done && i < MOST_OWNERS; i++)
        done = add_tree(maker, &maker->went, control, undo_launch_of(control, event),
                        causes->items[i]);
    return done;
}

/* ---- trees ---- */

/* Adds all items of an event of test to a cause. */
static bool own_event(struct item_maker *maker, uint32_t cause, uint32_t number)
{
    const struct event_items *of = &maker->of[number];
    bool done = true;
    for (uint32_t item = of->first; done && item < of->end; item++)
        done = add_owner(maker, cause, item);
    return done;
}

/* Returns the item of the lag after an added call tree: before the end of an event around it, or
** before the begin of the next event, whichever comes first. NO_ITEM if there is none. */
static uint32_t item_after(const struct item_maker *maker, uint32_t number, size_t next)
{
    const struct undo_sequence *test = maker->request->pairs->test;
    const struct undo_event *event = &test->events[number], *other = &test->events[next];
    const struct sim_rows *rows = &maker->test->rows[event->member];
    bool sibling = next < maker->step.end && other->lane == event->lane;
    uint32_t item = sibling ? maker->of[next].begin_item : NO_ITEM;
    uint32_t first = sibling ? rows->begins[other->row] : SIM_NONE, after = rows->ends[event->row];
    for (uint32_t i = event->parent; i != UNDO_NONE; i = test->events[i].parent) {
        uint32_t end = rows->ends[test->events[i].row];
        if (end < after || end > first) /* an event may end before its children (T5.3) */
            continue;
        first = end;
        item = maker->of[i].end_item;
    }
    return item;
}

/* Undoes added call trees: their host time and, for `synchronized`, the device work that they
** launch (E9.2, E9.4). */
static bool own_came(struct item_maker *maker)
{
    const struct undo_pairs *pairs = maker->request->pairs;
    const struct columns *columns =
        &maker->test->trace->members[event_here(maker)->member].file->columns;
    bool done = undo_trees_sort(&maker->came, maker->stopper, maker->failure);
    for (size_t i = 0; done && i < maker->came.count; i++) {
        const struct undo_tree *tree = &maker->came.items[i];
        size_t end = undo_tree_end(pairs->test, tree->event, maker->step.end);
        for (uint32_t number = tree->event; done && number < end; number++) {
            const struct undo_event *event = &pairs->test->events[number];
            uint32_t device = columns->link[event->row];
            uint32_t work =
                device == ROW_NONE ? UNDO_NONE : pairs->test->event_of[event->member][device];
            done = pairs->pair[number] != UNDO_NONE || own_event(maker, tree->cause, number);
            if (done && tree->cause == maker->synchronized && work != UNDO_NONE &&
                pairs->pair[work] == UNDO_NONE && pairs->test->events[work].step == event->step)
                done = own_event(maker, tree->cause, work);
            done = done && stopper_goes_on(maker->stopper, number, maker->failure);
        }
        done = done && add_owner(maker, tree->cause, item_after(maker, tree->event, end));
    }
    maker->came.count = 0;
    return done;
}

/* Restores missing call trees (E9.3). */
static bool own_went(struct item_maker *maker)
{
    const struct undo_pairs *pairs = maker->request->pairs;
    const struct undo_step *step = &maker->step;
    bool done = undo_trees_sort(&maker->went, maker->stopper, maker->failure);
    for (size_t i = 0; done && i < maker->went.count; i++) {
        const struct undo_tree *tree = &maker->went.items[i];
        size_t end = undo_tree_end(pairs->control, tree->event, step->to);
        size_t next = step->next[step->ends[tree->event - step->from]];
        for (uint32_t number = tree->event; done && number < end; number++)
            done = add_owner(maker, tree->cause, maker->extra[0][number]) &&
                   add_owner(maker, tree->cause, maker->extra[1][number]) &&
                   stopper_goes_on(maker->stopper, number, maker->failure);
        if (done && next != SIZE_MAX) {
            const struct event_items *of = &maker->of[undo_test_of(step, step->points[next].event)];
            done = add_owner(maker, tree->cause,
                             step->points[next].end ? of->end_item : of->begin_item);
        }
    }
    maker->went.count = 0;
    return done;
}

/* ---- steps ---- */

static bool add_step(struct item_maker *maker)
{
    const struct undo_items_request *request = maker->request;
    const struct undo_pairs *pairs = request->pairs;
    const struct undo_step *step = &maker->step;
    const struct undo_event *here = event_here(maker);
    bool done = true;
    for (size_t i = step->from; i < step->to; i++)
        maker->extra[0][i] = maker->extra[1][i] = NO_ITEM;
    for (uint32_t i = (uint32_t)step->first; done && i < step->end; i++)
        done = pairs->test->events[i].lane == UNDO_DEVICE || add_host_event(maker, i);
    for (uint32_t i = (uint32_t)step->from; done && i < step->to; i++)
        if (pairs->control->events[i].lane != UNDO_DEVICE && undo_test_of(step, i) == UNDO_NONE)
            done = add_extra(maker, i, false) && add_extra(maker, i, true);
    for (uint32_t i = (uint32_t)step->first; done && i < step->end; i++)
        done = pairs->test->events[i].lane != UNDO_DEVICE || add_work(maker, i);
    for (; done && maker->next_ghost < request->ghosts->count; maker->next_ghost++) {
        const struct undo_ghost *ghost = &request->ghosts->of[maker->next_ghost];
        if (ghost->member != here->member || ghost->step != here->step)
            break;
        done = add_ghost(maker, ghost);
    }
    return done && own_came(maker) && own_went(maker) &&
           stopper_ask(maker->stopper, maker->failure);
}

/* Adds a ghost's causes to the causes of the earlier ghosts in its chain. Returns false if out of
** memory. */
static bool join_causes(const struct undo_causes *causes, uint32_t *seen, size_t *count,
                        size_t *capacity, uint32_t **list, uint32_t chain)
{
    for (int i = 0; i < MOST_OWNERS; i++) {
        uint32_t cause = causes->items[i];
        if (cause == UINT32_MAX || seen[cause] == chain)
            continue;
        if (!MEMORY_GROW(*list, *capacity, *count + 1))
            return false;
        seen[cause] = chain;
        (*list)[(*count)++] = cause;
    }
    return true;
}

/* Adds the items of the nodes that wait for ghosts. A node waits if a cause restores any ghost of
** its chain, up to the ghost that it is linked to. */
static bool add_links(struct item_maker *maker)
{
    const struct undo_ghosts *ghosts = maker->request->ghosts;
    size_t causes = maker->request->causes->count, count = 0, capacity = 0;
    uint32_t *next = memory_filled(ghosts->count + 1, sizeof *next);   /* by ghost: next in chain */
    uint32_t *links = memory_filled(ghosts->count + 1, sizeof *links); /* by ghost: last link */
    uint32_t *before = memory_filled(ghosts->link_count + 1, sizeof *before); /* by link */
    uint32_t *seen = memory_filled(causes + 1, sizeof *seen), *list = NULL;
    bool done = (next && links && before && seen) || failure_memory(maker->failure);
    for (uint32_t i = 0; done && i < ghosts->count; i++)
        if (ghosts->items[i].chain != SIM_NONE)
            next[ghosts->items[i].chain] = i;
    for (uint32_t i = 0; done && i < ghosts->link_count; i++) {
        before[i] = links[ghosts->links[i].ghost];
        links[ghosts->links[i].ghost] = i;
    }
    for (uint32_t head = 0; done && head < ghosts->count; head++) {
        count = 0;
        for (uint32_t i = ghosts->items[head].chain == SIM_NONE ? head : UINT32_MAX;
             done && i != UINT32_MAX; i = next[i]) {
            done = join_causes(&maker->ghost_causes[i], seen, &count, &capacity, &list, head) ||
                   failure_memory(maker->failure);
            for (uint32_t link = links[i]; done && link != UINT32_MAX; link = before[link]) {
                const struct sim_shift *on = &ghosts->links[link].on;
                uint32_t item;
                done = add_item(maker, on->use, on->longer, &item);
                for (size_t c = 0; done && item != NO_ITEM && c < count; c++)
                    done = own(maker, list[c], item);
            }
        }
    }
    memory_free(next);
    memory_free(links);
    memory_free(before);
    memory_free(seen);
    memory_free(list);
    return done;
}

static bool open_side(struct item_maker *maker, int side)
{
    const struct undo_items_request *request = maker->request;
    maker->causes[side] = undo_causes_find(request->parts[side], side, request->causes,
                                           request->families, maker->stopper, maker->failure);
    return maker->causes[side] != NULL;
}

static bool open_maker(struct item_maker *maker)
{
    const struct undo_pairs *pairs = maker->request->pairs;
    const struct causes *causes = maker->request->causes;
    maker->of = memory_filled(pairs->test->event_count + 1, sizeof *maker->of);
    for (int i = 0; i < 2; i++)
        maker->extra[i] = memory_filled(pairs->control->event_count + 1, sizeof *maker->extra[i]);
    maker->ghost_causes =
        memory_filled(maker->request->ghosts->count + 1, sizeof *maker->ghost_causes);
    maker->synchronized = UINT32_MAX;
    for (size_t i = 0; i < causes->count; i++)
        if (causes->items[i].kind == CAUSE_SYNCHRONIZED)
            maker->synchronized = (uint32_t)i;
    return ((maker->of && maker->extra[0] && maker->extra[1] && maker->ghost_causes) ||
            failure_memory(maker->failure)) &&
           open_side(maker, 0) && open_side(maker, 1);
}

static void close_maker(struct item_maker *maker)
{
    for (int i = 0; i < 2; i++) {
        memory_free(maker->causes[i]);
        memory_free(maker->extra[i]);
    }
    memory_free(maker->of);
    memory_free(maker->came.items);
    memory_free(maker->went.items);
    memory_free(maker->ghost_causes);
    undo_step_clear(&maker->step);
}

/* Sorts the owners by cause. */
static bool group_owners(struct item_maker *maker)
{
    struct undo_items *items = maker->items;
    size_t causes = maker->request->causes->count, total = 0;
    struct undo_owner *grouped = memory_items(items->owner_count, sizeof *grouped);
    items->first = memory_zeroed(causes + 2, sizeof *items->first);
    bool done = (grouped && items->first) || failure_memory(maker->failure);
    for (size_t i = 0; done && i < items->owner_count; i++)
        items->first[items->owners[i].cause + 1]++;
    for (size_t i = 0; done && i <= causes; i++) {
        /* Until all owners are placed, first[i + 1] is the place of the next owner of cause i. */
        size_t count = items->first[i + 1];
        items->first[i + 1] = total;
        total += count;
    }
    for (size_t i = 0; done && i < items->owner_count; i++) {
        grouped[items->first[items->owners[i].cause + 1]++] = items->owners[i];
        done = stopper_goes_on(maker->stopper, i, maker->failure);
    }
    memory_free(done ? items->owners : grouped);
    items->owners = done ? grouped : items->owners;
    return done;
}

bool undo_items_make(struct undo_items *items, const struct undo_items_request *request,
                     struct failure *failure)
{
    struct item_maker maker = {.items = items,
                               .request = request,
                               .test = request->pairs->test->graph,
                               .control = request->pairs->control->graph,
                               .step = {.pairs = request->pairs},
                               .stopper = request->stopper,
                               .failure = failure};
    *items = (struct undo_items){.count = 0};
    bool done = open_maker(&maker);
    while (done && undo_step_next(&maker.step, maker.stopper, failure))
        done = add_step(&maker);
    done = done && failure->code == FAILURE_NONE && add_links(&maker) && group_owners(&maker);
    close_maker(&maker);
    if (!done)
        undo_items_clear(items);
    return done;
}

void undo_items_clear(struct undo_items *items)
{
    memory_free(items->items);
    memory_free(items->owners);
    memory_free(items->first);
    *items = (struct undo_items){.count = 0};
}
