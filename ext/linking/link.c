#include "link.h"

#include "base/memory.h"

struct host_call {
    int64_t correlation;
    int64_t start;
    bool driver;
    uint32_t row;
};

/* Calls that can launch, hashed by the low bits of their correlation. Correlations are mostly
** consecutive, so most buckets hold one call. */
struct host_calls {
    uint32_t *rows;      /* by bucket; in call_order() within a bucket */
    uint32_t *begin;     /* by bucket: index in `rows` of its first call; plus the end */
    size_t buckets;      /* number of buckets, a power of two */
    struct host_call *sorted; /* scratch space of sort_bucket() */
    size_t sorted_capacity;
};

/* By correlation, then by rule 1: driver calls last, then by start, then by order in the file. */
static int call_order(const void *a, const void *b)
{
    const struct host_call *x = a, *y = b;
    int order = COMPARE(x->correlation, y->correlation);
    order = order ? order : COMPARE(x->driver, y->driver);
    return order ? order : COMPARE(x->start, y->start);
}

static bool can_launch(const struct columns *columns, size_t row)
{
    return (columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL) &&
           columns->correlation[row] > 0 && columns->ts[row] != NUMBER_NONE;
}

static size_t bucket_of(const struct host_calls *calls, int64_t correlation)
{
    return (size_t)correlation & (calls->buckets - 1);
}

static struct host_call call_of(const struct columns *columns, uint32_t row)
{
    return (struct host_call){columns->correlation[row], columns->ts[row],
                              columns->kind[row] == KIND_DRIVER_CALL, row};
}

static bool in_order(const struct columns *columns, uint32_t row, uint32_t next)
{
    const struct host_call a = call_of(columns, row), b = call_of(columns, next);
    return call_order(&a, &b) <= 0;
}

/* Sorts the `count` calls of the bucket that begins at index `first`. Most are already in order. */
static bool sort_bucket(struct host_calls *calls, const struct columns *columns, size_t first,
                        size_t count, const struct stopper *stopper, struct failure *failure)
{
    uint32_t *rows = calls->rows + first;
    size_t ordered = 1;
    while (ordered < count && in_order(columns, rows[ordered - 1], rows[ordered]))
        if (!stopper_goes_on(stopper, ordered++, failure))
            return false;
    if (ordered == count)
        return true;
    if (!MEMORY_GROW(calls->sorted, calls->sorted_capacity, count))
        return failure_memory(failure);
    for (size_t i = 0; i < count; i++) {
        calls->sorted[i] = call_of(columns, rows[i]);
        if (!stopper_goes_on(stopper, i, failure))
            return false;
    }
    if (!sort_items(calls->sorted, count, sizeof *calls->sorted, call_order, stopper, failure))
        return false;
    for (size_t i = 0; i < count; i++)
        rows[i] = calls->sorted[i].row;
    return true;
}

/* Finds the calls of a file. `calls` must be zeroed. */
static bool calls_find(struct host_calls *calls, const struct columns *columns,
                       const struct stopper *stopper, struct failure *failure)
{
    calls->buckets = 1;
    while (calls->buckets < columns->count / 4)
        calls->buckets *= 2;
    calls->begin = memory_zeroed(calls->buckets + 2, sizeof *calls->begin);
    bool done = calls->begin || failure_memory(failure);
    /* First count the calls of bucket b at b + 2. After summing up, b + 1 holds the index for its
    ** next call and, once all are placed, its end. */
    for (size_t row = 0; done && row < columns->count; row++) {
        if (can_launch(columns, row))
            calls->begin[bucket_of(calls, columns->correlation[row]) + 2]++;
        done = stopper_goes_on(stopper, row, failure);
    }
    for (size_t i = 2; done && i < calls->buckets + 2; i++) {
        calls->begin[i] += calls->begin[i - 1];
        done = stopper_goes_on(stopper, i, failure);
    }
    if (done) {
        calls->rows = memory_items(calls->begin[calls->buckets + 1], sizeof *calls->rows);
        done = calls->rows || failure_memory(failure);
    }
    for (size_t row = 0; done && row < columns->count; row++) {
        if (can_launch(columns, row))
            calls->rows[calls->begin[bucket_of(calls, columns->correlation[row]) + 1]++] =
                (uint32_t)row;
        done = stopper_goes_on(stopper, row, failure);
    }
    for (size_t i = 0; done && i < calls->buckets; i++) {
        uint32_t first = calls->begin[i], count = calls->begin[i + 1] - first;
        done = stopper_goes_on(stopper, i, failure) &&
               (count < 2 || sort_bucket(calls, columns, first, count, stopper, failure));
    }
    return done;
}

