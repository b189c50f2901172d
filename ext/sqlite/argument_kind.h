/*
** What an argument takes, and what it is to a function: its declaration says so. Names and
** descriptions of arguments are only shown.
*/
#ifndef TRACEDIFF_ARGUMENT_KIND_H
#define TRACEDIFF_ARGUMENT_KIND_H

#include <stdbool.h>

/* What an argument says of traces. */
enum argument_role {
    NAMES_NOTHING,
    NAMES_TRACE,
    NAMES_RANKS,
    NAMES_ITERATIONS,
    NAMES_STEPS,
    NAMES_CAPTURE
};

/* In the heads of functions written in SQL these are words (embed.awk). */
enum argument_kind {
    TAKES_ANY, /* not checked, as TAKES_TEXT, TAKES_INTEGER and TAKES_REAL */
    TAKES_TEXT,
    TAKES_INTEGER,
    TAKES_REAL,
    TAKES_TEXTS,          /* a JSON array of texts */
    TAKES_INTEGERS,       /* an integer, a JSON array of integers, or 'all' */
    TAKES_FLAG,           /* 0 or 1 */
    TAKES_COUNT,          /* an integer of 0 or more */
    TAKES_AMOUNT,         /* a number of 0 or more */
    TAKES_SHARE,          /* a number from 0 to 1 */
    TAKES_TRACE,          /* a trace, or snapshots of the allocator */
    TAKES_RANKS,          /* as TAKES_INTEGERS */
    TAKES_RANKS_OR_JOB,   /* or 'job', alone or before a JSON array of ranks */
    TAKES_RANKS_OR_WORST, /* or 'worst', the rank with the highest peak of memory */
    TAKES_ITERATIONS,     /* as TAKES_INTEGERS, or 'steady', 'first' or a phase of steps */
    TAKES_STEPS,          /* which events are steps */
    TAKES_CAPTURE         /* a trace of the capture of graphs */
};

struct kind_facts {
    const char *type;     /* as help shows it; "" for any */
    const char *expected; /* what it must be, for errors; NULL: who reads it says that */
    enum argument_role role;
    bool number, whole; /* whether it is a number of a range, and an integer */
    double minimum, maximum;
    bool job, worst; /* whether it takes these words */
};

/* By enum argument_kind. */
extern const struct kind_facts kind_facts[];

#endif
