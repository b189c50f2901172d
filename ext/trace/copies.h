/*
** Finds files that repeat the content of other files of their trace (T7.8).
*/
#ifndef TRACEDIFF_COPIES_H
#define TRACEDIFF_COPIES_H

#include "trace.h"

/* Marks these files, which then no longer count as traces. */
void copies_find(struct trace *trace);

#endif
