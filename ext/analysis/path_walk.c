#include "path_walk.h"

#include "../reader/memory.h"
#include "busy.h"

/* A walk from the end of a window to its start. */
struct walk {
    const struct path_graph *graph;
    const struct window *window;
    struct critical_path *path;
    const struct stopper *stopper;
    struct failure *failure;
    int64_t at;     /* the path is found from here on */
    size_t work;    /* what it goes on in; WORK_NONE: in a thread */
    uint32_t track; /* that thread; TRACK_NONE: none is known */
    size_t turns;   /* for the stopper */
    uint32_t
        *idle; /* by row: the number of the window in which a call was found not to have waited,
                    ** counted from 1: no earlier point of the path needs to ask again */
    uint32_t number; /* of the window */
};

/* Goes back to an instant; the time from there on is a part. */
static bool go_back(struct walk *walk, enum path_kind kind, uint32_t row, int64_t to)
{
    struct critical_path *path = walk->path;
    struct path_part part = {to, walk->at, row, kind};
    if (to < walk->window->start)
        part.start = walk->window->start;
    walk->at = part.start;
    if (part.start >= part.end)
        return true;
    if ((wide_time)part.end - part.start > INT64_MAX)
        return failure_set(walk->failure, FAILURE_REQUEST,
                           "'%s': a part of a step is beyond 64 bits of nanoseconds",
                           walk->graph->file->path);
    if (!MEMORY_GROW(path->parts, path->part_capacity, path->part_count + 1))
        return failure_memory(walk->failure);
    path->parts[path->part_count++] = part;
    return true;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* P6: the work of other streams that work waits for and that ends last; WORK_NONE. */
static size_t work_waited_for(const struct walk *walk, const struct path_work *work, int64_t after)
{
    const uint32_t rows[] = {work->row, work->launch};
    size_t found = WORK_NONE;
    for (int i = 0; i < 2 && rows[i] != ROW_NONE; i++) {
        size_t count, first = path_waits_of(walk->graph, rows[i], false, &count);
        for (size_t wait = first; wait < first + count; wait++) {
            struct path_source source = walk->graph->waits[wait].source;
            if (source.among == AMONG_OTHERS)
                source.track = work->track;
            size_t last = path_last_work(walk->graph, &source, after, work->start);
            if (last != WORK_NONE && (found == WORK_NONE || last > found))
                found = last;
        }
    }
    return found;
}

/* P4 and P5 */
static bool pass_work(struct walk *walk)
{
    const struct path_work *all = walk->graph->work, *work = &all[walk->work];
    const struct columns *columns = &walk->graph->file->columns;
    if (!go_back(walk, PATH_KERNEL, work->row, work->start))
        return false;
    size_t before = path_work_before(walk->graph, work);
    int64_t end = before == WORK_NONE ? INT64_MIN : all[before].end;
    size_t waited = work_waited_for(walk, work, end);
    if (waited != WORK_NONE) {
        before = waited;
        end = all[waited].end;
    }
    if (work->launch != ROW_NONE) {
        int64_t dur = columns->dur[work->launch], called = columns->ts[work->launch];
        int64_t returned = called + (dur == NUMBER_NONE ? 0 : dur);
        if (before == WORK_NONE || (returned <= work->start ? returned : called) > end) {
            walk->work = WORK_NONE;
            walk->track = row_place(columns, work->launch)->track;
            return go_back(walk, PATH_QUEUE, work->row, earlier(returned, work->start));
        }
    }
    walk->work = before;
    walk->track = walk->window->track;
    return before == WORK_NONE || go_back(walk, PATH_QUEUE, work->row, end);
}

/* P7.1: the work that a call waited for; WORK_NONE. */
static size_t work_of_call(struct walk *walk, uint32_t call)
{
    const struct path_graph *graph = walk->graph;
    const struct columns *columns = &graph->file->columns;
    unsigned flags = graph->flags[columns->name[call]];
    int64_t start = columns->ts[call];
    if (flags & NAMED_SYNCHRONIZE) {
        size_t count, first = path_waits_of(graph, call, true, &count);
        struct path_source all = {.among = AMONG_ALL, .limit = start};
        size_t work = walk->idle[call] == walk->number
                          ? WORK_NONE
                          : path_last_work(graph, count > 0 ? &graph->waits[first].source : &all,
                                           start, walk->at);
        if (work == WORK_NONE)
            walk->idle[call] = walk->number;
        return work;
    }
    uint32_t copy = flags & NAMED_MEMCPY ? columns->link[call] : ROW_NONE;
    return copy != ROW_NONE && busy_takes(columns, copy) && busy_end(columns, copy) > start &&
                   busy_end(columns, copy) <= walk->at
               ? path_work_of(graph, copy)
               : WORK_NONE;
}

/* P8: goes on in the thread that was at work last, if that is after an instant. */
static bool change_thread(struct walk *walk, uint32_t row, int64_t after)
{
    const struct span_line *active = &walk->graph->active;
    size_t i = 0;
    LOWER_BOUND(i, active->count, active->items[i].start < walk->at);
    if (i == 0)
        return go_back(walk, PATH_HOST, row, after);
    const struct span_change *last = &active->items[i - 1];
    bool now = last->row != ROW_NONE;
    if (!now && last->start <= after)
        return go_back(walk, PATH_HOST, row, after);
    walk->track = now ? last->row : last[-1].row;
    return now || go_back(walk, PATH_WAIT, row, last->start);
}

/* P7 */
static bool pass_thread(struct walk *walk)
{
    const struct path_graph *graph = walk->graph;
    if (walk->track == TRACK_NONE)
        return change_thread(walk, ROW_NONE, INT64_MIN);
    struct thread_labels *thread = &graph->labels.threads[walk->track];
    const struct label_stretch *stretch = &thread->items[labels_find(thread, walk->at - 1)];
    uint32_t inside = stretch->inside, label = stretch->label[LEVEL_OP];
    if (!path_at_work(graph, stretch))
        return change_thread(walk, label, stretch->start);
    if (inside == IN_EVENT)
        return go_back(walk, PATH_HOST, label, stretch->start);
    size_t work = work_of_call(walk, inside);
    if (work != WORK_NONE) {
        walk->work = work;
        return go_back(walk, PATH_SYNC, inside, graph->work[work].end);
    }
    bool sync = graph->flags[graph->file->columns.name[inside]] & NAMED_SYNCHRONIZE;
    return go_back(walk,
                   sync                      ? PATH_SYNC
                   : graph->launches[inside] ? PATH_LAUNCH
                                             : PATH_HOST,
                   inside, stretch->start);
}

/* Adds the parts of a window. */
static bool walk_window(struct walk *walk, bool device_clock)
{
    const struct window *window = walk->window;
    struct critical_path *path = walk->path;
    size_t first = path->part_count, last = path_ended_work(walk->graph, window->end);
    bool ends = device_clock && last != WORK_NONE && walk->graph->work[last].end == window->end;
    walk->at = window->end;
    walk->work = ends ? last : WORK_NONE;
    walk->track = window->track;
    while (walk->at > window->start)
        if (!stopper_goes_on(walk->stopper, walk->turns++, walk->failure) ||
            !(walk->work != WORK_NONE ? pass_work(walk) : pass_thread(walk)))
            return false;
    for (size_t i = first, j = path->part_count; i < j && i < --j; i++) {
        struct path_part part = path->parts[i];
        path->parts[i] = path->parts[j];
        path->parts[j] = part;
    }
    return true;
}

static bool add_windows(struct critical_path *path, const struct trace *trace, size_t member,
                        const struct step_choice *choice, struct walk *walk,
                        const struct windows *windows, bool device_clock)
{
    for (size_t i = 0; i < windows->count; i++) {
        const struct window *window = &windows->items[i];
        if (window->step == STEP_NONE ? !choice->everything : !choice->chosen[member][window->step])
            continue;
        struct path_step step = {member, trace->members[member].rank, window->iteration,
                                 path->part_count, 0};
        walk->window = window;
        walk->number++;
        if (!walk_window(walk, device_clock))
            return false;
        step.count = path->part_count - step.first;
        if (!MEMORY_GROW(path->steps, path->step_capacity, path->step_count + 1))
            return failure_memory(walk->failure);
        path->steps[path->step_count++] = step;
    }
    return true;
}

bool critical_path_add(struct critical_path *path, const struct trace *trace, size_t member,
                       const struct step_choice *choice, enum step_clock clock,
                       const struct path_syncs *syncs, const struct stopper *stopper,
                       struct failure *failure)
{
    const struct trace_member *of = &trace->members[member];
    const struct columns *columns = &of->file->columns;
    size_t row = 0;
    while (row < columns->count && !busy_takes(columns, row))
        row++;
    bool device_clock = clock == CLOCK_DEVICE && row < columns->count;
    struct windows windows;
    struct path_graph graph;
    if (!windows_make(&windows, of, device_clock, stopper, failure))
        return false;
    bool done = path_graph_make(&graph, of, &windows, syncs, stopper, failure);
    if (done) {
        struct walk walk = {.graph = &graph, .path = path, .stopper = stopper, .failure = failure};
        walk.idle = memory_zeroed(columns->count + 1, sizeof *walk.idle);
        done = (walk.idle || failure_memory(failure)) &&
               add_windows(path, trace, member, choice, &walk, &windows, device_clock);
        memory_free(walk.idle);
        path_graph_clear(&graph);
    }
    windows_clear(&windows);
    return done;
}

static int step_order(const void *a, const void *b)
{
    const struct path_step *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    return order ? order : COMPARE(x->iteration, y->iteration);
}

bool critical_path_sort(struct critical_path *path, const struct stopper *stopper,
                        struct failure *failure)
{
    return sort_items(path->steps, path->step_count, sizeof *path->steps, step_order, stopper,
                      failure);
}

void critical_path_clear(struct critical_path *path)
{
    memory_free(path->parts);
    memory_free(path->steps);
    *path = (struct critical_path){.part_count = 0};
}
