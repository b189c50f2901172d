#include "job_rank.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "loading/host_collective.h"
#include "file/kernel_type.h"
#include "naming/collective_name.h"
#include "naming/short_name.h"
#include "analysis/parts/busy.h"
#include "host_waits.h"
#include "job_pairs.h"

/* facts about a name of collectives, found on first use */
struct known_name_of_work {
    bool asked, by_all;
    uint32_t text; /* id of the stable name */
};

/* work on a stream that runs collectives */
struct stream_work {
    uint32_t track, row;
    int64_t end, start;
};

/* state while the collectives of a member are added */
struct member_reader {
    struct job_rank *rank;
    const struct trace_member *member;
    uint32_t index; /* index of the member */
    struct names *texts;
    const struct stopper *stopper;
    struct failure *failure;
    size_t first;                /* index of the member's first collective */
    bool on_host;                /* the member has no device work */
    bool both;                   /* the member has device work and host collectives (Q10.6) */
    enum host_collective wanted; /* with `on_host` or `both`: which host collectives count */
    struct busy busy;
    struct row_types types;
    struct known_name_of_work *names; /* by name id */
    char *scratch;                    /* room for the longest name */
    bool *streams;                    /* by track: whether it has a collective */
    struct job_pairs pairs;
};

/* Returns whether a name says that all ranks wait for all (Q3.3, Q10.2). */
static bool is_by_all(const struct member_reader *reader, const struct name *name)
{
    return collective_is_by_all(name) || (reader->on_host && strstr(name->text, "barrier"));
}

/* Looks up the name of a collective's row; NULL if out of memory. */
static const struct known_name_of_work *name_of_collective(struct member_reader *reader, size_t row)
{
    const struct trace_file *file = reader->member->file;
    uint32_t id = file->columns.name[row];
    const struct name *name = &file->names.items[id];
    struct known_name_of_work *known = &reader->names[id];
    if (known->asked)
        return known;
    size_t length = name_stable(name->text, name->length, reader->scratch);
    known->text = names_intern(reader->texts, reader->scratch, length);
    known->by_all = is_by_all(reader, name);
    if (known->text == NAME_NONE) {
        failure_memory(reader->failure);
        return NULL;
    }
    known->asked = true;
    return known;
}

/* Finds the process group in a collective's args; NULL if there is none. `*next` is a cursor into
** the file's groups. */
static const struct process_group *find_group(const struct trace_file *file, uint32_t row,
                                              size_t *next)
{
    while (*next < file->group_count && file->groups[*next].row < row)
        ++*next;
    return *next < file->group_count && file->groups[*next].row == row ? &file->groups[*next]
                                                                       : NULL;
}

/* Copies one of the member's texts to the job's texts, unless it is NAME_NONE. */
static bool adopt(struct member_reader *reader, uint32_t text, uint32_t *id)
{
    if (text == NAME_NONE)
        return true;
    *id = names_adopt(reader->texts, &reader->member->file->names.items[text]);
    return *id != NAME_NONE || failure_memory(reader->failure);
}

/* Finds the process group of a collective (W1) and, on the host, its name in the args (Q10.1). */
static bool take_group(struct member_reader *reader, struct job_collective *collective,
                       const struct process_group *group)
{
    collective->ranks = NAME_NONE;
    if (group && group->collective != NAME_NONE) {
        if (!adopt(reader, group->collective, &collective->name))
            return false;
        collective->by_all = is_by_all(reader, &reader->texts->items[collective->name]);
    }
    collective->group = collective->name;
    bool grouped = group && group->name != NAME_NONE;
    if (reader->on_host && !grouped &&
        host_collective_is_pair(&reader->texts->items[collective->name]))
        collective->outside = true;
    return !grouped || (adopt(reader, group->name, &collective->group) &&
                        adopt(reader, group->ranks, &collective->ranks));
}

