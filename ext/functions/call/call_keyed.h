/*
** Device work and host time of the two sides that a call has opened, by keys (B1 to B6).
*/
#ifndef TRACEDIFF_CALL_KEYED_H
#define TRACEDIFF_CALL_KEYED_H

#include "analysis/sums/keyed.h"
#include "call_trace.h"

/* Adds the chosen steps of control and test. With `keeps`, it reads the args of waits and of
** collectives beside the keys, and the files keep them (sync_args.h, collective_args.h). On
** failure, fills call->failure. */
bool call_keyed_add(struct call *call, const struct call_trace *opened,
                    enum device_type device_type, bool keeps, struct keyed *keyed);

#endif
