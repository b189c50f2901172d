/*
** Findings about one file's recording: impossible times and missing events (I1 to I10).
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
    HEALTH_NOTE        /* the finding says how the file is read; results are right */
};

struct health_finding {
    enum health_check check;
    enum health_severity severity;
    bool host;     /* about host events; matters with the host's clock, too */
    bool rounded;  /* HEALTH_NO_TIME: kernels of duration 0, not events without a time */
    bool chosen;   /* in a chosen step, or in no step */
    int64_t count, total;
    int64_t time;  /* ns, as recorded */
    int64_t other; /* ns; HEALTH_TOO_LONG: as read; NO_LAUNCH: all device work; OUT_OF_STEP: host
                   ** time. NOT_TIED: the lowest rank; COPY: enum copy */
    int64_t longest; /* ns: HEALTH_TOO_LONG as recorded; BEFORE_LAUNCH time before the launch */
    int64_t steps, first_step, last_step; /* NUMBER_NONE: none */
    int64_t of_steps;                     /* number of steps in the file */
    uint32_t row;                         /* example event, or ROW_NONE */
    int64_t ts;                           /* ns, time of the example as recorded */
    const struct trace_file *labelled;    /* HEALTH_RANKS: the file with the labels; borrowed */
};

enum { MOST_FINDINGS = 16 };

struct health {
    struct health_finding items[MOST_FINDINGS]; /* for one file, by severity and check */
    size_t count;
};

/* Collects the findings of a file. `chosen` flags the iterations that decide the severity; NULL:
** the steady steps do. */
bool health_find(struct health *health, const struct trace_member *member,
                 const unsigned char *chosen, const struct stopper *stopper,
                 struct failure *failure);

/* Names of checks and severities in SQL. */
const char *health_check_name(enum health_check check);
const char *health_severity_name(enum health_severity severity);

#endif
