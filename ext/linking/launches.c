#include "launches.h"

#include <string.h>

#include "base/integers.h"
#include "base/memory.h"
#include "link.h"
#include "text/ascii.h"

/* linked device work */
struct placing_work {
    int64_t start;
    struct identifier pid;
    uint32_t row;
};

static int pid_order(const struct identifier *a, const struct identifier *b)
{
    int order = COMPARE(a->kind, b->kind);
    return order ? order : COMPARE(a->value, b->value);
}

static int placing_order(const void *a, const void *b)
{
    const struct placing_work *x = a, *y = b;
    int order = pid_order(&x->pid, &y->pid);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

static struct placing_work placing_of(const struct trace_file *file, uint32_t row)
{
    return (struct placing_work){file->columns.ts[row],
                                 file->tracks.items[row_place(&file->columns, row)->track].pid,
                                 row};
}

/* Lists device work that names no launch and is not backlog. */
static bool list_unlaunched(struct trace_file *file, const struct stopper *stopper,
                            struct failure *failure)
{
    struct file_health *health = &file->health;
    const struct columns *columns = &file->columns;
    int64_t *first = NULL; /* found on first use; most files do not need it */
    bool done = true;
    for (size_t row = columns_find(columns, 0, KIND_WORK); done && row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        done = stopper_goes_on(stopper, row, failure);
        if (!done || columns->link[row] != ROW_NONE || columns->correlation[row] > 0 ||
            columns->ts[row] == NUMBER_NONE ||
            (!row_is(file, row, CATEGORY_KERNEL) && !row_is(file, row, CATEGORY_COPY)))
            continue;
        if (!first && !(first = links_first(file, stopper, failure)))
            return false;
        if (link_is_backlog(columns, first, row))
            continue;
        if (MEMORY_GROW(health->placed, health->placed_capacity, health->placed_count + 1))
            health->placed[health->placed_count++] =
                (struct placed_work){(uint32_t)row, ROW_NONE};
        else
            done = failure_memory(failure);
    }
    memory_free(first);
    return done;
}

bool unlaunched_place(struct trace_file *file, const struct stopper *stopper,
                      struct failure *failure)
{
    const struct columns *columns = &file->columns;
    struct placing_work *linked = NULL;
    size_t count = 0, capacity = 0;
    bool done = list_unlaunched(file, stopper, failure);
    if (!done || file->health.placed_count == 0)
        return done;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(stopper, row, failure);
        if (columns->kind[row] != KIND_WORK || columns->link[row] == ROW_NONE ||
            columns->ts[row] == NUMBER_NONE)
            continue;
        if (MEMORY_GROW(linked, capacity, count + 1))
            linked[count++] = placing_of(file, (uint32_t)row);
        else
            done = failure_memory(failure);
    }
    done = done && (count == 0 ||
                    sort_items(linked, count, sizeof *linked, placing_order, stopper, failure));
    for (size_t i = 0; done && i < file->health.placed_count; i++) {
        struct placed_work *placed = &file->health.placed[i];
        struct placing_work key = placing_of(file, placed->row);
        size_t at = 0;
        key.row = 0; /* work that starts at the same time is not before it */
        LOWER_BOUND(at, count, placing_order(&linked[at], &key) < 0);
        if (at > 0 && pid_order(&linked[at - 1].pid, &key.pid) == 0)
            placed->by = linked[at - 1].row;
        done = stopper_goes_on(stopper, i, failure);
    }
    memory_free(linked);
    return done;
}

/* kinds of calls, told apart by name */
enum call_name { CALL_UNKNOWN, CALL_OTHER, CALL_KERNEL, CALL_GRAPH, CALL_CAPTURE, CALL_CAPTURED };

static enum call_name call_name(const struct name *name)
{
    const char *launch = strstr(name->text, "Launch");
    if (name_contains(name, "GraphLaunch"))
        return CALL_GRAPH;
    if (name_contains(name, "KernelLaunch") || (launch && strstr(launch, "Kernel")))
        return CALL_KERNEL;
    if (name_contains(name, "StreamBeginCapture"))
        return CALL_CAPTURE;
    return name_contains(name, "StreamEndCapture") ? CALL_CAPTURED : CALL_OTHER;
}

/* a launch, or the begin or end of a graph capture */
struct launch_call {
    int64_t start, end; /* ns */
    uint32_t track, row;
    enum call_name name;
    bool worked;
};

static int launch_call_order(const void *a, const void *b)
{
    const struct launch_call *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->start, y->start);
    order = order ? order : COMPARE(y->end, x->end);
    return order ? order : COMPARE(x->row, y->row);
}

