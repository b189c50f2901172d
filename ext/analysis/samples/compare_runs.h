/*
** Whether operators differ between two sides of runs, and whether as many runs could tell.
**
** The unit of replication is the run: its steps share the luck of the run, and so do its ranks.
** RULES.md has the rules (V1 to V13) that this file and comments cite.
*/
#ifndef TRACEDIFF_COMPARE_RUNS_H
#define TRACEDIFF_COMPARE_RUNS_H

#include "runs.h"

enum run_unit { UNIT_AUTO, UNIT_RUN, UNIT_STEP };

enum verdict {
    VERDICT_UNKNOWN, /* ~ */
    VERDICT_SLOWER,
    VERDICT_FASTER,
    VERDICT_SAME,
    VERDICT_SLOWER_HERE,
    VERDICT_FASTER_HERE,
    VERDICT_ADDED,
    VERDICT_DELETED,
    VERDICT_TOO_FEW
};

enum gate { GATE_INCONCLUSIVE, GATE_SLOWER, GATE_NOT_SLOWER };

struct compared {
    uint32_t op;
    size_t runs[2];  /* control's and test's that have the operator */
    double mean[2];  /* us per step, or events; 0 on a side without it */
    bool every_step; /* false: means over steps stand for medians (V2) */
    size_t zeros[2]; /* runs that have it and a value of 0 */
    /* Percent of control; not a number: unknown. `mean_percent`: of the means over all steps. */
    double percent, low, high, detectable, mean_percent;
    double p, q; /* not a number: not tested */
    enum verdict verdict;
    enum gate gate;
    int64_t runs_needed; /* NUMBER_NONE */
    /* Of the tested ones: the difference of logarithms, its deviation in one run, the floor's
    ** logarithm, and what speaks against a difference below and above it. */
    double log_diff, deviation, log_floor, p_slower, p_not_slower;
};

struct comparison_request {
    enum run_unit unit; /* UNIT_RUN or UNIT_STEP */
    double min_effect;  /* ratio */
    bool counts;        /* values are numbers of events */
    double min_diff;    /* us per step, or events */
    bool copied;        /* two runs are one recording, which decides nothing (V11) */
};

struct comparisons {
    struct compared *items;
    size_t count, capacity;
};

/* Whether runs suffice for their unit to be the run (V3). */
enum run_unit runs_unit(const struct runs *runs);

/* Whether slow or fast steps make means differ beyond min_effect, and the difference not (V2). */
bool means_disagree(const struct compared *row, double min_effect);

/* Compares every operator of sorted runs. False on failure. */
bool compare_runs(const struct runs *runs, const struct comparison_request *request,
                  struct comparisons *found, const struct stopper *stopper,
                  struct failure *failure);

void comparisons_clear(struct comparisons *comparisons);

#endif
