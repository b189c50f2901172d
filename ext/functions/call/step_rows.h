/*
** Rows that are made step by step. A scan finds a step when it reaches it, and keeps it for later
** scans while there is room.
*/
#ifndef TRACEDIFF_STEP_ROWS_H
#define TRACEDIFF_STEP_ROWS_H

#include "sqlite/table_function.h"

/* Results of a step. Each kind of step begins with it. */
struct found_step {
    size_t rows;   /* number of the step's rows */
    size_t memory; /* bytes */
};

/* Each kind of rows begins with it, and its methods with step_rows_begin(), ..._next() and
** ..._end(). */
struct step_rows {
    struct rows rows; /* must be first */
    struct connection *connection;
    size_t count;             /* number of steps */
    size_t room;              /* bytes left for kept steps */
    struct found_step **kept; /* by step; NULL: not kept */
    /* Finds step `i` in `*step`, which is NULL or an unneeded step to reuse. */
    bool (*find)(struct step_rows *rows, size_t i, struct found_step **step,
                 struct failure *failure);
    void (*free)(struct found_step *step);
};

/* The part_row of a position is the number of the row in the step. */
struct step_scan {
    struct row_scan base; /* must be first */
    const struct found_step *step;
    struct found_step *own; /* a step that is not kept, or NULL */
    size_t next;            /* index of the next step */
    size_t row;             /* the next row of `step` */
    int64_t number;         /* number of the row within all steps */
};

/* Makes room for `count` steps, and keeps up to `room` bytes of them. False if out of memory. */
bool step_rows_make(struct step_rows *steps, size_t count, size_t room);

int step_rows_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                    struct failure *failure);
int step_rows_next(struct row_scan *scan, struct position *position, bool *end,
                   struct failure *failure);
void step_rows_end(struct row_scan *scan);

/* Frees the kept steps. */
void step_rows_clear(struct step_rows *steps);

#endif