struct launch_finder {
    struct trace_file *file;
    struct launch_call *calls; /* in launch_call_order() */
    size_t count, capacity;
    bool captures;
    int64_t *answers; /* sorted correlations of device events; NULL until needed */
    size_t answer_count;
    const struct stopper *stopper;
    struct failure *failure;
};

/* Returns whether a call can launch work. Calls of cann_runtime cannot. */
static bool may_launch(const struct trace_file *file, size_t row)
{
    enum kind kind = file->columns.kind[row];
    uint32_t cat = row_place(&file->columns, row)->cat;
    if (kind != KIND_DRIVER_CALL || cat == NAME_NONE)
        return kind == KIND_CALL;
    return !text_is(file->names.items[cat].text, file->names.items[cat].length, "cann_runtime");
}

static bool list_calls(struct launch_finder *finder)
{
    const struct trace_file *file = finder->file;
    const struct columns *columns = &file->columns;
    unsigned char *names = memory_zeroed(file->names.count + 1, 1);
    bool done = names || failure_memory(finder->failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        uint32_t name = columns->name[row];
        done = stopper_goes_on(finder->stopper, row, finder->failure);
        if ((columns->kind[row] != KIND_CALL && columns->kind[row] != KIND_DRIVER_CALL) ||
            name == NAME_NONE || columns->ts[row] == NUMBER_NONE)
            continue;
        if (names[name] == CALL_UNKNOWN)
            names[name] = (unsigned char)call_name(&file->names.items[name]);
        if (names[name] == CALL_OTHER || !may_launch(file, row))
            continue;
        if (!MEMORY_GROW(finder->calls, finder->capacity, finder->count + 1)) {
            done = failure_memory(finder->failure);
            break;
        }
        int64_t start = columns->ts[row], dur = columns->dur[row] > 0 ? columns->dur[row] : 0;
        finder->captures = finder->captures || names[name] == CALL_CAPTURE;
        finder->calls[finder->count++] =
            (struct launch_call){.start = start,
                                 .end = start + dur,
                                 .track = row_place(columns, row)->track,
                                 .row = (uint32_t)row,
                                 .name = (enum call_name)names[name],
                                 .worked = columns->link[row] != ROW_NONE};
    }
    memory_free(names);
    return done && (finder->count == 0 ||
                    sort_items(finder->calls, finder->count, sizeof *finder->calls,
                               launch_call_order, finder->stopper, finder->failure));
}

/* time in which a thread captures a graph */
struct capturing {
    int64_t start, end; /* ns */
};

static int capturing_order(const void *a, const void *b)
{
    const struct capturing *x = a, *y = b;
    return COMPARE(x->start, y->start);
}

/* Drops captures, and all launches while any thread captures. A capture without an end lasts to the
** end of the file. */
static bool drop_captured(struct launch_finder *finder)
{
    struct launch_call *calls = finder->calls;
    struct file_health *health = &finder->file->health;
    struct capturing *items = memory_items(finder->count, sizeof *items);
    size_t count = 0, merged = 0, kept = 0;
    if (!items)
        return failure_memory(finder->failure);
    for (size_t i = 0; i < finder->count; i++) {
        if (calls[i].name != CALL_CAPTURE)
            continue;
        size_t end = i + 1;
        while (end < finder->count && calls[end].track == calls[i].track &&
               calls[end].name != CALL_CAPTURED)
            end++;
        bool ends = end < finder->count && calls[end].track == calls[i].track;
        items[count++] = (struct capturing){calls[i].start, ends ? calls[end].end : INT64_MAX};
        i = end - 1; /* another begin in between changes nothing: the thread still captures */
    }
    bool done = sort_items(items, count, sizeof *items, capturing_order, finder->stopper,
                           finder->failure);
    for (size_t i = 0; i < count; i++) {
        if (merged > 0 && items[i].start <= items[merged - 1].end) {
            if (items[i].end > items[merged - 1].end)
                items[merged - 1].end = items[i].end;
        } else {
            items[merged++] = items[i];
        }
    }
    for (size_t i = 0; done && i < finder->count; i++) {
        size_t at = 0;
        LOWER_BOUND(at, merged, items[at].start <= calls[i].start);
        bool inside = at > 0 && calls[i].start < items[at - 1].end;
        if (calls[i].name != CALL_KERNEL && calls[i].name != CALL_GRAPH)
            continue;
        health->calls++;
        if (inside)
            health->captured++;
        else
            calls[kept++] = calls[i];
    }
    finder->count = kept;
    memory_free(items);
    return done;
}

