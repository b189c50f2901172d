/*
** Device work and host time of the two opened sides of a call, by keys (B1 to B6).
*/
#ifndef TRACEDIFF_CALL_KEYED_H
#define TRACEDIFF_CALL_KEYED_H

#include "analysis/sums/keyed.h"
#include "call_trace.h"

/* Adds the chosen steps of control and test. With `keeps`, it also reads the args of waits and
** collectives, and the files keep them (sync_args.h, collective_args.h). On failure, fills
** call->failure. */
bool call_keyed_add(struct call *call, const struct call_trace *opened,
                    enum device_type device_type, bool keeps, struct keyed *keyed);

#endif
