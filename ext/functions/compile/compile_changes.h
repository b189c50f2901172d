/*
** What was compiled on one side only, or more often, or otherwise: function by function (CL14).
*/
#ifndef TRACEDIFF_COMPILE_CHANGES_H
#define TRACEDIFF_COMPILE_CHANGES_H

#include "base/wide.h"
#include "compile_join.h"

/* In the order in which they are asked: the first one counts. */
enum compile_change_kind {
    CHANGE_LIMIT,
    CHANGE_FAILS,
    CHANGE_BREAK,
    CHANGE_RECOMPILES,
    CHANGE_CACHE,
    CHANGE_NEW,
    CHANGE_GONE,
    CHANGE_COMPILES,
    CHANGE_LONGER,
    CHANGE_NONE
};

/* A function on a side. */
struct compile_side {
    int64_t count, recompiles, hits, misses, breaks, fails, limits;
    int64_t ns;
    uint32_t last; /* of the log: the last recompilation; COMPILE_NONE */
    uint32_t failed; /* the last one that failed; COMPILE_NONE */
};

struct compile_change {
    uint32_t function, file; /* of changes.names; NAME_NONE: not known */
    enum compile_change_kind kind;
    struct compile_side sides[2];
    uint32_t guard;         /* of the first recompilation of test; of names */
    uint32_t limit_guard;   /* of the one that met the limit */
    uint32_t fail_type, fail_reason;
    uint32_t first_break;   /* of new_breaks */
    uint32_t break_count;
    int64_t *ranks; /* of test, where the function is compiled more often than elsewhere; owned */
    size_t rank_count;
};

struct compile_new_break {
    uint32_t place, reason, next; /* names */
};

struct compile_changes {
    struct names names;
    struct compile_change *items; /* most of the difference first */
    size_t count, capacity;
    struct compile_new_break *breaks;
    size_t break_count, break_capacity;
};

/* Compares the logs; `used`, by side: the processes that count, NULL for all. */
bool compile_changes_find(struct compile_changes *changes, const struct compile_log *const logs[2],
                          const bool *const used[2], const struct stopper *stopper,
                          struct failure *failure);

void compile_changes_clear(struct compile_changes *changes);

const char *compile_change_name(enum compile_change_kind kind);

#endif