/* Finds the launch of a device event by rule 1, or ROW_NONE. */
static uint32_t launch_of(const struct host_calls *calls, const struct columns *columns,
                          size_t event)
{
    const uint32_t *rows = calls->rows;
    int64_t correlation = columns->correlation[event], start = columns->ts[event];
    size_t bucket = bucket_of(calls, correlation);
    size_t first = calls->begin[bucket], count = calls->begin[bucket + 1];
    if (first < count) { /* in most cases, the last call */
        uint32_t last = rows[count - 1];
        if (columns->correlation[last] == correlation && columns->kind[last] == KIND_CALL &&
            columns->ts[last] <= start)
            return last;
    }
    LOWER_BOUND(first, count, columns->correlation[rows[first]] < correlation);
    if (first == count || columns->correlation[rows[first]] != correlation)
        return ROW_NONE;
    size_t end = first, after = first; /* end of the preferred calls; first call after the event */
    LOWER_BOUND(end, count,
                columns->correlation[rows[end]] == correlation &&
                    columns->kind[rows[end]] == columns->kind[rows[first]]);
    LOWER_BOUND(after, end, columns->ts[rows[after]] <= start);
    if (after > first)
        return rows[after - 1];
    while (after + 1 < end && columns->ts[rows[after + 1]] == columns->ts[rows[first]])
        after++;
    return rows[after];
}

/* Applies rule 2 to two rows in file order. A row without a time comes last. */
static bool starts_before(const struct columns *columns, size_t row, size_t other)
{
    return columns->ts[row] != NUMBER_NONE &&
           (columns->ts[other] == NUMBER_NONE || columns->ts[row] < columns->ts[other]);
}

void link_rows(struct columns *columns, uint32_t row, uint32_t launch)
{
    uint32_t first = columns->link[launch];
    columns->link[row] = launch;
    if (first == ROW_NONE || starts_before(columns, row, first))
        columns->link[launch] = row;
}

bool links_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct columns *columns = &file->columns;
    struct host_calls calls = {.rows = NULL};
    bool done = calls_find(&calls, columns, stopper, failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(stopper, row, failure);
        if (!kind_is_device(columns->kind[row]) || columns->correlation[row] <= 0)
            continue;
        uint32_t launch = launch_of(&calls, columns, row);
        if (launch != ROW_NONE)
            link_rows(columns, (uint32_t)row, launch);
    }
    memory_free(calls.sorted);
    memory_free(calls.rows);
    memory_free(calls.begin);
    return done;
}

int64_t *links_first(const struct trace_file *file, const struct stopper *stopper,
                     struct failure *failure)
{
    const struct columns *columns = &file->columns;
    int64_t *first = memory_items(file->tracks.count, sizeof *first);
    bool done = first || failure_memory(failure);
    for (size_t track = 0; done && track < file->tracks.count; track++)
        first[track] = INT64_MIN;
    for (size_t row = 0; done && row < columns->count; row++) {
        int64_t *of_track = &first[row_place(columns, row)->track];
        if (columns->kind[row] == KIND_WORK && columns->link[row] != ROW_NONE &&
            columns->ts[row] != NUMBER_NONE &&
            (*of_track == INT64_MIN || columns->ts[row] < *of_track))
            *of_track = columns->ts[row];
        done = stopper_goes_on(stopper, row, failure);
    }
    if (done)
        return first;
    memory_free(first);
    return NULL;
}

bool links_count_missing(struct trace_file *file, const struct stopper *stopper,
                         struct failure *failure)
{
    const struct columns *columns = &file->columns;
    int64_t *first = NULL; /* found on first use; most files do not need it */
    bool done = true;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(stopper, row, failure);
        if (!done || columns->kind[row] != KIND_WORK || columns->link[row] != ROW_NONE)
            continue;
        if (!first && !(first = links_first(file, stopper, failure)))
            return false;
        bool backlog = link_is_backlog(columns, first, row);
        int64_t *total = backlog ? &file->backlog : &file->unlaunched;
        problem_add(&file->problems, backlog ? PROBLEM_BACKLOG : PROBLEM_NO_LAUNCH, 0);
        file->health.backlog_kernels += backlog && row_is(file, row, CATEGORY_KERNEL);
        if (columns->dur[row] > 0 && __builtin_add_overflow(*total, columns->dur[row], total))
            *total = INT64_MAX;
    }
    memory_free(first);
    return done;
}
