#include "sim_parts.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "analysis/simulation/sim_points.h"

const char *sim_what_name(enum sim_what what)
{
    static const char *const names[] = {"device", "host", "transfer", "launch"};
    return names[what];
}

uint32_t sim_part_name(const struct sim_part *part, enum label_level level)
{
    const struct attributed *names = &part->names;
    bool own = names->step_class == CLASS_COMM || names->step_class == CLASS_CALL ||
               names->step_class == CLASS_UNRECORDED || names->alone;
    if (!own && names->step_class == CLASS_HOST && level == LEVEL_KERNEL)
        return names->name[LEVEL_OP];
    return names->name[own ? LEVEL_KERNEL : level];
}

/* The state of sim_parts_make(). */
struct part_finder {
    struct sim_parts *parts;
    struct known_file known; /* labels of the current member */
    const bool *wanted;      /* by node: whether to name its lags; NULL: all */
    bool by_step;
    uint32_t main; /* thread of the member's steps, or TRACK_NONE */
    struct part_names names;
    struct row_types types;
    const struct stopper *stopper;
    struct failure *failure;
};

static uint64_t hash_of(const struct sim_part *part)
{
    uint64_t hash = hash_key() ^ (uint64_t)part->what ^ (uint64_t)part->names.step_class << 8 ^
                    (uint64_t)part->names.alone << 16;
    for (int i = 0; i < PART_NAMES; i++)
        hash = hash_mixed(hash ^ part->names.name[i], UINT64_C(0x9e3779b97f4a7c15));
    return hash;
}

static uint64_t hash_of_item(const void *parts, uint32_t id)
{
    return hash_of(&((const struct sim_parts *)parts)->items[id]);
}

struct sim_part_key {
    const struct sim_parts *parts;
    const struct sim_part *part;
};

static bool is_part(const void *key, uint32_t id)
{
    const struct sim_part_key *of = key;
    const struct sim_part *a = of->part, *b = &of->parts->items[id];
    return a->what == b->what && a->names.step_class == b->names.step_class &&
           a->names.alone == b->names.alone &&
           memcmp(a->names.name, b->names.name, sizeof a->names.name) == 0;
}

/* Assigns an edge to its part, which is added if it is new. */
static bool add_edge(struct part_finder *finder, uint32_t edge, const struct sim_part *part)
{
    struct sim_parts *parts = finder->parts;
    struct sim_part_key key = {parts, part};
    if (!MEMORY_GROW(parts->items, parts->capacity, parts->count + 1) ||
        !table_reserve(&parts->table, parts->count, hash_of_item, parts))
        return failure_memory(finder->failure);
    uint32_t *slot = table_slot(&parts->table, hash_of(part), is_part, &key);
    if (!*slot) {
        parts->items[parts->count++] = *part;
        *slot = (uint32_t)parts->count;
    }
    parts->part_of[edge] = *slot - 1;
    return true;
}

/* Returns the instant at which the lag of a host edge begins. */
static int64_t instant_of(const struct sim_graph *graph, uint32_t edge)
{
    return graph->at[graph->from[edge]];
}

/* Adds the lag of a thread before a point (E2). */
static bool add_host(struct part_finder *finder, uint32_t node, uint32_t edge)
{
    const struct sim_graph *graph = finder->parts->graph;
    const struct columns *columns = &finder->names.file->columns;
    uint32_t track = row_place(columns, graph->row[node])->track;
    struct sim_part part = {.what = SIM_HOST,
                            .names = {.step_class = CLASS_HOST, .name = NO_NAMES}};
    struct name_origin origin;
    int64_t instant = instant_of(graph, edge), end = INT64_MAX;
    const struct gaps *gaps = &finder->known.labels.threads[track].gaps;
    uint32_t inside = part_labels(&finder->names, track, instant, &origin, &end), *gap_name = NULL;
    if (inside == IN_NOTHING && finder->by_step && finder->main != TRACK_NONE) {
        inside = part_labels(&finder->names, finder->main, instant, &origin, &end);
        gaps = &finder->known.labels.threads[finder->main].gaps;
    }
    if (inside == IN_NOTHING) {
        part.names.step_class = CLASS_UNRECORDED;
        gap_name = &part.names.name[LEVEL_KERNEL];
    } else if (origin.compiles) {
        part.names.step_class = CLASS_COMPILE;
    } else if (inside != IN_EVENT) {
        part.names.step_class = CLASS_CALL;
        origin.row[LEVEL_KERNEL] = inside;
    } else if (part_needs_gap(&finder->names, &origin)) {
        gap_name = &part.names.name[NAME_FOR_FRAME];
    }
    if (gap_name &&
        !part_name_of_gap(&finder->names, &gaps->items[gaps_find(gaps, instant)], gap_name))
        return false;
    if (inside != IN_NOTHING && !part_names_find(&finder->names, &origin, &part.names))
        return false;
    if (inside == IN_EVENT)
        part.names.name[LEVEL_KERNEL] = part.names.name[LEVEL_OP];
    return add_edge(finder, edge, &part);
}

