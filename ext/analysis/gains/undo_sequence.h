/*
** What a side of a pair runs, step by step, as sequences that can be aligned (E8.5): of each thread
** of the host its events, and of each rank its device work, in the order of its launches. Of a
** sample these are its steps only.
*/
#ifndef TRACEDIFF_UNDO_SEQUENCE_H
#define TRACEDIFF_UNDO_SEQUENCE_H

#include "analysis/simulation/sim_steps.h"

#define UNDO_NONE UINT32_MAX
#define UNDO_DEVICE (UINT32_MAX - 1) /* as a lane: device work */

struct undo_event {
    uint32_t member, step; /* index of the step in the member's; 0 if it has none */
    uint32_t lane;         /* the place of its thread among those of the member, or UNDO_DEVICE */
    uint32_t row;
    uint32_t token;  /* what it is, the same number on both sides */
    uint32_t parent; /* of the host: index of the event around it, in the same step, or UNDO_NONE */
};

/* The events of a lane in a step. */
struct undo_block {
    size_t first, count;
    uint32_t member, step, lane;
};

/* Which names are the same on both sides. A zeroed struct is empty. */
struct undo_tokens {
    struct names texts, tokens;
};

/* A point of a thread. */
struct undo_point {
    uint32_t lane, node, event;
    bool end;
};

struct undo_sequence {
    const struct sim_graph *graph;
    struct undo_event *events; /* by member, step and lane, there in order; owned */
    size_t event_count, event_capacity;
    struct undo_block *blocks; /* in this order, too */
    size_t block_count;
    uint32_t **event_of; /* by member, then by row: index of its event, or UNDO_NONE */
    /* If they have been listed: two for each event, those of a lane in a step by node. Those of
    ** device work are not filled in. */
    struct undo_point *points;
};

/* On failure nothing is left to clear. */
bool undo_sequence_make(struct undo_sequence *sequence, const struct sim_graph *graph,
                        struct undo_tokens *tokens, const struct stopper *stopper,
                        struct failure *failure);

bool undo_sequence_list_points(struct undo_sequence *sequence, const struct stopper *stopper,
                               struct failure *failure);

/* The host event of the launch of device work, in the same step; UNDO_NONE. */
uint32_t undo_launch_of(const struct undo_sequence *side, const struct undo_event *work);

/* The index after the last event of a call tree, at most `end`. */
size_t undo_tree_end(const struct undo_sequence *side, uint32_t tree, size_t end);

void undo_tokens_clear(struct undo_tokens *tokens);
void undo_sequence_clear(struct undo_sequence *sequence);

#endif
