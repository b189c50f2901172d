/*
** Cautions about a verdict, the most severe first (C8), and the one effect that explains most of a
** difference as a whole (L11).
*/
#ifndef TRACEDIFF_CAUTIONS_H
#define TRACEDIFF_CAUTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most severe first. */
enum severity {
    SEVERE_DEVICE, /* a side has no steps or no device work, or the devices differ */
    SEVERE_KIND,   /* different data types, or a mode that runs Python in each operator */
    SEVERE_MOST,   /* the effect that explains most of the difference */
    SEVERE_OVERHEAD,
    SEVERE_LOAD,
    SEVERE_CLOCK,
    SEVERE_OTHER_RANKS, /* the sides compare different ranks */
    SEVERE_LEFT_OUT,    /* ranks of a job are left out */
    SEVERE_OUTLIER,
    SEVERE_CHECK,
    SEVERE_LONG_STEP,
    SEVERE_NOTE,  /* a note on a recording and how it is read (I16) */
    SEVERE_REPEAT /* whole traces are compared, although a range repeats */
};

enum caution_code {
    CAUTION_CHECK,
    CAUTION_MODE,     /* one side runs Python in each operator */
    CAUTION_OVERHEAD, /* profiler overhead */
    CAUTION_LOAD,
    CAUTION_CLOCK,
    CAUTION_RANKS,
    CAUTION_OUTLIER,
    CAUTION_LONG_STEP,
    CAUTION_REPEAT, /* whole traces are compared, although a range repeats */
    CAUTION_GAINS   /* the gains are unknown */
};

struct caution {
    enum caution_code code;
    enum severity severity;
    size_t place;          /* order among cautions of equal severity */
    size_t of;             /* index of the check, unit, long step or work */
    bool of_load;          /* CAUTION_LOAD: about one unit, else about all ranks together */
    int64_t parts, others; /* ranks or steps, this one included; steps of the other side */
    int64_t rank;
    double factor; /* CAUTION_CLOCK */
    double ms;     /* its part of the difference; NAN: unknown */
    double whole;  /* ms: the difference plus the time of outliers */
    bool is_said;  /* shown even if it does not explain most */
    bool is_most;
    bool is_vague; /* ms is hidden because the factors of the host's operators vary too much */
    bool is_told; /* ms is shown: it explains most, or load is shown beside a difference of hosts */
};

struct cautions {
    struct caution *items; /* owned */
    size_t count, capacity;
};

struct cautions_request {
    double control_ms;
    bool is_clear;   /* the judgement is clear */
    bool tells_load; /* always show the time of load */
    bool is_severe;  /* a caution is SEVERE_DEVICE, so none explains most */
    double largest;  /* ms of the largest single cause, with the sign of the difference */
};

/* Returns a new caution, or NULL if out of memory. */
struct caution *caution_add(struct cautions *cautions, enum caution_code code,
                            enum severity severity, size_t place);

/* Finds the caution that explains most, and keeps the MOST_CAUTIONS most severe in order. */
void cautions_choose(struct cautions *cautions, const struct cautions_request *request);

void cautions_clear(struct cautions *cautions);

#endif
