/*
** What packets of a sequence refer to by number: texts that the sequence has given before.
**
** 1. A number holds until its sequence clears its state. If it is given twice, the later text
**    counts.
** 2. Texts are kept once. More than MOST_TEXT bytes of different texts are damage.
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
    INTERNED_STAGE, /* or queue: specifications of a GPU */
    INTERNED_KERNEL,
    INTERNED_LAUNCH_ARG,
    INTERNED_COUNTER,        /* of a descriptor: `part` is the counter */
    INTERNED_DESCRIPTOR_GPU, /* the GPU of a descriptor: a value */
    INTERNED_OLD_QUEUE,      /* of specifications that a stage event has itself: by position */
    INTERNED_OLD_STAGE
};

struct interned_key {
    uint64_t iid;
    uint32_t sequence, part;
    enum interned_kind kind;
};

struct interned_item {
    struct interned_key key;
    uint32_t generation; /* of the sequence */
    uint32_t text;       /* id in `texts`; NAME_NONE */
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
        uint64_t version; /* changes when a number may mean something else */
    } * states;
    size_t state_count;
    size_t stale; /* items of states that were cleared */
    size_t bytes; /* of texts */
};

/* Changes when a number of a sequence may mean something else; 0 at first. */
static inline uint64_t interned_version(const struct interned *interned, uint32_t sequence)
{
    return sequence < interned->state_count ? interned->states[sequence].version : 0;
}

/* The id of a text. False if out of memory, or FAILURE_DAMAGE by rule 2. */
bool interned_text(struct interned *interned, const void *text, size_t length, uint32_t *id,
                   struct failure *failure);

bool interned_put(struct interned *interned, const struct interned_key *key, uint32_t text,
                  int32_t value, struct failure *failure);

/* NULL if there is none. */
const struct interned_item *interned_find(const struct interned *interned,
                                          const struct interned_key *key);

/* Forgets what a sequence has given. */
bool interned_clear_state(struct interned *interned, uint32_t sequence, struct failure *failure);

void interned_free(struct interned *interned);

#endif
