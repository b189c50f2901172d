#include "path_walk.h"

#include "base/memory.h"
#include "analysis/parts/busy.h"
#include "path_cause.h"
#include "path_slack.h"

/* a walk from the end of a window back to its start */
struct walk {
    const struct path_graph *graph;
    const struct window *window;
    struct path_step *step;
    const struct stopper *stopper;
    struct failure *failure;
    int64_t at;      /* ns: the path is known from here to the end */
    size_t work;     /* work that the path continues in; WORK_NONE: in a thread */
    uint32_t track;  /* that thread; TRACK_NONE: unknown */
    size_t turns;    /* for the stopper */
    uint32_t number; /* number of the walk, from 1 */
    uint32_t *idle;  /* by row: number of the walk in which a call was found not to have waited;
                     ** this also holds for earlier points of the path */
};

/* Moves back to an instant. The time since then becomes a part. */
static bool go_back(struct walk *walk, enum path_kind kind, uint32_t row, int64_t to)
{
    struct path_step *step = walk->step;
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
    if (!MEMORY_GROW(step->parts, step->capacity, step->count + 1))
        return failure_memory(walk->failure);
    step->parts[step->count++] = part;
    return true;
}

/* Handles device work (P4, P5). */
static bool pass_work(struct walk *walk)
{
    const struct path_work *work = &walk->graph->work[walk->work];
    if (!go_back(walk, PATH_KERNEL, work->row, work->start))
        return false;
    struct path_cause cause = path_cause(walk->graph, work, walk->window->track);
    walk->work = cause.work;
    walk->track = cause.track;
    return go_back(walk, PATH_QUEUE, work->row, cause.at);
}

/* Finds the work that a call waited for (P7.1); WORK_NONE if none. */
static size_t work_of_call(struct walk *walk, uint32_t call)
{
    const struct path_graph *graph = walk->graph;
    const struct columns *columns = &graph->file->columns;
    if (!(graph->flags[columns->name[call]] & NAMED_SYNCHRONIZE))
        return path_copy_of(graph, call, walk->at);
    if (walk->idle[call] == walk->number)
        return WORK_NONE;
    const struct path_wait wait = {.source = path_source_of(graph, call)};
    size_t work = path_last_work(graph, &wait, 1, columns->ts[call], walk->at);
    if (work == WORK_NONE)
        walk->idle[call] = walk->number;
    return work;
}

/* Moves to the thread that was last at work, if that was after an instant (P7.5, P8). */
static bool change_thread(struct walk *walk, uint32_t row, int64_t after)
{
    int64_t until;
    if (!path_handed_over(walk->graph, walk->at, after, &walk->track, &until))
        return go_back(walk, PATH_HOST, row, after);
    return go_back(walk, PATH_WAIT, row, until);
}

/* Handles a host thread (P7). */
static bool pass_thread(struct walk *walk)
{
    const struct path_graph *graph = walk->graph;
    if (walk->track == TRACK_NONE)
        return change_thread(walk, ROW_NONE, INT64_MIN);
    struct thread_labels *thread = &graph->labels.threads[walk->track];
    const struct label_stretch *stretch = labels_at(thread, walk->at - 1);
    uint32_t inside = stretch->inside, label = stretch->label[LEVEL_OP];
    if (!path_at_work(graph, stretch))
        return change_thread(walk, label, stretch->start);
    if (inside == IN_EVENT)
        return go_back(walk, PATH_HOST, label, stretch->start);
    size_t work = work_of_call(walk, inside);
    if (work != WORK_NONE) {
        int64_t end = graph->work[work].end; /* after walk->at if a copy still runs */
        walk->work = work;
        return go_back(walk, PATH_SYNC, inside, end < walk->at ? end : walk->at);
    }
    return go_back(walk, path_kind_of_call(graph, inside, false), inside, stretch->start);
}

/* Adds the parts of the walk's window. */
static bool walk_window(struct walk *walk, bool device_clock)
{
    const struct window *window = walk->window;
    size_t last = path_ended_work(walk->graph, window->end);
    bool ends = device_clock && last != WORK_NONE && walk->graph->work[last].end == window->end;
    walk->at = window->end;
    walk->work = ends ? last : WORK_NONE;
    walk->track = window->track;
    while (walk->at > window->start)
        if (!stopper_goes_on(walk->stopper, walk->turns++, walk->failure) ||
            !(walk->work != WORK_NONE ? pass_work(walk) : pass_thread(walk)))
            return false;
    struct path_part *parts = walk->step->parts;
    for (size_t i = 0, j = walk->step->count; i < j && i < --j; i++) {
        struct path_part part = parts[i];
        parts[i] = parts[j];
        parts[j] = part;
    }
    return true;
}

/* a chosen step */
struct path_place {
    struct window window;
    size_t member;
    int64_t rank;
    bool device_clock; /* the window uses the device's clock (A2) */
};

