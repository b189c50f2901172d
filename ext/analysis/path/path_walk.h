/*
** The critical path of each step (P1 to P9).
*/
#ifndef TRACEDIFF_PATH_WALK_H
#define TRACEDIFF_PATH_WALK_H

#include "analysis/steps/attribute.h"
#include "path_graph.h"

/* The chosen steps in the chosen files of a trace, by rank, then iteration. Steps may overlap on
** the host's clock, so each path is found on request. */
struct critical_path;

/* The trace and `syncs` (by member) must outlive the result; the choice need not. With `off`, steps
** also get the work off their paths. NULL on failure. */
struct critical_path *critical_path_new(const struct trace *trace, const struct step_choice *choice,
                                        enum step_clock clock, bool off,
                                        const struct path_syncs *syncs,
                                        const struct stopper *stopper, struct failure *failure);

size_t critical_path_count(const struct critical_path *path);

/* Finds the path of a step and replaces the contents of `step`. Requesting the steps of one file in
** a row is fast because the file's graph is kept. */
bool critical_path_step(struct critical_path *path, size_t number, struct path_step *step,
                        struct failure *failure);

/* Accepts NULL. */
void critical_path_free(struct critical_path *path);

#endif
