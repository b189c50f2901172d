/*
** What is compared of two traces: the steps of both sides, with their lengths, and which of them
** are kept (C1).
*/
#ifndef TRACEDIFF_PAIR_H
#define TRACEDIFF_PAIR_H

#include "base/names.h"
#include "base/stopper.h"
#include "base/wide.h"

/* A step: the windows of all ranks of one iteration. */
struct pair_step {
    int64_t iteration; /* NUMBER_NONE: whole traces */
    int64_t windows;   /* one of each rank; of a job one */
    wide_time ns;      /* of all windows */
    wide_time low, high; /* ns, the shortest and the longest of them */
    int64_t rank;        /* the lowest */
    wide_time silent;    /* ns, in which nothing is recorded of the host */
    wide_time compiling; /* ns (CL12) */
    bool of_host;        /* a window has no device work */
    uint32_t first_stratum, last_stratum; /* ids in pair.strata; by name */
    bool is_out;                          /* an outlier, which is not compared */
    double ms;                            /* the mean of the windows */
};

/* Times are in ms, and 0 without steps. */
struct pair_side {
    struct pair_step *steps; /* ascending by iteration; owned */
    size_t count, capacity;
    size_t left_out;                /* how many of them are outliers */
    double mean, median, low, high; /* of the steps that are kept */
    int64_t windows;                /* of these; 0 for whole traces */
    int64_t ranks, lowest_rank;
    bool of_host;
    wide_time all_ns, all_silent, all_compiling; /* of all steps */
    int64_t all_windows;
};

struct pair {
    struct pair_side sides[2]; /* control, test */
    struct names strata;       /* `` has id 0 */
    size_t strata_count;       /* how many different ones the steps have */
};

/* A window of a side. */
struct pair_window {
    int64_t iteration, rank;
    wide_time ns, silent, compiling;
    bool of_host;
    const char *stratum; /* "" if it has none */
    size_t stratum_length;
};

/* False if out of memory. A zeroed pair is empty. */
bool pair_add(struct pair *pair, int side, const struct pair_window *window);

/* Makes steps of the windows, and marks the outliers; `whole`, by side: none is left out, as these
** steps were asked for one by one or all. */
bool pair_finish(struct pair *pair, const bool *whole, const struct stopper *stopper,
                 struct failure *failure);

/* CL12: whether a step compiles. */
bool pair_step_compiles(const struct pair_step *step);

/* CL13: the steps of a side that compile, and ms, the mean of the others; NAN without others. */
size_t pair_compiling(const struct pair_side *side, double *others);

/* Whether the windows of both sides take the same time on average. */
bool pair_is_equal(const struct pair *pair);

/* Whether both sides are whole traces, of which each is one sample. */
static inline bool pair_is_whole(const struct pair *pair)
{
    return pair->sides[0].count > 0 && pair->sides[1].count > 0 && pair->sides[0].windows == 0 &&
           pair->sides[1].windows == 0;
}

/* The median of values, which are put in order: the mean of both in the middle. */
double median_of(double *values, size_t count);

void pair_clear(struct pair *pair);

/* ms, the difference of the means. */
static inline double pair_diff(const struct pair *pair)
{
    return pair->sides[1].mean - pair->sides[0].mean;
}

#endif
