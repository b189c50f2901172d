/*
** Whether the recordings of two sides can be compared (J2.11, I15).
*/
#ifndef TRACEDIFF_TRUST_H
#define TRACEDIFF_TRUST_H

#include "findings.h"

enum trust_code {
    TRUST_ONE_SIDE, /* only one side has device work */
    TRUST_UNIT,     /* one side has times in another unit */
    TRUST_FINDING   /* a finding about the recordings of one side */
};

enum { HEALTH_CHECKS = HEALTH_TOO_LONG + 1 };
enum { MOST_TRUST = TRUST_FINDING + 4 * HEALTH_CHECKS };

struct trust_item {
    enum trust_code code;
    int side;      /* control or test; ONE_SIDE: without work; UNIT: with the larger times */
    bool decides;  /* the traces cannot be compared */
    bool is_said;  /* a note that is also a caution (I16) */
    int64_t rank;  /* NUMBER_NONE: the side has one compared rank */
    int64_t times; /* TRUST_UNIT: 1,000 or 1,000,000 */
    struct health_finding finding; /* TRUST_FINDING */
};

/* By importance: both sides, test, control. */
struct trust {
    struct trust_item items[MOST_TRUST];
    size_t count;
};

/* Adds the findings of a file. For each check, the most important one stays, separately for device
** and host; ties: the lowest rank. `of_host`: steps use the host's clock. */
void trust_add(struct trust *trust, int side, int64_t rank, const struct health *health,
               bool of_host);

/* least number of names that reveal another unit (I15.2) */
enum { UNIT_LEAST = 3 };

/* Returns the factor between units (1,000 or 1,000,000) that the median of the ratios shows,
** negative for its inverse, otherwise 0. Sorts the ratios. */
int64_t trust_unit(double *ratios, size_t count);

/* Sorts the items. `one_rank` (by side): items name no rank. */
void trust_finish(struct trust *trust, const bool one_rank[2]);

/* Returns the first item that decides. NULL: the traces can be compared. */
const struct trust_item *trust_decides(const struct trust *trust);

#endif
