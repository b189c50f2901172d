/*
** The parts of steps at all levels, kept for later queries.
**
** 1. There is one set per way to choose and cut the steps of a file (T20, A2), and one for the path
**    of a job. A set belongs to its file, a job's set to a file of the reference (Q1). It is freed
**    with that file's rows.
** 2. A step's parts are computed on first use. In a file with at most KEPT_TOGETHER steps, all are
**    computed together.
** 3. A set may use KEPT_LEAST bytes, plus KEPT_BYTES per row of its files. Parts beyond that are
**    freed after use. A set that still exceeds its limit is freed with its last attribution.
** 4. Steps by a pattern (T20) and names from captures (A15) belong to one query, so their sets are
**    not kept.
*/
#ifndef TRACEDIFF_KEPT_PARTS_H
#define TRACEDIFF_KEPT_PARTS_H

#include "attribute.h"
#include "analysis/parts/step_windows.h"

enum { KEPT_BYTES = 8, KEPT_LEAST = 1 << 16, KEPT_TOGETHER = 8 };

struct kept_step {
    struct window window;
    size_t member; /* index in trace.members; for a job, of the reference */
    bool made;     /* its parts are complete */
    struct attributed_step parts;
};

struct kept_parts {
    struct derived derived;   /* must be first */
    struct trace_file *owner; /* NULL: not kept */
    int users;                /* number of attributions */
    uint64_t *key;            /* everything but the owner that determines the parts */
    size_t key_count;
    struct kept_step *steps; /* in the order of step_windows.h; a job's like its reference's */
    size_t count, capacity;
    struct names names; /* names of the parts */
    size_t most;        /* limit in bytes (rule 3) */
};

/* Returns the set of a file with a key, and adds a user. NULL if there is none. */
struct kept_parts *kept_parts_find(struct trace_file *file, const uint64_t *key, size_t key_count);

/* Returns an empty set with one user; NULL if out of memory. */
struct kept_parts *kept_parts_new(const uint64_t *key, size_t key_count);

/* Adds a step. Returns false if out of memory. */
bool kept_parts_add(struct kept_parts *kept, const struct window *window, size_t member);

/* Gives a set, with all its steps added, to a file. `rows` is the number of rows of all its
** files. */
void kept_parts_keep(struct kept_parts *kept, struct trace_file *file, size_t rows);

/* Marks the parts of a step as complete. */
void kept_parts_made(struct kept_parts *kept, struct kept_step *step);

/* Frees the parts of a step. */
void kept_parts_drop(struct kept_parts *kept, struct kept_step *step);

/* True if the set exceeds its limit. */
bool kept_parts_full(const struct kept_parts *kept);

/* Removes a user. Accepts NULL. */
void kept_parts_close(struct kept_parts *kept);

#endif
