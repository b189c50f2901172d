/*
** Simulates how step times change if the causes of the difference between the two opened sides of a
** call are undone (E9).
*/
#ifndef TRACEDIFF_CALL_UNDO_H
#define TRACEDIFF_CALL_UNDO_H

#include "analysis/gains/undo.h"
#include "call_causes.h"
#include "call_simulation.h"

struct call_undo_request {
    size_t most; /* like in struct undo_request, with the flags below */
    bool halves, hiders, cumulative, together;
    size_t most_steps; /* most simulated steps per side (E11); 0: all */
};

struct call_undo {
    struct call_simulation simulations[2]; /* control, test */
    struct undo undo;
};

/* On failure, fills call->failure. Close it in this case, too. */
bool call_undo_find(struct call *call, const struct call_trace *opened, struct call_causes *found,
                    const struct call_undo_request *request, struct call_undo *undone);

void call_undo_close(struct call_undo *undone);

#endif
