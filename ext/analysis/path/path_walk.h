/*
** The critical path of each step: P1 to P9.
*/
#ifndef TRACEDIFF_PATH_WALK_H
#define TRACEDIFF_PATH_WALK_H

#include "analysis/steps/attribute.h"
#include "path_graph.h"

/* The chosen steps of the chosen files of a trace, by rank, then iteration. As steps may overlap by
** the host's clock, their paths are found when they are asked for. */
struct critical_path;

/* The trace and `syncs`, by member, must outlive the result; the choice need not. `off`: what is
** off the paths is wanted, too. NULL on failure. */
struct critical_path *critical_path_new(const struct trace *trace, const struct step_choice *choice,
                                        enum step_clock clock, bool off,
                                        const struct path_syncs *syncs,
                                        const struct stopper *stopper, struct failure *failure);

/* The number of steps. */
size_t critical_path_count(const struct critical_path *path);

/* Finds the path of a step and replaces that which `step` holds. Asking for the steps of a file one
** after the other is quick, because its graph is kept in between. */
bool critical_path_step(struct critical_path *path, size_t number, struct path_step *step,
                        struct failure *failure);

/* NULL is allowed. */
void critical_path_free(struct critical_path *path);

#endif
