#include "attribute.h"

#include <string.h>

#include "../reader/memory.h"
#include "busy.h"
#include "replays.h"
#include "short_name.h"
#include "windows.h"

#define NOT_KNOWN (NAME_NONE - 1)
#define LONGEST_WAIT 1000000 /* ns (rule 6) */

struct attributing {
    struct attribution *attribution;
    const struct stopper *stopper;
    struct failure *failure;
    const struct trace_file *file;
    enum label_level level;
    size_t steps; /* of all loops, for the stopper */
    struct labels labels;
    struct busy busy;
    bool has_work;
    size_t stretch;        /* of busy, found last */
    struct intervals lost; /* rule 4: in which replays ran that were not recorded */
    size_t next_lost;      /* of these, found last */
    uint32_t *ids;         /* by name of the file: that of the attribution, or NOT_KNOWN */
    char *scratch;         /* room for the longest name */
    /* Of the window at hand, the rows of each name, by its id + 1: the number of the last
    ** one + 1, and so on by `before`; 0: no more. */
    uint32_t *last;
    size_t last_capacity;
    uint32_t *before; /* by row of the attribution */
    size_t before_capacity;
    size_t first_row; /* of the window at hand */
    int64_t rank;
    const struct window *window;
};

const char *step_class_name(enum step_class step_class)
{
    static const char *const names[] = {
        "compute",     "comm",      "memory", "idle_call", "idle_host",  "idle_unrecorded",
        "idle_launch", "idle_wait", "call",   "host",      "unrecorded", NULL};
    return names[step_class];
}

/* The stable name of a row in the attribution (rule 9); NAME_NONE for ROW_NONE, and for a
** row without a name. False when there is no memory. */
static bool name_of(struct attributing *at, uint32_t row, uint32_t *name)
{
    uint32_t own = row == ROW_NONE ? NAME_NONE : at->file->columns.name[row];
    *name = NAME_NONE;
    if (own == NAME_NONE)
        return true;
    uint32_t *id = &at->ids[own];
    if (*id == NOT_KNOWN) {
        const struct name *from = &at->file->names.items[own];
        size_t length = name_stable(from->text, from->length, at->scratch);
        uint32_t made = names_intern(&at->attribution->names, at->scratch, length);
        if (made == NAME_NONE)
            return failure_memory(at->failure);
        *id = made;
    }
    *name = *id;
    return true;
}

static bool add_row(struct attributing *at, enum step_class step_class, uint32_t name,
                    wide_time time)
{
    struct attribution *to = at->attribution;
    if (!MEMORY_GROW(to->rows, to->capacity, to->count + 1) ||
        !MEMORY_GROW(at->before, at->before_capacity, to->count + 1))
        return failure_memory(at->failure);
    at->before[to->count] = 0;
    to->rows[to->count++] =
        (struct attributed){at->rank, at->window->iteration, step_class, name, time};
    return true;
}

/* Room for a name among `last`. */
static bool reserve_last(struct attributing *at, size_t name)
{
    size_t known = at->last_capacity;
    if (name < known)
        return true;
    if (!MEMORY_GROW(at->last, at->last_capacity, name + 1))
        return failure_memory(at->failure);
    memset(at->last + known, 0, (at->last_capacity - known) * sizeof *at->last);
    return true;
}

/* Adds the time from one instant to another, if there is any, to a class and the name of
** a row. */
static bool add(struct attributing *at, enum step_class step_class, uint32_t row, int64_t from,
                int64_t to)
{
    uint32_t name;
    if (from >= to)
        return true;
    if (!stopper_goes_on(at->stopper, at->steps++, at->failure) || !name_of(at, row, &name))
        return false;
    size_t slot = name == NAME_NONE ? 0 : (size_t)name + 1;
    wide_time time = (wide_time)to - from;
    if (!reserve_last(at, slot))
        return false;
    for (uint32_t i = at->last[slot]; i > 0; i = at->before[i - 1]) {
        struct attributed *known = &at->attribution->rows[i - 1];
        if (known->step_class == step_class) {
            known->time += time;
            return true;
        }
    }
    if (!add_row(at, step_class, name, time))
        return false;
    at->before[at->attribution->count - 1] = at->last[slot];
    at->last[slot] = (uint32_t)at->attribution->count;
    return true;
}

