/*
** What undoing each cause of a difference would bring (E9).
*/
#ifndef TRACEDIFF_UNDO_H
#define TRACEDIFF_UNDO_H

#include "analysis/causes/causes.h"
#include "analysis/simulation/sim_steps.h"
#include "undo_hidden.h"

/* A cause that is undone. */
struct undone {
    size_t cause;    /* index in causes.items */
    bool known;      /* false: it has nothing that could be undone, or is not to be */
    bool as_long;    /* not known, because its work takes as long as in control (E9.10) */
    wide_time gain;  /* ns that the chosen steps are shorter without it alone */
    wide_time half;  /* the same if half of it is undone; 0 unless that is asked for */
    struct undo_hider hider; /* HIDER_NONE unless that is asked for */
    wide_time after; /* ns of these steps without it and all before it; the same */
};

struct undo {
    struct undone *items; /* by gain; owned */
    size_t count;
    wide_time recorded; /* ns of the chosen steps */
    wide_time after;    /* without all causes, if that is asked for */
    size_t steps;              /* how many these are */
    struct sim_parts parts;    /* of test: has the names of hiders */
};

struct undo_request {
    const struct sim_steps *control; /* the steps of control */
    const struct sim_steps *steps;   /* those of test, before its graph is changed */
    /* Device work that went is put into it: numbers of nodes and edges change. */
    struct sim_graph *test;
    const struct sim_work *works;     /* of test, by member */
    const struct step_choice *choice; /* of test */
    struct causes *causes;
    const struct families *families;
    size_t most;     /* how many causes are undone, the first; the others are not known */
    bool halves;     /* whether to undo halves, too */
    bool hiders;     /* whether to find what hides causes, too */
    bool cumulative; /* whether to undo one after the other, too */
    bool together;   /* whether to undo all together, too */
    const struct stopper *stopper;
};

bool undo_find(struct undo *undo, const struct undo_request *request, struct failure *failure);

/* Does nothing to a zeroed struct. */
void undo_clear(struct undo *undo);

#endif
