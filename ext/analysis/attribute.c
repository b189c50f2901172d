#include "attribute.h"

#include <string.h>

#include "../reader/memory.h"
#include "../trace/short_name.h"
#include "busy.h"
#include "graphs.h"
#include "parts.h"
#include "replays.h"
#include "windows.h"

#define NOT_KNOWN (NAME_NONE - 1)
#define LONGEST_WAIT 1000000 /* ns (A6) */

/* A step of the attribution. */
struct step_place {
    struct window window;
    size_t member; /* index into the trace's members */
    int64_t rank;
};

/* The data from which the steps of one file are computed. */
struct known_file {
    bool made;
    struct labels labels;
    struct busy busy;
    bool has_work;
    size_t stretch; /* the stretch of busy found last */
    struct graph_names graphs;
    uint32_t *graph_ids;   /* by id in graphs.texts: id in the attribution, or NOT_KNOWN */
    struct intervals lost; /* A4: when unrecorded replays may have run */
    size_t next_lost;      /* the interval of `lost` found last */
    uint32_t *ids;         /* by name id of the file: id in the attribution, or NOT_KNOWN */
    char *scratch;         /* room for the longest name */
};

/* The rows whose names explain an instant, or ROW_NONE: as the names of struct attributed. */
struct origin {
    uint32_t row[LEVEL_COUNT];
    uint32_t work; /* whose name in a graph (A14, A15) goes before labels; ROW_NONE */
};

struct attribution {
    const struct trace *trace;
    enum label_level level; /* LEVEL_COUNT: paths */
    unsigned label_levels;  /* a bit for each label that is needed */
    struct graph_knowledge knowledge;
    const struct stopper *stopper;
    struct names names;
    struct step_place *places; /* by rank, then iteration */
    size_t count, capacity;
    struct known_file *files; /* by member; only those of one rank are filled in */
    size_t steps;             /* over all loops, for the stopper */

    /* The current step. */
    struct failure *failure;
    const struct trace_file *file;
    const struct window *window;
    struct known_file *known;
    struct attributed_step *to;
    struct table parts; /* of the current step, by class and names */
};

const char *step_class_name(enum step_class step_class)
{
    static const char *const names[] = {
        "compute",     "comm",      "memory", "idle_call", "idle_host",  "idle_unrecorded",
        "idle_launch", "idle_wait", "call",   "host",      "unrecorded", NULL};
    return names[step_class];
}

/* The id in the attribution of the stable name of a row (A9); NAME_NONE for ROW_NONE and for
** a row without a name. False if out of memory. */
static bool name_of(struct attribution *at, uint32_t row, uint32_t *name)
{
    uint32_t own = row == ROW_NONE ? NAME_NONE : at->file->columns.name[row];
    *name = NAME_NONE;
    if (own == NAME_NONE)
        return true;
    uint32_t *id = &at->known->ids[own];
    if (*id == NOT_KNOWN) {
        const struct name *from = &at->file->names.items[own];
        size_t length = name_stable(from->text, from->length, at->known->scratch);
        uint32_t made = names_intern(&at->names, at->known->scratch, length);
        if (made == NAME_NONE)
            return failure_memory(at->failure);
        *id = made;
    }
    *name = *id;
    return true;
}

static const struct origin nowhere = {{ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE}, ROW_NONE};

/* The id of the name that work has in a graph, as element `i` of the names of a part. False if it has
** none, or if out of memory. */
static bool name_in_graph(struct attribution *at, const struct origin *origin, int i,
                          uint32_t *name)
{
    int level = at->level == LEVEL_COUNT ? i : i == 0 ? (int)at->level : LEVEL_KERNEL;
    if (origin->work == ROW_NONE || level >= LABEL_LEVELS)
        return false;
    uint32_t id = graph_name(&at->known->graphs, level, origin->work);
    if (id == GRAPH_LABEL)
        return false;
    *name = NAME_NONE;
    if (id == NAME_NONE)
        return true;
    uint32_t *own = &at->known->graph_ids[id];
    if (*own == NOT_KNOWN) {
        *own = names_adopt(&at->names, &at->known->graphs.texts.items[id]);
        if (*own == NAME_NONE)
            failure_memory(at->failure);
    }
    *name = *own;
    return *name != NAME_NONE;
}

