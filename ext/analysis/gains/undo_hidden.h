/*
** What hides a cause (E9.9): what the path of the steps has more of if it is undone.
*/
#ifndef TRACEDIFF_UNDO_HIDDEN_H
#define TRACEDIFF_UNDO_HIDDEN_H

#include "sim_parts.h"
#include "sim_path.h"

/* What hides a cause. */
struct undo_hider {
    enum { HIDER_NONE, HIDER_NAME, HIDER_HOST } kind;
    uint32_t name; /* of a HIDER_NAME: in parts.names */
    int64_t rank;  /* its rank; NUMBER_NONE: the trace has one, or it is HIDER_HOST */
};

/* A stretch of a path, ns by the clock of the reference. */
struct undo_stretch {
    int64_t start, end;
    size_t place; /* its group and rank */
};

/* The time of a path, ns, by group: lags of one name, of one rank. */
struct undo_hidden {
    const struct sim_parts *parts;
    const struct sim_steps *steps;
    uint32_t *group_of; /* by edge; SIM_NONE */
    uint32_t *names;    /* by group: in parts.names, or NAME_NONE */
    bool *host;         /* by group: time of the host, or launches */
    size_t *clock_of;   /* by member: index of its rank in the job */
    size_t groups, ranks;
    wide_time *recorded, *now; /* by group, then by rank */
    struct undo_stretch *path; /* as recorded, by start */
    size_t path_count, path_capacity;
    bool *own;                    /* by group and rank: a cause changes lags of it */
    struct undo_stretch *changed; /* the lags of a cause; room for all shifts */
    struct sim_path_end *ends;    /* room for those of all steps */
    bool lost;                    /* memory ran out */
    const struct stopper *stopper;
    struct failure *failure;
};

/* Finds the recorded paths of the chosen steps. `shifts`: how many there are of all causes. The
** stopper and the failure are kept. */
bool undo_hidden_make(struct undo_hidden *hidden, const struct sim_parts *parts,
                      const struct sim_steps *steps, size_t shifts, const struct stopper *stopper,
                      struct failure *failure);

/* Finds what hides a cause, after a pass in one of whose lanes it is undone. `lengths`: of the
** steps, in this lane; `missing`: ns of the chosen steps that it does not gain. */
bool undo_hidden_find(struct undo_hidden *hidden, const struct sim_net *net,
                      const struct sim_pass *pass, int lane, const wide_time *lengths,
                      wide_time missing, struct undo_hider *hider);

void undo_hidden_clear(struct undo_hidden *hidden);

#endif
