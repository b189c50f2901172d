#include "undo_hidden.h"

#include <string.h>

#include "base/memory.h"

/* Returns a part's name by E9.9.1: a collective's annotation if it begins with `nccl:` or `gloo:`,
** else the name at level `op`, else the part's own. */
static uint32_t name_of(const struct sim_parts *parts, const struct sim_part *of)
{
    uint32_t annotation = of->names.name[LEVEL_ANNOTATION];
    if (of->names.step_class == CLASS_COMM && annotation != NAME_NONE) {
        const struct name *name = &parts->names.items[annotation];
        const char *end = name->text + name->length;
        if (begins(name->text, end, "nccl:") || begins(name->text, end, "gloo:"))
            return annotation;
    }
    uint32_t name = sim_part_name(of, LEVEL_OP);
    return name == NAME_NONE ? of->names.name[LEVEL_KERNEL] : name;
}

/* Assigns each part to a group: parts with one name, separately for host time (with launches) and
** other time. */
static void number_groups(struct undo_hidden *hidden, uint32_t *by_name, uint32_t *group_of_part)
{
    const struct sim_parts *parts = hidden->parts;
    for (size_t part = 0; part < parts->count; part++) {
        const struct sim_part *of = &parts->items[part];
        bool host = of->what == SIM_HOST || of->what == SIM_LAUNCH;
        uint32_t name = name_of(parts, of);
        size_t place = name == NAME_NONE ? parts->names.count : name;
        uint32_t *group = &by_name[2 * place + host];
        if (*group == SIM_NONE) {
            *group = (uint32_t)hidden->groups++;
            hidden->names[*group] = name;
            hidden->host[*group] = host;
        }
        group_of_part[part] = *group;
    }
}

/* Finds the group of each edge. */
static bool make_groups(struct undo_hidden *hidden, struct failure *failure)
{
    const struct sim_parts *parts = hidden->parts;
    uint32_t *by_name = memory_filled(2 * (parts->names.count + 1), sizeof *by_name);
    uint32_t *group_of_part = memory_items(parts->count, sizeof *group_of_part);
    hidden->group_of = memory_filled(parts->graph->edges + 1, sizeof *hidden->group_of);
    hidden->names = memory_items(parts->count, sizeof *hidden->names);
    hidden->host = memory_items(parts->count, sizeof *hidden->host);
    bool done = (by_name && group_of_part && hidden->group_of && hidden->names && hidden->host) ||
                failure_memory(failure);
    if (done)
        number_groups(hidden, by_name, group_of_part);
    for (size_t edge = 0; done && edge < parts->graph->edges; edge++)
        if (parts->part_of[edge] != SIM_NONE)
            hidden->group_of[edge] = group_of_part[parts->part_of[edge]];
    memory_free(by_name);
    memory_free(group_of_part);
    return done;
}

/* Returns the recorded time of a node by the reference's clock, ns. */
static int64_t time_of(const struct undo_hidden *hidden, uint32_t node)
{
    const struct sim_graph *graph = hidden->parts->graph;
    uint32_t member = graph->member[node];
    return member == SIM_NONE
               ? graph->at[node]
               : sim_clock_time(&graph->clocks.ranks[hidden->clock_of[member]], graph->at[node]);
}

/* Returns the index of a lag's group and rank in `now`, or SIZE_MAX if the lag has no group. */
static size_t place_of(const struct undo_hidden *hidden, struct sim_use use)
{
    const struct sim_graph *graph = hidden->parts->graph;
    uint32_t group = hidden->group_of[use.edge];
    return group == SIM_NONE
               ? SIZE_MAX
               : group * hidden->ranks + graph->trace->members[graph->member[use.node]].rank_index;
}

/* A sim_path_add: sums a path by group and rank. */
static void add_path(void *argument, struct sim_use use, wide_time time)
{
    struct undo_hidden *hidden = argument;
    size_t place = place_of(hidden, use);
    if (place != SIZE_MAX)
        hidden->now[place] += time;
}

/* Subtracts a time from an instant; at least INT64_MIN. */
static int64_t before(int64_t instant, wide_time time)
{
    wide_time earlier = (wide_time)instant - time;
    return earlier > INT64_MIN ? (int64_t)earlier : INT64_MIN;
}

