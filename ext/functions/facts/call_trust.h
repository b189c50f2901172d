/*
** Decides whether the two recordings of a call can be compared.
*/
#ifndef TRACEDIFF_CALL_TRUST_H
#define TRACEDIFF_CALL_TRUST_H

#include "analysis/health/trust.h"
#include "analysis/steps/attribute.h"
#include "functions/call/call_trace.h"

/* Finds impossible or missing data in the recordings of two sides, whose ranks are opened one by
** one. `means` has the means of the compared steps, by side. On failure, fills call->failure. */
bool call_trust_find(struct call *call, const struct call_trace *opened, enum step_clock clock,
                     const double means[2], struct trust *trust);

#endif
