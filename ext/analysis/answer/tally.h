/*
** Sums of both sides by up to three texts, in the order of these texts.
*/
#ifndef TRACEDIFF_TALLY_H
#define TRACEDIFF_TALLY_H

#include "base/names.h"
#include "base/sort.h"
#include "base/wide.h"

enum { TALLY_KEYS = 3 };

struct tally_row {
    const uint32_t *places;   /* while rows are sorted: by id, the place of a name */
    uint32_t key[TALLY_KEYS]; /* ids of names of one table; NAME_NONE */
    bool on[2];               /* by side: whether it has any */
    wide_time sum[2];
};

struct tally {
    struct tally_row *rows;
    size_t count, capacity;
};

/* Adds a row; before tallies_order(). */
bool tally_add(struct tally *tally, const struct tally_row *row, struct failure *failure);

/* Sorts the rows of each tally, NAME_NONE first, and adds up those of equal keys, which are ids of
** `names`. */
bool tallies_order(struct tally *const *tallies, size_t count, const struct names *names,
                   const struct stopper *stopper, struct failure *failure);

/* Adds the sums of a row to those of another. */
void tally_add_to(struct tally_row *sum, const struct tally_row *row);

/* The end of the rows that have the first `keys` keys of the row `from`, and the sum of these. */
size_t tally_run(const struct tally *tally, size_t from, int keys, struct tally_row *sum);

void tally_clear(struct tally *tally);

#endif
