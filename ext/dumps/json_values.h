/*
** Reads a JSON document into the values of a pickle (snapshot/values.h), so that later code can
** ignore the format of a file.
**
** 1. For duplicate keys in an object, the last value counts.
** 2. Brackets nest up to WALK_DEPTH deep, and memory is limited like for a pickle.
** 3. Numbers other than 64-bit integers become floats.
*/
#ifndef TRACEDIFF_JSON_VALUES_H
#define TRACEDIFF_JSON_VALUES_H

#include "snapshot/pickle.h"

/* Like pickle_read(). Failures: FAILURE_DAMAGE and others; the caller clears the pickle then,
** too. */
bool json_values_read(struct pickle *pickle, const char *path, const char *const *keys,
                      size_t key_count, const struct stopper *stopper, struct failure *failure);

#endif
