/*
** What is impossible or missing in the recording of a file (I1 to I10).
*/
#ifndef TRACEDIFF_FINDINGS_H
#define TRACEDIFF_FINDINGS_H

#include "trace/trace.h"

enum health_check { /* in the order of their names */
    HEALTH_BEFORE_LAUNCH,
    HEALTH_COPY,
    HEALTH_CUT,
    HEALTH_CYCLES,
    HEALTH_EMPTY_STEPS,
    HEALTH_END,
    HEALTH_GRAPHS_LOST,
    HEALTH_KERNELS_LOST,
    HEALTH_NO_DEVICE_WORK,
    HEALTH_NO_LAUNCH,
    HEALTH_NO_TIME,
    HEALTH_NOT_TIED,
    HEALTH_OUT_OF_STEP,
    HEALTH_RANKS,
    HEALTH_SEVERAL_PROCESSES,
    HEALTH_TOO_LONG
};

enum health_severity {
    HEALTH_WRONG,      /* results would be wrong */
    HEALTH_INCOMPLETE, /* parts are missing */
    HEALTH_NOTE        /* it is read as said here, and results are right */
};

struct health_finding {
    enum health_check check;
    enum health_severity severity;
    bool host;     /* of host events: it matters by the host's clock, too */
    bool rounded;  /* HEALTH_NO_TIME: kernels of duration 0, not events without a time */
    bool chosen;   /* it is of no step, or of one of the chosen ones */
    int64_t count, total;
    int64_t time;  /* ns, as recorded */
    int64_t other; /* ns; HEALTH_TOO_LONG: as read; NO_LAUNCH: of all device work; OUT_OF_STEP: of
                   ** the host. NOT_TIED: the lowest rank; COPY: enum copy */
    int64_t longest; /* ns: HEALTH_TOO_LONG as recorded; BEFORE_LAUNCH before it */
    int64_t steps, first_step, last_step; /* NUMBER_NONE: none */
    int64_t of_steps;                     /* how many the file has */
    uint32_t row;                         /* an example; ROW_NONE */
    int64_t ts;                           /* of that, ns, as recorded */
    const struct trace_file *labelled;    /* HEALTH_RANKS: the file with the labels; borrowed */
};

enum { MOST_FINDINGS = 16 };

struct health {
    struct health_finding items[MOST_FINDINGS]; /* by severity and check; of one file */
    size_t count;
};

/* Finds them. `chosen` has a flag for each of the file's iterations: the steps that say how bad it
** is; NULL: the steady ones. */
bool health_find(struct health *health, const struct trace_member *member,
                 const unsigned char *chosen, const struct stopper *stopper,
                 struct failure *failure);

/* The name of a check, and of a severity, in SQL. */
const char *health_check_name(enum health_check check);
const char *health_severity_name(enum health_severity severity);

#endif
