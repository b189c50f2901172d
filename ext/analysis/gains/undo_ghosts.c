#include "undo_ghosts.h"

#include "analysis/parts/busy.h"
#include "base/memory.h"
#include "base/wide.h"

/* A ghost before its index in the graph's order is known. */
struct placed_ghost {
    struct sim_ghost item;
    uint32_t work;   /* index of the work of test before it on its stream, or SIM_NO_WORK */
    uint32_t member; /* index of the member in test */
    size_t number;   /* index in the order in which ghosts were found */
};

struct ghost_finder {
    struct undo_ghosts *ghosts;
    const struct undo_pairs *pairs;
    const struct sim_work *works;
    const struct sim_graph *test;
    struct placed_ghost *placed;
    size_t count, capacity;
    const struct stopper *stopper;
    struct failure *failure;
};

/* E9.3: chooses the track of test for work of control: the same stream, else the track with the
** most work. Returns an index in sim_work, or SIZE_MAX if no track has work. */
static size_t track_of(const struct sim_work *work, const struct place *place)
{
    const struct columns *columns = &work->member->file->columns;
    size_t found = SIZE_MAX, most = 0;
    for (size_t i = 0; i < work->track_count; i++) {
        uint32_t row = work->path.work[work->launched[work->firsts[i]].work].row;
        size_t count = work->firsts[i + 1] - work->firsts[i];
        if (row_place(columns, row)->stream == place->stream)
            return i;
        if (count > most) {
            most = count;
            found = i;
        }
    }
    return found;
}

/* Adds the ghost of device work that only control has. */
static bool add_ghost(struct ghost_finder *finder, const struct undo_step *step, uint32_t number)
{
    const struct undo_sequence *control = finder->pairs->control;
    const struct undo_event *event = &control->events[number];
    const struct trace_file *file = control->graph->trace->members[event->member].file;
    uint32_t launch = file->columns.link[event->row],
             member = finder->pairs->test->events[step->first].member;
    uint32_t call = launch == ROW_NONE ? UNDO_NONE : control->event_of[event->member][launch];
    const struct sim_work *work = &finder->works[member];
    int64_t dur = undo_lag(control->graph, undo_end_use(control->graph, event));
    if (call == UNDO_NONE || call < step->from || call >= step->to || dur == NUMBER_NONE)
        return true; /* without a launch in this step, its place is unknown */
    size_t point = step->begins[call - step->from];
    size_t last = step->last[point], next = step->next[point];
    size_t track = track_of(work, row_place(&file->columns, event->row));
    if (last == SIZE_MAX || track == SIZE_MAX)
        return true;
    uint32_t host = undo_test_node(step, last);
    /* The ghost goes before all work launched after the next point that both sides have. */
    int64_t limit = finder->test->at[next == SIZE_MAX ? host : undo_test_node(step, next)];
    if (!MEMORY_GROW(finder->placed, finder->capacity, finder->count + 1) ||
        !MEMORY_GROW(finder->ghosts->of, finder->ghosts->of_capacity, finder->count + 1))
        return failure_memory(finder->failure);
    wide_time distance = (wide_time)control->graph->at[step->points[point].node] -
                         control->graph->at[step->points[last].node];
    struct placed_ghost *placed = &finder->placed[finder->count];
    *placed = (struct placed_ghost){
        .item = {.launch = host,
                 .before = SIM_NONE,
                 .chain = SIM_NONE,
                 .lag = (int64_t)(distance < SIM_LONGEST ? distance : SIM_LONGEST) + work->latency,
                 .gap = work->gap,
                 .dur = dur},
        .work = sim_work_last(work, track, limit + (next == SIZE_MAX && limit < INT64_MAX)),
        .member = member,
        .number = finder->count};
    finder->ghosts->of[finder->count++] = (struct undo_ghost){
        number, member, finder->pairs->test->events[step->first].step, UNDO_NONE};
    if (placed->work != SIM_NO_WORK)
        placed->item.before = finder->test->rows[member].ends[work->path.work[placed->work].row];
    placed->item.after =
        placed->item.before != SIM_NONE && placed->item.before > host ? placed->item.before : host;
    return true;
}

/* Returns the point of the step at a node of control, or SIZE_MAX. */
static size_t point_of(const struct ghost_finder *finder, const struct undo_step *step,
                       uint32_t node)
{
    const struct undo_sequence *control = finder->pairs->control;
    uint32_t row = control->graph->row[node], member = control->events[step->from].member;
    uint32_t event = row == SIM_NONE || control->graph->member[node] != member
                         ? UNDO_NONE
                         : control->event_of[member][row];
    if (event == UNDO_NONE || event < step->from || event >= step->to)
        return SIZE_MAX;
    size_t index = event - step->from;
    return control->graph->rows[member].ends[row] == node ? step->ends[index] : step->begins[index];
}