/* A sim_path_add for recorded paths: keeps their stretches, too. */
static void add_recorded(void *argument, struct sim_use use, wide_time time)
{
    struct undo_hidden *hidden = argument;
    size_t place = place_of(hidden, use);
    int64_t end = time_of(hidden, use.node);
    add_path(argument, use, time);
    if (place == SIZE_MAX)
        return;
    if (!MEMORY_GROW(hidden->path, hidden->path_capacity, hidden->path_count + 1))
        hidden->lost = true;
    else
        hidden->path[hidden->path_count++] = (struct undo_stretch){before(end, time), end, place};
}

static int stretch_order(const void *a, const void *b)
{
    const struct undo_stretch *x = a, *y = b;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->end, y->end);
}

static bool find_clocks(struct undo_hidden *hidden)
{
    const struct sim_graph *graph = hidden->parts->graph;
    hidden->clock_of = memory_zeroed(graph->trace->count, sizeof *hidden->clock_of);
    for (size_t i = 0; hidden->clock_of && i < graph->trace->count; i++)
        for (size_t r = 0; r < graph->job.rank_count; r++)
            if (graph->job.ranks[r].rank == graph->trace->members[i].rank_index)
                hidden->clock_of[i] = r;
    return hidden->clock_of || failure_memory(hidden->failure);
}

bool undo_hidden_make(struct undo_hidden *hidden, const struct sim_parts *parts,
                      const struct sim_steps *steps, size_t shifts, const struct stopper *stopper,
                      struct failure *failure)
{
    *hidden = (struct undo_hidden){.parts = parts,
                                   .steps = steps,
                                   .ranks = parts->graph->trace->rank_count,
                                   .stopper = stopper,
                                   .failure = failure};
    bool done = make_groups(hidden, failure) && find_clocks(hidden);
    size_t count = hidden->groups * hidden->ranks;
    hidden->recorded = done ? memory_zeroed(count, sizeof *hidden->recorded) : NULL;
    hidden->now = done ? memory_zeroed(count, sizeof *hidden->now) : NULL;
    hidden->own = done ? memory_zeroed(count, sizeof *hidden->own) : NULL;
    hidden->changed = done ? memory_items(shifts, sizeof *hidden->changed) : NULL;
    done = done && ((hidden->recorded && hidden->now && hidden->own && hidden->changed) ||
                    failure_memory(failure));
    hidden->ends = done ? memory_zeroed(steps->count, sizeof *hidden->ends) : NULL;
    uint32_t *nodes = done ? sim_path_ends(steps, failure) : NULL;
    done = done && nodes && (hidden->ends || failure_memory(failure));
    for (size_t i = 0; done && i < steps->count; i++)
        if (steps->items[i].chosen)
            (void)sim_path_find(steps, i, nodes[i], add_recorded, hidden);
    memory_free(nodes);
    done = done && (!hidden->lost || failure_memory(failure)) &&
           sort_items(hidden->path, hidden->path_count, sizeof *hidden->path, stretch_order,
                      stopper, failure);
    if (done)
        memcpy(hidden->recorded, hidden->now, count * sizeof *hidden->now);
    else
        undo_hidden_clear(hidden);
    return done;
}

/* E9.9.1: breaks a tie by name, then by rank. */
static bool is_first(const struct undo_hidden *hidden, size_t place, size_t other)
{
    uint32_t a = hidden->names[place / hidden->ranks], b = hidden->names[other / hidden->ranks];
    const struct name *names = hidden->parts->names.items;
    if (a == b)
        return place % hidden->ranks < other % hidden->ranks;
    return b == NAME_NONE || (a != NAME_NONE && name_compare(&names[a], &names[b]) < 0);
}

