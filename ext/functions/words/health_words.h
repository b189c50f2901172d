/*
** What is impossible or missing in a recording, in words (I1 to I12).
*/
#ifndef TRACEDIFF_HEALTH_WORDS_H
#define TRACEDIFF_HEALTH_WORDS_H

#include "analysis/health/trust.h"
#include "chart/writer.h"

/* Says what was found in a sentence. */
void health_write(struct writer *text, const struct health_finding *finding);

/* The same of what a comparison says; of a side of several ranks with its rank. */
void trust_write(struct writer *text, const struct trust_item *item);

/* `cannot be compared: test: 3 of 5 launches have no kernel` */
void trust_write_cannot(struct writer *text, const struct trust_item *item);

/* The name of its check in SQL. */
const char *trust_check_name(const struct trust_item *item);

#endif
