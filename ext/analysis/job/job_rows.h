/*
** A job whose ranks lie on many machines: made of rows that say what job_rank.h finds (Q7).
*/
#ifndef TRACEDIFF_JOB_ROWS_H
#define TRACEDIFF_JOB_ROWS_H

#include "job_clocks.h"

enum job_row_kind {
    JOB_ROW_STEP,
    JOB_ROW_COLLECTIVE,
    JOB_ROW_EXPOSED,
    JOB_ROW_HOST_COLLECTIVE, /* Q10.1 */
    JOB_ROW_HOST_WAIT,       /* Q10.3 */
    JOB_ROW_KINDS
};

/* A text that is not terminated; NULL: none. */
struct job_text {
    const char *bytes;
    size_t length;
};

/* What a row says; NUMBER_NONE where it says nothing. */
struct job_row {
    enum job_row_kind kind;
    int64_t rank;
    struct job_text file;
    int64_t iteration;
    int64_t start, end; /* ns, by the clock of the rank */
    int64_t event; /* position of the collective in traceEvents, or of the one that is exposed */
    int64_t queued_behind; /* Q5.4: that of the collective before */
    struct job_text group, ranks, name; /* without a group, it is not to be matched (Q10.2) */
    bool waits_for_all;
};

struct job_rows {
    struct job job;
    int64_t *numbers; /* by index into job.ranks: the rank; ascending */
    /* private */
    size_t number_capacity, rank_capacity;
    struct names files;
    size_t last; /* the rank of the last row */
};

/* Adds a row. Rows may come in any order; it is quicker if those of a rank come together. */
bool job_rows_add(struct job_rows *rows, const struct job_row *row, struct failure *failure);

/* Makes the job, when all rows are there. */
bool job_rows_finish(struct job_rows *rows, const struct stopper *stopper, struct failure *failure);

/* Does nothing to a zeroed struct. */
void job_rows_clear(struct job_rows *rows);

#endif
