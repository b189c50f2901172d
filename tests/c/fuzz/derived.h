/*
** What is derived from a file's columns when it is asked for, and what it must be,
** whatever the file: T5 word by word, and what ext/file/order.h says.
*/
#ifndef TRACEDIFF_FUZZ_DERIVED_H
#define TRACEDIFF_FUZZ_DERIVED_H

#include "fuzz.h"
#include "loading/load.h"
#include "file/order.h"
#include "file/stacks.h"

static int64_t end_of(const struct columns *columns, uint32_t row)
{
    int64_t end, dur = columns->dur[row] == NUMBER_NONE ? 0 : columns->dur[row];
    return __builtin_add_overflow(columns->ts[row], dur, &end) ? INT64_MAX : end;
}

static bool in_stacks(const struct columns *columns, uint32_t row)
{
    return columns->ts[row] != NUMBER_NONE && columns->kind[row] != KIND_TRACE;
}

/* T5: whether one of two events of a thread is the inner one. */
static bool inner(const struct columns *columns, uint32_t one, uint32_t other)
{
    if (columns->ts[one] != columns->ts[other])
        return columns->ts[one] > columns->ts[other];
    int64_t a = columns->dur[one] == NUMBER_NONE ? 0 : columns->dur[one];
    int64_t b = columns->dur[other] == NUMBER_NONE ? 0 : columns->dur[other];
    if (a != b)
        return a < b;
    return one > other;
}

/* The innermost event of a thread that holds an instant, of those further out than
** `than`, if there is one. */
static uint32_t innermost(const struct columns *columns, uint32_t track, int64_t at, uint32_t than)
{
    uint32_t best = ROW_NONE;
    for (uint32_t i = 0; i < columns->count; i++)
        if (in_stacks(columns, i) && row_place(columns, i)->track == track &&
            columns->ts[i] <= at && at < end_of(columns, i) &&
            (than == ROW_NONE || (i != than && inner(columns, than, i))) &&
            (best == ROW_NONE || inner(columns, i, best)))
            best = i;
    return best;
}

static void check_stacks(const struct trace_file *trace)
{
    const struct columns *columns = &trace->columns;
    for (uint32_t row = 0; row < columns->count; row++) {
        bool there = in_stacks(columns, row);
        uint32_t parent =
            there ? innermost(columns, row_place(columns, row)->track, columns->ts[row], row)
                  : ROW_NONE;
        MUST(trace->stacks.parent[row] == parent);
        MUST(trace->stacks.depth[row] == (!there               ? DEPTH_NONE
                                          : parent == ROW_NONE ? 0
                                                               : trace->stacks.depth[parent] + 1));
        MUST((trace->stacks.self[row] == NUMBER_NONE) ==
             (!there || columns->dur[row] == NUMBER_NONE));
        if (!there || columns->dur[row] == NUMBER_NONE)
            continue;
        /* between two borders of events, the innermost one stays the same */
        uint64_t self = 0;
        for (int64_t at = columns->ts[row], end = end_of(columns, row); at < end;) {
            int64_t next = end;
            for (uint32_t i = 0; i < columns->count; i++)
                if (in_stacks(columns, i) &&
                    row_place(columns, i)->track == row_place(columns, row)->track) {
                    if (columns->ts[i] > at && columns->ts[i] < next)
                        next = columns->ts[i];
                    if (end_of(columns, i) > at && end_of(columns, i) < next)
                        next = end_of(columns, i);
                }
            if (innermost(columns, row_place(columns, row)->track, at, ROW_NONE) == row)
                self += (uint64_t)next - (uint64_t)at;
            at = next;
        }
        MUST((uint64_t)trace->stacks.self[row] == self);
    }
}

static int64_t duration_of(const struct columns *columns, size_t row)
{
    return columns->dur[row] == NUMBER_NONE ? 0 : columns->dur[row];
}

static void check_order(const struct trace_file *trace, enum order order, const uint32_t *rows)
{
    const struct columns *columns = &trace->columns;
    for (size_t i = 1; i < columns->count; i++) {
        uint32_t a = rows[i - 1], b = rows[i];
        MUST(a < columns->count && b < columns->count);
        int64_t difference;
        if (order == ORDER_NAME) {
            uint32_t x = columns->name[a], y = columns->name[b];
            difference = x == NAME_NONE || y == NAME_NONE
                             ? (x != NAME_NONE) - (y != NAME_NONE)
                             : name_compare(&trace->names.items[x], &trace->names.items[y]);
        } else {
            const int64_t *times = order == ORDER_DUR ? columns->dur : columns->ts;
            difference = COMPARE(times[a], times[b]);
        }
        if (order == ORDER_SPANS && row_place(columns, a)->track != row_place(columns, b)->track)
            difference = COMPARE(row_place(columns, a)->track, row_place(columns, b)->track);
        else if (order == ORDER_SPANS && difference == 0)
            difference = COMPARE(duration_of(columns, b), duration_of(columns, a));
        MUST(difference < 0 || (difference == 0 && a < b));
    }
}

/* Derives everything, and checks it unless an allocation has failed. */
static void derive(struct trace_file *trace)
{
    const struct stopper stopper = {.stop = NULL};
    struct failure failure = {0};
    bool small = trace->columns.count <= 100;
    if (stacks_find(trace, &stopper, &failure) && small)
        check_stacks(trace);
    for (enum order order = ORDER_NAME; order < ORDER_COUNT; order++) {
        const uint32_t *rows = order_rows(trace, order, &stopper, &failure);
        MUST(rows || (failure.code == FAILURE_MEMORY && fail_at > 0));
        if (rows)
            check_order(trace, order, rows);
    }
    failure_clear(&failure);
}

#endif