/* Adds a part to a class and to the names of some rows. */
static bool add_named(struct attribution *at, struct attributed part, const struct origin *origin)
{
    if (!stopper_goes_on(at->stopper, at->steps++, at->failure))
        return false;
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (!name_in_graph(at, origin, i, &part.name[i]) &&
            (at->failure->code != FAILURE_NONE || !name_of(at, origin->row[i], &part.name[i])))
            return false;
    return parts_add(&at->parts, at->to, &part) || failure_memory(at->failure);
}

/* Adds the time from one instant to another, if there is any. */
static bool add_time(struct attribution *at, enum step_class step_class,
                     const struct origin *origin, int64_t from, int64_t to)
{
    struct attributed part = {.step_class = step_class, .time = (wide_time)to - from};
    return from >= to || add_named(at, part, origin);
}

/* The element of an origin for a level: paths have one for each level, other parts only the first. */
static uint32_t *row_at(const struct attribution *at, struct origin *origin, enum label_level level)
{
    return &origin->row[at->level == LEVEL_COUNT ? level : 0];
}

/* The labels of a thread at an instant. Returns what the thread is in; `*end` becomes the time at
** which that or a label changes, if that is earlier. */
static uint32_t find_labels(struct attribution *at, uint32_t track, int64_t instant,
                            struct origin *origin, int64_t *end)
{
    struct thread_labels *thread = &at->known->labels.threads[track];
    size_t i = labels_find(thread, instant);
    const struct label_stretch *stretch = &thread->items[i];
    *origin = nowhere;
    for (int level = 0; level < LABEL_LEVELS; level++)
        if (at->label_levels >> level & 1)
            *row_at(at, origin, (enum label_level)level) = stretch->label[level];
    if (i + 1 < thread->count && stretch[1].start < *end)
        *end = stretch[1].start;
    return stretch->inside;
}

/* A5: adds what a thread was in. Where it was in nothing, adds what `other` was in. Either
** may be TRACK_NONE. */
static bool add_thread(struct attribution *at, uint32_t track, uint32_t other, int64_t from,
                       int64_t to)
{
    static const enum step_class idle[] = {CLASS_IDLE_CALL, CLASS_IDLE_HOST, CLASS_IDLE_UNRECORDED};
    static const enum step_class host[] = {CLASS_CALL, CLASS_HOST, CLASS_UNRECORDED}; /* A8 */
    const enum step_class *classes = at->known->has_work ? idle : host;
    if (from >= to)
        return true;
    if (track == TRACK_NONE)
        return other == TRACK_NONE ? add_time(at, classes[2], &nowhere, from, to)
                                   : add_thread(at, other, TRACK_NONE, from, to);
    for (int64_t end = to; from < to; from = end, end = to) {
        struct origin origin;
        uint32_t inside = find_labels(at, track, from, &origin, &end);
        bool done;
        if (inside == IN_NOTHING) {
            done = add_thread(at, other == track ? TRACK_NONE : other, TRACK_NONE, from, end);
        } else if (inside == IN_EVENT) {
            done = add_time(at, classes[1], &origin, from, end);
        } else {
            *row_at(at, &origin, LEVEL_OP) = inside;
            done = add_time(at, classes[0], &origin, from, end);
        }
        if (!done)
            return false;
    }
    return true;
}

