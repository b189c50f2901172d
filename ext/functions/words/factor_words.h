/*
** The text about the load of the host.
*/
#ifndef TRACEDIFF_FACTOR_WORDS_H
#define TRACEDIFF_FACTOR_WORDS_H

#include "analysis/answer/factors.h"
#include "chart/writer.h"

/* Writes `the host is 2.1 times as slow throughout: machine load?`, or how much the load differs.
** Writes nothing if the outcome is not about load. */
void host_load_write(struct writer *text, const struct common_factor *found);

#endif
