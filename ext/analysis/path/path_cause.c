#include "path_cause.h"

#include "analysis/parts/busy.h"

/* Finds the work on other streams that `work` waits for and that ends last, if that is after
** `after` (P6); otherwise WORK_NONE. */
static size_t work_waited_for(const struct path_graph *graph, const struct path_work *work,
                              int64_t after)
{
    const uint32_t rows[] = {work->row, work->launch};
    size_t found = WORK_NONE;
    for (int i = 0; i < 2 && rows[i] != ROW_NONE; i++) {
        size_t count, first = path_waits_of(graph, rows[i], false, &count);
        const struct path_wait *waits = &graph->waits[first];
        struct path_wait others = {.source = {.among = AMONG_OTHERS, .track = work->track}};
        if (count > 0 && waits->source.among == AMONG_OTHERS) {
            others.source.limit = waits->source.limit;
            waits = &others;
        }
        size_t last = path_last_work(graph, waits, count, after, work->start);
        if (last != WORK_NONE && (found == WORK_NONE || last > found))
            found = last;
    }
    return found;
}

struct path_cause path_cause(const struct path_graph *graph, const struct path_work *work,
                             uint32_t track)
{
    const struct columns *columns = &graph->file->columns;
    size_t before = path_work_before(graph, work);
    int64_t end = before == WORK_NONE ? INT64_MIN : graph->work[before].end;
    size_t waited = work_waited_for(graph, work, end);
    if (waited != WORK_NONE) {
        before = waited;
        end = graph->work[waited].end;
    }
    struct path_cause cause = {before, track, before == WORK_NONE ? work->start : end, TRACK_NONE,
                               0};
    if (work->launch == ROW_NONE)
        return cause;
    int64_t dur = columns->dur[work->launch], called = columns->ts[work->launch];
    int64_t returned = called + (dur == NUMBER_NONE ? 0 : dur);
    uint32_t launcher = row_place(columns, work->launch)->track;
    cause.came = returned <= work->start ? returned : called;
    if (before != WORK_NONE && cause.came <= end) {
        cause.launcher = launcher;
        return cause;
    }
    cause.work = WORK_NONE;
    cause.track = launcher;
    cause.at = returned < work->start ? returned : work->start;
    return cause;
}

struct path_source path_source_of(const struct path_graph *graph, uint32_t call)
{
    size_t count, first = path_waits_of(graph, call, true, &count);
    struct path_source all = {.among = AMONG_ALL, .limit = graph->file->columns.ts[call]};
    return count > 0 ? graph->waits[first].source : all;
}

bool path_is_pageable(const struct trace_file *file, uint32_t copy)
{
    return name_contains(&file->names.items[file->columns.name[copy]], "ageable");
}

size_t path_copy_of(const struct path_graph *graph, uint32_t call, int64_t upto)
{
    const struct columns *columns = &graph->file->columns;
    unsigned flags = graph->flags[columns->name[call]];
    uint32_t copy =
        flags & NAMED_MEMCPY && !(flags & NAMED_SYNCHRONIZE) ? columns->link[call] : ROW_NONE;
    if (copy == ROW_NONE || !busy_takes(columns, copy))
        return WORK_NONE;
    bool ended = busy_end(columns, copy) > columns->ts[call] && busy_end(columns, copy) <= upto;
    bool runs = columns->ts[copy] > columns->ts[call] && columns->ts[copy] < upto &&
                busy_end(columns, copy) > upto && path_is_pageable(graph->file, copy);
    return ended || runs ? path_work_of(graph, copy) : WORK_NONE;
}

bool path_handed_over(const struct path_graph *graph, int64_t at, int64_t after, uint32_t *track,
                      int64_t *until)
{
    const struct span_line *active = &graph->active;
    size_t i = 0;
    LOWER_BOUND(i, active->count, active->items[i].start < at);
    if (i == 0)
        return false;
    const struct span_change *last = &active->items[i - 1];
    bool now = last->row != ROW_NONE;
    if (!now && last->start <= after)
        return false;
    *track = now ? last->row : last[-1].row;
    *until = now ? at : last->start;
    return true;
}

enum path_kind path_kind_of_call(const struct path_graph *graph, uint32_t call, bool waited)
{
    bool sync = graph->flags[graph->file->columns.name[call]] & NAMED_SYNCHRONIZE;
    return waited || sync ? PATH_SYNC : graph->launches[call] ? PATH_LAUNCH : PATH_HOST;
}
