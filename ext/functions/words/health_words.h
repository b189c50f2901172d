/*
** What is impossible or missing in a recording, in words (I1 to I9).
*/
#ifndef TRACEDIFF_HEALTH_WORDS_H
#define TRACEDIFF_HEALTH_WORDS_H

#include "analysis/health/findings.h"
#include "chart/writer.h"

/* Says what was found in a sentence. */
void health_write(struct writer *text, const struct health_finding *finding);

#endif
