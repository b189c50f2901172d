/*
** Reads a JSON document as the values of a pickle (snapshot/values.h), so that what comes after
** need not know which of the two a file is.
**
** 1. Of a key that an object has twice, the last value counts.
** 2. Brackets nest up to WALK_DEPTH deep, and memory is bounded as for a pickle.
** 3. A number that is not an integer of 64 bits is a float.
*/
#ifndef TRACEDIFF_JSON_VALUES_H
#define TRACEDIFF_JSON_VALUES_H

#include "snapshot/pickle.h"

/* As pickle_read(). Failures: FAILURE_DAMAGE and others; the pickle is to be cleared then, too. */
bool json_values_read(struct pickle *pickle, const char *path, const char *const *keys,
                      size_t key_count, const struct stopper *stopper, struct failure *failure);

#endif
