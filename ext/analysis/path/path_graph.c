#include "path_graph.h"

#include <string.h>

#include "base/memory.h"
#include "analysis/parts/busy.h"

struct graph_builder {
    struct path_graph *graph;
    const struct trace_file *file;
    const struct stopper *stopper;
    struct failure *failure;
};

static int work_order(const void *a, const void *b)
{
    const struct path_work *x = a, *y = b;
    int order = COMPARE(x->end, y->end);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

static bool collect_work(const struct graph_builder *builder)
{
    const struct columns *columns = &builder->file->columns;
    struct path_graph *graph = builder->graph;
    size_t count = 0;
    for (size_t row = 0; row < columns->count; row++)
        count += busy_takes(columns, row);
    graph->work = memory_items(count, sizeof *graph->work);
    graph->launches = memory_zeroed(columns->count + 1, sizeof *graph->launches);
    graph->threads = memory_zeroed(builder->file->tracks.count + 1, sizeof *graph->threads);
    if (!graph->work || !graph->launches || !graph->threads)
        return failure_memory(builder->failure);
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(builder->stopper, row, builder->failure))
            return false;
        if (!busy_takes(columns, row))
            continue;
        uint32_t launch = columns->link[row];
        graph->work[graph->work_count++] =
            (struct path_work){.start = columns->ts[row],
                               .end = busy_end(columns, row),
                               .launched = columns->ts[launch == ROW_NONE ? row : launch],
                               .row = (uint32_t)row,
                               .track = row_place(columns, row)->track,
                               .launch = launch};
        if (launch == ROW_NONE)
            continue;
        graph->launches[launch] = true;
        graph->threads[row_place(columns, launch)->track] = true;
        graph->launched_count++;
    }
    return sort_items(graph->work, graph->work_count, sizeof *graph->work, work_order,
                      builder->stopper, builder->failure);
}

/* index of work with its sort key */
struct sorted_work {
    int64_t key; /* for sort_numbered() */
    uint32_t work;
};

/* Lists indices of work by track, or by launch (only work that has one). NULL on failure. */
static uint32_t *index_work(const struct graph_builder *builder, bool by_launch)
{
    const struct path_graph *graph = builder->graph;
    size_t count = 0;
    struct sorted_work *keyed = memory_items(graph->work_count, sizeof *keyed);
    uint32_t *index = memory_items(graph->work_count, sizeof *index);
    bool done = (keyed && index) || failure_memory(builder->failure);
    for (size_t i = 0; done && i < graph->work_count; i++) {
        uint32_t key = by_launch ? graph->work[i].launch : graph->work[i].track;
        if (!by_launch || key != ROW_NONE)
            keyed[count++] = (struct sorted_work){key, (uint32_t)i};
        done = stopper_goes_on(builder->stopper, i, builder->failure);
    }
    done = done && sort_numbered(keyed, count, sizeof *keyed, builder->stopper, builder->failure);
    for (size_t i = 0; done && i < count; i++)
        index[i] = keyed[i].work;
    memory_free(keyed);
    if (done)
        return index;
    memory_free(index);
    return NULL;
}

/* Applies P6.3: work without a launch was launched before work that ends later on its stream. */
static void find_launched(struct path_graph *graph)
{
    int64_t next = INT64_MAX;
    for (size_t i = graph->work_count; i > 0; i--) {
        struct path_work *of = &graph->work[graph->by_track[i - 1]];
        if (i == graph->work_count || of->track != graph->work[graph->by_track[i]].track)
            next = INT64_MAX;
        if (of->launch == ROW_NONE && next < of->launched)
            of->launched = next;
        else if (of->launch != ROW_NONE && of->launched < next)
            next = of->launched;
    }
}

static unsigned char flags_of(const struct name *name)
{
    static const struct {
        const char *word;
        enum path_flag flag;
    } words[] = {{"Synchronize", NAMED_SYNCHRONIZE},
                 {"Memcpy", NAMED_MEMCPY},
                 {"StreamWaitEvent", NAMED_WAIT},
                 {"EventRecord", NAMED_RECORD}};
    unsigned flags = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (name_contains(name, words[i].word))
            flags |= words[i].flag;
    return (unsigned char)flags;
}