/* E9.6: adds control's dependency of a point on another thread. Test must have both points in this
** order, and the point must not wait for a thread or a collective there already. */
static bool add_shared(struct ghost_finder *finder, const struct undo_step *step, size_t point)
{
    const struct undo_sequence *control = finder->pairs->control;
    struct undo_ghosts *ghosts = finder->ghosts;
    const struct sim_graph *test = finder->test;
    uint32_t own = step->points[point].node, edge = sim_edge_to(control->graph, own, EDGE_THREAD);
    size_t other = edge == SIM_NONE || step->last[point] != point
                       ? SIZE_MAX
                       : point_of(finder, step, control->graph->from[edge]);
    if (other == SIZE_MAX || step->last[other] != other)
        return true;
    uint32_t node = undo_test_node(step, point), from = undo_test_node(step, other);
    if (from >= node || sim_edge_to(test, node, EDGE_THREAD) != SIM_NONE ||
        sim_edge_to(test, node, EDGE_WAIT) != SIM_NONE)
        return true;
    wide_time slack =
        (wide_time)test->at[node] - test->at[from] - sim_lag(control->graph, own, edge);
    if (test->first[node] == test->first[node + 1])
        slack = 0; /* a point's only dependency must bind (E1.3) */
    if (slack >= SIM_LONGEST)
        return true;
    if (!MEMORY_GROW(ghosts->shared, ghosts->shared_capacity, ghosts->shared_count + 1))
        return failure_memory(finder->failure);
    ghosts->shared[ghosts->shared_count++] =
        (struct sim_shared){from, node, slack > 0 ? (int64_t)slack : 0};
    return true;
}

static int shared_order(const void *a, const void *b)
{
    return COMPARE(((const struct sim_shared *)a)->node, ((const struct sim_shared *)b)->node);
}

static bool find_ghosts(struct ghost_finder *finder)
{
    struct undo_step step = {.pairs = finder->pairs};
    bool done = true;
    while (done && undo_step_next(&step, finder->stopper, finder->failure)) {
        for (size_t i = step.from; done && i < step.to; i++)
            if (finder->pairs->control->events[i].lane == UNDO_DEVICE &&
                undo_test_of(&step, (uint32_t)i) == UNDO_NONE)
                done = add_ghost(finder, &step, (uint32_t)i);
        for (size_t i = 0; done && i < step.point_count; i++)
            done = add_shared(finder, &step, i);
    }
    undo_step_clear(&step);
    return done && finder->failure->code == FAILURE_NONE &&
           sort_items(finder->ghosts->shared, finder->ghosts->shared_count,
                      sizeof *finder->ghosts->shared, shared_order, finder->stopper,
                      finder->failure);
}

/* Sorts ghosts with the same work before them into one chain, in the order found. */
static int chain_order(const void *a, const void *b)
{
    const struct placed_ghost *x = a, *y = b;
    int order = COMPARE(x->member, y->member);
    order = order ? order : COMPARE(x->work, y->work);
    return order ? order : COMPARE(x->number, y->number);
}

/* Sorts into the graph's order, chains in their own order. */
static int graph_order(const void *a, const void *b)
{
    const struct placed_ghost *x = a, *y = b;
    int order = COMPARE(x->item.after, y->item.after);
    return order ? order : chain_order(a, b);
}

/* An edge from the end of work to a node that waits for it. */
struct work_use {
    uint32_t from;
    struct sim_use use;
};

static int work_use_order(const void *a, const void *b)
{
    const struct work_use *x = a, *y = b;
    int order = COMPARE(x->from, y->from);
    return order ? order : COMPARE(x->use.node, y->use.node);
}

/* Lists the nodes that wait for work, on its stream or in calls, sorted by that work. Returns NULL
** on failure. */
static struct work_use *list_uses(struct ghost_finder *finder, size_t *count)
{
    const struct sim_graph *test = finder->test;
    size_t most = 0;
    *count = 0;
    for (size_t edge = 0; edge < test->edges; edge++)
        most += test->kind[edge] == EDGE_STREAM || test->kind[edge] == EDGE_SYNC;
    struct work_use *uses = memory_zeroed(most, sizeof *uses);
    if (!uses) {
        failure_memory(finder->failure);
        return NULL;
    }
    for (uint32_t node = 0; node < test->nodes; node++)
        for (uint32_t edge = test->first[node]; edge < test->first[node + 1]; edge++)
            if (test->kind[edge] == EDGE_STREAM || test->kind[edge] == EDGE_SYNC)
                uses[(*count)++] = (struct work_use){test->from[edge], {edge, node}};
    if (sort_items(uses, *count, sizeof *uses, work_use_order, finder->stopper, finder->failure))
        return uses;
    memory_free(uses);
    return NULL;
}

/* True if a node also waits for a ghost: it comes later, and it was launched, or its call began,
** after the ghost's launch. */
static bool waits_for(const struct ghost_finder *finder, const struct placed_ghost *ghost,
                      uint32_t node)
{
    const struct sim_graph *test = finder->test;
    const struct columns *columns = &test->trace->members[ghost->member].file->columns;
    const struct path_graph *path = &finder->works[ghost->member].path;
    uint32_t row = test->row[node];
    bool device = kind_is_device((enum kind)columns->kind[row]);
    int64_t began = device ? path->work[path_work_of(path, row)].launched : columns->ts[row];
    return node > ghost->item.after && began >= test->at[ghost->item.launch];
}