/* Makes the two ranks of a device's send or receive its process group (Q2.5). */
static bool take_pair(struct member_reader *reader, struct job_collective *collective,
                      const struct process_group *own)
{
    int64_t between[2], rank = reader->member->rank;
    const struct process_group *group =
        reader->on_host || collective->by_all
            ? NULL
            : job_pairs_find(&reader->pairs, collective->row, own, rank, between);
    if (!group)
        return true;
    char text[80];
    int length = snprintf(text, sizeof text, "ranks %lld and %lld", (long long)between[0],
                          (long long)between[1]);
    collective->group = names_intern(reader->texts, text, (size_t)length);
    return (collective->group != NAME_NONE || failure_memory(reader->failure)) &&
           adopt(reader, group->name, &collective->ranks);
}

static bool add_collective(struct member_reader *reader, size_t row, size_t *next_group)
{
    const struct trace_file *file = reader->member->file;
    const struct columns *columns = &file->columns;
    const struct steps *steps = reader->member->steps;
    struct job_rank *rank = reader->rank;
    const struct known_name_of_work *name = name_of_collective(reader, row);
    if (!name)
        return false;
    uint32_t step = step_of(steps, row);
    struct job_collective collective = {
        .start = columns->ts[row],
        .end = columns->ts[row] + columns->dur[row],
        .step = step == STEP_NONE ? NUMBER_NONE : member_iteration(reader->member, step),
        .name = name->text,
        .by_all = name->by_all,
        .on_host = reader->on_host,
        .outside = steps->count > 0 && step == STEP_NONE,
        .match = JOB_NONE,
        .before = JOB_NONE,
        .row = (uint32_t)row,
        .member = reader->index};
    const struct process_group *group = find_group(file, collective.row, next_group);
    if (reader->wanted == HOST_DESCRIBED && (!group || group->collective == NAME_NONE))
        return true;
    if (!take_group(reader, &collective, group) || !take_pair(reader, &collective, group))
        return false;
    if (!MEMORY_GROW(rank->collectives, rank->collective_capacity, rank->collective_count + 1))
        return failure_memory(reader->failure);
    rank->collectives[rank->collective_count++] = collective;
    reader->streams[row_place(columns, row)->track] = true;
    return true;
}

/* Returns the next row of device work, or of a host collective if the member has both. */
static size_t next_row(const struct member_reader *reader, size_t row)
{
    const struct trace_file *file = reader->member->file;
    const struct columns *columns = &file->columns;
    if (!reader->both)
        return columns_find(columns, row, KIND_WORK);
    while (row < columns->count && columns->kind[row] != KIND_WORK &&
           host_collective_row(file, row) != HOST_NAMED)
        row++;
    return row;
}

static bool add_collectives(struct member_reader *reader)
{
    const struct columns *columns = &reader->member->file->columns;
    size_t next_group = 0, count = columns->count;
    for (size_t row = next_row(reader, 0), i = 0; row < count;
         row = next_row(reader, row + 1), i++) {
        reader->on_host = columns->kind[row] != KIND_WORK;
        if (!stopper_goes_on(reader->stopper, i, reader->failure))
            return false;
        if (columns->ts[row] == NUMBER_NONE || !row_counts(columns, row))
            continue;
        bool is = reader->on_host ? columns->dur[row] > 0
                                  : row_types_find(&reader->types, reader->member->file, row) ==
                                        KERNEL_COMMUNICATION;
        if (is && !add_collective(reader, row, &next_group))
            return false;
    }
    reader->on_host = false;
    return true;
}

/* Adds the collectives of a host (Q10.1). */
static bool add_host_collectives(struct member_reader *reader)
{
    const struct trace_file *file = reader->member->file;
    const struct columns *columns = &file->columns;
    size_t next_group = 0, count = columns->count;
    reader->wanted = HOST_DESCRIBED;
    for (size_t row = 0; row < count && reader->wanted != HOST_NAMED; row++) {
        enum host_collective is = host_collective_row(file, row);
        if (!stopper_goes_on(reader->stopper, row, reader->failure))
            return false;
        if (is == HOST_NAMED || is == HOST_LAUNCH)
            reader->wanted = is;
    }
    for (size_t row = 0; row < count && reader->wanted != HOST_LAUNCH; row++)
        if (!stopper_goes_on(reader->stopper, row, reader->failure) ||
            (host_collective_row(file, row) == reader->wanted && columns->dur[row] > 0 &&
             columns->ts[row] != NUMBER_NONE && row_counts(columns, row) &&
             !add_collective(reader, row, &next_group)))
            return false;
    return true;
}

