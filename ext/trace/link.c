#include "link.h"

#include "../reader/memory.h"

struct launch_call {
    int64_t correlation;
    int64_t start;
    bool driver;
    uint32_t row;
};

/* By correlation; within a correlation by rule 1: calls not of cuda_driver first, then earlier
** start, then earlier in the file. */
static int call_order(const void *a, const void *b)
{
    const struct launch_call *x = a, *y = b;
    int order = COMPARE(x->correlation, y->correlation);
    order = order ? order : COMPARE(x->driver, y->driver);
    return order ? order : COMPARE(x->start, y->start);
}

/* The launch of a device event, by rule 1; ROW_NONE if it has none. */
static uint32_t launch_of(const struct launch_call *calls, size_t count, int64_t correlation,
                          int64_t start)
{
    size_t first = 0;
    LOWER_BOUND(first, count, calls[first].correlation < correlation);
    if (first == count || calls[first].correlation != correlation)
        return ROW_NONE;
    size_t end = first, after = first; /* end of the preferred calls; first one after the event */
    LOWER_BOUND(end, count,
                calls[end].correlation == correlation && calls[end].driver == calls[first].driver);
    LOWER_BOUND(after, end, calls[after].start <= start);
    if (after > first)
        return calls[after - 1].row;
    while (after + 1 < end && calls[after + 1].start == calls[first].start)
        after++;
    return calls[after].row;
}

static bool can_launch(const struct columns *columns, size_t row)
{
    return (columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL) &&
           columns->correlation[row] > 0 && columns->ts[row] != NUMBER_NONE;
}

/* Rule 2, for rows in the order of the file. A row without a time comes last. */
static bool starts_before(const struct columns *columns, size_t row, size_t other)
{
    return columns->ts[row] != NUMBER_NONE &&
           (columns->ts[other] == NUMBER_NONE || columns->ts[row] < columns->ts[other]);
}

/* An index from correlation to call. Correlations of calls are mostly a dense range without
** doubles; an array by correlation then replaces sorting. */
struct call_index {
    uint32_t *rows; /* of the calls, by correlation - lowest; ROW_NONE: none */
    int64_t lowest, size;
};

/* Makes an index; `rows` stays NULL if the correlations are not dense and distinct. */
static bool make_call_index(struct call_index *index, const struct launch_call *calls, size_t count,
                            const struct stopper *stopper, struct failure *failure)
{
    int64_t highest = calls[0].correlation;
    *index = (struct call_index){NULL, highest, 0};
    for (size_t i = 1; i < count; i++) {
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        if (calls[i].correlation < index->lowest)
            index->lowest = calls[i].correlation;
        if (calls[i].correlation > highest)
            highest = calls[i].correlation;
    }
    if ((uint64_t)(highest - index->lowest) / 8 >= count)
        return true;
    index->size = highest - index->lowest + 1;
    index->rows = memory_filled((size_t)index->size, sizeof *index->rows);
    if (!index->rows)
        return failure_memory(failure);
    for (size_t i = 0; i < count; i++) {
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        uint32_t *row = &index->rows[calls[i].correlation - index->lowest];
        if (*row != ROW_NONE) {
            memory_free(index->rows);
            index->rows = NULL;
            return true;
        }
        *row = calls[i].row;
    }
    return true;
}

bool links_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct columns *columns = &file->columns;
    struct call_index index = {NULL, 0, 0};
    struct launch_call *calls = NULL;
    size_t count = 0, capacity = 0;
    bool done = true;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(stopper, row, failure);
        if (!can_launch(columns, row))
            continue;
        if (!MEMORY_GROW(calls, capacity, count + 1))
            done = failure_memory(failure);
        else
            calls[count++] =
                (struct launch_call){columns->correlation[row], columns->ts[row],
                                     columns->kind[row] == KIND_DRIVER_CALL, (uint32_t)row};
    }
    if (count == 0)
        return done;
    done = done && make_call_index(&index, calls, count, stopper, failure) &&
           (index.rows || sort_items(calls, count, sizeof *calls, call_order, stopper, failure));
    for (size_t row = 0; done && row < columns->count; row++) {
        int64_t correlation = columns->correlation[row];
        uint32_t launch = ROW_NONE;
        done = stopper_goes_on(stopper, row, failure);
        if (!kind_is_device(columns->kind[row]) || correlation <= 0)
            continue;
        if (!index.rows)
            launch = launch_of(calls, count, correlation, columns->ts[row]);
        else if (correlation >= index.lowest && correlation - index.lowest < index.size)
            launch = index.rows[correlation - index.lowest];
        if (launch == ROW_NONE)
            continue;
        columns->link[row] = launch;
        uint32_t first = columns->link[launch];
        if (first == ROW_NONE || starts_before(columns, row, first))
            columns->link[launch] = (uint32_t)row;
    }
    memory_free(calls);
    memory_free(index.rows);
    return done;
}

int64_t *links_first(const struct trace_file *file, const struct stopper *stopper,
                     struct failure *failure)
{
    const struct columns *columns = &file->columns;
    int64_t *first = memory_allocate((file->tracks.count + 1) * sizeof *first);
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
    int64_t *first = links_first(file, stopper, failure);
    bool done = first != NULL;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(stopper, row, failure);
        if (columns->kind[row] != KIND_WORK || columns->link[row] != ROW_NONE)
            continue;
        bool backlog = link_is_backlog(columns, first, row);
        int64_t *total = backlog ? &file->backlog : &file->unlaunched;
        problem_add(&file->problems, backlog ? PROBLEM_BACKLOG : PROBLEM_NO_LAUNCH, 0);
        if (columns->dur[row] > 0 && __builtin_add_overflow(*total, columns->dur[row], total))
            *total = INT64_MAX;
    }
    memory_free(first);
    return done;
}
