/*
** Additions from control to the graph of test: device work that test lacks, restored as ghosts
** (E9.3), and dependencies between threads (E9.6).
*/
#ifndef TRACEDIFF_UNDO_GHOSTS_H
#define TRACEDIFF_UNDO_GHOSTS_H

#include "sim_ghosts.h"
#include "undo_pairs.h"

/* The origin of a ghost. */
struct undo_ghost {
    uint32_t event;        /* event of control */
    uint32_t member, step; /* in test */
    uint32_t index;        /* index of its sim_ghost */
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

/* Finds the ghosts and adds them to the graph of test, whose nodes and edges get new numbers.
** `works` has test's device work, by member. */
bool undo_ghosts_make(struct undo_ghosts *ghosts, const struct undo_pairs *pairs,
                      const struct sim_work *works, struct sim_graph *test,
                      const struct stopper *stopper, struct failure *failure);

void undo_ghosts_clear(struct undo_ghosts *ghosts);

#endif
