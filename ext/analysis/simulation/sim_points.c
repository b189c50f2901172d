#include "sim_points.h"

#include "base/memory.h"

/* The end of an event of a thread. */
struct thread_end {
    int64_t end;
    size_t span;
};

/* The state of sim_points_add(). */
struct point_adder {
    struct sim_points *points;
    const struct trace_file *file;
    uint32_t member;
    const struct sim_share *share;
    const struct stopper *stopper;
    struct failure *failure;
    struct thread_end *ends; /* room for a thread's events */
};

static void add_point(struct point_adder *adder, uint32_t row, unsigned flags)
{
    struct sim_point *point = &adder->points->items[adder->points->count++];
    *point = (struct sim_point){.row = row, .member_flags = adder->member * POINT_FLAGS | flags};
    point->at = point_own_time(point, &adder->file->columns);
}

/* True if an event (with a duration) touches the share. */
static bool is_shared(const struct point_adder *adder, size_t row)
{
    const struct columns *columns = &adder->file->columns;
    return sim_share_has(adder->share, columns->ts[row], columns->ts[row] + columns->dur[row]);
}

static bool takes_host(void *argument, size_t row)
{
    const struct point_adder *adder = argument;
    return sim_takes_host(&adder->file->columns, row) && is_shared(adder, row);
}

static bool takes_work(const struct point_adder *adder, size_t row)
{
    return busy_takes(&adder->file->columns, row) && is_shared(adder, row);
}

static int end_order(const void *a, const void *b)
{
    const struct thread_end *x = a, *y = b;
    int order = COMPARE(x->end, y->end);
    return order ? order : COMPARE(y->span, x->span);
}

/* Adds a thread's next point. If the thread was idle for more than SIM_IDLE before it, marks the
** previous point as quiet. */
static void add_host_point(struct point_adder *adder, size_t first, uint32_t row, unsigned flags)
{
    struct sim_points *points = adder->points;
    add_point(adder, row, POINT_HOST | flags);
    struct sim_point *now = &points->items[points->count - 1];
    if (points->count - 1 > first && (wide_time)now->at - now[-1].at > SIM_IDLE)
        now[-1].member_flags |= POINT_QUIET;
}

/* Adds the begin of an event, and also its end if it has length 0. */
static void add_begin(struct point_adder *adder, size_t first, const struct span *span)
{
    add_host_point(adder, first, span->row, 0);
    if (span->dur == 0)
        add_host_point(adder, first, span->row, POINT_END);
}

/* Adds the points of a thread with nested events, using a stack of open events. `*nested` becomes
** false if they are not nested; the points added so far are then invalid. */
static bool add_nested(struct point_adder *adder, const struct span *spans, size_t count,
                       bool *nested)
{
    struct thread_end *open = adder->ends;
    size_t open_count = 0, first = adder->points->count;
    *nested = true;
    for (size_t i = 0; i <= count && *nested; i++) {
        if (!stopper_goes_on(adder->stopper, i, adder->failure))
            return false;
        while (open_count > 0 && (i == count || open[open_count - 1].end <= spans[i].start))
            add_host_point(adder, first, spans[open[--open_count].span].row, POINT_END);
        if (i == count)
            break;
        add_begin(adder, first, &spans[i]);
        if (spans[i].dur == 0)
            continue;
        struct thread_end end = {span_end(&spans[i]), i};
        *nested = open_count == 0 || end.end <= open[open_count - 1].end;
        open[open_count++] = end;
    }
    return true;
}

/* Adds the points of a thread with any events. */
static bool add_any(struct point_adder *adder, const struct span *spans, size_t count)
{
    size_t end_count = 0, next = 0, first = adder->points->count;
    for (size_t i = count; i-- > 0;)
        if (spans[i].dur > 0)
            adder->ends[end_count++] = (struct thread_end){span_end(&spans[i]), i};
    if (!sort_items(adder->ends, end_count, sizeof *adder->ends, end_order, adder->stopper,
                    adder->failure))
        return false;
    for (size_t i = 0; i <= count; i++) {
        if (!stopper_goes_on(adder->stopper, i, adder->failure))
            return false;
        while (next < end_count && (i == count || adder->ends[next].end <= spans[i].start))
            add_host_point(adder, first, spans[adder->ends[next++].span].row, POINT_END);
        if (i < count)
            add_begin(adder, first, &spans[i]);
    }
    return true;
}

