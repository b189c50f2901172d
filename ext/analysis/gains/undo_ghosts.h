/*
** What control knows that test does not, in the graph of test: the device work that went, as ghosts
** (E9), and which threads wait for each other (E8).
*/
#ifndef TRACEDIFF_UNDO_GHOSTS_H
#define TRACEDIFF_UNDO_GHOSTS_H

#include "sim_ghosts.h"
#include "undo_pairs.h"

/* What a ghost is of. */
struct undo_ghost {
    uint32_t event;        /* of control */
    uint32_t member, step; /* of test */
    uint32_t index;        /* of its sim_ghost */
};

struct undo_ghosts {
    struct undo_ghost *of; /* by member and step of test */
    struct sim_ghost *items;
    size_t count, of_capacity, capacity;
    struct sim_ghost_link *links;
    size_t link_count, link_capacity;
    struct sim_shared *shared;
    size_t shared_count, shared_capacity;
};

/* Finds the ghosts and puts them into the graph of test, whose nodes and edges get other numbers.
** `works` are those of test, by member. */
bool undo_ghosts_make(struct undo_ghosts *ghosts, const struct undo_pairs *pairs,
                      const struct sim_work *works, struct sim_graph *test,
                      const struct stopper *stopper, struct failure *failure);

void undo_ghosts_clear(struct undo_ghosts *ghosts);

#endif