/* Returns the member's collective at a row, or JOB_NONE. */
static uint32_t collective_of_row(const struct member_reader *reader, uint32_t row)
{
    const struct job_collective *items = reader->rank->collectives;
    size_t i = reader->first;
    LOWER_BOUND(i, reader->rank->collective_count, items[i].row < row);
    return i < reader->rank->collective_count && items[i].row == row ? (uint32_t)i : JOB_NONE;
}

static int stream_order(const void *a, const void *b)
{
    const struct stream_work *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->end, y->end);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

/* Finds the collectives that run right before others on their streams (Q5.4). */
static bool find_before(struct member_reader *reader)
{
    const struct columns *columns = &reader->member->file->columns;
    struct job_rank *rank = reader->rank;
    size_t count = 0;
    struct stream_work *work = memory_items(reader->busy.work_count, sizeof *work);
    if (!work)
        return failure_memory(reader->failure);
    for (size_t i = 0; i < reader->busy.work_count; i++) {
        const struct busy_work *item = &reader->busy.work[i];
        uint32_t track = row_place(columns, item->row)->track;
        if (reader->streams[track])
            work[count++] = (struct stream_work){track, item->row, item->end, item->start};
    }
    bool done =
        sort_items(work, count, sizeof *work, stream_order, reader->stopper, reader->failure);
    size_t steps = 0;
    for (size_t i = reader->first; done && i < rank->collective_count; i++) {
        struct job_collective *collective = &rank->collectives[i];
        uint32_t track = row_place(columns, collective->row)->track;
        wide_time latest = (wide_time)collective->start + JOB_ROUNDING;
        size_t after = 0;
        LOWER_BOUND(after, count,
                    work[after].track < track ||
                        (work[after].track == track && work[after].end <= latest));
        while (done && after > 0 && work[after - 1].track == track &&
               work[after - 1].start >= collective->start) {
            after--;
            done = stopper_goes_on(reader->stopper, steps++, reader->failure);
        }
        const struct stream_work *last = after > 0 ? &work[after - 1] : NULL;
        if (last && last->track == track && (wide_time)collective->start - last->end <= JOB_SLACK)
            collective->before = collective_of_row(reader, last->row);
        done = done && stopper_goes_on(reader->stopper, steps++, reader->failure);
    }
    memory_free(work);
    return done;
}

/* Adds the parts of class comm in the member's windows. */
static bool add_parts(struct member_reader *reader)
{
    struct job_rank *rank = reader->rank;
    const struct busy *busy = &reader->busy;
    size_t next = 0, steps = 0;
    for (size_t i = 0; i < rank->line.count; i++) {
        uint32_t window = rank->line.items[i].row;
        if (window == JOB_NONE || rank->windows[window].member != reader->index)
            continue;
        int64_t from = rank->line.items[i].start;
        int64_t to = rank->line.items[i + 1].start; /* the line ends outside of all windows */
        while (next + 1 < busy->count && busy->items[next + 1].start <= from)
            next++;
        for (size_t s = next; s < busy->count && busy->items[s].start < to; s++) {
            const struct busy_stretch *stretch = &busy->items[s];
            int64_t start = stretch->start > from ? stretch->start : from;
            int64_t end = s + 1 < busy->count && stretch[1].start < to ? stretch[1].start : to;
            if (!stopper_goes_on(reader->stopper, steps++, reader->failure))
                return false;
            uint32_t owner = stretch->type == KERNEL_COMMUNICATION
                                 ? collective_of_row(reader, stretch->row)
                                 : JOB_NONE;
            if (owner == JOB_NONE)
                continue;
            if (!MEMORY_GROW(rank->parts, rank->part_capacity, rank->part_count + 1))
                return failure_memory(reader->failure);
            rank->parts[rank->part_count++] =
                (struct job_part){start, end, owner, 0};
        }
    }
    return true;
}

