/*
** Names that are the same on both sides of a comparison, but for what a run counts up or computes
** anew (L12.4).
*/
#ifndef TRACEDIFF_SAME_NAMES_H
#define TRACEDIFF_SAME_NAMES_H

#include "base/failure.h"
#include "base/names.h"

/* Makes by id the id of the name that one is the same as; that may be a new name. `sides`: by id,
** bit 0 if control has it, bit 1 if test. NULL on failure. */
uint32_t *same_names_make(struct names *names, const unsigned char *sides, struct failure *failure);

#endif
