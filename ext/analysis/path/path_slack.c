/*
** Walks back in time through everything that the end of a step depends on. Each waiter lowers the
** latest allowed end of all things it waits for. These lie earlier in time, so an event's limit is
** final when the walk reaches it.
*/
#include "path_slack.h"

#include <string.h>

#include "base/memory.h"
#include "base/wide.h"
#include "path_cause.h"

/* an instant and the delay that it allows: the start of work, or a point of a thread */
struct slack_point {
    int64_t at, slack;
    uint32_t index;                            /* index of the work or the track, or TRACK_NONE */
    enum { AT_START, AT_IDLE, AT_WORK } stage; /* in this order at one instant */
};

/* work launched before `limit` must end by `late` */
struct slack_limit {
    int64_t limit, late;
};

/* limits on the work of one place, by descending `limit` and `late` */
struct slack_place {
    uint32_t place;
    struct slack_limit *limits;
    size_t count, capacity;
};

/* last stretch reached in a thread, with its slack from `low` to `at` */
struct slack_stretch {
    int64_t low, at, slack;
    uint32_t row;
    enum path_kind kind;
    bool open;
};

/* cached answer for a call with `Synchronize` in its name */
struct slack_answer {
    uint32_t step; /* step for which it was found */
    uint32_t work; /* index plus 1; 0: none */
};

