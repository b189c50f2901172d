/*
** Compares the calls of a collective (FR13).
*/
#ifndef TRACEDIFF_HANG_DIFFERS_H
#define TRACEDIFF_HANG_DIFFERS_H

#include "hang.h"

bool hang_differs_find(struct hang *hang, const struct stopper *stopper, struct failure *failure);

/* Return the number of elements, and the types as a list of the job, that FR13 compares: a
** scatter's and a recv's outputs, other ops' inputs. */
int64_t call_elements(const struct hang *hang, uint32_t entry, struct failure *failure);
uint32_t call_types(const struct hang *hang, uint32_t entry);

/* Sums the elements of the inputs and outputs of a meeting, which must have an entry of each
** member. */
void call_sums(const struct hang *hang, const struct hang_meeting *meeting, int64_t *inputs,
               int64_t *outputs);

/* True if two calls agree in the respect that `differs` names. */
bool call_agrees(const struct hang *hang, enum call_differs differs, uint32_t a, uint32_t b,
                 struct failure *failure);

#endif