/* Adds the parts of a wait in which no device work runs (Q10.6). `*stretch` is where the next
** search begins. */
static bool add_wait(struct member_reader *reader, int64_t from, int64_t to, size_t *stretch)
{
    struct job_rank *rank = reader->rank;
    const struct busy *busy = &reader->busy;
    while (*stretch + 1 < busy->count && busy->items[*stretch + 1].start <= from)
        ++*stretch;
    size_t s = *stretch;
    do {
        const struct busy_stretch *of = busy->count > 0 ? &busy->items[s] : NULL;
        int64_t start = of && of->start > from ? of->start : from;
        int64_t end = of && s + 1 < busy->count && of[1].start < to ? of[1].start : to;
        if (of && of->type != KERNEL_NONE)
            continue;
        if (!MEMORY_GROW(rank->parts, rank->part_capacity, rank->part_count + 1))
            return failure_memory(reader->failure);
        rank->parts[rank->part_count++] = (struct job_part){start, end, JOB_NONE, 0};
    } while (++s < busy->count && busy->items[s].start < to);
    return true;
}

/* Adds the waits of the threads that run a host's steps (Q10.3). */
static bool add_waits(struct member_reader *reader)
{
    struct job_rank *rank = reader->rank;
    const struct trace_file *file = reader->member->file;
    struct host_waits waits = {.file = NULL};
    bool *wanted = memory_zeroed(file->tracks.count + 1, sizeof *wanted);
    if (!wanted)
        return failure_memory(reader->failure);
    for (size_t i = 0; i < rank->window_count; i++)
        if (rank->windows[i].member == reader->index && rank->windows[i].window.track != TRACK_NONE)
            wanted[rank->windows[i].window.track] = true;
    bool done = host_waits_make(&waits, file, reader->member->steps, wanted, reader->stopper,
                                reader->failure);
    for (size_t i = 0, steps = 0, stretch = 0; done && i < rank->line.count; i++) {
        uint32_t window = rank->line.items[i].row;
        if (window == JOB_NONE || rank->windows[window].member != reader->index ||
            rank->windows[window].window.track == TRACK_NONE)
            continue;
        uint32_t track = rank->windows[window].window.track;
        int64_t start = rank->line.items[i].start, until = rank->line.items[i + 1].start;
        for (int64_t end = until;
             done && start < until && host_waits_find(&waits, track, &start, &end);
             start = end, end = until) {
            done = add_wait(reader, start, end, &stretch) &&
                   stopper_goes_on(reader->stopper, steps++, reader->failure);
        }
    }
    host_waits_clear(&waits);
    memory_free(wanted);
    return done;
}

static bool add_member(struct job_rank *rank, const struct trace *trace, size_t index,
                       struct names *texts, const struct stopper *stopper, struct failure *failure)
{
    const struct trace_file *file = trace->members[index].file;
    struct member_reader reader = {.rank = rank,
                                   .member = &trace->members[index],
                                   .index = (uint32_t)index,
                                   .texts = texts,
                                   .stopper = stopper,
                                   .failure = failure,
                                   .first = rank->collective_count};
    reader.names = memory_zeroed(file->names.count + 1, sizeof *reader.names);
    reader.scratch = memory_allocate(names_longest(&file->names) + 2);
    reader.streams = memory_zeroed(file->tracks.count + 1, sizeof *reader.streams);
    reader.on_host = !busy_any(&file->columns);
    reader.both = !reader.on_host && host_collective_any(&file->names);
    bool done = ((reader.names && reader.scratch && reader.streams) || failure_memory(failure)) &&
                job_pairs_make(&reader.pairs, file, stopper, failure);
    done = done && (reader.on_host ? add_host_collectives(&reader) : add_collectives(&reader));
    if (done && rank->collective_count > reader.first)
        done = reader.on_host ? add_waits(&reader)
                              : busy_make(&reader.busy, file, stopper, failure) &&
                                    find_before(&reader) && add_parts(&reader) &&
                                    (!reader.both || add_waits(&reader));
    busy_clear(&reader.busy);
    row_types_clear(&reader.types);
    memory_free(reader.names);
    memory_free(reader.scratch);
    memory_free(reader.streams);
    job_pairs_clear(&reader.pairs);
    return done;
}

