/*
** What undoing each cause does to the graph of test (E9), as shifts of lags. A shift may be of
** several causes.
*/
#ifndef TRACEDIFF_UNDO_ITEMS_H
#define TRACEDIFF_UNDO_ITEMS_H

#include "analysis/causes/cause_parts.h"
#include "sim_parts.h"
#include "undo_ghosts.h"

/* A shift of a cause. */
struct undo_owner {
    uint32_t cause, item;
};

struct undo_items {
    struct sim_shift *items;
    size_t count, capacity;
    struct undo_owner *owners; /* by cause; some may be there twice */
    size_t owner_count, owner_capacity;
    size_t *first; /* by cause: index of its first owner; one entry more at the end */
};

struct undo_items_request {
    const struct undo_pairs *pairs;
    const struct undo_ghosts *ghosts;
    const struct sim_parts
        *parts[2]; /* of control those that are asked for; of test with the ghosts in its graph */
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
    const struct undo_chosen *chosen; /* the numbers of the chosen steps of test */
    const struct sim_graph *test;     /* with the ghosts in it */
    const struct causes *causes;
    size_t steps; /* how many are chosen */
    const struct stopper *stopper;
};

/* Whether the durations of a cause tell the difference that it makes (E9.10), by cause; true for
** those that are not of device work. NULL on failure. */
bool *undo_told_find(const struct undo_told_request *request, struct failure *failure);

#endif
