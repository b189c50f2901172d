/*
** Whether the calls of a collective differ (FR13).
*/
#ifndef TRACEDIFF_HANG_DIFFERS_H
#define TRACEDIFF_HANG_DIFFERS_H

#include "hang.h"

bool hang_differs_find(struct hang *hang, const struct stopper *stopper, struct failure *failure);

/* The elements and the types of a call that count: those of its inputs, of a scatter and a recv
** those of its outputs. A list of the job. */
int64_t call_elements(const struct hang *hang, uint32_t entry, struct failure *failure);
uint32_t call_types(const struct hang *hang, uint32_t entry);

/* The elements of the inputs and of the outputs of all calls of a meeting. */
void call_sums(const struct hang *hang, const struct hang_meeting *meeting, int64_t *inputs,
               int64_t *outputs);

/* Whether the calls of two entries agree, as far as `differs` goes. */
bool call_agrees(const struct hang *hang, enum call_differs differs, uint32_t a, uint32_t b,
                 struct failure *failure);

#endif
