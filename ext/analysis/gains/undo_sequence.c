#include "undo_sequence.h"

#include <string.h>

#include "analysis/simulation/sim_points.h"
#include "base/memory.h"
#include "file/kernel_type.h"
#include "naming/collective_name.h"
#include "naming/short_name.h"

/* A thread, for give_lanes(). */
struct lane_thread {
    bool of_steps;
    size_t events;
    int64_t start;         /* ns; start of its first event */
    uint32_t first, track; /* row of its first event */
};

/* The nodes of all members, member by member. */
struct member_nodes {
    uint32_t *nodes;
    size_t *first; /* by member, with one more entry */
};

/* The state of add_member(). */
struct sequence_maker {
    struct undo_sequence *sequence;
    const struct member_nodes *nodes;
    struct undo_tokens *tokens;
    const struct trace_member *member;
    const struct sim_share *share;
    uint32_t index;   /* index of the member */
    uint32_t *lanes;  /* by track */
    uint32_t *texts;  /* by name of the file: id in tokens.texts, or UNDO_NONE */
    uint32_t *around; /* by row: the row of the host event around it, or ROW_NONE */
    uint32_t *inner,
        *top; /* by row: innermost and outermost operator, of it and the events around it */
    uint32_t *open; /* by track: row of the latest event, which may have ended */
    char *scratch;  /* room for the longest name */
    struct row_types types;
    const struct stopper *stopper;
    struct failure *failure;
};

/* Returns the step of a row; UNDO_NONE without a step, or outside a sample. */
static uint32_t step_here(const struct sequence_maker *maker, size_t row)
{
    const struct steps *steps = maker->member->steps;
    uint32_t step = steps->count == 0 ? 0 : step_of(steps, row);
    return step == STEP_NONE || (maker->share && !maker->share->taken[step]) ? UNDO_NONE : step;
}

static int thread_order(const void *a, const void *b)
{
    const struct lane_thread *x = a, *y = b;
    int order = COMPARE(y->of_steps, x->of_steps);
    order = order ? order : COMPARE(y->events, x->events);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->first, y->first);
}

/* Numbers the threads as lanes: the step thread first, then by number of events in steps (E8.5). */
static bool give_lanes(struct sequence_maker *maker)
{
    const struct trace_file *file = maker->member->file;
    const struct steps *steps = maker->member->steps;
    size_t count = file->tracks.count;
    struct lane_thread *threads = memory_zeroed(count, sizeof *threads);
    bool done = threads || failure_memory(maker->failure);
    for (size_t track = 0; done && track < count; track++)
        threads[track] = (struct lane_thread){false, 0, INT64_MAX, ROW_NONE, (uint32_t)track};
    for (size_t row = 0; done && row < file->columns.count; row++) {
        struct lane_thread *thread = &threads[row_place(&file->columns, row)->track];
        if (sim_takes_host(&file->columns, row) && step_here(maker, row) != UNDO_NONE) {
            thread->events++;
            if (file->columns.ts[row] < thread->start) {
                thread->start = file->columns.ts[row];
                thread->first = (uint32_t)row;
            }
        }
        done = stopper_goes_on(maker->stopper, row, maker->failure);
    }
    if (done && steps->count > 0)
        threads[row_place(&file->columns, steps->items[0].row)->track].of_steps = true;
    done = done && sort_items(threads, count, sizeof *threads, thread_order, maker->stopper,
                              maker->failure);
    for (size_t lane = 0; done && lane < count; lane++)
        maker->lanes[threads[lane].track] = (uint32_t)lane;
    memory_free(threads);
    return done;
}

/* Returns the id of a row's stable name; UNDO_NONE for ROW_NONE, and if out of memory. */
static uint32_t text_of(struct sequence_maker *maker, uint32_t row)
{
    const struct trace_file *file = maker->member->file;
    uint32_t name = row == ROW_NONE ? NAME_NONE : file->columns.name[row];
    if (name == NAME_NONE)
        return UNDO_NONE;
    if (maker->texts[name] == UNDO_NONE) {
        const struct name *text = &file->names.items[name];
        size_t length = collective_write(text, maker->scratch);
        if (length == 0)
            length = name_stable(text->text, text->length, maker->scratch);
        maker->texts[name] = names_intern(&maker->tokens->texts, maker->scratch, length);
        if (maker->texts[name] == NAME_NONE)
            failure_memory(maker->failure);
    }
    return maker->texts[name];
}

