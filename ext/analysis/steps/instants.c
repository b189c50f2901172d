#include "instants.h"

#include "base/memory.h"
#include "analysis/parts/parts.h"
#include "analysis/parts/waiting_calls.h"

#define LONGEST_WAIT 1000000 /* ns (A6) */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Adds a part whose names are set. */
static bool add_part(struct instants *at, const struct attributed *part)
{
    struct attributed own = *part;
    own.rank = at->rank;
    own.drained = at->in_drain;
    own.late = at->late;
    return stopper_goes_on(at->stopper, at->loops++, at->failure) &&
           (parts_add(&at->parts, at->to, &own) || failure_memory(at->failure));
}

/* Adds a part with the names of some rows. */
static bool add_named(struct instants *at, struct attributed part, const struct name_origin *origin)
{
    return part_names_find(&at->names, origin, &part) && add_part(at, &part);
}

/* Adds [from, to) if it is not empty. */
static bool add_time(struct instants *at, enum step_class step_class,
                     const struct name_origin *origin, int64_t from, int64_t to)
{
    struct attributed part = {
        .step_class = step_class, .time = (wide_time)to - from, .name = NO_NAMES};
    return from >= to || add_named(at, part, origin);
}

/* A5.4: adds time in which the thread of the host's step is idle, too. */
static bool add_gaps(struct instants *at, int64_t from, int64_t to)
{
    struct attributed part = {
        .step_class = at->known->has_work ? CLASS_IDLE_UNRECORDED : CLASS_UNRECORDED,
        .name = NO_NAMES};
    uint32_t *name = &part.name[LEVEL_OP];
    const struct gaps *gaps =
        at->window->track == TRACK_NONE ? NULL : &at->known->labels.threads[at->window->track].gaps;
    size_t i = gaps ? gaps_find(gaps, from) : 0;
    for (int64_t end = to; from < to; from = end, end = to, i++) {
        if (gaps && i + 1 < gaps->count)
            end = earlier(end, gaps->items[i + 1].start);
        part.time = (wide_time)end - from;
        if ((gaps && !part_name_of_gap(&at->names, &gaps->items[i], name)) || !add_part(at, &part))
            return false;
    }
    return true;
}

/* Adds time of a thread in an event. If the event is a Python frame, the time is named as a
** function or a gap (L4.5, L4.6). */
static bool add_event(struct instants *at, enum step_class step_class,
                      const struct name_origin *origin, uint32_t track, int64_t from, int64_t to)
{
    const struct gaps *gaps = &at->known->labels.threads[track].gaps;
    struct attributed part = {.step_class = step_class, .name = NO_NAMES};
    if (!part_needs_gap(&at->names, origin))
        return add_time(at, step_class, origin, from, to);
    size_t i = gaps_find(gaps, from);
    for (int64_t end = to; from < to; from = end, end = to, i++) {
        if (i + 1 < gaps->count)
            end = earlier(end, gaps->items[i + 1].start);
        part.time = (wide_time)end - from;
        if (!part_name_of_gap(&at->names, &gaps->items[i], &part.name[NAME_FOR_FRAME]) ||
            !add_named(at, part, origin))
            return false;
    }
    return true;
}

/* A5: adds the activity of a thread. While it is idle, adds the activity of `other`. Either may be
** TRACK_NONE; the last one must be the thread of the host's step. */
static bool add_thread(struct instants *at, uint32_t track, uint32_t other, int64_t from,
                       int64_t to)
{
    static const enum step_class idle[] = {CLASS_IDLE_CALL, CLASS_IDLE_HOST};
    static const enum step_class host[] = {CLASS_CALL, CLASS_HOST}; /* A8 */
    const enum step_class *classes = at->known->has_work ? idle : host;
    if (from >= to)
        return true;
    if (track == TRACK_NONE)
        return other == TRACK_NONE ? add_gaps(at, from, to)
                                   : add_thread(at, other, TRACK_NONE, from, to);
    for (int64_t end = to; from < to; from = end, end = to) {
        struct name_origin origin;
        uint32_t inside = part_labels(&at->names, track, from, &origin, &end);
        bool done;
        if (inside == IN_NOTHING) {
            done = add_thread(at, other == track ? TRACK_NONE : other, TRACK_NONE, from, end);
        } else if (origin.compiles) {
            done = add_time(at, CLASS_COMPILE, &origin, from, end);
        } else if (inside == IN_EVENT) {
            done = add_event(at, classes[1], &origin, track, from, end);
        } else {
            origin.row[LEVEL_OP] = inside;
            done = add_time(at, classes[0], &origin, from, end);
        }
        if (!done)
            return false;
    }
    return true;
}

