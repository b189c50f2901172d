/*
** The parts of steps by all levels at once, kept for later questions.
**
** 1. There is one set of them for the steps of a file, by each way to choose and to cut these (T20,
**    A2), and one for the path of a job. It belongs to the file, of a job to one of the reference
**    (Q1), and goes with the rows of that.
** 2. The parts of a step are found when a question first asks for them; those of a file of
**    KEPT_TOGETHER steps or fewer, together.
** 3. A set may hold KEPT_BYTES for each row of its files, and KEPT_LEAST. Parts beyond that are
**    freed after they were used; a set that is larger nevertheless goes with the last attribution
**    that uses it.
** 4. Steps by a pattern (T20) and names of captures (A15) belong to one question: such a set is not
**    kept.
*/
#ifndef TRACEDIFF_KEPT_PARTS_H
#define TRACEDIFF_KEPT_PARTS_H

#include "attribute.h"
#include "analysis/parts/step_windows.h"

enum { KEPT_BYTES = 8, KEPT_LEAST = 1 << 16, KEPT_TOGETHER = 8 };

/* A step. */
struct kept_step {
    struct window window;
    size_t member; /* index into trace.members; of a job of the reference */
    bool made;     /* its parts are known */
    struct attributed_step parts;
};

struct kept_parts {
    struct derived derived;   /* must be first */
    struct trace_file *owner; /* NULL: not kept */
    int users;                /* attributions */
    uint64_t *key;            /* what the parts follow from besides the owner */
    size_t key_count;
    struct kept_step *steps; /* in the order of step_windows.h, of a job in that of its reference */
    size_t count, capacity;
    struct names names; /* of parts */
    size_t most;        /* bytes that may be kept (rule 3) */
};

/* The set of a file with a key, for one more user. NULL: there is none. */
struct kept_parts *kept_parts_find(struct trace_file *file, const uint64_t *key, size_t key_count);

/* An empty set, for one user. NULL if out of memory. */
struct kept_parts *kept_parts_new(const uint64_t *key, size_t key_count);

/* Adds a step. False if out of memory. */
bool kept_parts_add(struct kept_parts *kept, const struct window *window, size_t member);

/* Adds a set with all its steps to a file. `rows` are those of all its files. */
void kept_parts_keep(struct kept_parts *kept, struct trace_file *file, size_t rows);

/* Says that the parts of a step are complete. */
void kept_parts_made(struct kept_parts *kept, struct kept_step *step);

/* Frees the parts of a step. */
void kept_parts_drop(struct kept_parts *kept, struct kept_step *step);

/* Whether the set holds more than it may. */
bool kept_parts_full(const struct kept_parts *kept);

/* Drops a user. NULL is allowed. */
void kept_parts_close(struct kept_parts *kept);

#endif
