/*
** Functions that are compiled on one side only, more often, or differently (CL14).
*/
#ifndef TRACEDIFF_COMPILE_CHANGES_H
#define TRACEDIFF_COMPILE_CHANGES_H

#include "base/wide.h"
#include "compile_join.h"

/* In order of precedence: the first kind that applies is chosen. */
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

/* A function on one side. */
struct compile_side {
    int64_t count, recompiles, hits, misses, breaks, fails, limits;
    int64_t ns;
    uint32_t last; /* index in the log: the last recompilation, or COMPILE_NONE */
    uint32_t failed; /* the last failed compilation, or COMPILE_NONE */
};

struct compile_change {
    uint32_t function, file; /* ids in changes.names; NAME_NONE: unknown */
    enum compile_change_kind kind;
    struct compile_side sides[2];
    uint32_t guard;         /* guard of the first recompilation in test, an id in names */
    uint32_t limit_guard;   /* guard of the compilation that hit the limit */
    uint32_t fail_type, fail_reason;
    uint32_t first_break;   /* index in breaks */
    uint32_t break_count;
    int64_t *ranks; /* ranks of test that compile the function more often than other ranks; owned */
    size_t rank_count;
};

struct compile_new_break {
    uint32_t place, reason, next; /* ids in names */
};

struct compile_changes {
    struct names names;
    struct compile_change *items; /* by contribution to the difference, largest first */
    size_t count, capacity;
    struct compile_new_break *breaks;
    size_t break_count, break_capacity;
};

/* Compares the logs. `used` has, by side, a flag for each process that counts; NULL: all count. */
bool compile_changes_find(struct compile_changes *changes, const struct compile_log *const logs[2],
                          const bool *const used[2], const struct stopper *stopper,
                          struct failure *failure);

void compile_changes_clear(struct compile_changes *changes);

const char *compile_change_name(enum compile_change_kind kind);

#endif
