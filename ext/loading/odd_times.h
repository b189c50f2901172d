/*
** Times that no event can have, and how they are read instead (I1 to I3).
*/
#ifndef TRACEDIFF_ODD_TIMES_H
#define TRACEDIFF_ODD_TIMES_H

#include "loading.h"

/* Takes the times from events at 0 that have no duration (I3). Kinds must be known, and times as
** they were written. */
bool untimed_find(struct loading *loading);

/* Shortens what is too long (I1, I2). Times must count from 1970. */
bool overruns_find(struct loading *loading);

#endif