static int window_order(const void *a, const void *b)
{
    const struct window *x = &((const struct job_window *)a)->window;
    const struct window *y = &((const struct job_window *)b)->window;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->iteration, y->iteration);
}

static bool add_windows(struct job_rank *rank, const struct trace *trace, size_t index,
                        bool device_clock, const struct stopper *stopper, struct failure *failure)
{
    const struct trace_member *member = &trace->members[index];
    struct windows windows;
    if (!windows_make(&windows, member, device_clock && busy_any(&member->file->columns), stopper,
                      failure))
        return false;
    size_t size = (rank->window_count + windows.count + 1) * sizeof *rank->windows;
    bool done = memory_assign(&rank->windows, memory_resize(rank->windows, size)) ||
                failure_memory(failure);
    for (size_t i = 0; done && i < windows.count; i++) {
        const struct window *window = &windows.items[i];
        rank->windows[rank->window_count++] = (struct job_window){*window, index};
        if ((wide_time)window->end - window->start > INT64_MAX)
            done = failure_set(failure, FAILURE_REQUEST,
                               "'%s': a part of a step is beyond 64 bits of nanoseconds",
                               member->path);
    }
    windows_clear(&windows);
    return done;
}

bool job_rank_line(struct job_rank *rank, const struct stopper *stopper, struct failure *failure)
{
    size_t count = rank->window_count;
    if (!sort_items(rank->windows, count, sizeof *rank->windows, window_order, stopper, failure))
        return false;
    struct span *spans = memory_zeroed(count, sizeof *spans);
    rank->line.items = memory_items(2 * count + 1, sizeof *rank->line.items);
    bool done = (spans && rank->line.items) || failure_memory(failure);
    for (size_t i = 0; done && i < count; i++) {
        const struct window *window = &rank->windows[i].window;
        int64_t dur = window->end > window->start ? window->end - window->start : 0;
        spans[i] = (struct span){window->start, dur, (uint32_t)i};
    }
    if (done)
        span_line_add(&rank->line, INT64_MIN, JOB_NONE);
    done = done && sort_items(spans, count, sizeof *spans, span_order, stopper, failure) &&
           span_line_innermost(&rank->line, spans, count, stopper, failure);
    memory_free(spans);
    return done;
}

int job_part_order(const void *a, const void *b)
{
    return COMPARE(((const struct job_part *)a)->start, ((const struct job_part *)b)->start);
}

/* Sorts the parts and joins them into chains. */
static bool make_runs(struct job_rank *rank, const struct stopper *stopper, struct failure *failure)
{
    if (!sort_items(rank->parts, rank->part_count, sizeof *rank->parts, job_part_order, stopper,
                    failure))
        return false;
    rank->chains = memory_items(rank->part_count, sizeof *rank->chains);
    if (!rank->chains)
        return failure_memory(failure);
    for (size_t i = 0; i < rank->part_count; i++) {
        struct job_part *part = &rank->parts[i];
        if (i == 0 || part[-1].end != part->start ||
            (part[-1].owner == JOB_NONE) != (part->owner == JOB_NONE))
            rank->chains[rank->chain_count++] = (struct job_chain){part->start, part->end};
        rank->chains[rank->chain_count - 1].end = part->end;
        part->chain = (uint32_t)(rank->chain_count - 1);
    }
    return true;
}

/* a collective with its sort key; comparison functions get no context, so the name is included */
struct sortable_collective {
    struct job_collective item;
    const struct name *name;
    uint32_t index;
};

/* Compares by step, process group and start, as W2 has it. Ties: order in the file. */
static int step_order(const void *a, const void *b)
{
    const struct sortable_collective *left = a, *right = b;
    const struct job_collective *x = &left->item, *y = &right->item;
    int order = COMPARE(x->outside, y->outside);
    order = order ? order : COMPARE(x->step, y->step);
    order = order ? order : COMPARE(x->group, y->group);
    order = order ? order : COMPARE(x->ranks, y->ranks);
    order = order ? order : COMPARE(x->start, y->start);
    order = order ? order : COMPARE(x->end, y->end);
    return order ? order : name_compare(left->name, right->name);
}

