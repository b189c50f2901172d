/*
** Interned texts: a sequence defines them once, and its packets refer to them by number.
**
** 1. A number is valid until its sequence clears its state. A second definition replaces the first.
** 2. Each text is kept once. More than MOST_TEXT bytes of different texts are damage.
*/
#ifndef TRACEDIFF_INTERNED_H
#define TRACEDIFF_INTERNED_H

#include "base/failure.h"
#include "base/names.h"

enum interned_kind {
    INTERNED_CATEGORY,
    INTERNED_EVENT_NAME,
    INTERNED_ARG_NAME,
    INTERNED_ARG_TEXT,
    INTERNED_STAGE, /* or queue: from a GPU's specifications */
    INTERNED_KERNEL,
    INTERNED_LAUNCH_ARG,
    INTERNED_COUNTER,        /* counter `part` of a descriptor */
    INTERNED_DESCRIPTOR_GPU, /* GPU of a descriptor: a value */
    INTERNED_OLD_QUEUE,      /* from a stage event's own specifications: by position */
    INTERNED_OLD_STAGE
};

struct interned_key {
    uint64_t iid;
    uint32_t sequence, part;
    enum interned_kind kind;
};

struct interned_item {
    struct interned_key key;
    uint32_t generation; /* of the sequence's state */
    uint32_t text;       /* id in `texts`, or NAME_NONE */
    int32_t value;
};

/* A zeroed struct is empty. */
struct interned {
    struct names texts;
    struct interned_item *items;
    size_t count, capacity;
    struct table table;
    struct interned_state { /* by sequence */
        uint32_t generation, live;
        uint64_t version; /* changes with the meaning of any number */
    } * states;
    size_t state_count;
    size_t stale; /* number of items from cleared states */
    size_t bytes; /* total size of the texts */
};

/* A version that changes when a number of a sequence may change its meaning; initially 0. */
static inline uint64_t interned_version(const struct interned *interned, uint32_t sequence)
{
    return sequence < interned->state_count ? interned->states[sequence].version : 0;
}

/* Finds the id of a text. False if out of memory, or with FAILURE_DAMAGE by rule 2. */
bool interned_text(struct interned *interned, const void *text, size_t length, uint32_t *id,
                   struct failure *failure);

bool interned_put(struct interned *interned, const struct interned_key *key, uint32_t text,
                  int32_t value, struct failure *failure);

/* Finds an item; NULL if it is undefined. */
const struct interned_item *interned_find(const struct interned *interned,
                                          const struct interned_key *key);

/* Forgets all definitions of a sequence. */
bool interned_clear_state(struct interned *interned, uint32_t sequence, struct failure *failure);

void interned_free(struct interned *interned);

#endif
