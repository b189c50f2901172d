/*
** Launches and the device work that they should have (I4, I5, I8).
*/
#ifndef TRACEDIFF_LAUNCHES_H
#define TRACEDIFF_LAUNCHES_H

#include "file/file.h"

/* Finds the device work that tells no launch and is not backlog, and the linked work that places
** it: what starts last before it on its pid. Links must be known. */
bool unlaunched_place(struct trace_file *file, const struct stopper *stopper,
                      struct failure *failure);

/* Finds the launches of a file, and which have no work. Needs what unlaunched_place() finds. */
bool launches_find(struct trace_file *file, const struct stopper *stopper,
                   struct failure *failure);

#endif
