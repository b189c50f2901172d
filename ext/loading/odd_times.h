/*
** Detects impossible times and corrects them (I1 to I3).
*/
#ifndef TRACEDIFF_ODD_TIMES_H
#define TRACEDIFF_ODD_TIMES_H

#include "loading.h"

/* Removes the times of events at 0 without a duration (I3). Kinds must be known, and times
** unchanged from the file. */
bool untimed_find(struct loading *loading);

/* Shortens overlong events (I1, I2). Times must count from 1970. */
bool overruns_find(struct loading *loading);

#endif
