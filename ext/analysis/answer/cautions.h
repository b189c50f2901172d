/*
** What may be wrong with a verdict, the worst first (C8); and what makes most of a difference as a
** whole (L11).
*/
#ifndef TRACEDIFF_CAUTIONS_H
#define TRACEDIFF_CAUTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of severity. */
enum severity {
    SEVERE_DEVICE, /* a side has no steps or no device work, or the devices differ */
    SEVERE_KIND,   /* other types, or a mode that runs Python in each operator */
    SEVERE_MOST,   /* what makes most of the difference as a whole */
    SEVERE_OVERHEAD,
    SEVERE_LOAD,
    SEVERE_CLOCK,
    SEVERE_OTHER_RANKS, /* other ranks are compared */
    SEVERE_LEFT_OUT,    /* ranks are left out of a job */
    SEVERE_OUTLIER,
    SEVERE_CHECK,
    SEVERE_LONG_STEP,
    SEVERE_NOTE,  /* of a recording, which is read as the note says (I16) */
    SEVERE_REPEAT /* whole traces, though a range repeats */
};

enum caution_code {
    CAUTION_CHECK,
    CAUTION_MODE,     /* one side runs Python in each operator */
    CAUTION_OVERHEAD, /* of the profiler */
    CAUTION_LOAD,
    CAUTION_CLOCK,
    CAUTION_RANKS,
    CAUTION_OUTLIER,
    CAUTION_LONG_STEP,
    CAUTION_REPEAT, /* whole traces are compared, though a range repeats */
    CAUTION_GAINS   /* are not known */
};

struct caution {
    enum caution_code code;
    enum severity severity;
    size_t place;          /* the order of those that are as severe */
    size_t of;             /* the check, the unit, the long step or the work that it is about */
    bool of_load;          /* CAUTION_LOAD: it is of a unit, else of all ranks together */
    int64_t parts, others; /* ranks or steps, of which this is one; and steps of the other side */
    int64_t rank;
    double factor; /* CAUTION_CLOCK */
    double ms;     /* what it makes of the difference as a whole; not a number: not known */
    double whole;  /* ms: the difference, with what outliers would add */
    bool is_said;  /* also if it does not make most */
    bool is_most;
    bool is_vague; /* what it makes is not said: factors of a host differ by too much */
    bool is_told; /* ms is said: it is most, or of load beside a difference of hosts that is said */
};

struct cautions {
    struct caution *items; /* owned */
    size_t count, capacity;
};

struct cautions_request {
    double control_ms;
    bool is_clear;   /* the judgement is */
    bool tells_load; /* what load makes is said in any case */
    bool is_severe;  /* a caution is SEVERE_DEVICE: nothing makes most */
    double largest;  /* ms of the largest single cause, with the sign of the difference */
};

/* A new caution. NULL if out of memory. */
struct caution *caution_add(struct cautions *cautions, enum caution_code code,
                            enum severity severity, size_t place);

/* Finds which one makes most, and keeps those that are said: the MOST_CAUTIONS worst, in order. */
void cautions_choose(struct cautions *cautions, const struct cautions_request *request);

void cautions_clear(struct cautions *cautions);

#endif
