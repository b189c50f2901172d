#include "sim_changes.h"

#include <math.h>

#include "base/memory.h"
#include "base/wide.h"

int64_t sim_times(int64_t time, double factor)
{
    int exponent;
    wide_time product = (wide_time)time * (int64_t)ldexp(frexp(factor, &exponent), 53);
    exponent -= 53;
    if (product == 0)
        return 0;
    if (exponent >= 0)
        return exponent > 10 || product << exponent >= SIM_LONGEST ? SIM_LONGEST
                                                                   : (int64_t)(product << exponent);
    if (exponent < -118)
        return 0;
    product = (product + ((wide_time)1 << (-exponent - 1))) >> -exponent;
    return product < SIM_LONGEST ? (int64_t)product : SIM_LONGEST;
}

/* A selected lag. */
struct selected {
    struct sim_use use;
    uint32_t member, run; /* row of its run; ROW_NONE: it is a run of its own */
};

/* The state of sim_change_make(). */
struct change_maker {
    const struct sim_parts *parts;
    const struct sim_change *change;
    int64_t *longer; /* by edge: ns added to its lag so far */
    struct selected *items;
    size_t count, capacity;
    const struct stopper *stopper;
    struct failure *failure;
};

static bool selects_part(const struct change_maker *maker, const struct sim_part *part)
{
    const struct sim_change *change = maker->change;
    bool is = part->what == change->what && (change->step_class == CLASS_NONE ||
                                             change->step_class == part->names.step_class);
    for (int level = 0; is && level < LEVEL_COUNT; level++)
        if (change->label[level])
            is = part->names.name[level] != NAME_NONE &&
                 change->like(change->label[level],
                              maker->parts->names.items[part->names.name[level]].text);
    return is;
}

static bool selects_node(const struct change_maker *maker, uint32_t node)
{
    const struct sim_graph *graph = maker->parts->graph;
    const struct sim_change *change = maker->change;
    const struct trace_member *member = &graph->trace->members[graph->member[node]];
    uint32_t step = step_of(member->steps, graph->row[node]);
    return (change->rank == NUMBER_NONE || change->rank == member->rank) &&
           (change->step == NUMBER_NONE ||
            (step != STEP_NONE && member_iteration(member, step) == change->step));
}

static bool select_part(struct change_maker *maker, size_t part)
{
    const struct sim_parts *parts = maker->parts;
    for (size_t i = parts->first[part]; i < parts->first[part + 1]; i++) {
        const struct sim_use *use = &parts->uses[i];
        if (!stopper_goes_on(maker->stopper, i, maker->failure))
            return false;
        if (!selects_node(maker, use->node))
            continue;
        if (!MEMORY_GROW(maker->items, maker->capacity, maker->count + 1))
            return failure_memory(maker->failure);
        maker->items[maker->count++] =
            (struct selected){*use, parts->graph->member[use->node], ROW_NONE};
    }
    return true;
}

static int run_order(const void *a, const void *b)
{
    const struct selected *x = a, *y = b;
    int order = COMPARE(x->member, y->member);
    order = order ? order : COMPARE(x->run, y->run);
    return order ? order : COMPARE(x->use.node, y->use.node);
}

/* E8.3: the level whose labels divide host time into runs, for `set_us` and `add_us`; LEVEL_COUNT:
** each lag is a run. */
static enum label_level run_level(const struct sim_change *change)
{
    static const enum label_level levels[] = {LEVEL_KERNEL, LEVEL_OP, LEVEL_TOP_OP, LEVEL_MODULE,
                                              LEVEL_ANNOTATION};
    bool runs = change->what == SIM_HOST &&
                (change->how == CHANGE_SET || change->how == CHANGE_ADD);
    for (size_t i = 0; runs && i < sizeof levels / sizeof *levels; i++)
        if (change->label[levels[i]])
            return levels[i];
    return LEVEL_COUNT;
}

/* Finds the run of each selected lag, and sorts the lags by run, then by time. */
static bool find_runs(struct change_maker *maker)
{
    const struct sim_graph *graph = maker->parts->graph;
    enum label_level level = run_level(maker->change);
    bool done = sort_items(maker->items, maker->count, sizeof *maker->items, run_order,
                           maker->stopper, maker->failure);
    for (size_t i = 0, end; done && level != LEVEL_COUNT && i < maker->count; i = end) {
        uint32_t member = maker->items[i].member;
        struct known_file known = {.made = false};
        for (end = i; end < maker->count && maker->items[end].member == member; end++)
            ;
        done = sim_labels_make(graph, member, &known, maker->stopper, maker->failure);
        for (size_t j = i; done && j < end; j++)
            maker->items[j].run = sim_label_row(graph, &known, &maker->items[j].use, level);
        known_file_clear(&known);
        done = done && sort_items(maker->items + i, end - i, sizeof *maker->items, run_order,
                                  maker->stopper, maker->failure);
    }
    return done;
}

/* Returns a lag, ns, after the changes so far. */
static int64_t lag_now(const struct change_maker *maker, const struct sim_use *use)
{
    int64_t lag = sim_lag(maker->parts->graph, use->node, use->edge);
    int64_t longer = maker->longer[use->edge];
    return longer > -lag ? lag + longer : 0; /* also if the dependency is gone */
}

