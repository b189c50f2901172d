/*
** The events of one side, step by step, as sequences to align (E8.5): the host events of each
** thread, and the device work of each rank in order of launch. For a sample, only its steps.
*/
#ifndef TRACEDIFF_UNDO_SEQUENCE_H
#define TRACEDIFF_UNDO_SEQUENCE_H

#include "analysis/simulation/sim_steps.h"

#define UNDO_NONE UINT32_MAX
#define UNDO_DEVICE (UINT32_MAX - 1) /* the lane of device work */

struct undo_event {
    uint32_t member, step; /* index of the step within the member; 0 if the member has no steps */
    uint32_t lane;         /* index of its thread in the order of E8.5, or UNDO_DEVICE */
    uint32_t row;
    uint32_t token;  /* equal on both sides for equal events */
    uint32_t parent; /* host: index of the event around it, in the same step, or UNDO_NONE */
};

/* The events of a lane in a step. */
struct undo_block {
    size_t first, count;
    uint32_t member, step, lane;
};

/* Ids of names and tokens, shared by both sides. A zeroed struct is empty. */
struct undo_tokens {
    struct names texts, tokens;
};

/* A begin or an end on a thread. */
struct undo_point {
    uint32_t lane, node, event;
    bool end;
};

struct undo_sequence {
    const struct sim_graph *graph;
    struct undo_event *events; /* by member, step and lane, in order; owned */
    size_t event_count, event_capacity;
    struct undo_block *blocks; /* in the same order */
    size_t block_count;
    uint32_t **event_of; /* by member, then by row: index of its event, or UNDO_NONE */
    /* NULL until listed. Two per host event; in each block by node. Entries of device work are not
    ** filled in. */
    struct undo_point *points;
};

/* Leaves nothing to clear on failure. */
bool undo_sequence_make(struct undo_sequence *sequence, const struct sim_graph *graph,
                        struct undo_tokens *tokens, const struct stopper *stopper,
                        struct failure *failure);

bool undo_sequence_list_points(struct undo_sequence *sequence, const struct stopper *stopper,
                               struct failure *failure);

/* Returns the host event that launched device work, if it is in the same step; otherwise
** UNDO_NONE. */
uint32_t undo_launch_of(const struct undo_sequence *side, const struct undo_event *work);

/* Returns the index after the last event of a call tree, at most `end`. */
size_t undo_tree_end(const struct undo_sequence *side, uint32_t tree, size_t end);

void undo_tokens_clear(struct undo_tokens *tokens);
void undo_sequence_clear(struct undo_sequence *sequence);

#endif
