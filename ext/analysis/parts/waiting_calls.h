/*
** Calls that wait for the device (L8.1).
*/
#ifndef TRACEDIFF_WAITING_CALLS_H
#define TRACEDIFF_WAITING_CALLS_H

#include "base/names.h"

/* Whether calls of this name wait for the device. */
bool call_waits(const struct name *name);

#endif
