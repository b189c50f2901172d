/*
** The two compared traces: the steps of both sides with their lengths, and which of them are kept
** (C1).
*/
#ifndef TRACEDIFF_PAIR_H
#define TRACEDIFF_PAIR_H

#include "base/names.h"
#include "base/stopper.h"
#include "base/wide.h"

/* A step: the windows of all ranks of one iteration. */
struct pair_step {
    int64_t iteration; /* NUMBER_NONE: whole trace */
    int64_t windows;   /* one per rank; one for a job */
    wide_time ns;      /* sum of the windows */
    wide_time low, high; /* ns of the shortest and the longest window */
    int64_t rank;        /* lowest rank */
    wide_time silent;    /* ns without host records */
    wide_time compiling; /* ns (CL12) */
    bool of_host;        /* a window has no device work */
    uint32_t first_stratum, last_stratum; /* ids in pair.strata, first and last by name */
    bool is_out;                          /* an outlier, excluded from the comparison */
    double ms;                            /* mean of the windows */
};

/* Times are in ms, and 0 without steps. */
struct pair_side {
    struct pair_step *steps; /* ascending by iteration; owned */
    size_t count, capacity;
    size_t left_out;                /* number of outliers */
    double mean, median, low, high; /* of the kept steps */
    int64_t windows;                /* number of windows in the kept steps; 0 for whole traces */
    int64_t ranks, lowest_rank;
    bool of_host;
    wide_time all_ns, all_silent, all_compiling; /* ns of all steps */
    int64_t all_windows;
};

struct pair {
    struct pair_side sides[2]; /* control, test */
    struct names strata;       /* the empty name has id 0 */
    size_t strata_count;       /* number of different strata of the steps */
};

/* A window of one rank and side. */
struct pair_window {
    int64_t iteration, rank;
    wide_time ns, silent, compiling;
    bool of_host;
    const char *stratum; /* "" if it has none */
    size_t stratum_length;
};

/* False if out of memory. A zeroed pair is empty. */
bool pair_add(struct pair *pair, int side, const struct pair_window *window);

/* Joins the windows into steps and marks outliers. `whole`, by side: mark none, because the user
** chose these steps or all steps. */
bool pair_finish(struct pair *pair, const bool *whole, const struct stopper *stopper,
                 struct failure *failure);

/* CL12: whether a step compiles. */
bool pair_step_compiles(const struct pair_step *step);

/* CL13: returns the number of steps of a side that compile. `others`: mean of the other steps in
** ms; NAN without such steps. */
size_t pair_compiling(const struct pair_side *side, double *others);

/* Whether the windows of both sides take the same time on average. */
bool pair_is_equal(const struct pair *pair);

/* Whether both sides are whole traces; each is one sample. */
static inline bool pair_is_whole(const struct pair *pair)
{
    return pair->sides[0].count > 0 && pair->sides[1].count > 0 && pair->sides[0].windows == 0 &&
           pair->sides[1].windows == 0;
}

/* Sorts the values and returns their median: the mean of the middle two for an even count. */
double median_of(double *values, size_t count);

void pair_clear(struct pair *pair);

/* Difference of the means in ms. */
static inline double pair_diff(const struct pair *pair)
{
    return pair->sides[1].mean - pair->sides[0].mean;
}

#endif
