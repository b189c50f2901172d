/*
** Reads a document a second time for facts that only documents with impossible times need.
*/
#ifndef TRACEDIFF_READ_AGAIN_H
#define TRACEDIFF_READ_AGAIN_H

#include "loading.h"

struct read_again {
    bool done;
    int64_t window_end; /* ns since 1970: `Record Window End`; NUMBER_NONE */
    int64_t *contexts;  /* args.context by row, NUMBER_NONE: none; NULL: no row has one. Owned */
};

/* Reads the document of a file, unless already done. */
bool read_again(struct loading *loading, struct read_again *again);

#endif