static bool add_event(struct sequence_maker *maker, uint32_t row, uint32_t step, uint32_t lane,
                      const uint32_t *token)
{
    struct undo_sequence *sequence = maker->sequence;
    enum { WORDS = 4 };
    uint32_t id = names_intern(&maker->tokens->tokens, token, WORDS * sizeof *token);
    if (id == NAME_NONE ||
        !MEMORY_GROW(sequence->events, sequence->event_capacity, sequence->event_count + 1))
        return failure_memory(maker->failure);
    sequence->events[sequence->event_count++] =
        (struct undo_event){maker->index, step, lane, row, id, UNDO_NONE};
    return maker->failure->code == FAILURE_NONE;
}

static bool is_step(const struct sequence_maker *maker, uint32_t row)
{
    const struct steps *steps = maker->member->steps;
    size_t i = 0;
    LOWER_BOUND(i, steps->count, steps->items[i].row < row);
    return i < steps->count && steps->items[i].row == row;
}

/* E8.5: true if `first` ends right after `next` begins, and before it ends. Rounded times made
** consecutive events overlap. */
static bool is_neighbour(const struct columns *columns, const struct sim_rows *rows, uint32_t first,
                         uint32_t next)
{
    enum { MOST_OVERLAP = 10 /* ns */ };
    return rows->ends[next] != SIM_NONE && rows->ends[first] < rows->ends[next] &&
           (wide_time)columns->ts[first] + columns->dur[first] - columns->ts[next] <= MOST_OVERLAP;
}

/* Adds a host event. Its token has its own name and the names of the innermost and outermost
** operators around it (E8.5). */
static bool add_host(struct sequence_maker *maker, uint32_t node, uint32_t row)
{
    const struct sim_rows *rows = &maker->sequence->graph->rows[maker->index];
    const struct trace_file *file = maker->member->file;
    uint32_t track = row_place(&file->columns, row)->track, around = maker->open[track];
    while (around != ROW_NONE &&
           (rows->ends[around] < node || is_neighbour(&file->columns, rows, around, row)))
        around = maker->around[around];
    maker->around[row] = around;
    maker->open[track] = row;
    bool is_operator = row_is(file, row, CATEGORY_OPERATOR);
    maker->inner[row] = is_operator ? row : around == ROW_NONE ? ROW_NONE : maker->inner[around];
    maker->top[row] = around != ROW_NONE && maker->top[around] != ROW_NONE ? maker->top[around]
                      : is_operator                                        ? row
                                                                           : ROW_NONE;
    uint32_t step = step_here(maker, row);
    if (step == UNDO_NONE)
        return true;
    const uint32_t token[] = {0, is_step(maker, row) ? UNDO_NONE : text_of(maker, row),
                              text_of(maker, around == ROW_NONE ? ROW_NONE : maker->inner[around]),
                              text_of(maker, around == ROW_NONE ? ROW_NONE : maker->top[around])};
    return add_event(maker, row, step, maker->lanes[track], token);
}

/* Adds device work. Its token has its type and operators; for collectives and work in no operator,
** its own name (E8.5). */
static bool add_work(struct sequence_maker *maker, uint32_t row)
{
    const struct trace_file *file = maker->member->file;
    uint32_t launch = file->columns.link[row], step = step_here(maker, row);
    uint32_t inner = launch == ROW_NONE ? ROW_NONE : maker->inner[launch];
    if (step == UNDO_NONE)
        return true;
    enum kernel_type type = row_types_find(&maker->types, file, row);
    bool own = inner == ROW_NONE || type == KERNEL_COMMUNICATION;
    const uint32_t token[] = {1 + (uint32_t)type, text_of(maker, own ? row : inner),
                              text_of(maker, own ? ROW_NONE : maker->top[launch]), 0};
    return add_event(maker, row, step, UNDO_DEVICE, token);
}

/* Device work with the time of its launch, ns. */
struct launched_work {
    int64_t launched, start;
    uint32_t row;
};