/* Adds the lag of device work, a launch or a collective. */
static bool add_work(struct part_finder *finder, uint32_t node, uint32_t edge, enum sim_what what)
{
    const struct trace_file *file = finder->names.file;
    const struct sim_graph *graph = finder->parts->graph;
    uint32_t row = what == SIM_TRANSFER                 ? sim_transfer_row(graph, edge)
                   : graph->kind[edge] == EDGE_COPY ? file->columns.link[graph->row[node]]
                                                    : graph->row[node];
    struct sim_part part = {.what = what, .names = {.step_class = CLASS_COMM, .name = NO_NAMES}};
    struct name_origin origin;
    if (kind_is_device((enum kind)file->columns.kind[row])) {
        origin = part_origin_of_work(&finder->names, row);
        if (what == SIM_LAUNCH &&
            graph_name(&finder->known.graphs, LEVEL_TOP_OP, row) != GRAPH_LABEL)
            origin.work = ROW_NONE; /* A17.1 */
        part.names.step_class =
            step_class_of_work(row_types_find(&finder->types, file, row));
    } else {
        origin = part_origin_of_launch(&finder->names, row); /* a host collective's */
        origin.row[LEVEL_KERNEL] = row;
    }
    return part_names_find(&finder->names, &origin, &part.names) && add_edge(finder, edge, &part);
}

static bool add_node(struct part_finder *finder, uint32_t node)
{
    const struct sim_graph *graph = finder->parts->graph;
    bool done = true;
    if (node == SIM_NONE || (finder->wanted && !finder->wanted[node]))
        return true;
    if (!finder->known.made && !sim_labels_make(graph, graph->member[node], &finder->known,
                                                finder->stopper, finder->failure))
        return false;
    for (uint32_t edge = graph->first[node]; done && edge < graph->first[node + 1]; edge++)
        switch ((enum sim_edge)graph->kind[edge]) {
        case EDGE_HOST:
            done = sim_lag(graph, node, edge) == 0 || add_host(finder, node, edge);
            break;
        case EDGE_DEVICE:
        case EDGE_COPY:
            done = add_work(finder, node, edge, SIM_DEVICE);
            break;
        case EDGE_TRANSFER:
        case EDGE_WAIT:
            done = add_work(finder, node, edge, SIM_TRANSFER);
            break;
        case EDGE_LAUNCH:
            done = add_work(finder, node, edge, SIM_LAUNCH);
            break;
        default:
            break;
        }
    return done;
}

/* Returns the thread of a member's steps, or TRACK_NONE. */
static uint32_t main_thread(const struct sim_graph *graph, size_t member)
{
    for (size_t r = 0; r < graph->job.rank_count; r++) {
        const struct job_rank *rank = &graph->job.ranks[r];
        if (rank->rank != graph->trace->members[member].rank_index)
            continue;
        for (size_t i = 0; i < rank->window_count; i++)
            if (rank->windows[i].member == member && rank->windows[i].window.track != TRACK_NONE)
                return rank->windows[i].window.track;
    }
    return TRACK_NONE;
}