/* Adds a stretch after a launch, before its work starts. Host callbacks of graphs hold up the
** device while they run (A18). */
static bool add_queued(struct instants *at, const struct name_origin *origin, int64_t from,
                       int64_t to)
{
    const struct known_file *known = at->known;
    size_t i = 0;
    LOWER_BOUND(i, known->host_node_count, known->host_nodes[i].start <= from);
    for (i -= i > 0; from < to && i < known->host_node_count; i++) {
        const struct host_node *node = &known->host_nodes[i];
        int64_t end = earlier(to, node->end);
        if (node->start >= to)
            break;
        if (end <= from)
            continue;
        struct name_origin own = *origin;
        own.row[LEVEL_OP] = own.row[LEVEL_TOP_OP] = own.row[LEVEL_MODULE] = node->row;
        if ((node->start > from && !add_time(at, CLASS_IDLE_WAIT, origin, from, node->start)) ||
            !add_time(at, CLASS_IDLE_HOST, &own, later(from, node->start), end))
            return false;
        from = end;
    }
    return from >= to || add_time(at, CLASS_IDLE_WAIT, origin, from, to);
}

/* A5 to A7: adds device idle time while no records are lost. */
static bool add_waiting(struct instants *at, const struct busy_stretch *stretch, int64_t from,
                        int64_t to)
{
    const struct columns *columns = &at->file->columns;
    uint32_t next = stretch->row, launch = next == ROW_NONE ? ROW_NONE : columns->link[next];
    if (launch == ROW_NONE || columns->ts[launch] >= at->window->end)
        return add_thread(at, at->window->track, TRACK_NONE, from, to);
    int64_t start = columns->ts[launch];
    int64_t end = start + later(columns->dur[launch], 0); /* NUMBER_NONE is negative */
    struct name_origin origin = part_origin_of_launch(&at->names, launch), call = origin;
    call.row[LEVEL_OP] = launch;
    if (!add_thread(at, row_place(columns, launch)->track, at->window->track, from,
                    earlier(to, start)) ||
        !add_time(at, CLASS_IDLE_LAUNCH, &call, later(from, start), earlier(to, end)))
        return false;
    from = later(from, end);
    if (from >= to)
        return true;
    wide_time wait = (wide_time)columns->ts[next] - later(stretch->start, end);
    return wait > LONGEST_WAIT ? add_time(at, CLASS_IDLE_UNRECORDED, &nowhere, from, to)
                               : add_queued(at, &origin, from, to);
}

/* A4 to A7: adds device idle time. While records are lost, its reason is unknown. */
static bool add_idle(struct instants *at, const struct busy_stretch *stretch, int64_t from,
                     int64_t to)
{
    const struct intervals *lost = &at->known->lost;
    size_t *at_lost = &at->known->next_lost;
    while (from < to) {
        while (*at_lost > 0 && lost->items[*at_lost - 1].end > from)
            (*at_lost)--;
        while (*at_lost < lost->count && lost->items[*at_lost].end <= from)
            (*at_lost)++;
        const struct interval *next = *at_lost < lost->count ? &lost->items[*at_lost] : NULL;
        bool inside = next && next->start <= from;
        wide_time change = !next ? to : inside ? next->end : next->start;
        int64_t until = change < to ? (int64_t)change : to;
        if (!(inside ? add_time(at, CLASS_IDLE_UNRECORDED, &nowhere, from, until)
                     : add_waiting(at, stretch, from, until)))
            return false;
        from = until;
    }
    return true;
}

