/*
** Launches, and whether their device work was recorded (I4, I5, I8).
*/
#ifndef TRACEDIFF_LAUNCHES_H
#define TRACEDIFF_LAUNCHES_H

#include "file/file.h"

/* Finds device work that names no launch and is not backlog. The linked work that starts last
** before it on its pid tells which step it is in. Links must already be known. */
bool unlaunched_place(struct trace_file *file, const struct stopper *stopper,
                      struct failure *failure);

/* Finds the launches of a file and marks launches without work. Call unlaunched_place() first. */
bool launches_find(struct trace_file *file, const struct stopper *stopper,
                   struct failure *failure);

#endif
