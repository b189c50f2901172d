/*
** The only rank whose own steps differ like the path of a job (Q8).
*/
#ifndef TRACEDIFF_ONLY_RANK_H
#define TRACEDIFF_ONLY_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The own differences of the ranks of a job. A zeroed struct is empty. */
struct only_rank {
    size_t ranks;
    double first, second; /* the two largest, if they are positive */
    double sum;           /* sum over all ranks */
    int64_t rank;         /* the rank of `first` */
};

/* Adds a rank. `own` is positive if it has the sign of the path's difference. */
void only_rank_add(struct only_rank *of, int64_t rank, double own);

/* Whether the own steps of a rank differ by at least half of the path's difference, which is
** positive. */
bool only_rank_supports(const struct only_rank *of, double whole);

/* Returns the rank; NUMBER_NONE: several, or none. */
int64_t only_rank_find(const struct only_rank *of, double whole);

#endif