static int launched_order(const void *a, const void *b)
{
    const struct launched_work *x = a, *y = b;
    int order = COMPARE(x->launched, y->launched);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

static bool add_device(struct sequence_maker *maker)
{
    const struct columns *columns = &maker->member->file->columns;
    const uint32_t *begins = maker->sequence->graph->rows[maker->index].begins;
    size_t count = 0, most = 0;
    for (size_t row = 0; row < columns->count; row++)
        most += busy_takes(columns, row) && begins[row] != SIM_NONE;
    struct launched_work *work = memory_zeroed(most, sizeof *work);
    bool done = work || failure_memory(maker->failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(maker->stopper, row, maker->failure);
        if (!busy_takes(columns, row) || begins[row] == SIM_NONE)
            continue;
        uint32_t launch = columns->link[row];
        work[count++] = (struct launched_work){columns->ts[launch == ROW_NONE ? row : launch],
                                               columns->ts[row], (uint32_t)row};
    }
    done = done &&
           sort_items(work, count, sizeof *work, launched_order, maker->stopper, maker->failure);
    for (size_t i = 0; done && i < count; i++)
        done = add_work(maker, work[i].row) && stopper_goes_on(maker->stopper, i, maker->failure);
    memory_free(work);
    return done;
}

static bool open_maker(struct sequence_maker *maker)
{
    const struct trace_file *file = maker->member->file;
    size_t rows = file->columns.count + 1, tracks = file->tracks.count + 1;
    maker->lanes = memory_filled(tracks, sizeof *maker->lanes);
    maker->texts = memory_filled(file->names.count + 1, sizeof *maker->texts);
    maker->around = memory_filled(rows, sizeof *maker->around);
    maker->inner = memory_filled(rows, sizeof *maker->inner);
    maker->top = memory_filled(rows, sizeof *maker->top);
    maker->open = memory_filled(tracks, sizeof *maker->open);
    maker->scratch = memory_allocate(names_longest(&file->names) + COLLECTIVE_ROOM);
    return (maker->lanes && maker->texts && maker->around && maker->inner && maker->top &&
            maker->open && maker->scratch) ||
           failure_memory(maker->failure);
}

static void close_maker(struct sequence_maker *maker)
{
    memory_free(maker->lanes);
    memory_free(maker->texts);
    memory_free(maker->around);
    memory_free(maker->inner);
    memory_free(maker->top);
    memory_free(maker->open);
    memory_free(maker->scratch);
    row_types_clear(&maker->types);
}

/* Returns an event's sort key: its step, or its lane, with device work last. */
static size_t bucket_of(const struct undo_event *event, bool by_step, size_t lanes)
{
    return by_step ? event->step : event->lane == UNDO_DEVICE ? lanes : event->lane;
}

/* Sorts events by lane or by step, stably. `next` has room for buckets + 2 entries. */
static void order_by(const struct undo_event *events, size_t count, struct undo_event *to,
                     bool by_step, size_t lanes, size_t *next, size_t buckets)
{
    size_t total = 0;
    memset(next, 0, (buckets + 2) * sizeof *next);
    for (size_t i = 0; i < count; i++)
        next[bucket_of(&events[i], by_step, lanes) + 1]++;
    for (size_t i = 0; i < buckets; i++) {
        size_t here = next[i + 1];
        next[i + 1] = total;
        total += here;
    }
    for (size_t i = 0; i < count; i++)
        to[next[bucket_of(&events[i], by_step, lanes) + 1]++] = events[i];
}

/* Sorts the events of a member, from `first` on, by step, then by lane. */
static bool order_events(struct sequence_maker *maker, size_t first)
{
    struct undo_event *events = maker->sequence->events + first;
    size_t count = maker->sequence->event_count - first,
           steps = maker->member->steps->iteration_count + 1;
    size_t lanes = maker->member->file->tracks.count;
    struct undo_event *spare = memory_items(count, sizeof *spare);
    size_t *next = memory_items((lanes > steps ? lanes : steps) + 3, sizeof *next);
    bool done = (spare && next) || failure_memory(maker->failure);
    if (done && count > 0) {
        order_by(events, count, spare, false, lanes, next, lanes + 1);
        order_by(spare, count, events, true, lanes, next, steps);
    }
    memory_free(spare);
    memory_free(next);
    return done && stopper_ask(maker->stopper, maker->failure);
}

/* Finds the event around each host event, if it is in the same step. */
static void find_parents(const struct sequence_maker *maker, size_t first)
{
    struct undo_sequence *sequence = maker->sequence;
    const uint32_t *event_of = sequence->event_of[maker->index];
    for (size_t i = first; i < sequence->event_count; i++) {
        struct undo_event *event = &sequence->events[i];
        if (event->lane == UNDO_DEVICE)
            continue;
        uint32_t around = maker->around[event->row];
        uint32_t parent = around == ROW_NONE ? UNDO_NONE : event_of[around];
        if (parent != UNDO_NONE && sequence->events[parent].step == event->step)
            event->parent = parent;
    }
}

/* Adds the events of a member, in order. */
static bool add_member(struct sequence_maker *maker)
{
    struct undo_sequence *sequence = maker->sequence;
    const struct sim_graph *graph = sequence->graph;
    size_t first = sequence->event_count;
    bool done = open_maker(maker) && give_lanes(maker);
    for (size_t i = maker->nodes->first[maker->index];
         done && i < maker->nodes->first[maker->index + 1]; i++) {
        uint32_t node = maker->nodes->nodes[i], row = graph->row[node];
        bool begins = graph->rows[maker->index].begins[row] == node &&
                      !kind_is_device((enum kind)maker->member->file->columns.kind[row]);
        done = done && (!begins || add_host(maker, node, row)) &&
               stopper_goes_on(maker->stopper, i, maker->failure);
    }
    done = done && add_device(maker) && order_events(maker, first);
    uint32_t *event_of =
        done ? memory_filled(maker->member->file->columns.count + 1, sizeof *event_of) : NULL;
    sequence->event_of[maker->index] = event_of;
    done = done && (event_of || failure_memory(maker->failure));
    for (size_t i = first; done && i < sequence->event_count; i++)
        event_of[sequence->events[i].row] = (uint32_t)i;
    if (done)
        find_parents(maker, first);
    close_maker(maker);
    return done;
}

static bool make_blocks(struct undo_sequence *sequence, struct failure *failure)
{
    size_t capacity = 0;
    for (size_t i = 0; i < sequence->event_count; i++) {
        const struct undo_event *event = &sequence->events[i];
        struct undo_block *last =
            sequence->blocks ? &sequence->blocks[sequence->block_count - 1] : NULL;
        if (!last || last->member != event->member || last->step != event->step ||
            last->lane != event->lane) {
            if (!MEMORY_GROW(sequence->blocks, capacity, sequence->block_count + 1))
                return failure_memory(failure);
            last = &sequence->blocks[sequence->block_count++];
            *last = (struct undo_block){i, 0, event->member, event->step, event->lane};
        }
        last->count++;
    }
    return true;
}

/* Lists the nodes by member. */
static bool list_nodes(struct member_nodes *nodes, const struct sim_graph *graph,
                       const struct stopper *stopper, struct failure *failure)
{
    size_t count = graph->trace->count, total = 0;
    nodes->first = memory_zeroed(count + 2, sizeof *nodes->first);
    nodes->nodes = memory_items(graph->nodes, sizeof *nodes->nodes);
    if (!nodes->first || !nodes->nodes)
        return failure_memory(failure);
    for (size_t node = 0; node < graph->nodes; node++)
        if (graph->member[node] != SIM_NONE)
            nodes->first[graph->member[node] + 1]++;
    for (size_t i = 0; i <= count; i++) {
        size_t here = nodes->first[i + 1];
        nodes->first[i + 1] = total;
        total += here;
    }
    for (size_t node = 0; node < graph->nodes; node++) {
        if (!stopper_goes_on(stopper, node, failure))
            return false;
        if (graph->member[node] != SIM_NONE)
            nodes->nodes[nodes->first[graph->member[node] + 1]++] = (uint32_t)node;
    }
    return true;
}

bool undo_sequence_make(struct undo_sequence *sequence, const struct sim_graph *graph,
                        struct undo_tokens *tokens, const struct stopper *stopper,
                        struct failure *failure)
{
    const struct trace *trace = graph->trace;
    *sequence = (struct undo_sequence){.graph = graph};
    struct member_nodes nodes = {.nodes = NULL};
    sequence->event_of = memory_zeroed(trace->count, sizeof *sequence->event_of);
    /* The typical number of events, which is also the maximum: two nodes per event. */
    bool done = ((sequence->event_of && MEMORY_GROW(sequence->events, sequence->event_capacity,
                                                    graph->nodes / 2 + 1)) ||
                 failure_memory(failure)) &&
                list_nodes(&nodes, graph, stopper, failure);
    for (size_t i = 0; done && i < trace->count; i++) {
        struct sequence_maker maker = {.sequence = sequence,
                                       .nodes = &nodes,
                                       .tokens = tokens,
                                       .member = &trace->members[i],
                                       .share = sim_share_of(graph->sample, i),
                                       .index = (uint32_t)i,
                                       .stopper = stopper,
                                       .failure = failure};
        done = !graph->rows[i].begins || add_member(&maker);
    }
    done = done && make_blocks(sequence, failure);
    memory_free(nodes.nodes);
    memory_free(nodes.first);
    if (!done)
        undo_sequence_clear(sequence);
    return done;
}

/* Lists the points of threads, in each block by node. `next` counts the points of each block so
** far. */
static void list_points(struct undo_sequence *sequence, const uint32_t *block_of, uint32_t *next)
{
    const struct sim_graph *graph = sequence->graph;
    for (uint32_t node = 0; node < graph->nodes; node++) {
        uint32_t member = graph->member[node];
        uint32_t event =
            member == SIM_NONE ? UNDO_NONE : sequence->event_of[member][graph->row[node]];
        if (event == UNDO_NONE || sequence->events[event].lane == UNDO_DEVICE)
            continue;
        uint32_t block = block_of[event];
        const struct sim_rows *rows = &graph->rows[member];
        sequence->points[2 * sequence->blocks[block].first + next[block]++] = (struct undo_point){
            sequence->events[event].lane, node, event, rows->begins[graph->row[node]] != node};
    }
}

bool undo_sequence_list_points(struct undo_sequence *sequence, const struct stopper *stopper,
                               struct failure *failure)
{
    uint32_t *next = memory_zeroed(sequence->block_count, sizeof *next);
    uint32_t *block_of = memory_items(sequence->event_count, sizeof *block_of);
    sequence->points = memory_items(2 * sequence->event_count, sizeof *sequence->points);
    bool done = (next && block_of && sequence->points) || failure_memory(failure);
    for (uint32_t block = 0; done && block < sequence->block_count; block++)
        for (size_t i = 0; i < sequence->blocks[block].count; i++)
            block_of[sequence->blocks[block].first + i] = block;
    if (done)
        list_points(sequence, block_of, next);
    memory_free(next);
    memory_free(block_of);
    return done && stopper_ask(stopper, failure);
}

void undo_tokens_clear(struct undo_tokens *tokens)
{
    names_clear(&tokens->texts);
    names_clear(&tokens->tokens);
}

void undo_sequence_clear(struct undo_sequence *sequence)
{
    memory_free(sequence->events);
    memory_free(sequence->blocks);
    memory_free(sequence->points);
    for (size_t i = 0; sequence->event_of && i < sequence->graph->trace->count; i++)
        memory_free(sequence->event_of[i]);
    memory_free(sequence->event_of);
    *sequence = (struct undo_sequence){.graph = NULL};
}

uint32_t undo_launch_of(const struct undo_sequence *side, const struct undo_event *work)
{
    const struct columns *columns = &side->graph->trace->members[work->member].file->columns;
    uint32_t launch = columns->link[work->row];
    uint32_t event = launch == ROW_NONE ? UNDO_NONE : side->event_of[work->member][launch];
    return event != UNDO_NONE && side->events[event].step == work->step ? event : UNDO_NONE;
}

size_t undo_tree_end(const struct undo_sequence *side, uint32_t tree, size_t end)
{
    const struct undo_event *root = &side->events[tree];
    const struct sim_rows *rows = &side->graph->rows[root->member];
    size_t i = tree + (size_t)1;
    while (i < end && side->events[i].lane == root->lane && side->events[i].step == root->step &&
           side->events[i].member == root->member &&
           rows->begins[side->events[i].row] < rows->ends[root->row])
        i++;
    return i;
}