static bool find_flags(const struct graph_builder *builder)
{
    const struct names *names = &builder->file->names;
    builder->graph->flags = memory_zeroed(names->count + 1, sizeof *builder->graph->flags);
    bool done = builder->graph->flags || failure_memory(builder->failure);
    for (size_t i = 0; done && i < names->count; i++) {
        builder->graph->flags[i] = flags_of(&names->items[i]);
        done = stopper_goes_on(builder->stopper, i, builder->failure);
    }
    return done;
}

unsigned path_call_flags(const struct path_graph *graph, size_t row)
{
    const struct columns *columns = &graph->file->columns;
    enum kind kind = columns->kind[row];
    bool call = kind == KIND_CALL || kind == KIND_DRIVER_CALL;
    return call && columns->name[row] != NAME_NONE && columns->ts[row] != NUMBER_NONE
               ? graph->flags[columns->name[row]]
               : 0;
}

static bool is_event_sync(const struct trace_file *file, size_t row)
{
    uint32_t name = file->columns.name[row];
    return name != NAME_NONE &&
           text_is(file->names.items[name].text, file->names.items[name].length, "Event Sync");
}

bool path_sync_wanted(const struct trace_file *file, size_t row)
{
    const struct columns *columns = &file->columns;
    uint32_t call = columns->link[row];
    if (columns->kind[row] != KIND_SYNC || call == ROW_NONE || columns->name[call] == NAME_NONE)
        return false;
    unsigned flags = flags_of(&file->names.items[columns->name[call]]);
    return flags & NAMED_WAIT || (flags & NAMED_SYNCHRONIZE && is_event_sync(file, row));
}

static bool add_wait(const struct graph_builder *builder, const struct path_wait *wait)
{
    struct path_graph *graph = builder->graph;
    if (!MEMORY_GROW(graph->waits, graph->wait_capacity, graph->wait_count + 1))
        return failure_memory(builder->failure);
    graph->waits[graph->wait_count++] = *wait;
    return true;
}

/* a call that records an event */
struct record_call {
    int64_t correlation;
    uint32_t row;
};

static int record_call_order(const void *a, const void *b)
{
    const struct record_call *x = a, *y = b;
    int order = COMPARE(x->correlation, y->correlation);
    return order ? order : COMPARE(x->row, y->row);
}

/* Look-up tables for P6.1: calls that record events by correlation, then order in the file; work by
** track, launch, start and row. */
struct recorded {
    struct record_call *records;
    size_t record_count;
    const struct path_work **launched;
};

static int launched_order(const void *a, const void *b)
{
    const struct path_work *x = *(const struct path_work *const *)a;
    const struct path_work *y = *(const struct path_work *const *)b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->launched, y->launched);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

static bool find_recorded(const struct graph_builder *builder, struct recorded *recorded)
{
    const struct columns *columns = &builder->file->columns;
    const struct path_graph *graph = builder->graph;
    recorded->records = memory_items(columns->count, sizeof *recorded->records);
    recorded->launched = memory_items(graph->work_count, sizeof *recorded->launched);
    bool done = (recorded->records && recorded->launched) || failure_memory(builder->failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        if (path_call_flags(graph, row) & NAMED_RECORD && columns->correlation[row] != NUMBER_NONE)
            recorded->records[recorded->record_count++] =
                (struct record_call){columns->correlation[row], (uint32_t)row};
        done = stopper_goes_on(builder->stopper, row, builder->failure);
    }
    for (size_t i = 0; done && i < graph->work_count; i++)
        recorded->launched[i] = &graph->work[i];
    return done &&
           sort_items(recorded->records, recorded->record_count, sizeof *recorded->records,
                      record_call_order, builder->stopper, builder->failure) &&
           sort_items(recorded->launched, graph->work_count, sizeof *recorded->launched,
                      launched_order, builder->stopper, builder->failure);
}

/* Adds the wait that a sync event records (P6.1). */
static bool add_sync(const struct graph_builder *builder, const struct path_sync *sync,
                     const struct recorded *recorded)
{
    const struct columns *columns = &builder->file->columns;
    uint32_t call = columns->link[sync->row], track = row_place(columns, sync->row)->track;
    struct path_wait wait = {call, true, {AMONG_STREAM, track, sync->stream, columns->ts[call]}};
    size_t i = 0, count = builder->graph->work_count;
    if (sync->record != NUMBER_NONE) {
        const struct record_call *records = recorded->records;
        LOWER_BOUND(i, recorded->record_count, records[i].correlation < sync->record);
        if (i < recorded->record_count && records[i].correlation == sync->record)
            wait.source.limit = columns->ts[records[i].row];
    }
    if (path_call_flags(builder->graph, call) & NAMED_WAIT) {
        const struct path_work key = {
            .track = track, .launched = columns->ts[call], .start = INT64_MIN};
        const struct path_work *first = &key;
        i = 0;
        LOWER_BOUND(i, count, launched_order(&recorded->launched[i], &first) < 0);
        if (i == count || recorded->launched[i]->track != track)
            return true;
        wait.row = recorded->launched[i]->row;
        wait.host = false;
    }
    return add_wait(builder, &wait);
}