/* Adds device idle time, split by whether it is drained (L8). */
static bool add_drained(struct instants *at, const struct busy_stretch *stretch, int64_t from,
                        int64_t to)
{
    const struct interval *items = at->drains ? at->drains->items : NULL;
    size_t count = at->drains ? at->drains->count : 0, i = 0;
    bool done = true;
    LOWER_BOUND(i, count, items[i].end <= from);
    while (done && from < to) {
        at->in_drain = i < count && items[i].start <= from;
        wide_time change = i == count ? to : at->in_drain ? items[i].end : items[i].start;
        int64_t until = change < to ? (int64_t)change : to;
        i += at->in_drain;
        done = add_idle(at, stretch, from, until);
        from = until;
    }
    at->in_drain = false;
    return done;
}

/* A3: adds a stretch in which the device is busy. */
static bool add_busy(struct instants *at, const struct busy_stretch *stretch, int64_t from,
                     int64_t to)
{
    struct name_origin origin = part_origin_of_work(&at->names, stretch->row);
    return add_time(at, step_class_of_work(stretch->type), &origin, from, to);
}

/* L9.2: true if a thread or, while it is idle, the thread of the host's step is not in a call that
** waits for the device. Lowers `*end` to the next possible change. */
static bool goes_on(struct instants *at, uint32_t track, int64_t instant, int64_t *end)
{
    struct name_origin origin;
    uint32_t inside = part_labels(&at->names, track, instant, &origin, end), of = at->window->track;
    if (inside == IN_NOTHING && of != track && of != TRACK_NONE)
        inside = part_labels(&at->names, of, instant, &origin, end);
    return inside == IN_NOTHING || inside == IN_EVENT ||
           !call_waits(&at->file->names.items[at->file->columns.name[inside]]);
}

/* A3, L9: adds a stretch of communication, and its late time. */
static bool add_communication(struct instants *at, const struct busy_stretch *stretch, int64_t from,
                              int64_t to)
{
    const struct columns *columns = &at->file->columns;
    const struct busy *busy = &at->known->busy;
    size_t i = 0;
    LOWER_BOUND(i, busy->work_count, busy->work[i].start < from);
    uint32_t row = i < busy->work_count ? at->known->first_launched[i] : ROW_NONE;
    uint32_t launch = row == ROW_NONE ? ROW_NONE : columns->link[row];
    const struct busy_stretch next = {stretch->start, row, KERNEL_NONE};
    bool done = true;
    for (int64_t until = to; done && from < to; from = until, until = to) {
        bool late = launch != ROW_NONE && columns->ts[launch] > from;
        if (late) {
            until = earlier(to, columns->ts[launch]);
            late = goes_on(at, row_place(columns, launch)->track, from, &until);
        }
        at->late = late ? LATE_COMM : LATE_NEVER;
        done = add_busy(at, stretch, from, until);
        at->late = LATE_HOST;
        done = done && (!late || add_drained(at, &next, from, until));
        at->late = LATE_NEVER;
    }
    return done;
}

/* A12.5: counts the device work that starts in a stretch. */
static bool add_kernels(struct instants *at, int64_t from, int64_t to)
{
    const struct busy *busy = &at->known->busy;
    size_t i = 0;
    LOWER_BOUND(i, busy->work_count, busy->work[i].start < from);
    for (; i < busy->work_count && busy->work[i].start < to; i++) {
        const struct busy_work *work = &busy->work[i];
        struct attributed part = {
            .step_class = step_class_of_work(work->type), .kernels = 1, .name = NO_NAMES};
        struct name_origin origin = part_origin_of_work(&at->names, work->row);
        if (!add_named(at, part, &origin))
            return false;
    }
    return true;
}

/* Returns the index of the device's stretch at an instant. Windows mostly come in order, so the
** search begins at the last result. */
static size_t find_stretch(struct instants *at, int64_t instant)
{
    const struct busy *busy = &at->known->busy;
    size_t i = busy->items[at->known->stretch].start <= instant ? at->known->stretch + 1 : 1;
    LOWER_BOUND(i, busy->count, busy->items[i].start <= instant);
    return i - 1;
}

