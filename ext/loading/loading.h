/*
** A file during loading, filled in by a source of rows (row_source.h).
*/
#ifndef TRACEDIFF_LOADING_H
#define TRACEDIFF_LOADING_H

#include "annotations.h"
#include "linking/bonds.h"
#include "linking/flows.h"
#include "pairs.h"

struct loading {
    struct trace_file *file;
    bool whole;       /* false: only the facts known without rows */
    bool look;        /* as in struct load_options */
    atomic_int *idle; /* as in struct load_options, like `kept` and `head` */
    struct memo **kept;
    const struct trace_file *head;
    const struct stopper *stopper;
    struct failure *failure;
    bool unsure;        /* zlib must read this document again */
    struct edge *edges; /* B and E events that are not paired yet */
    size_t edge_count, edge_capacity;
    struct external *externals; /* of annotations */
    size_t external_count, external_capacity;
    struct flow *flows; /* from operators to device work */
    size_t flow_count, flow_capacity;
    struct bond *bonds; /* links by a number that both events share */
    size_t bond_count, bond_capacity;
};

/* A row to add. */
struct new_row {
    int64_t ts, dur, correlation; /* as in struct columns */
    uint32_t name, place;
    int64_t event;
    int64_t byte; /* for problems; 0: unknown */
    unsigned char phase;
    bool own_span; /* category Trace */
};

/* Whether the end of an event overflows 64 bits (T1). */
static inline bool never_ends(int64_t ts, int64_t dur)
{
    int64_t end;
    return ts != NUMBER_NONE && dur != NUMBER_NONE && __builtin_add_overflow(ts, dur, &end);
}

/* Checks a duration: NUMBER_NONE if it is invalid (T1, T4). */
static inline __attribute__((always_inline)) int64_t
loading_duration(struct trace_file *file, int64_t ts, int64_t dur, int64_t byte)
{
    if (dur != NUMBER_NONE && dur < 0)
        problem_add(&file->problems, PROBLEM_NEGATIVE_DURATION, byte);
    else if (never_ends(ts, dur))
        problem_add(&file->problems, PROBLEM_END, byte);
    else
        return dur;
    return NUMBER_NONE;
}

/* Extends the origin and the end of a file (T2). */
static inline __attribute__((always_inline)) void loading_span(struct trace_file *file, int64_t ts,
                                                               int64_t dur)
{
    if (ts == NUMBER_NONE)
        return;
    int64_t end = dur == NUMBER_NONE ? ts : ts + dur;
    if (file->first == NUMBER_NONE || ts < file->first)
        file->first = ts;
    if (file->last == NUMBER_NONE || end > file->last)
        file->last = end;
}

/* Makes room for another row. The new capacity is `expected`, the total number of rows, within
** limits: at most 128 times the present count (at first 1,024), at least a quarter more than it. */
static inline bool loading_reserve(struct loading *loading, double expected)
{
    enum { FIRST = 1024, MOST_TIMES = 128 };
    struct columns *columns = &loading->file->columns;
    size_t count = columns->count;
    if (count < columns->capacity)
        return true;
    double most = count > 0 ? MOST_TIMES * (double)count : FIRST;
    size_t wanted = (size_t)(expected < most ? expected : most) + 1;
    size_t least = count + count / 4 + 1;
    return columns_reserve(columns, wanted > least ? wanted : least) ||
           failure_memory(loading->failure);
}

/* Adds a row; the caller has reserved room. */
static inline __attribute__((always_inline)) bool loading_add(struct loading *loading,
                                                              const struct new_row *new)
{
    struct trace_file *file = loading->file;
    struct columns *columns = &file->columns;
    if (columns->count >= ROW_NONE - 1 || new->event >= UINT32_MAX)
        return failure_set(loading->failure, FAILURE_READ, "cannot read '%s': %s", file->path,
                           "more than 4,294,967,294 events");
    if (new->phase == 'X' || new->phase == 'B' || (new->phase == 'b' && file->async)) {
        if (new->name == NAME_NONE)
            problem_add(&file->problems, PROBLEM_NO_NAME, new->byte);
        if (!new->own_span)
            loading_span(file, new->ts, new->dur);
    }
    size_t row = columns->count++;
    columns->ts[row] = new->ts;
    columns->dur[row] = new->dur;
    columns->correlation[row] = new->correlation;
    columns->name[row] = new->name;
    columns->place[row] = new->place;
    columns->event[row] = (uint32_t) new->event;
    columns->link[row] = ROW_NONE;
    return true;
}

#endif