struct critical_path {
    const struct trace *trace;
    enum step_clock clock;
    const struct path_syncs *syncs;
    const struct stopper *stopper;
    struct windows *windows;   /* by member: all windows of its file */
    struct path_place *places; /* by rank, then iteration */
    size_t count, capacity;
    size_t known; /* member whose graph is loaded; SIZE_MAX: none */
    struct path_graph graph;
    uint32_t *idle;           /* see struct walk */
    uint32_t walks;           /* walks in this graph so far */
    bool off;                 /* also find work off the paths */
    struct path_slack *slack; /* for the loaded graph; NULL: not made yet */
};

static bool by_device(const struct critical_path *path, size_t member)
{
    const struct columns *columns = &path->trace->members[member].file->columns;
    size_t row = 0;
    while (row < columns->count && !busy_takes(columns, row))
        row++;
    return path->clock == CLOCK_DEVICE && row < columns->count;
}

static void forget(struct critical_path *path)
{
    if (path->known != SIZE_MAX)
        path_graph_clear(&path->graph);
    memory_free(path->idle);
    path_slack_free(path->slack);
    path->slack = NULL;
    path->idle = NULL;
    path->known = SIZE_MAX;
    path->walks = 0;
}

/* Builds the graph of a member, unless it is loaded already. */
static bool know(struct critical_path *path, size_t member, struct failure *failure)
{
    const struct trace_member *of = &path->trace->members[member];
    if (path->known == member && path->walks < UINT32_MAX)
        return true;
    forget(path);
    if (!path_graph_make(&path->graph, of, &path->windows[member], &path->syncs[member],
                         path->stopper, failure))
        return false;
    path->known = member;
    path->idle = memory_zeroed(of->file->columns.count + 1, sizeof *path->idle);
    bool done = path->idle || failure_memory(failure);
    if (done && path->off)
        done = (path->slack = path_slack_new(&path->graph, path->stopper, failure)) != NULL;
    if (!done)
        forget(path);
    return done;
}

bool critical_path_step(struct critical_path *path, size_t number, struct path_step *step,
                        struct failure *failure)
{
    const struct path_place *place = &path->places[number];
    step->member = place->member;
    step->rank = place->rank;
    step->iteration = place->window.iteration;
    step->count = step->off_count = 0;
    if (!know(path, place->member, failure))
        return false;
    struct walk walk = {.graph = &path->graph,
                        .window = &place->window,
                        .step = step,
                        .stopper = path->stopper,
                        .failure = failure,
                        .idle = path->idle,
                        .number = ++path->walks};
    return walk_window(&walk, place->device_clock) &&
           (!path->off ||
            path_slack_step(path->slack, &place->window, place->device_clock, step, failure));
}

/* Adds the chosen steps of a member. */
static bool add_member(struct critical_path *path, size_t member, const struct step_choice *choice,
                       struct failure *failure)
{
    const struct trace_member *of = &path->trace->members[member];
    struct windows *windows = &path->windows[member];
    bool device_clock = by_device(path, member);
    if (!windows_make(windows, of, device_clock, path->stopper, failure))
        return false;
    for (size_t i = 0; i < windows->count; i++) {
        const struct window *window = &windows->items[i];
        if (window->step == STEP_NONE ? !choice->everything : !choice->chosen[member][window->step])
            continue;
        if (!MEMORY_GROW(path->places, path->capacity, path->count + 1))
            return failure_memory(failure);
        path->places[path->count++] = (struct path_place){*window, member, of->rank, device_clock};
    }
    return true;
}

static int place_order(const void *a, const void *b)
{
    const struct path_place *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    return order ? order : COMPARE(x->window.iteration, y->window.iteration);
}

struct critical_path *critical_path_new(const struct trace *trace, const struct step_choice *choice,
                                        enum step_clock clock, bool off,
                                        const struct path_syncs *syncs,
                                        const struct stopper *stopper, struct failure *failure)
{
    struct critical_path *path = memory_zeroed(1, sizeof *path);
    if (!path) {
        failure_memory(failure);
        return NULL;
    }
    path->trace = trace;
    path->clock = clock;
    path->off = off;
    path->syncs = syncs;
    path->stopper = stopper;
    path->known = SIZE_MAX;
    path->windows = memory_zeroed(trace->count, sizeof *path->windows);
    bool done = path->windows || failure_memory(failure);
    for (size_t i = 0; done && i < trace->count; i++)
        done = !trace->members[i].chosen || add_member(path, i, choice, failure);
    if (done &&
        sort_items(path->places, path->count, sizeof *path->places, place_order, stopper, failure))
        return path;
    critical_path_free(path);
    return NULL;
}

size_t critical_path_count(const struct critical_path *path)
{
    return path->count;
}

void critical_path_free(struct critical_path *path)
{
    if (!path)
        return;
    forget(path);
    for (size_t i = 0; path->windows && i < path->trace->count; i++)
        windows_clear(&path->windows[i]);
    memory_free(path->windows);
    memory_free(path->places);
    memory_free(path);
}
