/*
** Pairs the begins and ends of slices.
**
** 1. On a lane, an end closes the innermost open slice, in order of time, then of the file.
** 2. PyTorch writes the begins of many slices first, and then their ends in the same order. Where
**    one slice ends when the next begins, rule 1 would pair them wrongly. So a run of begins,
**    followed by equally many ends from the same sequence, is paired in order if its times show
**    this style: either time goes back within the run, or it went back earlier on a lane of the
**    sequence and pairing in order makes no slices cross.
*/
#ifndef TRACEDIFF_SLICES_H
#define TRACEDIFF_SLICES_H

#include "loading/loading.h"
#include "packets.h"

/* Begins of a lane, and the ends after them. */
struct slice_block {
    uint32_t *begins; /* rows */
    size_t begin_count, begin_capacity;
    int64_t *ends; /* ns */
    size_t end_count, end_capacity;
    uint32_t sequence; /* sequence of the latest begin or end */
    bool mixed;        /* they come from several sequences */
    bool goes_back;    /* time goes back within the block */
    int64_t last;      /* ns: latest time on the lane */
};

/* A zeroed struct is empty. */
struct slices {
    struct slice_block *blocks; /* by lane */
    size_t count;
};

/* slices_begin() takes a begin, whose row was just added; slices_end() takes an end. */
bool slices_begin(struct slices *slices, uint32_t lane, struct loading *loading,
                  struct packets *packets, const struct packet *packet, int64_t ts);
bool slices_end(struct slices *slices, uint32_t lane, struct loading *loading,
                struct packets *packets, const struct packet *packet, int64_t ts);

/* Finishes all blocks. Unpaired edges stay in loading->edges. */
bool slices_finish(struct slices *slices, struct loading *loading, const struct packets *packets);

void slices_clear(struct slices *slices);

#endif
