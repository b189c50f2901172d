/*
** Sums for both sides, grouped and sorted by up to three texts.
*/
#ifndef TRACEDIFF_TALLY_H
#define TRACEDIFF_TALLY_H

#include "base/names.h"
#include "base/sort.h"
#include "base/wide.h"

enum { TALLY_KEYS = 3 };

struct tally_row {
    const uint32_t *places; /* set while rows are sorted: the alphabetical place of each name id */
    uint32_t key[TALLY_KEYS]; /* name ids of one table, or NAME_NONE */
    bool on[2];               /* whether the side has any */
    wide_time sum[2];
};

struct tally {
    struct tally_row *rows;
    size_t count, capacity;
};

/* Adds a row. Call tallies_order() afterwards. */
bool tally_add(struct tally *tally, const struct tally_row *row, struct failure *failure);

/* Sorts the rows of each tally, NAME_NONE first, and adds up rows with equal keys. Keys are ids in
** `names`. */
bool tallies_order(struct tally *const *tallies, size_t count, const struct names *names,
                   const struct stopper *stopper, struct failure *failure);

/* Adds the sums of one row to another. */
void tally_add_to(struct tally_row *sum, const struct tally_row *row);

/* Sums the rows that share the first `keys` keys with the row `from`. Returns their end. */
size_t tally_run(const struct tally *tally, size_t from, int keys, struct tally_row *sum);

void tally_clear(struct tally *tally);

#endif
