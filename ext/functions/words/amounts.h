/*
** How times of an answer are written (C5).
*/
#ifndef TRACEDIFF_AMOUNTS_H
#define TRACEDIFF_AMOUNTS_H

#include "analysis/answer/pair.h"

struct amounts {
    const char *unit; /* ms or s */
    double size;      /* ms in a unit */
    int digits;       /* decimals */
    double least;     /* ms: less rounds to 0 */
};

struct amounts amounts_of(const struct pair *pair);

#endif
