/*
** A job whose ranks are on many machines, built from rows with the contents of job_rank.h (Q7).
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

/* text with a length, not NUL-terminated; NULL: none */
struct job_text {
    const char *bytes;
    size_t length;
};

/* one input row; NUMBER_NONE where it has no value */
struct job_row {
    enum job_row_kind kind;
    int64_t rank;
    struct job_text file;
    int64_t iteration;
    int64_t start, end; /* ns, by the clock of the rank */
    int64_t event; /* position in traceEvents of the collective, or of the exposed one */
    int64_t queued_behind; /* position of the previous collective on the stream (Q5.4) */
    struct job_text group, ranks, name; /* without a group, it is never matched (Q10.2) */
    bool waits_for_all;
};

struct job_rows {
    struct job job;
    int64_t *numbers; /* by index into job.ranks: rank number, ascending */
    /* private */
    size_t number_capacity, rank_capacity;
    struct names files;
    size_t last; /* index of the rank of the last row */
};

/* Adds a row, in any order. Adding all rows of a rank together is faster. */
bool job_rows_add(struct job_rows *rows, const struct job_row *row, struct failure *failure);

/* Builds the job after all rows are added. */
bool job_rows_finish(struct job_rows *rows, const struct stopper *stopper, struct failure *failure);

void job_rows_clear(struct job_rows *rows);

#endif
