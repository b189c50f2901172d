/*
** Files that have again what other files of their trace have (T7.8).
*/
#ifndef TRACEDIFF_COPIES_H
#define TRACEDIFF_COPIES_H

#include "trace.h"

/* Marks them; they are then no traces. */
void copies_find(struct trace *trace);

#endif
