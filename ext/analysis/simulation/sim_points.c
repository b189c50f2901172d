#include "sim_points.h"

#include "base/memory.h"

/* Where a point goes among those of its time, as the highest bits of its order. */
enum point_stage { STAGE_ENDS, STAGE_HOST, STAGE_BEGINS };
enum { STAGE_BITS = 62 };

/* The end of an event of a thread. */
struct thread_end {
    int64_t end;
    size_t span;
};

/* While the points of a member are added. */
struct point_adder {
    struct sim_points *points;
    const struct trace_file *file;
    uint32_t member;
    uint64_t sequence; /* of the next point of the host */
    const struct stopper *stopper;
    struct failure *failure;
    struct thread_end *ends; /* room for the events of a thread */
};

static void add_point(struct point_adder *adder, enum point_stage stage, uint64_t order,
                      uint32_t row, unsigned flags)
{
    struct sim_point *point = &adder->points->items[adder->points->count++];
    *point = (struct sim_point){.order = (uint64_t)stage << STAGE_BITS | order,
                                .row = row,
                                .member_flags = adder->member * POINT_FLAGS | flags};
    point->at = point_own_time(point, &adder->file->columns);
}

static bool takes_host(void *argument, size_t row)
{
    return sim_takes_host(argument, row);
}

static int end_order(const void *a, const void *b)
{
    const struct thread_end *x = a, *y = b;
    int order = COMPARE(x->end, y->end);
    return order ? order : COMPARE(y->span, x->span);
}

/* Adds the next point of a thread, and marks the one before it if the thread was idle in
** between. */
static void add_host_point(struct point_adder *adder, size_t first, uint32_t row, unsigned flags)
{
    struct sim_points *points = adder->points;
    add_point(adder, STAGE_HOST, adder->sequence++, row, POINT_HOST | flags);
    struct sim_point *now = &points->items[points->count - 1];
    if (points->count - 1 > first &&
        (wide_time)now->at - now[-1].at > SIM_IDLE)
        now[-1].member_flags |= POINT_QUIET;
}

/* Adds the points of a thread: ends at a time go before the begins there, the innermost first; an
** event without a length ends right after its begin. */
static bool add_thread(struct point_adder *adder, const struct span *spans, size_t count)
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
            add_host_point(adder, first, spans[i].row, 0);
        if (i < count && spans[i].dur == 0)
            add_host_point(adder, first, spans[i].row, POINT_END);
    }
    if (adder->points->count > first)
        adder->points->items[adder->points->count - 1].member_flags |= POINT_QUIET;
    return true;
}

/* The spans of a thread. */
struct thread_spans {
    const struct span *spans;
    size_t count;
};

/* By their first events. */
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
    adder->ends = memory_zeroed(most, sizeof *adder->ends);
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
    bool done = spans_make(&spans, file, takes_host, (void *)&file->columns, adder->stopper,
                           adder->failure);
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

static bool add_device(struct point_adder *adder)
{
    const struct columns *columns = &adder->file->columns;
    size_t count = 0, i = 0;
    for (size_t row = columns_find(columns, 0, KIND_WORK); row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK))
        count += busy_takes(columns, row);
    if (!MEMORY_GROW(adder->points->items, adder->points->capacity,
                     adder->points->count + 2 * count))
        return failure_memory(adder->failure);
    for (size_t row = columns_find(columns, 0, KIND_WORK); row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK)) {
        if (!stopper_goes_on(adder->stopper, i++, adder->failure))
            return false;
        if (!busy_takes(columns, row))
            continue;
        add_point(adder, STAGE_BEGINS, row, (uint32_t)row, 0);
        add_point(adder, STAGE_ENDS, row, (uint32_t)row, POINT_END);
    }
    return true;
}

static int point_order(const void *a, const void *b)
{
    const struct sim_point *x = a, *y = b;
    int order = COMPARE(x->at, y->at);
    return order ? order : COMPARE(x->order, y->order);
}

bool sim_points_add(struct sim_points *points, const struct trace_file *file, uint32_t member,
                    const struct sim_clock *clock, const struct stopper *stopper,
                    struct failure *failure)
{
    size_t first = points->count;
    struct point_adder adder = {.points = points,
                                .file = file,
                                .member = member,
                                .stopper = stopper,
                                .failure = failure};
    if (!add_host(&adder) || !add_device(&adder) ||
        !sort_items(points->items + first, points->count - first, sizeof *points->items,
                    point_order, stopper, failure))
        return false;
    for (size_t i = first; i < points->count; i++) /* this keeps their order */
        points->items[i].at = sim_clock_time(clock, points->items[i].at);
    return true;
}

static int time_order(const void *a, const void *b)
{
    return COMPARE(((const struct sim_point *)a)->at, ((const struct sim_point *)b)->at);
}

/* Stable: points of a member stay in their order. */
bool sim_points_sort(struct sim_points *points, const struct stopper *stopper,
                     struct failure *failure)
{
    return sort_items(points->items, points->count, sizeof *points->items, time_order, stopper,
                      failure);
}

void sim_points_clear(struct sim_points *points)
{
    memory_free(points->items);
    *points = (struct sim_points){.count = 0};
}