/* The labels of a launch. */
static struct origin origin_of_launch(struct attribution *at, uint32_t launch)
{
    const struct columns *columns = &at->file->columns;
    struct origin origin;
    int64_t end = INT64_MAX;
    find_labels(at, row_place(columns, launch)->track, columns->ts[launch], &origin, &end);
    return origin;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A5 to A7: adds a stretch, or part of one, in which the device is idle. */
static bool add_waiting(struct attribution *at, const struct busy_stretch *stretch, int64_t from,
                        int64_t to)
{
    const struct columns *columns = &at->file->columns;
    uint32_t next = stretch->row, launch = next == ROW_NONE ? ROW_NONE : columns->link[next];
    if (launch == ROW_NONE || columns->ts[launch] >= at->window->end)
        return add_thread(at, at->window->track, TRACK_NONE, from, to);
    int64_t start = columns->ts[launch];
    int64_t end = start + later(columns->dur[launch], 0); /* NUMBER_NONE is below 0 */
    struct origin origin = origin_of_launch(at, launch), call = origin;
    *row_at(at, &call, LEVEL_OP) = launch;
    if (!add_thread(at, row_place(columns, launch)->track, at->window->track, from,
                    earlier(to, start)) ||
        !add_time(at, CLASS_IDLE_LAUNCH, &call, later(from, start), earlier(to, end)))
        return false;
    from = later(from, end);
    if (from >= to)
        return true;
    wide_time wait = (wide_time)columns->ts[next] - later(stretch->start, end);
    return wait > LONGEST_WAIT ? add_time(at, CLASS_IDLE_UNRECORDED, &nowhere, from, to)
                               : add_time(at, CLASS_IDLE_WAIT, &origin, from, to);
}

/* A4 to A7: adds a stretch in which the device is idle. */
static bool add_idle(struct attribution *at, const struct busy_stretch *stretch, int64_t from,
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

static const enum step_class class_of_type[] = {[KERNEL_COMPUTATION] = CLASS_COMPUTE,
                                                [KERNEL_COMMUNICATION] = CLASS_COMM,
                                                [KERNEL_MEMORY] = CLASS_MEMORY};

/* A3.2 and A3.3: the rows whose names device work has. */
static struct origin origin_of_work(struct attribution *at, uint32_t row, enum kernel_type type)
{
    uint32_t launch = at->file->columns.link[row];
    struct origin origin = launch == ROW_NONE ? nowhere : origin_of_launch(at, launch);
    bool own = type == KERNEL_COMMUNICATION || at->level >= LEVEL_KERNEL || launch == ROW_NONE;
    if (own)
        *row_at(at, &origin, LEVEL_KERNEL) = row;
    if (launch != ROW_NONE && (!own || at->level == LEVEL_COUNT))
        origin.work = row;
    return origin;
}

/* A3: adds a stretch in which the device is busy. */
static bool add_busy(struct attribution *at, const struct busy_stretch *stretch, int64_t from,
                     int64_t to)
{
    struct origin origin = origin_of_work(at, stretch->row, stretch->type);
    return add_time(at, class_of_type[stretch->type], &origin, from, to);
}

/* A12.5: counts the device work that starts in the window. */
static bool add_kernels(struct attribution *at)
{
    const struct busy *busy = &at->known->busy;
    size_t i = 0;
    LOWER_BOUND(i, busy->work_count, busy->work[i].start < at->window->start);
    for (; i < busy->work_count && busy->work[i].start < at->window->end; i++) {
        const struct busy_work *work = &busy->work[i];
        struct attributed part = {.step_class = class_of_type[work->type], .kernels = 1};
        struct origin origin = origin_of_work(at, work->row, work->type);
        if (!add_named(at, part, &origin))
            return false;
    }
    return true;
}

/* The index of the device's stretch that holds an instant. Windows mostly come in order, so the
** search begins at the stretch found last. */
static size_t find_stretch(struct attribution *at, int64_t instant)
{
    const struct busy *busy = &at->known->busy;
    size_t i = busy->items[at->known->stretch].start <= instant ? at->known->stretch + 1 : 1;
    LOWER_BOUND(i, busy->count, busy->items[i].start <= instant);
    return i - 1;
}

static bool add_window(struct attribution *at)
{
    const struct window *window = at->window;
    int64_t from = window->start;
    if (!at->known->has_work)
        return add_thread(at, window->track, TRACK_NONE, from, window->end); /* A8 */
    size_t i = find_stretch(at, from);
    for (; from < window->end; i++) {
        const struct busy_stretch *stretch = &at->known->busy.items[i];
        int64_t to = window->end;
        if (i + 1 < at->known->busy.count)
            to = earlier(to, stretch[1].start);
        if (!(stretch->type == KERNEL_NONE ? add_idle(at, stretch, from, to)
                                           : add_busy(at, stretch, from, to)))
            return false;
        at->known->stretch = i;
        from = to;
    }
    return at->level != LEVEL_COUNT || add_kernels(at);
}

/* By track, the threads whose labels are needed: those of launches, and those of the steps of a
** member. NULL on failure. */
static bool *wanted_threads(const struct attribution *at, size_t member)
{
    const struct columns *columns = &at->file->columns;
    bool *wanted = memory_zeroed(at->file->tracks.count, sizeof *wanted);
    int64_t rank = at->trace->members[member].rank;
    for (size_t row = 0; wanted && row < columns->count; row++) {
        if (busy_takes(columns, row) && columns->link[row] != ROW_NONE)
            wanted[row_place(columns, columns->link[row])->track] = true;
        if (!stopper_goes_on(at->stopper, row, at->failure)) {
            memory_free(wanted);
            return NULL;
        }
    }
    size_t first = 0; /* the first step of the rank */
    LOWER_BOUND(first, at->count, at->places[first].rank < rank);
    for (size_t i = first; wanted && i < at->count && at->places[i].rank == rank; i++)
        if (at->places[i].member == member && at->places[i].window.track != TRACK_NONE)
            wanted[at->places[i].window.track] = true;
    return wanted;
}

/* Makes the names of work in graphs. */
static bool make_graphs(struct attribution *at, size_t member)
{
    struct known_file *known = at->known;
    const int64_t *nodes = at->knowledge.nodes ? at->knowledge.nodes[member] : NULL;
    unsigned levels = at->level == LEVEL_KERNEL ? 0 : at->label_levels;
    if (!graph_names_make(&known->graphs, &at->trace->members[member], &known->labels, levels,
                          levels ? at->knowledge.captures : NULL, nodes, at->stopper, at->failure))
        return false;
    known->graph_ids = memory_allocate((known->graphs.texts.count + 1) * sizeof *known->graph_ids);
    for (size_t i = 0; known->graph_ids && i < known->graphs.texts.count; i++)
        known->graph_ids[i] = NOT_KNOWN;
    return known->graph_ids || failure_memory(at->failure);
}

static bool make_ids(struct attribution *at)
{
    const struct names *names = &at->file->names;
    struct known_file *known = at->known;
    known->ids = memory_allocate((names->count + 1) * sizeof *known->ids);
    known->scratch = memory_allocate(names_longest(names) + 1);
    if (!known->ids || !known->scratch)
        return failure_memory(at->failure);
    for (size_t i = 0; i < names->count; i++)
        known->ids[i] = NOT_KNOWN;
    return true;
}

static void forget(struct known_file *known)
{
    graph_names_clear(&known->graphs);
    memory_free(known->graph_ids);
    memory_free(known->ids);
    memory_free(known->scratch);
    intervals_clear(&known->lost);
    labels_clear(&known->labels);
    busy_clear(&known->busy);
    *known = (struct known_file){.made = false};
}

/* Computes the data of a member, unless that has been done already. */
static bool know(struct attribution *at, size_t member)
{
    struct known_file *known = at->known;
    if (known->made)
        return true;
    for (size_t i = 0; i < at->trace->count; i++)
        if (at->files[i].made &&
            at->trace->members[i].rank_index != at->trace->members[member].rank_index)
            forget(&at->files[i]);
    bool *wanted = wanted_threads(at, member);
    bool done = wanted ? busy_make(&known->busy, at->file, at->stopper, at->failure)
                       : failure_memory(at->failure);
    known->has_work = done && known->busy.count > 1;
    known->made =
        done && make_ids(at) &&
        (!known->has_work || replays_find(&known->lost, at->file, at->stopper, at->failure)) &&
        labels_make(&known->labels, at->file, at->trace->members[member].steps, at->label_levels,
                    wanted, at->stopper, at->failure) &&
        (!known->has_work || make_graphs(at, member));
    memory_free(wanted);
    if (!known->made)
        forget(known);
    return known->made;
}

/* Adds the parts of a step to those in at->to. */
static bool add_step(struct attribution *at, size_t number)
{
    static const struct attributed none = {
        .step_class = CLASS_NONE, .name = {NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE}};
    const struct step_place *place = &at->places[number];
    at->file = at->trace->members[place->member].file;
    at->window = &place->window;
    at->known = &at->files[place->member];
    return know(at, place->member) &&
           (place->window.start < place->window.end
                ? add_window(at)
                : parts_add(&at->parts, at->to, &none) || failure_memory(at->failure));
}

/* Computes the sums of the parts of some steps. */
static bool add_steps(struct attribution *at, size_t first, size_t count,
                      struct attributed_step *to, struct failure *failure)
{
    at->failure = failure;
    at->to = to;
    to->steps = count;
    to->count = 0;
    table_clear(&at->parts);
    bool done = true;
    for (size_t i = first; i < first + count && done; i++)
        done = add_step(at, i);
    for (size_t i = 0; i < to->count && done; i++)
        if (to->rows[i].time > INT64_MAX)
            done =
                failure_set(failure, FAILURE_REQUEST,
                            count == 1 ? "'%s': a part of a step is beyond 64 bits of nanoseconds"
                                       : "'%s': a part of all steps is beyond 64 bits",
                            at->file->path);
    done = done && parts_sort(at->to, &at->names, at->stopper, failure);
    if (!done)
        to->count = 0;
    return done;
}

bool attribution_step(struct attribution *at, size_t number, struct attributed_step *step,
                      struct failure *failure)
{
    const struct step_place *place = &at->places[number];
    const struct trace_member *member = &at->trace->members[place->member];
    const struct steps *steps = member->steps;
    uint32_t form = place->window.step == STEP_NONE
                        ? NAME_NONE
                        : steps->items[steps->first[place->window.step]].form;
    step->rank = place->rank;
    step->iteration = place->window.iteration;
    step->form = form == NAME_NONE ? NULL : &member->file->names.items[form];
    return add_steps(at, number, 1, step, failure);
}

bool attribution_total(struct attribution *at, struct attributed_step *total,
                       struct failure *failure)
{
    total->rank = total->iteration = NUMBER_NONE;
    total->form = NULL;
    return add_steps(at, 0, at->count, total, failure);
}

static bool has_work(const struct columns *columns)
{
    size_t row = 0;
    while (row < columns->count && !busy_takes(columns, row))
        row++;
    return row < columns->count;
}

/* Adds the chosen steps of a member. */
static bool add_member(struct attribution *at, size_t member, const struct step_choice *choice,
                       enum step_clock clock)
{
    const struct trace_member *of = &at->trace->members[member];
    struct windows windows;
    bool device_clock = clock == CLOCK_DEVICE && has_work(&of->file->columns);
    if (!windows_make(&windows, of, device_clock, at->stopper, at->failure))
        return false;
    bool done = true;
    for (size_t i = 0; i < windows.count && done; i++) {
        uint32_t step = windows.items[i].step;
        if (step == STEP_NONE ? !choice->everything : !choice->chosen[member][step])
            continue;
        done = MEMORY_GROW(at->places, at->capacity, at->count + 1) || failure_memory(at->failure);
        if (done)
            at->places[at->count++] =
                (struct step_place){windows.items[i], member, at->trace->members[member].rank};
    }
    windows_clear(&windows);
    return done;
}

static int place_order(const void *a, const void *b)
{
    const struct step_place *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    return order ? order : COMPARE(x->window.iteration, y->window.iteration);
}

struct attribution *attribution_new(const struct trace *trace, const struct step_choice *choice,
                                    enum label_level level, enum step_clock clock,
                                    struct graph_knowledge knowledge, const struct stopper *stopper,
                                    struct failure *failure)
{
    struct attribution *at = memory_zeroed(1, sizeof *at);
    if (!at) {
        failure_memory(failure);
        return NULL;
    }
    at->trace = trace;
    at->level = level;
    at->label_levels = level == LEVEL_COUNT    ? (1u << LABEL_LEVELS) - 1
                       : level == LEVEL_KERNEL ? 1u << LEVEL_OP
                                               : 1u << level;
    at->knowledge = knowledge;
    at->stopper = stopper;
    at->failure = failure;
    at->files = memory_zeroed(trace->count, sizeof *at->files);
    bool done = at->files || failure_memory(failure);
    for (size_t i = 0; i < trace->count && done; i++)
        done = !trace->members[i].chosen || add_member(at, i, choice, clock);
    if (done &&
        sort_items(at->places, at->count, sizeof *at->places, place_order, stopper, failure))
        return at;
    attribution_free(at);
    return NULL;
}

size_t attribution_count(const struct attribution *at)
{
    return at->count;
}

const struct names *attribution_names(const struct attribution *at)
{
    return &at->names;
}

void attribution_free(struct attribution *at)
{
    if (!at)
        return;
    for (size_t i = 0; at->files && i < at->trace->count; i++)
        forget(&at->files[i]);
    memory_free(at->files);
    memory_free(at->places);
    table_clear(&at->parts);
    names_clear(&at->names);
    memory_free(at);
}