static int end_order(const void *a, const void *b)
{
    const struct job_collective *x = &((const struct sortable_collective *)a)->item;
    const struct job_collective *y = &((const struct sortable_collective *)b)->item;
    int order = COMPARE(x->on_host, y->on_host);
    order = order ? order : COMPARE(x->end, y->end);
    return order ? order : COMPARE(x->start, y->start);
}

/* Returns the indices of the collectives in sorted order. */
static uint32_t *sorted(const struct job_rank *rank, const struct names *texts,
                        int (*order)(const void *, const void *), const struct stopper *stopper,
                        struct failure *failure)
{
    size_t count = rank->collective_count;
    uint32_t *indices = memory_items(count, sizeof *indices);
    struct sortable_collective *items = memory_zeroed(count, sizeof *items);
    bool done = (indices && items) || failure_memory(failure);
    for (size_t i = 0; done && i < count; i++)
        items[i] = (struct sortable_collective){
            rank->collectives[i], &texts->items[rank->collectives[i].name], (uint32_t)i};
    done = done && sort_items(items, count, sizeof *items, order, stopper, failure);
    for (size_t i = 0; done && i < count; i++)
        indices[i] = items[i].index;
    memory_free(items);
    if (done)
        return indices;
    memory_free(indices);
    return NULL;
}

/* Returns whether two collectives share step and process group. */
static bool same_group(const struct job_collective *a, const struct job_collective *b)
{
    return a->outside == b->outside && a->step == b->step && a->group == b->group &&
           a->ranks == b->ranks;
}

static bool sort_collectives(struct job_rank *rank, const struct names *texts,
                             const struct stopper *stopper, struct failure *failure)
{
    rank->by_step = sorted(rank, texts, step_order, stopper, failure);
    rank->by_end = rank->by_step ? sorted(rank, texts, end_order, stopper, failure) : NULL;
    if (!rank->by_end)
        return false;
    LOWER_BOUND(rank->host_first, rank->collective_count,
                !rank->collectives[rank->by_end[rank->host_first]].on_host);
    for (size_t i = 1; i < rank->collective_count; i++) {
        const struct job_collective *last = &rank->collectives[rank->by_step[i - 1]];
        struct job_collective *next = &rank->collectives[rank->by_step[i]];
        next->seq = same_group(last, next) ? last->seq + 1 : 0;
    }
    return true;
}

bool job_rank_finish(struct job_rank *rank, const struct names *texts,
                     const struct stopper *stopper, struct failure *failure)
{
    for (size_t i = 0; i < rank->collective_count; i++)
        if (rank->collectives[i].before != JOB_NONE)
            rank->collectives[rank->collectives[i].before].followed = true;
    return make_runs(rank, stopper, failure) && sort_collectives(rank, texts, stopper, failure);
}

bool job_rank_make(struct job_rank *rank, const struct trace *trace, size_t index,
                   bool device_clock, bool alone, struct names *texts,
                   const struct stopper *stopper, struct failure *failure)
{
    *rank = (struct job_rank){.rank = index};
    bool done = true;
    for (size_t i = 0; done && i < trace->count; i++)
        if (trace->members[i].chosen && trace->members[i].rank_index == index)
            done = add_windows(rank, trace, i, device_clock, stopper, failure);
    done = done && job_rank_line(rank, stopper, failure);
    for (size_t i = 0; done && !alone && i < trace->count; i++)
        if (trace->members[i].chosen && trace->members[i].rank_index == index)
            done = add_member(rank, trace, i, texts, stopper, failure);
    done = done && job_rank_finish(rank, texts, stopper, failure);
    if (!done)
        job_rank_clear(rank);
    return done;
}

void job_rank_clear(struct job_rank *rank)
{
    memory_free(rank->windows);
    memory_free(rank->line.items);
    memory_free(rank->collectives);
    memory_free(rank->by_step);
    memory_free(rank->by_end);
    memory_free(rank->parts);
    memory_free(rank->chains);
    *rank = (struct job_rank){.rank = 0};
}
