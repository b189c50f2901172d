/*
** Rows that come step by step. A step is found when a scan comes to it, and kept for later scans
** while there is room.
*/
#ifndef TRACEDIFF_STEP_ROWS_H
#define TRACEDIFF_STEP_ROWS_H

#include "sqlite/table_function.h"

/* What was found of a step; each kind begins with it. */
struct found_step {
    size_t rows;   /* of the step */
    size_t memory; /* bytes */
};

/* Each kind of rows begins with it, and its methods with step_rows_begin(), ..._next() and
** ..._end(). */
struct step_rows {
    struct rows rows; /* must be first */
    struct connection *connection;
    size_t count;             /* of steps */
    size_t room;              /* bytes that may still be kept */
    struct found_step **kept; /* by step; NULL: not kept */
    /* Finds a step in `*step`, which is NULL or one that is not needed any more. */
    bool (*find)(struct step_rows *rows, size_t i, struct found_step **step,
                 struct failure *failure);
    void (*free)(struct found_step *step);
};

/* The part_row of a position is the number of the row in the step. */
struct step_scan {
    struct row_scan base; /* must be first */
    const struct found_step *step;
    struct found_step *own; /* a step that is not kept; or NULL */
    size_t next;            /* the next step */
    size_t row;             /* the next row of `step` */
    int64_t number;         /* of that row */
};

/* Makes room for `count` steps, of which `room` bytes are kept. False if out of memory. */
bool step_rows_make(struct step_rows *steps, size_t count, size_t room);

int step_rows_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                    struct failure *failure);
int step_rows_next(struct row_scan *scan, struct position *position, bool *end,
                   struct failure *failure);
void step_rows_end(struct row_scan *scan);

/* Frees the steps that are kept. */
void step_rows_clear(struct step_rows *steps);

#endif
