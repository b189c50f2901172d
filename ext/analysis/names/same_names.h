/*
** Names that are the same on both sides of a comparison, apart from counters and hashes that differ
** per run (L12.4).
*/
#ifndef TRACEDIFF_SAME_NAMES_H
#define TRACEDIFF_SAME_NAMES_H

#include "base/failure.h"
#include "base/names.h"

/* Returns, for each name id, the id of the common name, which may be new. `sides`, by id: bit 0 if
** control has the name, bit 1 if test has it. NULL on failure. */
uint32_t *same_names_make(struct names *names, const unsigned char *sides, struct failure *failure);

#endif