/* Links each node that waits for the work before a chain to the last ghost of the chain that it
** waits for. */
static bool add_links(struct ghost_finder *finder, const struct placed_ghost *chain, size_t count,
                      const struct work_use *uses, size_t use_count)
{
    struct undo_ghosts *ghosts = finder->ghosts;
    size_t i = 0;
    LOWER_BOUND(i, use_count, uses[i].from < chain->item.before);
    for (; i < use_count && uses[i].from == chain->item.before; i++) {
        size_t last = count;
        while (last > 0 && !waits_for(finder, &chain[last - 1], uses[i].use.node))
            last--;
        if (last == 0)
            continue;
        if (!MEMORY_GROW(ghosts->links, ghosts->link_capacity, ghosts->link_count + 1))
            return failure_memory(finder->failure);
        ghosts->links[ghosts->link_count++] =
            (struct sim_ghost_link){.node = uses[i].use.node,
                                    .ghost = (uint32_t)chain[last - 1].number,
                                    .slack = finder->test->slack[uses[i].use.edge]};
    }
    return true;
}

/* Groups the ghosts into chains, and links the nodes that wait for them. */
static bool make_chains(struct ghost_finder *finder)
{
    struct placed_ghost *placed = finder->placed;
    size_t use_count;
    struct work_use *uses = list_uses(finder, &use_count);
    bool done = uses && sort_items(placed, finder->count, sizeof *placed, chain_order,
                                   finder->stopper, finder->failure);
    for (size_t i = 0, end; done && i < finder->count; i = end) {
        for (end = i + 1;
             end < finder->count && placed[i].work != SIM_NO_WORK &&
             placed[end].member == placed[i].member && placed[end].work == placed[i].work;
             end++) {
            placed[end].item.chain = (uint32_t)placed[end - 1].number;
            if (placed[end].item.after < placed[end - 1].item.after)
                placed[end].item.after = placed[end - 1].item.after;
        }
        done = placed[i].item.before == SIM_NONE ||
               add_links(finder, &placed[i], end - i, uses, use_count);
    }
    memory_free(uses);
    return done;
}

static int link_order(const void *a, const void *b)
{
    const struct sim_ghost_link *x = a, *y = b;
    int order = COMPARE(x->node, y->node);
    return order ? order : COMPARE(x->ghost, y->ghost);
}

/* Puts the ghosts into the graph's order, and updates the references to their indices. */
static bool order_ghosts(struct ghost_finder *finder)
{
    struct undo_ghosts *ghosts = finder->ghosts;
    uint32_t *index = memory_items(finder->count, sizeof *index); /* by number: the index */
    ghosts->items = memory_items(finder->count, sizeof *ghosts->items);
    bool done = ((index && ghosts->items) || failure_memory(finder->failure)) &&
                sort_items(finder->placed, finder->count, sizeof *finder->placed, graph_order,
                           finder->stopper, finder->failure);
    for (size_t i = 0; done && i < finder->count; i++)
        index[finder->placed[i].number] = (uint32_t)i;
    for (size_t i = 0; done && i < finder->count; i++) {
        ghosts->items[i] = finder->placed[i].item;
        if (ghosts->items[i].chain != SIM_NONE)
            ghosts->items[i].chain = index[ghosts->items[i].chain];
        ghosts->of[i].index = index[i];
    }
    ghosts->count = done ? finder->count : 0;
    for (size_t i = 0; done && i < ghosts->link_count; i++)
        ghosts->links[i].ghost = index[ghosts->links[i].ghost];
    memory_free(index);
    return done && sort_items(ghosts->links, ghosts->link_count, sizeof *ghosts->links, link_order,
                              finder->stopper, finder->failure);
}

bool undo_ghosts_make(struct undo_ghosts *ghosts, const struct undo_pairs *pairs,
                      const struct sim_work *works, struct sim_graph *test,
                      const struct stopper *stopper, struct failure *failure)
{
    struct ghost_finder finder = {.ghosts = ghosts,
                                  .pairs = pairs,
                                  .works = works,
                                  .test = test,
                                  .stopper = stopper,
                                  .failure = failure};
    *ghosts = (struct undo_ghosts){.count = 0};
    bool done = find_ghosts(&finder) && make_chains(&finder) && order_ghosts(&finder);
    if (done) {
        const struct sim_additions additions = {ghosts->items,  ghosts->count,
                                                ghosts->links,  ghosts->link_count,
                                                ghosts->shared, ghosts->shared_count};
        done = sim_ghosts_add(test, &additions, stopper, failure);
    }
    memory_free(finder.placed);
    if (!done)
        undo_ghosts_clear(ghosts);
    return done;
}

void undo_ghosts_clear(struct undo_ghosts *ghosts)
{
    memory_free(ghosts->of);
    memory_free(ghosts->items);
    memory_free(ghosts->links);
    memory_free(ghosts->shared);
    *ghosts = (struct undo_ghosts){.count = 0};
}
