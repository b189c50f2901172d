/*
** The text of findings about impossible or missing data in a recording (I1 to I12).
*/
#ifndef TRACEDIFF_HEALTH_WORDS_H
#define TRACEDIFF_HEALTH_WORDS_H

#include "analysis/health/trust.h"
#include "chart/writer.h"

/* Writes a finding as a sentence. */
void health_write(struct writer *text, const struct health_finding *finding);

/* The same for a finding in a comparison; with the rank if its side has several. */
void trust_write(struct writer *text, const struct trust_item *item);

/* Writes `cannot be compared: test: 3 of 5 launches have no kernel`. */
void trust_write_cannot(struct writer *text, const struct trust_item *item);

/* Returns the name of its check in SQL. */
const char *trust_check_name(const struct trust_item *item);

#endif
