/*
** Calls that wait for device work (E4).
*/
#include "analysis/parts/busy.h"
#include "analysis/path/path_cause.h"
#include "sim_maker.h"

/* E4.2: true if a call waits for its copy. */
static bool copy_waits(const struct trace_file *file, uint32_t call, uint32_t copy)
{
    static const char *const names[] = {"cudaMemcpy", "hipMemcpy", "hipMemcpyWithStream"};
    const struct name *name = &file->names.items[file->columns.name[call]];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(name->text, name->length, names[i]))
            return true;
    return path_is_pageable(file, copy);
}

/* Adds work to the awaited work of the current call. Drops work that ends later, and ignores work
** outside a sample. */
static void add_awaited(struct sim_maker *maker, size_t work, size_t *count)
{
    const struct path_work *of = &maker->of->work->path.work[work];
    if (of->end > maker->now)
        maker->graph->dropped++;
    else if (sim_node_here(maker, maker->rows->ends[of->row]) != SIM_NONE)
        maker->of->threads.awaited[(*count)++] = of;
}

/* E4.1: finds the work that a call with `Synchronize` in its name waits for: the work that ended
** last while the call ran and, if the call's streams are known, the last work of each. */
static bool find_synchronized(struct sim_maker *maker, uint32_t call, size_t *count)
{
    const struct sim_work *work = maker->of->work;
    const struct trace_file *file = maker->of->file;
    const struct name *name = &file->names.items[file->columns.name[call]];
    const struct path_wait wait = {.source = path_source_of(&work->path, call)};
    size_t last = path_last_work(&work->path, &wait, 1, file->columns.ts[call], maker->now);
    bool known = wait.source.among != AMONG_ALL || name_contains(name, "DeviceSynchronize") ||
                 name_contains(name, "CtxSynchronize");
    if (last != WORK_NONE)
        add_awaited(maker, last, count);
    for (size_t i = 0; known && i < work->track_count; i++) {
        uint32_t of = sim_work_is_of(work, i, &wait.source)
                          ? sim_work_last(work, i, wait.source.limit)
                          : SIM_NO_WORK;
        if (of != SIM_NO_WORK && of != last)
            add_awaited(maker, of, count);
        if (!stopper_goes_on(maker->stopper, maker->steps++, maker->failure))
            return false;
    }
    return true;
}

/* E4.1 to E4.3: fills `awaited` with the work that a call waits for. `*copy` is the begin of an
** awaited copy that ends after the call, or SIM_NONE. */
static bool find_awaited(struct sim_maker *maker, uint32_t call, size_t *count, uint32_t *copy)
{
    const struct sim_work *work = maker->of->work;
    const struct trace_file *file = maker->of->file;
    unsigned flags = path_call_flags(&work->path, call);
    *count = 0;
    *copy = SIM_NONE;
    if (flags & NAMED_SYNCHRONIZE)
        return find_synchronized(maker, call, count);
    uint32_t row = flags & NAMED_MEMCPY ? file->columns.link[call] : ROW_NONE;
    if (row == ROW_NONE || !busy_takes(&file->columns, row) || !copy_waits(file, call, row))
        return true;
    if (busy_end(&file->columns, row) > maker->now && file->columns.ts[row] < maker->now)
        *copy = maker->rows->begins[row];
    else
        add_awaited(maker, path_work_of(&work->path, row), count);
    return true;
}

bool sim_end_call(struct sim_maker *maker, uint32_t before)
{
    const struct path_work **awaited = maker->of->threads.awaited;
    uint32_t call = maker->point->row, begin = maker->rows->begins[call], copy;
    int64_t latest = INT64_MIN;
    size_t count;
    if (!find_awaited(maker, call, &count, &copy))
        return false;
    if (copy != SIM_NONE)
        return sim_add_floor(maker, begin, LEAST_SYNC, EDGE_HOST) &&
               sim_add_edge(maker, copy, 0, EDGE_COPY);
    for (size_t i = 0; i < count; i++)
        latest = awaited[i]->end > latest ? awaited[i]->end : latest;
    bool waited = count > 0 && latest > maker->graph->at[begin];
    bool done = waited ? sim_add_floor(maker, begin, LEAST_SYNC, EDGE_HOST)
                       : sim_add_edge(maker, before, 0, EDGE_HOST);
    for (size_t i = 0; done && i < count; i++) {
        uint32_t from = maker->rows->ends[awaited[i]->row];
        done = waited ? sim_add_edge(maker, from, (wide_time)latest - awaited[i]->end, EDGE_SYNC)
                      : sim_add_floor(maker, from, LEAST_SYNC, EDGE_SYNC);
    }
    return done;
}