bool sim_labels_make(const struct sim_graph *graph, size_t member, struct known_file *known,
                     const struct stopper *stopper, struct failure *failure)
{
    const struct trace_member *of = &graph->trace->members[member];
    const struct graph_member request = {.member = of};
    const struct columns *columns = &of->file->columns;
    bool *wanted = memory_zeroed(of->file->tracks.count + 1, sizeof *wanted);
    bool done = wanted || failure_memory(failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        if (sim_takes_host(columns, row))
            wanted[row_place(columns, row)->track] = true;
        done = stopper_goes_on(stopper, row, failure);
    }
    uint32_t main = main_thread(graph, member);
    if (done && main != TRACK_NONE)
        wanted[main] = true; /* even if none of its events is in the graph */
    done = done && known_names_make(known, &request, wanted, stopper, failure);
    memory_free(wanted);
    return done;
}

static bool add_member(struct part_finder *finder, size_t member)
{
    const struct sim_graph *graph = finder->parts->graph;
    const struct sim_rows *rows = &graph->rows[member];
    const struct trace_file *file = graph->trace->members[member].file;
    if (!rows->begins)
        return true;
    bool done = true;
    finder->main = main_thread(graph, member);
    finder->names =
        (struct part_names){&finder->parts->names, file, &finder->known, finder->failure};
    for (size_t row = 0; done && row < file->columns.count; row++)
        done = add_node(finder, rows->begins[row]) && add_node(finder, rows->ends[row]) &&
               stopper_goes_on(finder->stopper, row, finder->failure);
    known_file_clear(&finder->known);
    row_types_clear(&finder->types);
    return done;
}

bool sim_parts_list_uses(struct sim_parts *parts, const struct stopper *stopper,
                         struct failure *failure)
{
    const struct sim_graph *graph = parts->graph;
    size_t total = 0;
    parts->first = memory_zeroed(parts->count + 2, sizeof *parts->first);
    for (size_t edge = 0; parts->first && edge < graph->edges; edge++)
        if (parts->part_of[edge] != SIM_NONE)
            parts->first[parts->part_of[edge] + 1]++;
    for (size_t i = 0; parts->first && i <= parts->count; i++) {
        /* Until the uses are listed, first[i + 1] is the place of the next use of part i. */
        size_t count = parts->first[i + 1];
        parts->first[i + 1] = total;
        total += count;
    }
    parts->uses = memory_items(total, sizeof *parts->uses);
    if (!parts->first || !parts->uses)
        return failure_memory(failure);
    for (size_t node = 0; node < graph->nodes; node++) {
        if (!stopper_goes_on(stopper, node, failure))
            return false;
        for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++)
            if (parts->part_of[edge] != SIM_NONE)
                parts->uses[parts->first[parts->part_of[edge] + 1]++] =
                    (struct sim_use){edge, (uint32_t)node};
    }
    return true;
}

bool sim_parts_make(struct sim_parts *parts, const struct sim_graph *graph, bool by_step,
                    const bool *wanted, const struct stopper *stopper, struct failure *failure)
{
    struct part_finder finder = {.parts = parts,
                                 .by_step = by_step,
                                 .wanted = wanted,
                                 .stopper = stopper,
                                 .failure = failure};
    *parts = (struct sim_parts){.graph = graph};
    parts->part_of = memory_filled(graph->edges + 1, sizeof *parts->part_of);
    bool done = parts->part_of || failure_memory(failure);
    for (size_t i = 0; done && i < graph->trace->count; i++)
        done = add_member(&finder, i);
    table_clear(&parts->table);
    if (!done)
        sim_parts_clear(parts);
    return done;
}

uint32_t sim_label_row(const struct sim_graph *graph, struct known_file *known,
                       const struct sim_use *use, enum label_level level)
{
    const struct columns *columns =
        &graph->trace->members[graph->member[use->node]].file->columns;
    uint32_t track = row_place(columns, graph->row[use->node])->track;
    struct thread_labels *thread = &known->labels.threads[track];
    const struct label_stretch *stretch = labels_at(thread, instant_of(graph, use->edge));
    if ((int)level < LABEL_LEVELS)
        return stretch->label[level];
    return stretch->inside == IN_NOTHING ? ROW_NONE
           : stretch->inside == IN_EVENT ? stretch->label[LEVEL_OP]
                                         : stretch->inside;
}

void sim_parts_clear(struct sim_parts *parts)
{
    names_clear(&parts->names);
    memory_free(parts->items);
    memory_free(parts->part_of);
    memory_free(parts->uses);
    memory_free(parts->first);
    table_clear(&parts->table);
    *parts = (struct sim_parts){.graph = NULL};
}