/* Adds the points of a thread in the order of E2.1. */
static bool add_thread(struct point_adder *adder, const struct span *spans, size_t count)
{
    size_t first = adder->points->count;
    bool nested, done = add_nested(adder, spans, count, &nested);
    if (done && !nested) {
        adder->points->count = first;
        done = add_any(adder, spans, count);
    }
    if (done && adder->points->count > first)
        adder->points->items[adder->points->count - 1].member_flags |= POINT_QUIET;
    return done;
}

struct thread_spans {
    const struct span *spans;
    size_t count;
};

/* E1.4: sorts threads by their first events. */
static int thread_order(const void *a, const void *b)
{
    const struct span *x = ((const struct thread_spans *)a)->spans;
    const struct span *y = ((const struct thread_spans *)b)->spans;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

static bool add_threads(struct point_adder *adder, struct thread_spans *threads, size_t count)
{
    size_t most = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        most = threads[i].count > most ? threads[i].count : most;
        all += threads[i].count;
    }
    adder->ends = memory_items(most, sizeof *adder->ends);
    bool done = (adder->ends && MEMORY_GROW(adder->points->items, adder->points->capacity,
                                            adder->points->count + 2 * all)) ||
                failure_memory(adder->failure);
    done = done && sort_items(threads, count, sizeof *threads, thread_order, adder->stopper,
                              adder->failure);
    for (size_t i = 0; done && i < count; i++)
        done = add_thread(adder, threads[i].spans, threads[i].count);
    memory_free(adder->ends);
    return done;
}

static bool add_host(struct point_adder *adder)
{
    struct spans spans;
    const struct trace_file *file = adder->file;
    size_t count = 0;
    bool done = spans_make(&spans, file, takes_host, adder, adder->stopper, adder->failure);
    struct thread_spans *threads = done ? memory_zeroed(file->tracks.count, sizeof *threads) : NULL;
    done = done && (threads || failure_memory(adder->failure));
    for (size_t track = 0; done && track < file->tracks.count; track++)
        if (spans.first[track + 1] > spans.first[track])
            threads[count++] = (struct thread_spans){spans.items + spans.first[track],
                                                     spans.first[track + 1] - spans.first[track]};
    done = done && add_threads(adder, threads, count);
    memory_free(threads);
    spans_clear(&spans);
    return done;
}

/* Adds the begins or, with POINT_END, the ends of device work. */
static bool add_device(struct point_adder *adder, unsigned flags)
{
    const struct columns *columns = &adder->file->columns;
    size_t count = 0, i = 0;
    for (size_t row = columns_find(columns, 0, KIND_WORK); row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK))
        count += takes_work(adder, row);
    if (!MEMORY_GROW(adder->points->items, adder->points->capacity, adder->points->count + count))
        return failure_memory(adder->failure);
    for (size_t row = columns_find(columns, 0, KIND_WORK); row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        if (!stopper_goes_on(adder->stopper, i++, adder->failure))
            return false;
        if (takes_work(adder, row))
            add_point(adder, (uint32_t)row, flags);
    }
    return true;
}

bool sim_points_add(struct sim_points *points, const struct trace_file *file, uint32_t member,
                    const struct sim_share *share, const struct sim_clock *clock,
                    const struct stopper *stopper, struct failure *failure)
{
    size_t first = points->count;
    struct point_adder adder = {.points = points,
                                .file = file,
                                .member = member,
                                .share = share,
                                .stopper = stopper,
                                .failure = failure};
    /* E1.4: in the order of simultaneous points; the sort is stable. */
    if (!add_device(&adder, POINT_END) || !add_host(&adder) || !add_device(&adder, 0) ||
        !sort_numbered(points->items + first, points->count - first, sizeof *points->items, stopper,
                       failure))
        return false;
    for (size_t i = first; i < points->count; i++) /* keeps the order */
        points->items[i].at = sim_clock_time(clock, points->items[i].at);
    return true;
}

/* Stable, so points of a member keep their order. */
bool sim_points_sort(struct sim_points *points, const struct stopper *stopper,
                     struct failure *failure)
{
    return sort_numbered(points->items, points->count, sizeof *points->items, stopper, failure);
}

void sim_points_clear(struct sim_points *points)
{
    memory_free(points->items);
    *points = (struct sim_points){.count = 0};
}