static bool add_stretch(struct instants *at, int64_t from, int64_t to)
{
    const struct busy *busy = &at->known->busy;
    if (!at->known->has_work)
        return add_thread(at, at->window->track, TRACK_NONE, from, to); /* A8 */
    for (size_t i = find_stretch(at, from); from < to; i++) {
        const struct busy_stretch *stretch = &busy->items[i];
        int64_t end = i + 1 < busy->count ? earlier(to, stretch[1].start) : to;
        if (!(stretch->type == KERNEL_NONE            ? add_drained(at, stretch, from, end)
              : stretch->type == KERNEL_COMMUNICATION ? add_communication(at, stretch, from, end)
                                                      : add_busy(at, stretch, from, end)))
            return false;
        at->known->stretch = i;
        from = end;
    }
    return true;
}

/* Derives the data of a member on first use. It needs labels of the threads with steps and of the
** window's thread. */
static bool know(struct instants *at, size_t index)
{
    const struct trace_member *member = &at->trace->members[index];
    const struct graph_member of = graph_member_of(at->trace, index, &at->knowledge);
    if (at->known->made)
        return true;
    for (size_t i = 0; i < at->trace->count; i++)
        if (at->files[i].made && at->trace->members[i].rank_index != member->rank_index)
            known_file_clear(&at->files[i]);
    bool *wanted = memory_zeroed(at->file->tracks.count, sizeof *wanted);
    if (!wanted)
        return failure_memory(at->failure);
    if (at->window->track != TRACK_NONE)
        wanted[at->window->track] = true;
    for (size_t i = 0; i < member->steps->count; i++)
        wanted[row_place(&at->file->columns, member->steps->items[i].row)->track] = true;
    bool done = known_file_make(at->known, &of, wanted, at->stopper, at->failure);
    memory_free(wanted);
    return done;
}

/* Sets the current member and window. */
static bool enter(struct instants *at, size_t member, const struct window *window)
{
    at->file = at->trace->members[member].file;
    at->window = window;
    at->known = &at->files[member];
    at->drains = at->drained ? &at->drained[member] : NULL;
    at->names.file = at->file;
    at->names.known = at->known;
    at->names.failure = at->failure;
    return know(at, member);
}

bool instants_make(struct instants *at, const struct trace *trace,
                   struct graph_knowledge knowledge, const struct stopper *stopper,
                   struct failure *failure)
{
    *at = (struct instants){.trace = trace, .knowledge = knowledge, .stopper = stopper};
    at->files = memory_zeroed(trace->count, sizeof *at->files);
    return at->files || failure_memory(failure);
}

void instants_begin(struct instants *at, struct attributed_step *to, struct names *names,
                    uint32_t rank, struct failure *failure)
{
    at->to = to;
    at->names.names = names;
    at->rank = rank;
    at->failure = failure;
    table_clear(&at->parts);
}

bool instants_add(struct instants *at, size_t member, const struct window *window, int64_t from,
                  int64_t to)
{
    return enter(at, member, window) && add_stretch(at, from, to) &&
           (!at->known->has_work || add_kernels(at, from, to));
}

bool instants_add_row(struct instants *at, size_t member, const struct window *window, uint32_t row,
                      int64_t from, int64_t to)
{
    if (!enter(at, member, window))
        return false;
    struct name_origin origin = part_origin_of_collective(&at->names, row);
    return add_time(at, CLASS_COMM, &origin, from, to) &&
           (!at->known->has_work || add_kernels(at, from, to));
}

bool instants_add_none(struct instants *at)
{
    return add_part(at, &(struct attributed){.step_class = CLASS_NONE, .name = NO_NAMES});
}

void instants_clear(struct instants *at)
{
    for (size_t i = 0; at->files && i < at->trace->count; i++)
        known_file_clear(&at->files[i]);
    memory_free(at->files);
    table_clear(&at->parts);
}
