/*
** The changes that undo each cause in the graph of test (E9), as shifts of lags. Several causes may
** share a shift.
*/
#ifndef TRACEDIFF_UNDO_ITEMS_H
#define TRACEDIFF_UNDO_ITEMS_H

#include "analysis/causes/cause_parts.h"
#include "sim_parts.h"
#include "undo_ghosts.h"

/* A shift (`item`) of a cause. */
struct undo_owner {
    uint32_t cause, item;
};

struct undo_items {
    struct sim_shift *items;
    size_t count, capacity;
    struct undo_owner *owners; /* by cause; may repeat */
    size_t owner_count, owner_capacity;
    size_t *first; /* by cause: index of its first owner, with one more entry */
};

struct undo_items_request {
    const struct undo_pairs *pairs;
    const struct undo_ghosts *ghosts;
    const struct sim_parts
        *parts[2]; /* of control only lags that causes may need; of test with ghosts */
    struct causes *causes;
    const struct families *families;
    const struct stopper *stopper;
};

bool undo_items_make(struct undo_items *items, const struct undo_items_request *request,
                     struct failure *failure);

void undo_items_clear(struct undo_items *items);

struct undo_told_request {
    const struct undo_items *items;
    const struct undo_ghosts *ghosts;
    const struct undo_chosen *chosen; /* numbers of the chosen steps of test */
    const struct sim_graph *test;     /* with ghosts */
    const struct causes *causes;
    size_t steps; /* number of chosen steps */
    const struct stopper *stopper;
};

/* Tells, by cause, whether its durations explain its difference (E9.10). This is true for causes
** without device work. Returns NULL on failure; the caller frees it. */
bool *undo_told_find(const struct undo_told_request *request, struct failure *failure);

#endif