/* Collects the correlations of device events on first use. */
static bool answers_make(struct launch_finder *finder)
{
    const struct columns *columns = &finder->file->columns;
    size_t capacity = 0;
    bool done = finder->answers || MEMORY_GROW(finder->answers, capacity, 1) ||
                failure_memory(finder->failure);
    for (size_t row = 0; done && capacity > 0 && row < columns->count; row++) {
        done = stopper_goes_on(finder->stopper, row, finder->failure);
        if (!kind_is_device(columns->kind[row]) || columns->correlation[row] <= 0)
            continue;
        if (MEMORY_GROW(finder->answers, capacity, finder->answer_count + 1))
            finder->answers[finder->answer_count++] = columns->correlation[row];
        else
            done = failure_memory(finder->failure);
    }
    return done && (capacity == 0 || sort_items(finder->answers, finder->answer_count,
                                                sizeof *finder->answers, integer_order,
                                                finder->stopper, finder->failure));
}

/* Adds a launch: a call and the `count` - 1 calls nested in it. Leaves out launches without a
** correlation or link, because nothing shows whether they have work. */
static bool add_launch(struct launch_finder *finder, const struct launch_call *calls, size_t count)
{
    struct file_health *health = &finder->file->health;
    const int64_t *correlations = finder->file->columns.correlation;
    bool worked = false, known = false;
    for (size_t i = 0; i < count; i++) {
        worked = worked || calls[i].worked;
        known = known || correlations[calls[i].row] > 0;
    }
    if (!worked && !known)
        return true;
    if (!worked && !answers_make(finder))
        return false;
    for (size_t i = 0; i < count && !worked; i++)
        worked = has_integer(finder->answers, finder->answer_count, correlations[calls[i].row]);
    health->launches[health->launch_count++] = (struct launch){
        calls->row, calls->name == CALL_GRAPH, worked ? LAUNCH_RAN : LAUNCH_LOST};
    return true;
}

static bool add_launches(struct launch_finder *finder)
{
    const struct launch_call *calls = finder->calls;
    struct file_health *health = &finder->file->health;
    if (!MEMORY_GROW(health->launches, health->launch_capacity, finder->count))
        return failure_memory(finder->failure);
    for (size_t i = 0, end; i < finder->count; i = end) {
        for (end = i + 1; end < finder->count && calls[end].track == calls[i].track &&
                          calls[end].start < calls[i].end;
             end++)
            ;
        if (!stopper_goes_on(finder->stopper, i, finder->failure) ||
            !add_launch(finder, calls + i, end - i))
            return false;
    }
    return true;
}

/* Counts no launch as lost if at least as many kernels have no launch (I4.1). */
static void match_unlaunched(struct trace_file *file)
{
    struct file_health *health = &file->health;
    size_t kernels = 0, lost = 0;
    for (size_t i = 0; i < health->placed_count; i++)
        kernels += row_is(file, health->placed[i].row, CATEGORY_KERNEL);
    for (size_t i = 0; i < health->launch_count; i++)
        lost += health->launches[i].state == LAUNCH_LOST;
    for (size_t i = 0; i < health->launch_count && kernels >= lost; i++)
        health->launches[i].state = LAUNCH_RAN;
}

/* Marks launches after the last one with work of the same thread and kind (I5): they had not run
** when the recording ended. */
static void mark_waiting(struct trace_file *file, struct launch *launches, size_t count, bool graph)
{
    size_t last = count;
    while (last > 0 &&
           (launches[last - 1].graph != graph || launches[last - 1].state != LAUNCH_RAN))
        last--;
    for (size_t i = last; i < count && last > 0; i++) {
        int64_t start = file->columns.ts[launches[i].row];
        if (launches[i].graph != graph || launches[i].state != LAUNCH_LOST)
            continue;
        launches[i].state = LAUNCH_WAITS;
        if (start < file->health.waits_from)
            file->health.waits_from = start;
    }
}

static uint32_t track_of(const struct trace_file *file, size_t launch)
{
    return row_place(&file->columns, file->health.launches[launch].row)->track;
}

bool launches_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct file_health *health = &file->health;
    struct launch_finder finder = {.file = file, .stopper = stopper, .failure = failure};
    bool done = list_calls(&finder) && (!finder.captures || drop_captured(&finder)) &&
                add_launches(&finder);
    match_unlaunched(file);
    for (size_t i = 0, end; done && i < health->launch_count; i = end) {
        for (end = i + 1; end < health->launch_count && track_of(file, end) == track_of(file, i);
             end++)
            ;
        for (int graph = 0; graph < 2; graph++)
            mark_waiting(file, health->launches + i, end - i, graph);
    }
    memory_free(finder.calls);
    memory_free(finder.answers);
    return done;
}