/* Rule 5: what a thread was in; where it was in nothing, `other` is asked. Both may be
** TRACK_NONE. */
static bool add_thread(struct attributing *at, uint32_t track, uint32_t other, int64_t from,
                       int64_t to)
{
    static const enum step_class idle[] = {CLASS_IDLE_CALL, CLASS_IDLE_HOST, CLASS_IDLE_UNRECORDED};
    static const enum step_class host[] = {CLASS_CALL, CLASS_HOST, CLASS_UNRECORDED}; /* rule 8 */
    const enum step_class *classes = at->has_work ? idle : host;
    if (from >= to)
        return true;
    if (track == TRACK_NONE)
        return other == TRACK_NONE ? add(at, classes[2], ROW_NONE, from, to)
                                   : add_thread(at, other, TRACK_NONE, from, to);
    struct thread_labels *thread = &at->labels.threads[track];
    for (size_t i = labels_find(thread, from); from < to; i++) {
        const struct label_stretch *stretch = &thread->items[i];
        int64_t end = i + 1 < thread->count && stretch[1].start < to ? stretch[1].start : to;
        bool done;
        if (stretch->inside == IN_NOTHING)
            done = add_thread(at, other == track ? TRACK_NONE : other, TRACK_NONE, from, end);
        else if (stretch->inside == IN_EVENT)
            done = add(at, classes[1], stretch->label, from, end);
        else
            done = add(at, classes[0], stretch->inside, from, end);
        if (!done)
            return false;
        thread->hint = i;
        from = end;
    }
    return true;
}

