/*
** What logs of TORCH_TRACE say: processes, spans, and compilations with their guards and graph
** breaks (CL3 to CL10). All of it is kept; records are not.
**
** Indices are of the arrays below; COMPILE_NONE is none. A list goes through the items of a
** process, in the order in which they began. Texts are ids of `texts`, NAME_NONE for NULL.
*/
#ifndef TRACEDIFF_COMPILE_LOG_H
#define TRACEDIFF_COMPILE_LOG_H

#include "analysis/names/compile_regions.h"
#include "log_reader.h"
#include "log_time.h"

#define COMPILE_NONE UINT32_MAX

enum compile_source { BY_NOTHING, BY_EVENTS, BY_METRICS, BY_RECORDS, BY_OPEN_END };
enum compile_clock { CLOCK_NONE, CLOCK_OF_EVENTS, CLOCK_OF_METRICS, CLOCK_OF_TRACE };
/* Of several lookups of a cache, the one that counts is the greatest. */
enum compile_cache { CACHE_UNKNOWN, CACHE_HIT, CACHE_BYPASS, CACHE_MISS };

struct compile_list {
    uint32_t first, last;
};

struct compile_file {
    char *path;
    const char *name; /* in the path */
    int64_t rank;     /* of the name; -1: none */
    int64_t lines, size;
    uint32_t first_process, process_count;
    bool listed; /* found in a directory */
};

struct compile_process {
    uint32_t file;
    int64_t number;    /* as the prefixes have it */
    int64_t pid, rank; /* NUMBER_NONE: not known */
    uint32_t version;
    enum compile_clock told; /* the clock by */
    struct log_clock clock;
    int64_t records, events, compilations;
    int64_t first_local, last_local; /* of records without a time of their own; NUMBER_NONE */
    int64_t first_event, last_event; /* ns since 1970; NUMBER_NONE */
    int64_t problems[LOG_PROBLEMS];
    struct compile_list spans, found, breaks, guards;
    struct log_bytes caches; /* a letter for each lookup of a cache */
    /* while it is read */
    uint32_t *open; /* spans */
    size_t open_count, open_capacity;
    uint32_t *files; /* texts, by number of stacks */
    size_t file_count, file_capacity;
    bool frames_end; /* a stack of dynamo_start ends in the frame that is compiled (CL8) */
};

struct compile_span {
    uint32_t process, next, parent;
    uint32_t compilation; /* of an outermost one */
    uint32_t name, id;
    int64_t line, attempt, ts;
    int64_t dur, self; /* NUMBER_NONE: it has no end */
    uint32_t depth;
    enum compile_phase phase;
    bool instant, chained; /* chained: it and all around it have an end */
};

struct compilation {
    uint32_t process, next;
    uint32_t id;
    int64_t nth, attempts, line;
    enum compile_part part;
    uint32_t root; /* span */
    enum compile_source source;
    int64_t start, dur, phases[COMPILE_PHASES]; /* NUMBER_NONE */
    int64_t first_local, last_local;            /* of its records */
    int64_t start_local; /* of a dynamo_start; NUMBER_NONE */
    int64_t metrics_start, metrics_dur, metrics_phases[COMPILE_PHASES];
    uint32_t function, file, place, caller; /* file: the last two components of its path */
    uint32_t last_function, last_file, last_place; /* the last frame of dynamo_start */
    uint32_t outer_caller, inner_caller; /* the user's frame without the last one, and with it */
    enum compile_cache cache_aot, cache_fx;
    unsigned began; /* by which of enum compile_begin, as bits */
    bool has_metrics, done;
    bool recompile;
    uint32_t guard, argument, guard_place;
    int64_t breaks, restarts;
    uint32_t fail_type, fail_reason;
    int64_t ops, nodes, guards;
};

struct compile_break {
    uint32_t compilation, next;
    int64_t attempt;
    uint32_t place, reason, explanation, stack;
    bool restart; /* of restart_reasons */
};

struct compile_guard {
    uint32_t compilation, next, guard, place;
    int64_t number;
};

struct compile_log {
    struct names texts;
    struct compile_file *files;
    size_t file_count, file_capacity;
    struct compile_process *processes;
    size_t process_count, process_capacity;
    struct compile_span *spans;
    size_t span_count, span_capacity;
    struct compilation *compilations;
    size_t compilation_count, compilation_capacity;
    struct compile_break *breaks;
    size_t break_count, break_capacity;
    struct compile_guard *guards;
    size_t guard_count, guard_capacity;
};

/* The text of an id; NULL for NAME_NONE. */
static inline const struct name *compile_text(const struct compile_log *log, uint32_t text)
{
    return text == NAME_NONE ? NULL : &log->texts.items[text];
}

static inline enum compile_cache compile_cache_of(const struct compilation *compilation)
{
    if (compilation->cache_aot == CACHE_HIT &&
        (compilation->cache_fx == CACHE_HIT || compilation->cache_fx == CACHE_UNKNOWN))
        return CACHE_HIT;
    return compilation->cache_fx != CACHE_UNKNOWN ? compilation->cache_fx
                                                  : compilation->cache_aot;
}

/* Whether a compilation failed since a function was compiled too often. */
bool compile_at_limit(const struct compile_log *log, const struct compilation *compilation);

const char *compile_part_name(enum compile_part part);
const char *compile_cache_name(enum compile_cache cache);  /* NULL: unknown */
const char *compile_phase_name(enum compile_phase phase);  /* NULL: none */
const char *compile_source_name(enum compile_source source);

void compile_log_clear(struct compile_log *log);

#endif