/* Returns whether work runs on a track. */
static bool has_work(const struct path_graph *graph, uint32_t track)
{
    size_t i = 0;
    LOWER_BOUND(i, graph->work_count, graph->work[graph->by_track[i]].track < track);
    return i < graph->work_count && graph->work[graph->by_track[i]].track == track;
}

/* Adds the waits that sync events record (P6.1, P7.1). `told` marks calls whose wait P6.1 gives. */
static bool add_syncs(const struct graph_builder *builder, const struct path_syncs *syncs,
                      bool *told)
{
    const struct columns *columns = &builder->file->columns;
    struct recorded recorded = {.record_count = 0};
    bool done = syncs->count == 0 || find_recorded(builder, &recorded);
    size_t next = 0;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(builder->stopper, row, builder->failure);
        if (columns->kind[row] != KIND_SYNC || columns->link[row] == ROW_NONE)
            continue;
        uint32_t call = columns->link[row], track = row_place(columns, row)->track;
        struct path_wait wait = {call, true, {AMONG_TRACK, track, NUMBER_NONE, columns->ts[call]}};
        if (next < syncs->count && syncs->items[next].row == row) {
            told[call] = true;
            done = done && add_sync(builder, &syncs->items[next++], &recorded);
        } else if (path_call_flags(builder->graph, call) & NAMED_SYNCHRONIZE &&
                   has_work(builder->graph, track)) {
            done = done && add_wait(builder, &wait);
        }
    }
    memory_free(recorded.records);
    memory_free(recorded.launched);
    return done;
}

/* a wait or launch of a thread */
struct thread_call {
    int64_t time; /* ns */
    uint32_t track, row;
    bool launches;
};

static int thread_call_order(const void *a, const void *b)
{
    const struct thread_call *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->time, y->time);
    order = order ? order : COMPARE(x->launches, y->launches);
    return order ? order : COMPARE(x->row, y->row);
}

/* Adds the waits that no sync event records (P6.2). */
static bool add_calls(const struct graph_builder *builder, const bool *told)
{
    const struct columns *columns = &builder->file->columns;
    const struct path_graph *graph = builder->graph;
    struct thread_call *calls = memory_items(columns->count, sizeof *calls);
    bool done = calls || failure_memory(builder->failure);
    size_t count = 0;
    for (size_t row = 0; done && row < columns->count; row++) {
        if (graph->launches[row] || (path_call_flags(graph, row) & NAMED_WAIT && !told[row]))
            calls[count++] = (struct thread_call){columns->ts[row], row_place(columns, row)->track,
                                                  (uint32_t)row, graph->launches[row]};
        done = stopper_goes_on(builder->stopper, row, builder->failure);
    }
    done = done && sort_items(calls, count, sizeof *calls, thread_call_order, builder->stopper,
                              builder->failure);
    for (size_t i = 1; done && i < count; i++) {
        const struct thread_call *last = &calls[i - 1], *call = &calls[i];
        struct path_wait wait = {call->row, false, {.among = AMONG_OTHERS, .limit = last->time}};
        if (call->launches && !last->launches && call->track == last->track)
            done = add_wait(builder, &wait);
        done = done && stopper_goes_on(builder->stopper, i, builder->failure);
    }
    memory_free(calls);
    return done;
}

static int place_of_wait(const void *a, const void *b)
{
    const struct path_wait *x = a, *y = b;
    int order = COMPARE(x->host, y->host);
    return order ? order : COMPARE(x->row, y->row);
}

/* For the same work and stream, the wait with the latest limit comes first. Waits of calls keep the
** order of the file. */
static int wait_order(const void *a, const void *b)
{
    const struct path_wait *x = a, *y = b;
    int order = place_of_wait(x, y);
    order = order || x->host ? order : COMPARE(x->source.stream, y->source.stream);
    return order || x->host ? order : COMPARE(y->source.limit, x->source.limit);
}