/* Applies a change to a time, ns. */
static int64_t changed(const struct sim_change *change, int64_t time)
{
    int64_t ns;
    if (change->how == CHANGE_FACTOR)
        return sim_times(time, change->amount);
    ns = sim_times(1000, fabs(change->amount));
    if (change->how == CHANGE_SET)
        return ns;
    if (change->amount < 0)
        return time > ns ? time - ns : 0;
    return time < SIM_LONGEST - ns ? time + ns : SIM_LONGEST;
}

/* E8.3: changes the lags of a run in proportion to their lengths. Running sums round down. */
static void change_run(const struct change_maker *maker, const struct selected *items, size_t count)
{
    wide_time whole = 0, before = 0, passed = 0;
    for (size_t i = 0; i < count; i++)
        whole += lag_now(maker, &items[i].use);
    if (whole > SIM_LONGEST)
        whole = SIM_LONGEST;
    int64_t now = changed(maker->change, (int64_t)whole);
    for (size_t i = 0; i < count; i++) {
        int64_t lag = lag_now(maker, &items[i].use);
        passed += lag;
        wide_time upto = i + 1 == count ? now : passed * now / (whole > 0 ? whole : 1);
        int64_t longer = (int64_t)(upto - before) - lag;
        if (maker->longer[items[i].use.edge] > SIM_GONE)
            maker->longer[items[i].use.edge] += longer;
        before = upto;
    }
}

/* Sets the lag of an edge to 0. */
static bool drop_lag(const struct sim_graph *graph, uint32_t node, uint32_t edge,
                     sim_take_shift *take, void *argument)
{
    const struct sim_shift shift = {{edge, node}, -sim_lag(graph, node, edge)};
    return take(argument, &shift);
}

static bool drop_edge(uint32_t node, uint32_t edge, sim_take_shift *take, void *argument)
{
    const struct sim_shift shift = {{edge, node}, SIM_GONE};
    return take(argument, &shift);
}

/* Removes the launch and the gap before device work. Without work before it on its stream, it keeps
** its launch, with no lag. */
static bool remove_begin(const struct sim_graph *graph, uint32_t node, sim_take_shift *take,
                         void *argument)
{
    bool streams = sim_edge_to(graph, node, EDGE_STREAM) != SIM_NONE, done = true;
    for (uint32_t edge = graph->first[node]; done && edge < graph->first[node + 1]; edge++)
        if (graph->kind[edge] == EDGE_LAUNCH && streams)
            done = drop_edge(node, edge, take, argument);
        else if (graph->kind[edge] == EDGE_LAUNCH || graph->kind[edge] == EDGE_STREAM)
            done = drop_lag(graph, node, edge, take, argument);
    return done;
}

bool sim_remove(const struct sim_graph *graph, const struct sim_use *use, sim_take_shift *take,
                void *argument)
{
    uint32_t node = use->node;
    enum sim_edge kind = (enum sim_edge)graph->kind[use->edge];
    if (kind == EDGE_HOST) {
        bool done = drop_lag(graph, node, use->edge, take, argument);
        for (uint32_t edge = graph->first[node]; done && edge < graph->first[node + 1]; edge++)
            if (graph->kind[edge] == EDGE_SYNC || graph->kind[edge] == EDGE_COPY)
                done = drop_edge(node, edge, take, argument);
        return done;
    }
    if (kind == EDGE_WAIT || kind == EDGE_COPY)
        return drop_edge(node, use->edge, take, argument);
    bool meets = sim_edge_to(graph, node, EDGE_MEETING) != SIM_NONE;
    struct sim_use copy = sim_copy_use(graph, graph->member[node], graph->row[node]);
    return (meets ? drop_edge(node, use->edge, take, argument)
                  : drop_lag(graph, node, use->edge, take, argument)) &&
           (copy.edge == SIM_NONE || drop_edge(copy.node, copy.edge, take, argument)) &&
           remove_begin(graph, graph->rows[graph->member[node]].begins[graph->row[node]], take,
                        argument);
}

/* A sim_take_shift: overrides earlier changes of the edge. */
static bool set_longer(void *argument, const struct sim_shift *shift)
{
    int64_t *longer = argument;
    longer[shift->use.edge] = shift->longer;
    return true;
}

bool sim_change_make(const struct sim_parts *parts, const struct sim_change *change,
                     int64_t *longer, size_t *selected, const struct stopper *stopper,
                     struct failure *failure)
{
    struct change_maker maker = {.parts = parts,
                                 .change = change,
                                 .longer = longer,
                                 .stopper = stopper,
                                 .failure = failure};
    bool done = true;
    for (size_t i = 0; done && i < parts->count; i++)
        done = (!selects_part(&maker, &parts->items[i]) || select_part(&maker, i)) &&
               stopper_goes_on(stopper, i, failure);
    done = done && find_runs(&maker);
    for (size_t i = 0, end; done && i < maker.count; i = end) {
        uint32_t run = maker.items[i].run;
        for (end = i + 1; run != ROW_NONE && end < maker.count && maker.items[end].run == run &&
                          maker.items[end].member == maker.items[i].member;
             end++)
            ;
        if (change->how == CHANGE_REMOVE)
            (void)sim_remove(parts->graph, &maker.items[i].use, set_longer, longer);
        else
            change_run(&maker, &maker.items[i], end - i);
        done = stopper_goes_on(stopper, end, failure);
    }
    *selected = maker.count;
    memory_free(maker.items);
    return done;
}
