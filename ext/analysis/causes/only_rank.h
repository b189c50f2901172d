/*
** The one rank whose own steps differ as the path of a job does (Q8).
*/
#ifndef TRACEDIFF_ONLY_RANK_H
#define TRACEDIFF_ONLY_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The own differences of the ranks of a job; zeroed, there are none. */
struct only_rank {
    size_t ranks;
    double first, second; /* the largest, if they are above 0 */
    double sum;           /* of all */
    int64_t rank;         /* that has the first */
};

/* `own` is above 0 if it has the sign of the difference of the path. */
void only_rank_add(struct only_rank *of, int64_t rank, double own);

/* Whether the own steps of a rank differ by half of what the path differs by, which is above 0. */
bool only_rank_supports(const struct only_rank *of, double whole);

/* The rank; NUMBER_NONE: several, or none. */
int64_t only_rank_find(const struct only_rank *of, double whole);

#endif