/* Keeps one wait for each pair of work and stream, and one for each call. */
static void join_waits(struct path_graph *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->wait_count; i++) {
        const struct path_wait *wait = &graph->waits[i], *last = &graph->waits[kept - (kept > 0)];
        if (kept == 0 || place_of_wait(wait, last) != 0 ||
            (!wait->host && wait->source.stream != last->source.stream))
            graph->waits[kept++] = *wait;
    }
    graph->wait_count = kept;
}

static bool find_waits(const struct graph_builder *builder, const struct path_syncs *syncs)
{
    struct path_graph *graph = builder->graph;
    bool *told = memory_zeroed(builder->file->columns.count + 1, sizeof *told);
    bool done = (told || failure_memory(builder->failure)) && add_syncs(builder, syncs, told) &&
                add_calls(builder, told) &&
                sort_items(graph->waits, graph->wait_count, sizeof *graph->waits, wait_order,
                           builder->stopper, builder->failure);
    if (done)
        join_waits(graph);
    memory_free(told);
    return done;
}

bool path_at_work(const struct path_graph *graph, const struct label_stretch *stretch)
{
    uint32_t label = stretch->label[LEVEL_OP];
    return stretch->inside != IN_NOTHING &&
           (stretch->inside != IN_EVENT || row_is(graph->file, label, CATEGORY_OPERATOR));
}

static int active_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int order = COMPARE(x->start, y->start);
    order = order ? order : COMPARE(y->dur, x->dur);
    return order ? order : COMPARE(x->row, y->row);
}

/* Adds the times at which a thread is at work. */
static void add_active(const struct path_graph *graph, uint32_t track, struct span *spans,
                       size_t *count)
{
    const struct thread_labels *thread = &graph->labels.threads[track];
    bool before = false;
    int64_t begin = 0;
    for (size_t i = 0; i < thread->count; i++) {
        bool now = path_at_work(graph, &thread->items[i]);
        int64_t start = thread->items[i].start;
        begin = now && !before ? start : begin;
        if (before && !now)
            span_put(spans, count, begin, start, track);
        before = now;
    }
}

/* Finds the thread at work at each instant (P8). */
static bool find_active(const struct graph_builder *builder)
{
    struct path_graph *graph = builder->graph;
    size_t room = 1, count = 0;
    for (size_t track = 0; track < graph->labels.count; track++)
        room += graph->labels.threads[track].count;
    struct span *spans = memory_items(room, sizeof *spans);
    graph->active.items = memory_items(2 * room + 1, sizeof *graph->active.items);
    bool done = (spans && graph->active.items) || failure_memory(builder->failure);
    for (size_t track = 0; done && track < graph->labels.count; track++) {
        add_active(graph, (uint32_t)track, spans, &count);
        done = stopper_ask(builder->stopper, builder->failure);
    }
    done =
        done &&
        sort_items(spans, count, sizeof *spans, active_order, builder->stopper, builder->failure) &&
        span_line_innermost(&graph->active, spans, count, builder->stopper, builder->failure);
    memory_free(spans);
    return done;
}

bool path_graph_make_work(struct path_graph *graph, const struct trace_file *file,
                          const struct path_syncs *syncs, const struct stopper *stopper,
                          struct failure *failure)
{
    const struct graph_builder builder = {graph, file, stopper, failure};
    *graph = (struct path_graph){.file = file};
    bool done = collect_work(&builder) && (graph->by_track = index_work(&builder, false)) &&
                (graph->by_launch = index_work(&builder, true)) && find_flags(&builder);
    if (done)
        find_launched(graph);
    done = done && find_waits(&builder, syncs);
    if (!done)
        path_graph_clear(graph);
    return done;
}

bool path_graph_make(struct path_graph *graph, const struct trace_member *member,
                     const struct windows *windows, const struct path_syncs *syncs,
                     const struct stopper *stopper, struct failure *failure)
{
    const struct graph_builder builder = {graph, member->file, stopper, failure};
    bool done = path_graph_make_work(graph, member->file, syncs, stopper, failure);
    for (size_t i = 0; done && i < windows->count; i++)
        if (windows->items[i].track != TRACK_NONE)
            graph->threads[windows->items[i].track] = true;
    done = done &&
           labels_make(&graph->labels, member->file, member->steps, 1u << LEVEL_OP, graph->threads,
                       NULL, stopper, failure) &&
           find_active(&builder);
    if (!done)
        path_graph_clear(graph);
    return done;
}