/* The row that is the label of a launch; ROW_NONE if it has none. */
static uint32_t label_of_launch(struct attributing *at, uint32_t launch)
{
    const struct columns *columns = &at->file->columns;
    struct thread_labels *thread = &at->labels.threads[columns->track[launch]];
    return thread->items[labels_find(thread, columns->ts[launch])].label;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rules 5 to 7: the device is idle, in a stretch of its own. */
static bool add_waiting(struct attributing *at, const struct busy_stretch *stretch, int64_t from,
                        int64_t to)
{
    const struct columns *columns = &at->file->columns;
    uint32_t next = stretch->row, launch = next == ROW_NONE ? ROW_NONE : columns->link[next];
    if (launch == ROW_NONE || columns->ts[launch] >= at->window->end)
        return add_thread(at, at->window->track, TRACK_NONE, from, to);
    int64_t start = columns->ts[launch], end = start;
    if (columns->dur[launch] > 0 && __builtin_add_overflow(start, columns->dur[launch], &end))
        end = INT64_MAX;
    if (!add_thread(at, columns->track[launch], at->window->track, from, earlier(to, start)) ||
        !add(at, CLASS_IDLE_LAUNCH, launch, later(from, start), earlier(to, end)))
        return false;
    from = later(from, end);
    if (from >= to)
        return true;
    wide_time wait = (wide_time)columns->ts[next] - later(stretch->start, end);
    return wait > LONGEST_WAIT ? add(at, CLASS_IDLE_UNRECORDED, ROW_NONE, from, to)
                               : add(at, CLASS_IDLE_WAIT, label_of_launch(at, launch), from, to);
}

/* Rules 4 to 7: the device is idle. */
static bool add_idle(struct attributing *at, const struct busy_stretch *stretch, int64_t from,
                     int64_t to)
{
    const struct intervals *lost = &at->lost;
    while (from < to) {
        while (at->next_lost > 0 && lost->items[at->next_lost - 1].end > from)
            at->next_lost--;
        while (at->next_lost < lost->count && lost->items[at->next_lost].end <= from)
            at->next_lost++;
        const struct interval *next =
            at->next_lost < lost->count ? &lost->items[at->next_lost] : NULL;
        bool inside = next && next->start <= from;
        wide_time change = !next ? to : inside ? next->end : next->start;
        int64_t until = change < to ? (int64_t)change : to;
        if (!(inside ? add(at, CLASS_IDLE_UNRECORDED, ROW_NONE, from, until)
                     : add_waiting(at, stretch, from, until)))
            return false;
        from = until;
    }
    return true;
}

/* Rule 3. */
static bool add_busy(struct attributing *at, const struct busy_stretch *stretch, int64_t from,
                     int64_t to)
{
    static const enum step_class classes[] = {CLASS_COMPUTE, CLASS_COMM, CLASS_MEMORY};
    uint32_t launch = at->file->columns.link[stretch->row];
    bool own_name = stretch->kind == BUSY_COMM || at->level == LEVEL_KERNEL || launch == ROW_NONE;
    return add(at, classes[stretch->kind], own_name ? stretch->row : label_of_launch(at, launch),
               from, to);
}

/* The stretch of the device that holds an instant; windows mostly come in order. */
static size_t find_stretch(struct attributing *at, int64_t instant)
{
    const struct busy *busy = &at->busy;
    size_t low = busy->items[at->stretch].start <= instant ? at->stretch : 0, high = busy->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (busy->items[middle].start <= instant)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool add_window(struct attributing *at)
{
    const struct window *window = at->window;
    int64_t from = window->start;
    if (!at->has_work)
        return add_thread(at, window->track, TRACK_NONE, from, window->end); /* rule 8 */
    size_t i = find_stretch(at, from);
    for (; from < window->end; i++) {
        const struct busy_stretch *stretch = &at->busy.items[i];
        int64_t to = window->end;
        if (i + 1 < at->busy.count)
            to = earlier(to, stretch[1].start);
        if (!(stretch->kind == BUSY_NOT ? add_idle(at, stretch, from, to)
                                        : add_busy(at, stretch, from, to)))
            return false;
        at->stretch = i;
        from = to;
    }
    return true;
}

static bool add_windows(struct attributing *at, const struct windows *windows,
                        const struct step_choice *choice, const unsigned char *chosen)
{
    struct attribution *to = at->attribution;
    for (size_t i = 0; i < windows->count; i++) {
        at->window = &windows->items[i];
        at->first_row = to->count;
        if (at->window->step == STEP_NONE ? !choice->everything : !chosen[at->window->step])
            continue;
        if (!(at->window->start < at->window->end ? add_window(at)
                                                  : add_row(at, CLASS_NONE, NAME_NONE, 0)))
            return false;
        for (size_t row = at->first_row; row < to->count; row++) {
            uint32_t name = to->rows[row].name;
            if (to->rows[row].time > INT64_MAX)
                return failure_set(at->failure, FAILURE_REQUEST,
                                   "'%s': a part of a step is beyond 64 bits of nanoseconds",
                                   at->file->path);
            if (at->last_capacity > 0)
                at->last[name == NAME_NONE ? 0 : (size_t)name + 1] = 0;
        }
    }
    return true;
}

/* The threads that are asked for labels: those of launches and of steps. */
static bool *wanted_threads(const struct trace_file *file, const struct windows *windows)
{
    const struct columns *columns = &file->columns;
    bool *wanted = memory_zeroed(file->tracks.count, sizeof *wanted);
    for (size_t row = 0; wanted && row < columns->count; row++)
        if (busy_takes(columns, row) && columns->link[row] != ROW_NONE)
            wanted[columns->track[columns->link[row]]] = true;
    for (size_t i = 0; wanted && i < windows->count; i++)
        if (windows->items[i].track != TRACK_NONE)
            wanted[windows->items[i].track] = true;
    return wanted;
}

static bool prepare(struct attributing *at)
{
    const struct names *names = &at->file->names;
    size_t longest = 0;
    for (size_t i = 0; i < names->count; i++)
        longest = names->items[i].length > longest ? names->items[i].length : longest;
    at->ids = memory_allocate((names->count + 1) * sizeof *at->ids);
    at->scratch = memory_allocate(longest + 1);
    if (!at->ids || !at->scratch)
        return failure_memory(at->failure);
    for (size_t i = 0; i < names->count; i++)
        at->ids[i] = NOT_KNOWN;
    return true;
}

/* Frees what is of one file. */
static void forget_file(struct attributing *at)
{
    memory_free(at->ids);
    memory_free(at->scratch);
    at->ids = NULL;
    at->scratch = NULL;
    at->stretch = at->next_lost = 0;
    intervals_clear(&at->lost);
    labels_clear(&at->labels);
    busy_clear(&at->busy);
}

static bool add_file(struct attributing *at, const struct trace_member *member,
                     const struct step_choice *choice, const unsigned char *chosen,
                     enum step_clock clock)
{
    struct windows windows = {.count = 0};
    bool *wanted = NULL;
    at->file = member->file;
    at->rank = member->rank;
    bool done = busy_make(&at->busy, at->file, at->stopper, at->failure);
    at->has_work = done && at->busy.count > 1;
    if (done)
        done = windows_make(&windows, at->file, clock == CLOCK_DEVICE && at->has_work, at->stopper,
                            at->failure);
    if (done && !(wanted = wanted_threads(at->file, &windows)))
        done = failure_memory(at->failure);
    done = done && prepare(at) &&
           labels_make(&at->labels, at->file, at->level, wanted, at->stopper, at->failure) &&
           (!at->has_work || replays_find(&at->lost, at->file, at->stopper, at->failure)) &&
           add_windows(at, &windows, choice, chosen);
    memory_free(wanted);
    windows_clear(&windows);
    forget_file(at);
    return done;
}

/* A row with its name, for an order has no other way to it. */
struct sortable {
    struct attributed row;
    const struct name *name; /* or NULL */
};

static int row_order(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (x->row.rank != y->row.rank)
        return x->row.rank < y->row.rank ? -1 : 1;
    if (x->row.iteration != y->row.iteration)
        return x->row.iteration < y->row.iteration ? -1 : 1;
    if (x->row.time != y->row.time)
        return x->row.time > y->row.time ? -1 : 1;
    if (x->row.step_class != y->row.step_class)
        return strcmp(step_class_name(x->row.step_class), step_class_name(y->row.step_class));
    if (!x->name || !y->name)
        return (x->name != NULL) - (y->name != NULL);
    return name_compare(x->name, y->name);
}

static bool sort(struct attribution *attribution, const struct stopper *stopper,
                 struct failure *failure)
{
    struct sortable *order = memory_zeroed(attribution->count, sizeof *order);
    if (!order)
        return failure_memory(failure);
    for (size_t i = 0; i < attribution->count; i++) {
        uint32_t name = attribution->rows[i].name;
        order[i] = (struct sortable){attribution->rows[i],
                                     name == NAME_NONE ? NULL : &attribution->names.items[name]};
    }
    bool done = sort_items(order, attribution->count, sizeof *order, row_order, stopper, failure);
    for (size_t i = 0; i < attribution->count; i++)
        attribution->rows[i] = order[i].row;
    memory_free(order);
    return done;
}

bool attribution_make(struct attribution *attribution, const struct trace *trace,
                      const struct step_choice *choice, enum label_level level,
                      enum step_clock clock, const struct stopper *stopper, struct failure *failure)
{
    struct attributing at = {
        .attribution = attribution, .stopper = stopper, .failure = failure, .level = level};
    bool done = true;
    *attribution = (struct attribution){.count = 0};
    for (size_t i = 0; i < trace->count && done; i++)
        if (trace->members[i].chosen)
            done = add_file(&at, &trace->members[i], choice, choice->chosen[i], clock);
    memory_free(at.last);
    memory_free(at.before);
    return done && sort(attribution, stopper, failure);
}

void attribution_clear(struct attribution *attribution)
{
    names_clear(&attribution->names);
    memory_free(attribution->rows);
    *attribution = (struct attribution){.count = 0};
}
