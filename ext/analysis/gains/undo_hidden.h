/*
** The hiders of causes (E9.9): other work that takes an undone cause's place on the path.
*/
#ifndef TRACEDIFF_UNDO_HIDDEN_H
#define TRACEDIFF_UNDO_HIDDEN_H

#include "sim_parts.h"
#include "sim_path.h"

/* The hider of a cause. */
struct undo_hider {
    enum { HIDER_NONE, HIDER_NAME, HIDER_HOST } kind;
    uint32_t name; /* for HIDER_NAME: index in parts.names */
    int64_t rank;  /* NUMBER_NONE for HIDER_HOST, and if the trace has one rank */
};

/* A stretch of a path, ns by the reference's clock. */
struct undo_stretch {
    int64_t start, end;
    size_t place; /* index of its group and rank */
};

/* Path time by group and rank. A group has the lags with one name (E9.9.1). */
struct undo_hidden {
    const struct sim_parts *parts;
    const struct sim_steps *steps;
    uint32_t *group_of; /* by edge: its group, or SIM_NONE */
    uint32_t *names;    /* by group: index in parts.names, or NAME_NONE */
    bool *host;         /* by group: whether it is host time or launches */
    size_t *clock_of;   /* by member: index of its rank in the job */
    size_t groups, ranks;
    wide_time *recorded, *now; /* ns by group, then by rank */
    struct undo_stretch *path; /* recorded paths, by start */
    size_t path_count, path_capacity;
    bool *own;                    /* by group and rank: whether the cause shortens such lags */
    struct undo_stretch *changed; /* lags that the cause shortens; room for all shifts */
    struct sim_path_end *ends;    /* room for all steps */
    bool lost;                    /* out of memory */
    const struct stopper *stopper;
    struct failure *failure;
};

/* Finds the recorded paths of the chosen steps. `shifts` is the number of shifts of all causes.
** `stopper` and `failure` must outlive `hidden`. */
bool undo_hidden_make(struct undo_hidden *hidden, const struct sim_parts *parts,
                      const struct sim_steps *steps, size_t shifts, const struct stopper *stopper,
                      struct failure *failure);

/* Finds the hider of the cause that `lane` undoes. Call it while the pass runs (sim_pass_seen).
** `lengths` has the steps' lengths in this lane, ns; `missing` is the ns in the chosen steps that
** the cause does not gain. */
bool undo_hidden_find(struct undo_hidden *hidden, const struct sim_net *net,
                      const struct sim_pass *pass, int lane, const wide_time *lengths,
                      wide_time missing, struct undo_hider *hider);

void undo_hidden_clear(struct undo_hidden *hidden);

#endif
