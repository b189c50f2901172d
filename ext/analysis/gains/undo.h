/*
** Savings from undoing each cause of a difference (E9).
*/
#ifndef TRACEDIFF_UNDO_H
#define TRACEDIFF_UNDO_H

#include "analysis/causes/causes.h"
#include "analysis/simulation/sim_steps.h"
#include "undo_hidden.h"

/* An undone cause. */
struct undone {
    size_t cause;    /* index in causes.items */
    bool known;      /* false: nothing can be undone (E9.5, E9.10), or the cause is beyond `most` */
    bool as_long;    /* unknown because its work takes as long as in control (E9.10) */
    wide_time gain;  /* ns saved in the chosen steps by undoing it alone */
    wide_time half;  /* ns saved by undoing half of it; 0 unless requested (`halves`) */
    struct undo_hider hider; /* HIDER_NONE unless requested (`hiders`) */
    wide_time after; /* ns of the chosen steps without it and all before it (`cumulative`) */
};

struct undo {
    struct undone *items; /* largest gain first; owned */
    size_t count;
    wide_time recorded; /* ns of the chosen steps, as recorded */
    wide_time after;    /* ns without all causes, if requested (`together`) */
    size_t steps;              /* number of chosen steps */
    struct sim_parts parts;    /* parts of test, with the names of hiders */
};

struct undo_request {
    const struct sim_steps *control;
    const struct sim_steps *steps;   /* test's steps, before ghosts are added to its graph */
    /* Undoing adds ghosts to it, so its nodes and edges get new numbers. */
    struct sim_graph *test;
    const struct sim_work *works;     /* of test, by member */
    const struct step_choice *choice; /* chosen steps of test */
    struct causes *causes;
    const struct families *families;
    size_t most;     /* maximum number of causes to undo; the causes after them stay unknown */
    bool halves;     /* compute `half` */
    bool hiders;     /* find hiders */
    bool cumulative; /* compute `after` of each cause */
    bool together;   /* compute `after` of all causes together */
    const struct stopper *stopper;
};

bool undo_find(struct undo *undo, const struct undo_request *request, struct failure *failure);

/* Accepts a zeroed struct. */
void undo_clear(struct undo *undo);

#endif
