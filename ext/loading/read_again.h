/*
** What is asked only of a document with times that no event can have: it is read once more.
*/
#ifndef TRACEDIFF_READ_AGAIN_H
#define TRACEDIFF_READ_AGAIN_H

#include "loading.h"

struct read_again {
    bool done;
    int64_t window_end; /* ns, from 1970: `Record Window End`; NUMBER_NONE */
    int64_t *contexts;  /* args.context by row, NUMBER_NONE: none; NULL: of no row. Owned */
};

/* Reads the document of a file, unless that is done. */
bool read_again(struct loading *loading, struct read_again *again);

#endif
