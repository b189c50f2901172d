#include "link.h"

#include <stdlib.h>

#include "../reader/memory.h"

struct call {
    int64_t correlation;
    int64_t start;
    bool driver;
    uint32_t row;
};

/* By correlation, then as rule 1 prefers: within a correlation, not cuda_driver
** first; by start; then by place in the file. */
static int call_order(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    if (x->driver != y->driver)
        return x->driver ? 1 : -1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The first call of [low, high) that does not come before `correlation`. */
static size_t first_of(const struct call *calls, size_t high, int64_t correlation)
{
    size_t low = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The launch of a device event, by rule 1; ROW_NONE if it has none. */
static uint32_t launch_of(const struct call *calls, size_t count, int64_t correlation,
                          int64_t start)
{
    size_t first = first_of(calls, count, correlation);
    if (first == count || calls[first].correlation != correlation)
        return ROW_NONE;
    size_t end = correlation == INT64_MAX ? count : first_of(calls, count, correlation + 1);
    if (end - first == 1)
        return calls[first].row;
    size_t low = first, high = end;
    while (low < high) { /* only those of the preferred category */
        size_t middle = low + (high - low) / 2;
        if (calls[middle].driver == calls[first].driver)
            low = middle + 1;
        else
            high = middle;
    }
    end = low;
    low = first;
    high = end;
    while (low < high) { /* the first that starts after the event */
        size_t middle = low + (high - low) / 2;
        if (calls[middle].start <= start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > first)
        return calls[low - 1].row;
    while (low + 1 < end && calls[low + 1].start == calls[first].start)
        low++;
    return calls[low].row;
}

static bool can_launch(const struct columns *columns, size_t row)
{
    return (columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL) &&
           columns->correlation[row] > 0 && columns->ts[row] != NUMBER_NONE;
}

/* Rule 2, for rows in the order of the file; without a time comes last. */
static bool starts_before(const struct columns *columns, size_t row, size_t other)
{
    return columns->ts[row] != NUMBER_NONE &&
           (columns->ts[other] == NUMBER_NONE || columns->ts[row] < columns->ts[other]);
}

bool links_find(struct trace_file *file, struct failure *failure)
{
    struct columns *columns = &file->columns;
    size_t count = 0;
    bool sorted = true;
    for (size_t row = 0; row < columns->count; row++)
        count += can_launch(columns, row);
    if (count == 0)
        return true;
    struct call *calls = memory_allocate(count * sizeof *calls);
    if (!calls)
        return failure_memory(failure);
    size_t used = 0;
    for (size_t row = 0; row < columns->count; row++) {
        if (!can_launch(columns, row))
            continue;
        calls[used] = (struct call){columns->correlation[row], columns->ts[row],
                                    columns->kind[row] == KIND_DRIVER_CALL, (uint32_t)row};
        sorted = sorted && (used == 0 || call_order(&calls[used - 1], &calls[used]) < 0);
        used++;
    }
    if (!sorted)
        qsort(calls, count, sizeof *calls, call_order);
    for (size_t row = 0; row < columns->count; row++) {
        if (!kind_is_device(columns->kind[row]) || columns->correlation[row] <= 0)
            continue;
        uint32_t launch = launch_of(calls, count, columns->correlation[row], columns->ts[row]);
        if (launch == ROW_NONE)
            continue;
        columns->link[row] = launch;
        uint32_t first = columns->link[launch];
        if (first == ROW_NONE || starts_before(columns, row, first))
            columns->link[launch] = (uint32_t)row;
    }
    memory_free(calls);
    return true;
}
