/*
** Whether the recordings of two sides can be compared (J2.11, I15).
*/
#ifndef TRACEDIFF_TRUST_H
#define TRACEDIFF_TRUST_H

#include "findings.h"

enum trust_code {
    TRUST_ONE_SIDE, /* one side has device work, the other has none */
    TRUST_UNIT,     /* times of one side are in another unit */
    TRUST_FINDING   /* of the recordings of one side */
};

enum { HEALTH_CHECKS = HEALTH_TOO_LONG + 1 };
enum { MOST_TRUST = TRUST_FINDING + 4 * HEALTH_CHECKS };

struct trust_item {
    enum trust_code code;
    int side;      /* control or test: the one without work, or with the larger times */
    bool decides;  /* the traces cannot be compared */
    bool is_said;  /* a note that is a caution, too (I16) */
    int64_t rank;  /* NUMBER_NONE: one rank of the side is compared */
    int64_t times; /* TRUST_UNIT: 1,000 or 1,000,000 */
    struct health_finding finding; /* TRUST_FINDING */
};

/* In the order of importance: of both sides, of test, of control. */
struct trust {
    struct trust_item items[MOST_TRUST];
    size_t count;
};

/* Adds the findings of a file of a side. Of a check, device and host each, the one that matters
** most stays; ties: of the lowest rank. `of_host`: steps are those of the host's clock. */
void trust_add(struct trust *trust, int side, int64_t rank, const struct health *health,
               bool of_host);

/* So many names or more tell a unit (I15.2). */
enum { UNIT_LEAST = 3 };

/* How many times as long as 1 the middle one of these ratios is, if that is a factor between units:
** 1,000, 1,000,000 or the negative of these, for their inverse; else 0. Sorts them. */
int64_t trust_unit(double *ratios, size_t count);

/* Puts the items in order. `one_rank`, by side: items name no rank. */
void trust_finish(struct trust *trust, const bool one_rank[2]);

/* The first item that decides; NULL: the traces can be compared. */
const struct trust_item *trust_decides(const struct trust *trust);

#endif
