/*
** Which end of a slice is that of which begin.
**
** 1. On a lane, an end closes the innermost open slice, in order of time, then of the file.
** 2. PyTorch writes all begins of many slices, and then their ends in the same order; where one
**    slice ends when the next one begins, rule 1 would pair them wrongly. So begins with no end
**    between them, followed by as many ends, all of one sequence, are paired in their order if
**    they show that they are written so: time goes back among them, or has gone back on a lane of
**    that sequence before, and slices that only cross by that do not arise.
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
    uint32_t sequence; /* of the last one */
    bool mixed;        /* they are of several sequences */
    bool goes_back;    /* among them */
    int64_t last;      /* ns: the time of the last one of the lane */
};

/* A zeroed struct has none. */
struct slices {
    struct slice_block *blocks; /* by lane */
    size_t count;
};

/* Takes the begin of a slice, whose row was added last, or the end of one. */
bool slices_begin(struct slices *slices, uint32_t lane, struct loading *loading,
                  struct packets *packets, const struct packet *packet, int64_t ts);
bool slices_end(struct slices *slices, uint32_t lane, struct loading *loading,
                struct packets *packets, const struct packet *packet, int64_t ts);

/* Ends all blocks. What they could not pair is left in loading->edges. */
bool slices_finish(struct slices *slices, struct loading *loading, const struct packets *packets);

void slices_clear(struct slices *slices);

#endif