static bool same_process(const struct path_graph *graph, uint32_t track, uint32_t other)
{
    const struct track *tracks = graph->file->tracks.items;
    return tracks[track].pid.kind == tracks[other].pid.kind &&
           tracks[track].pid.value == tracks[other].pid.value;
}

bool path_place_is_of(const struct path_graph *graph, const struct path_source *source,
                      const struct place *place)
{
    switch (source->among) {
    case AMONG_TRACK:
        return place->track == source->track;
    case AMONG_STREAM:
        return place->stream == source->stream && same_process(graph, place->track, source->track);
    case AMONG_OTHERS:
        return place->track != source->track && same_process(graph, place->track, source->track);
    default:
        return true;
    }
}

static bool is_of(const struct path_graph *graph, const struct path_source *source,
                  const struct path_work *work)
{
    return work->launched < source->limit &&
           path_place_is_of(graph, source, row_place(&graph->file->columns, work->row));
}

size_t path_ended_work(const struct path_graph *graph, int64_t upto)
{
    size_t i = 0;
    LOWER_BOUND(i, graph->work_count, graph->work[i].end <= upto);
    return i > 0 ? i - 1 : WORK_NONE;
}

/* Returns whether any of a row's waits is for this work. */
static bool is_waited_for(const struct path_graph *graph, const struct path_wait *waits,
                          size_t count, const struct path_work *work)
{
    int64_t stream = row_place(&graph->file->columns, work->row)->stream;
    size_t i = 0;
    if (count > 1) /* several waits of one row are all for streams */
        LOWER_BOUND(i, count, waits[i].source.stream < stream);
    return i < count && is_of(graph, &waits[i].source, work);
}

size_t path_last_work(const struct path_graph *graph, const struct path_wait *waits, size_t count,
                      int64_t after, int64_t upto)
{
    size_t i = count > 0 ? path_ended_work(graph, upto) : WORK_NONE;
    while (i != WORK_NONE && graph->work[i].end > after) {
        if (is_waited_for(graph, waits, count, &graph->work[i]))
            return i;
        i = i > 0 ? i - 1 : WORK_NONE;
    }
    return WORK_NONE;
}

size_t path_work_before(const struct path_graph *graph, const struct path_work *of)
{
    const struct path_work *work = graph->work;
    const uint32_t *index = graph->by_track;
    size_t i = 0, found = WORK_NONE;
    LOWER_BOUND(i, graph->work_count,
                work[index[i]].track < of->track ||
                    (work[index[i]].track == of->track && work[index[i]].end <= of->start));
    if (i > 0 && work[index[i - 1]].track == of->track)
        found = index[i - 1];
    if (of->launch == ROW_NONE)
        return found;
    index = graph->by_launch;
    i = 0;
    LOWER_BOUND(i, graph->launched_count,
                work[index[i]].launch < of->launch ||
                    (work[index[i]].launch == of->launch && work[index[i]].end <= of->start));
    if (i > 0 && work[index[i - 1]].launch == of->launch &&
        (found == WORK_NONE || index[i - 1] > found))
        found = index[i - 1];
    return found;
}

size_t path_work_of(const struct path_graph *graph, uint32_t row)
{
    const struct columns *columns = &graph->file->columns;
    struct path_work key = {.start = columns->ts[row], .end = busy_end(columns, row), .row = row};
    size_t i = 0;
    LOWER_BOUND(i, graph->work_count, work_order(&graph->work[i], &key) < 0);
    return i;
}

size_t path_waits_of(const struct path_graph *graph, uint32_t row, bool host, size_t *count)
{
    const struct path_wait key = {.row = row, .host = host};
    size_t first = 0, end;
    LOWER_BOUND(first, graph->wait_count, place_of_wait(&graph->waits[first], &key) < 0);
    for (end = first; end < graph->wait_count && place_of_wait(&graph->waits[end], &key) == 0;
         end++)
        ;
    *count = end - first;
    return first;
}

void path_graph_clear(struct path_graph *graph)
{
    memory_free(graph->work);
    memory_free(graph->by_track);
    memory_free(graph->by_launch);
    memory_free(graph->flags);
    memory_free(graph->launches);
    memory_free(graph->threads);
    labels_clear(&graph->labels);
    memory_free(graph->active.items);
    memory_free(graph->waits);
    *graph = (struct path_graph){.file = NULL};
}