/* Chooses the hider by the largest increase from `recorded` (NULL: 0) to `now`, if that is a
** quarter of `all`. Host time is compared as a sum over all ranks (E9.9.3). */
static void choose(const struct undo_hidden *hidden, const wide_time *recorded, wide_time all,
                   struct undo_hider *hider)
{
    size_t best[2] = {SIZE_MAX, SIZE_MAX};
    wide_time most[2] = {0, 0}, host = 0;
    for (size_t i = 0; i < hidden->groups * hidden->ranks; i++) {
        bool of_host = hidden->host[i / hidden->ranks];
        wide_time more = hidden->now[i] - (recorded ? recorded[i] : 0);
        host += of_host ? more : 0;
        size_t other = best[of_host];
        if (more > most[of_host] ||
            (more == most[of_host] && other != SIZE_MAX && is_first(hidden, i, other))) {
            most[of_host] = more;
            best[of_host] = i;
        }
    }
    bool of_host = host > most[0];
    size_t found = best[of_host];
    *hider = (struct undo_hider){HIDER_NONE, NAME_NONE, NUMBER_NONE};
    if (found == SIZE_MAX || 4 * (of_host ? host : most[0]) < all)
        return;
    hider->name = hidden->names[found / hidden->ranks];
    if (of_host && (hider->name == NAME_NONE || 2 * most[1] < host)) {
        hider->kind = HIDER_HOST;
        hider->name = NAME_NONE;
    } else if (hider->name != NAME_NONE) {
        hider->kind = HIDER_NAME;
        if (hidden->ranks > 1)
            hider->rank = hidden->parts->graph->trace->ranks[found % hidden->ranks];
    }
}

/* Adds the recorded path in [start, end), except groups that the cause changes, to `now`. Returns
** the added ns. */
static wide_time add_beside(struct undo_hidden *hidden, int64_t start, int64_t end)
{
    wide_time all = 0;
    size_t i = 0;
    LOWER_BOUND(i, hidden->path_count, hidden->path[i].start < start);
    for (i -= i > 0; i < hidden->path_count && hidden->path[i].start < end; i++) {
        const struct undo_stretch *of = &hidden->path[i];
        int64_t from = of->start > start ? of->start : start, to = of->end < end ? of->end : end;
        if (to <= from || hidden->own[of->place])
            continue;
        hidden->now[of->place] += (wide_time)to - from;
        all += (wide_time)to - from;
    }
    return all;
}

/* E9.9.2: finds the hider on the recorded path during the lags that the cause shortens. */
static bool find_beside(struct undo_hidden *hidden, const struct sim_pass *pass, int lane,
                        struct undo_hider *hider)
{
    const struct sim_graph *graph = hidden->parts->graph;
    struct undo_stretch *changed = hidden->changed;
    size_t count = 0, places = hidden->groups * hidden->ranks;
    wide_time all = 0;
    memset(hidden->own, 0, places * sizeof *hidden->own);
    for (size_t i = 0; i < pass->count; i++) {
        const struct sim_use *use = &pass->shifts[i].use;
        if (!(pass->of[i] >> lane & 1) || pass->shifts[i].longer >= 0 ||
            hidden->group_of[use->edge] == SIM_NONE)
            continue;
        hidden->own[place_of(hidden, *use)] = true;
        int64_t end = time_of(hidden, use->node);
        changed[count++] =
            (struct undo_stretch){before(end, sim_lag(graph, use->node, use->edge)), end, 0};
    }
    if (!sort_items(changed, count, sizeof *changed, stretch_order, hidden->stopper,
                    hidden->failure))
        return false;
    memset(hidden->now, 0, places * sizeof *hidden->now);
    for (size_t i = 0, next; i < count; i = next) { /* merges overlapping lags */
        int64_t end = changed[i].end;
        for (next = i + 1; next < count && changed[next].start <= end; next++)
            end = changed[next].end > end ? changed[next].end : end;
        all += add_beside(hidden, changed[i].start, end);
        if (!stopper_goes_on(hidden->stopper, i, hidden->failure))
            return false;
    }
    if (all > 0)
        choose(hidden, NULL, all, hider);
    return true;
}

bool undo_hidden_find(struct undo_hidden *hidden, const struct sim_net *net,
                      const struct sim_pass *pass, int lane, const wide_time *lengths,
                      wide_time missing, struct undo_hider *hider)
{
    memset(hidden->now, 0, hidden->groups * hidden->ranks * sizeof *hidden->now);
    sim_path_follow(net, pass, lane, lengths, hidden->ends, add_path, hidden);
    choose(hidden, hidden->recorded, missing, hider);
    return hider->kind != HIDER_NONE || find_beside(hidden, pass, lane, hider);
}

void undo_hidden_clear(struct undo_hidden *hidden)
{
    memory_free(hidden->group_of);
    memory_free(hidden->names);
    memory_free(hidden->host);
    memory_free(hidden->clock_of);
    memory_free(hidden->recorded);
    memory_free(hidden->now);
    memory_free(hidden->path);
    memory_free(hidden->own);
    memory_free(hidden->changed);
    memory_free(hidden->ends);
    *hidden = (struct undo_hidden){.groups = 0};
}