struct path_slack {
    const struct path_graph *graph;
    const struct stopper *stopper;
    struct failure *failure;
    size_t turns;
    int64_t *late;        /* by work: latest end that its own waiters allow */
    int64_t *track_late;  /* by track: latest end that the next work on the stream allows */
    int64_t *launch_late; /* by row: latest end that the next work of the launch allows */
    struct slack_place *places;
    size_t place_count;
    uint32_t *place_of;              /* by place of the file: index into places */
    struct slack_stretch *stretches; /* by track */
    struct slack_answer *answers;    /* by row */
    uint32_t steps;
    struct slack_point *heap; /* the first point is handled next */
    size_t count, capacity;
    const struct window *window; /* window of the step */
    struct path_step *step;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Returns the slack before a wait of `time` ns, which absorbs that much more. */
static int64_t more(int64_t slack, int64_t time)
{
    return slack == SLACK_NONE ? SLACK_NONE : slack + time;
}

/* ---- the heap ---- */

static int point_order(const struct slack_point *x, const struct slack_point *y)
{
    int order = COMPARE(y->at, x->at);
    order = order ? order : COMPARE(x->stage, y->stage);
    order = order ? order : COMPARE(x->index, y->index);
    return order ? order : COMPARE(x->slack, y->slack);
}

static bool push(struct path_slack *slack, const struct slack_point *point)
{
    if (!MEMORY_GROW(slack->heap, slack->capacity, slack->count + 1))
        return failure_memory(slack->failure);
    struct slack_point *heap = slack->heap;
    size_t i = slack->count++;
    for (; i > 0 && point_order(point, &heap[(i - 1) / 2]) < 0; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = *point;
    return true;
}

static struct slack_point pop(struct path_slack *slack)
{
    struct slack_point *heap = slack->heap, first = heap[0], last = heap[--slack->count];
    size_t i = 0, next;
    while ((next = 2 * i + 1) < slack->count) {
        if (next + 1 < slack->count && point_order(&heap[next + 1], &heap[next]) < 0)
            next++;
        if (point_order(&last, &heap[next]) <= 0)
            break;
        heap[i] = heap[next];
        i = next;
    }
    heap[i] = last;
    return first;
}

static const struct label_stretch *stretch_before(const struct path_slack *slack, uint32_t track,
                                                  int64_t at)
{
    struct thread_labels *thread = &slack->graph->labels.threads[track];
    return labels_at(thread, at - 1);
}

static bool push_thread(struct path_slack *slack, uint32_t track, int64_t at, int64_t left)
{
    if (at <= slack->window->start)
        return true;
    bool works =
        track != TRACK_NONE && path_at_work(slack->graph, stretch_before(slack, track, at));
    return push(slack, &(struct slack_point){at, left, track, works ? AT_WORK : AT_IDLE});
}

/* ---- limits ---- */

static bool limit_place(struct path_slack *slack, struct slack_place *place, int64_t limit,
                        int64_t late)
{
    struct slack_limit *items = place->limits;
    size_t i = 0, same;
    LOWER_BOUND(i, place->count, items[i].limit > limit);
    if ((i > 0 && items[i - 1].late <= late) ||
        (i < place->count && items[i].limit == limit && items[i].late <= late))
        return true;
    for (same = i; same < place->count && items[same].late >= late; same++)
        ;
    if (!MEMORY_GROW(place->limits, place->capacity, place->count + 1))
        return failure_memory(slack->failure);
    items = place->limits;
    memmove(&items[i + 1], &items[same], (place->count - same) * sizeof *items);
    items[i] = (struct slack_limit){limit, late};
    place->count += 1 + i - same;
    return true;
}

static bool limit_source(struct path_slack *slack, const struct path_source *source, int64_t late)
{
    const struct places *places = &slack->graph->file->columns.places;
    bool done = true;
    for (size_t i = 0; done && i < slack->place_count; i++)
        if (path_place_is_of(slack->graph, source, &places->items[slack->places[i].place]))
            done = limit_place(slack, &slack->places[i], source->limit, late);
    return done;
}

static int64_t limit_of(const struct path_slack *slack, const struct path_work *work)
{
    uint32_t number = slack->place_of[slack->graph->file->columns.place[work->row]];
    const struct slack_place *place = &slack->places[number];
    size_t i = 0;
    LOWER_BOUND(i, place->count, place->limits[i].limit > work->launched);
    return i > 0 ? place->limits[i - 1].late : SLACK_NONE;
}

/* ---- rows ---- */

/* Returns the part of the path at an instant of the window. */
static const struct path_part *part_at(const struct path_slack *slack, int64_t instant)
{
    const struct path_part *parts = slack->step->parts;
    size_t i = 0;
    LOWER_BOUND(i, slack->step->count, parts[i].end <= instant);
    return &parts[i];
}

/* Returns whether the path is in `work` at an instant, or at the window's start if that is
** later. */
static bool on_path(const struct path_slack *slack, const struct path_work *work, int64_t instant)
{
    int64_t start = slack->window->start;
    const struct path_part *part = part_at(slack, instant > start ? instant : start);
    return part->kind == PATH_KERNEL && part->row == work->row;
}

static bool add_row(struct path_slack *slack, const struct path_part *part, int64_t left)
{
    struct path_step *step = slack->step;
    if (!MEMORY_GROW(step->off, step->off_capacity, step->off_count + 1))
        return failure_memory(slack->failure);
    struct path_off *off = &step->off[step->off_count++];
    *off = (struct path_off){*part, left};
    if (off->part.start < slack->window->start)
        off->part.start = slack->window->start;
    return true;
}

/* Adds the parts of a thread's last stretch that are off the path. */
static bool close_stretch(struct path_slack *slack, uint32_t track, int64_t low)
{
    struct slack_stretch *stretch = &slack->stretches[track];
    const struct columns *columns = &slack->graph->file->columns;
    int64_t end = stretch->at;
    if (low < slack->window->start)
        low = slack->window->start;
    while (stretch->open && end > low) {
        const struct path_part *part = part_at(slack, end - 1);
        bool host = part->kind != PATH_KERNEL && part->kind != PATH_QUEUE &&
                    part->kind != PATH_WAIT && part->row != ROW_NONE;
        if (!host || row_place(columns, part->row)->track != track)
            return add_row(slack, &(struct path_part){low, end, stretch->row, stretch->kind},
                           stretch->slack);
        end = part->start;
    }
    return true;
}

/* ---- what waits for what ---- */

/* Finds the work that a call waited for, up to an instant in it; WORK_NONE if none. */
static size_t work_of_call(struct path_slack *slack, uint32_t call, int64_t at)
{
    const struct path_graph *graph = slack->graph;
    const struct columns *columns = &graph->file->columns;
    struct slack_answer *answer = &slack->answers[call];
    if (!(graph->flags[columns->name[call]] & NAMED_SYNCHRONIZE))
        return path_copy_of(graph, call, at);
    if (answer->step != slack->steps ||
        (answer->work > 0 && graph->work[answer->work - 1].end > at)) {
        const struct path_wait wait = {.source = path_source_of(graph, call)};
        size_t work = path_last_work(graph, &wait, 1, columns->ts[call], at);
        *answer = (struct slack_answer){slack->steps, work == WORK_NONE ? 0 : (uint32_t)work + 1};
    }
    return answer->work > 0 ? answer->work - 1 : WORK_NONE;
}

/* Lowers the slack of a copy to the slack of a call that waits for it. The walk is already past the
** end of the copy. */
static bool limit_running(struct path_slack *slack, size_t index, int64_t left)
{
    const struct path_work *work = &slack->graph->work[index];
    struct path_off *off = slack->step->off;
    /* kernels are listed by end, the latest first */
    for (size_t i = slack->step->off_count; i > 0; i--) {
        if (off[i - 1].part.kind != PATH_KERNEL)
            continue;
        if (off[i - 1].part.row == work->row)
            off[i - 1].slack = least(off[i - 1].slack, left);
        if (off[i - 1].part.row == work->row || off[i - 1].part.end > work->end)
            break;
    }
    return work->start <= slack->window->start ||
           push(slack, &(struct slack_point){work->start, left, (uint32_t)index, AT_START});
}

/* Handles a point of a thread in a call (P7.1 to P7.3). Sets the start of the part, and the slack
** before the stretch. */
static bool pass_call(struct path_slack *slack, uint32_t call, const struct slack_point *point,
                      struct slack_stretch *stretch, int64_t *left)
{
    const struct path_graph *graph = slack->graph;
    int64_t start = stretch->low;
    size_t work = work_of_call(slack, call, point->at);
    bool sync = graph->flags[graph->file->columns.name[call]] & NAMED_SYNCHRONIZE;
    int64_t end = work == WORK_NONE ? start : graph->work[work].end;
    bool runs = end > point->at; /* P7.3 */
    end = runs ? point->at : end;
    stretch->row = call;
    stretch->kind = path_kind_of_call(graph, call, work != WORK_NONE);
    if (end > start) {
        stretch->low = end;
        if (start > slack->window->start)
            *left = more(point->slack, end - start);
    }
    if (point->slack == SLACK_NONE || end <= slack->window->start)
        return true;
    if (runs)
        return limit_running(slack, work, point->slack);
    if (!sync && work != WORK_NONE)
        slack->late[work] = least(slack->late[work], end + point->slack);
    struct path_source source = path_source_of(graph, call);
    return !sync || limit_source(slack, &source, end + point->slack);
}

static bool pass_thread(struct path_slack *slack, const struct slack_point *point)
{
    uint32_t track = point->index, other;
    int64_t until, left = point->slack, first = INT64_MIN;
    if (point->stage == AT_IDLE) {
        if (track != TRACK_NONE)
            first = stretch_before(slack, track, point->at)->start;
        if (path_handed_over(slack->graph, point->at, first, &other, &until)) {
            if (first > slack->window->start)
                left = more(left, until - first);
            if (point->slack != SLACK_NONE && !push_thread(slack, other, until, point->slack))
                return false;
        }
        return push_thread(slack, track, first, left);
    }
    struct slack_stretch *last = &slack->stretches[track];
    bool inside = last->open && point->at > last->low;
    if (inside && (point->slack > last->slack || (point->slack == last->slack && last->slack > 0)))
        return true;
    if (!close_stretch(slack, track, inside ? point->at : last->low))
        return false;
    const struct label_stretch *stretch = stretch_before(slack, track, point->at);
    struct slack_stretch now = {stretch->start,           point->at, point->slack,
                                stretch->label[LEVEL_OP], PATH_HOST, true};
    if (stretch->inside != IN_EVENT && !pass_call(slack, stretch->inside, point, &now, &left))
        return false;
    *last = now;
    return push_thread(slack, track, stretch->start, left);
}

/* Handles the start of work (P4 to P6). */
static bool pass_start(struct path_slack *slack, const struct slack_point *point)
{
    const struct path_graph *graph = slack->graph;
    const struct path_work *work = &graph->work[point->index];
    struct path_cause cause = path_cause(graph, work, slack->window->track);
    const uint32_t rows[] = {work->row, work->launch};
    if (cause.at <= slack->window->start)
        return true;
    int64_t late = cause.at + point->slack;
    slack->track_late[work->track] = least(slack->track_late[work->track], late);
    if (work->launch != ROW_NONE)
        slack->launch_late[work->launch] = least(slack->launch_late[work->launch], late);
    for (int i = 0; i < 2 && rows[i] != ROW_NONE; i++) {
        size_t count, first = path_waits_of(graph, rows[i], false, &count);
        for (size_t wait = first; wait < first + count; wait++) {
            struct path_source source = graph->waits[wait].source;
            if (source.among == AMONG_OTHERS)
                source.track = work->track;
            if (!limit_source(slack, &source, late))
                return false;
        }
    }
    if (cause.work == WORK_NONE)
        return push_thread(slack, cause.track, cause.at, point->slack);
    if (cause.launcher == TRACK_NONE || cause.came <= slack->window->start)
        return true;
    return push_thread(slack, cause.launcher, cause.came, late - cause.came);
}

static bool pass_end(struct path_slack *slack, size_t index, bool device_clock)
{
    const struct path_work *work = &slack->graph->work[index];
    int64_t late = least(slack->late[index], slack->track_late[work->track]);
    if (work->launch != ROW_NONE)
        late = least(late, slack->launch_late[work->launch]);
    late = least(late, limit_of(slack, work));
    if (device_clock)
        late = least(late, slack->window->end);
    int64_t left = late == SLACK_NONE ? SLACK_NONE : late - work->end;
    if (!on_path(slack, work, work->end - 1) &&
        !(work->start < work->end && on_path(slack, work, work->start)) && /* P7.3 */
        !add_row(slack, &(struct path_part){work->start, work->end, work->row, PATH_KERNEL}, left))
        return false;
    return left == SLACK_NONE || work->start <= slack->window->start ||
           push(slack, &(struct slack_point){work->start, left, (uint32_t)index, AT_START});
}

/* ---- a step ---- */

static int off_order(const void *a, const void *b)
{
    const struct path_part *x = &((const struct path_off *)a)->part,
                           *y = &((const struct path_off *)b)->part;
    int order = COMPARE(x->start, y->start);
    order = order ? order : COMPARE(x->end, y->end);
    return order ? order : COMPARE(x->row, y->row);
}

/* Resets the work [first, end) and the threads, and starts at the end of the window. */
static bool start_step(struct path_slack *slack, size_t first, size_t end, bool device_clock)
{
    const struct path_graph *graph = slack->graph;
    const struct window *window = slack->window;
    bool done = true, ends = device_clock && end > 0 && graph->work[end - 1].end == window->end;
    for (size_t i = first; i < end; i++) {
        const struct path_work *work = &graph->work[i];
        slack->late[i] = slack->track_late[work->track] = SLACK_NONE;
        if (work->launch != ROW_NONE)
            slack->launch_late[work->launch] = SLACK_NONE;
    }
    for (size_t i = 0; i < slack->place_count; i++)
        slack->places[i].count = 0;
    slack->count = 0;
    slack->steps++;
    for (size_t track = 0; done && track < graph->labels.count; track++) {
        slack->stretches[track].open = false;
        if (graph->threads[track])
            done = push_thread(slack, (uint32_t)track, window->end, SLACK_NONE);
    }
    return done && (ends || push_thread(slack, window->track, window->end, 0));
}

static bool same_point(const struct slack_point *x, const struct slack_point *y)
{
    return x->at == y->at && x->index == y->index && x->stage == y->stage;
}

bool path_slack_step(struct path_slack *slack, const struct window *window, bool device_clock,
                     struct path_step *step, struct failure *failure)
{
    const struct path_graph *graph = slack->graph;
    struct slack_point done = {.index = TRACK_NONE, .stage = AT_START};
    size_t first = 0, next = path_ended_work(graph, window->end) + 1;
    slack->window = window;
    slack->step = step;
    slack->failure = failure;
    if (window->end <= window->start)
        return true;
    if ((wide_time)window->end - window->start > INT64_MAX)
        return failure_set(failure, FAILURE_REQUEST,
                           "'%s': a step is beyond 64 bits of nanoseconds", graph->file->path);
    LOWER_BOUND(first, graph->work_count, graph->work[first].end <= window->start);
    if (!start_step(slack, first, next, device_clock))
        return false;
    while (slack->count > 0 || next > first) {
        if (!stopper_goes_on(slack->stopper, slack->turns++, failure))
            return false;
        if (slack->count == 0 || (next > first && graph->work[next - 1].end > slack->heap[0].at)) {
            if (!pass_end(slack, --next, device_clock))
                return false;
            continue;
        }
        struct slack_point point = pop(slack);
        if (same_point(&point, &done))
            continue;
        done = point;
        if (!(point.stage == AT_START ? pass_start(slack, &point) : pass_thread(slack, &point)))
            return false;
    }
    for (size_t track = 0; track < graph->labels.count; track++)
        if (!close_stretch(slack, (uint32_t)track, slack->stretches[track].low))
            return false;
    return sort_items(step->off, step->off_count, sizeof *step->off, off_order, slack->stopper,
                      failure);
}

static bool find_places(struct path_slack *slack)
{
    const struct path_graph *graph = slack->graph;
    const struct columns *columns = &graph->file->columns;
    slack->place_of = memory_filled(columns->places.count + 1, sizeof *slack->place_of);
    slack->places = memory_zeroed(columns->places.count + 1, sizeof *slack->places);
    if (!slack->place_of || !slack->places)
        return false;
    for (size_t i = 0; i < graph->work_count; i++) {
        uint32_t place = columns->place[graph->work[i].row];
        if (slack->place_of[place] != UINT32_MAX)
            continue;
        slack->place_of[place] = (uint32_t)slack->place_count;
        slack->places[slack->place_count++].place = place;
    }
    return true;
}

struct path_slack *path_slack_new(const struct path_graph *graph, const struct stopper *stopper,
                                  struct failure *failure)
{
    struct path_slack *slack = memory_zeroed(1, sizeof *slack);
    size_t rows = graph->file->columns.count + 1, tracks = graph->file->tracks.count + 1;
    if (slack) {
        slack->graph = graph;
        slack->stopper = stopper;
        slack->late = memory_items(graph->work_count, sizeof *slack->late);
        slack->track_late = memory_items(tracks, sizeof *slack->track_late);
        slack->launch_late = memory_items(rows, sizeof *slack->launch_late);
        slack->stretches = memory_zeroed(tracks, sizeof *slack->stretches);
        slack->answers = memory_zeroed(rows, sizeof *slack->answers);
        if (slack->late && slack->track_late && slack->launch_late && slack->stretches &&
            slack->answers && find_places(slack))
            return slack;
    }
    path_slack_free(slack);
    failure_memory(failure);
    return NULL;
}

void path_slack_free(struct path_slack *slack)
{
    if (!slack)
        return;
    for (size_t i = 0; i < slack->place_count; i++)
        memory_free(slack->places[i].limits);
    memory_free(slack->places);
    memory_free(slack->place_of);
    memory_free(slack->late);
    memory_free(slack->track_late);
    memory_free(slack->launch_late);
    memory_free(slack->stretches);
    memory_free(slack->answers);
    memory_free(slack->heap);
    memory_free(slack);
}
