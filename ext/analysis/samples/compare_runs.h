/*
** Whether operators differ between two sides of runs, and whether there are enough runs to tell.
**
** The unit of replication is the run: its steps and its ranks share the luck of the run. RULES.md
** has the rules V1 to V13 that comments cite.
*/
#ifndef TRACEDIFF_COMPARE_RUNS_H
#define TRACEDIFF_COMPARE_RUNS_H

#include "runs.h"

enum run_unit { UNIT_AUTO, UNIT_RUN, UNIT_STEP };

enum verdict {
    VERDICT_UNKNOWN, /* shown as ~ */
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
    size_t runs[2];  /* runs of control and of test that have the operator */
    double mean[2];  /* us per step, or events; 0 for a side without it */
    bool every_step; /* false: means over steps replace medians (V2) */
    size_t zeros[2]; /* runs that have the operator, but with a value of 0 */
    /* Percent of control, NaN if unknown. `mean_percent` compares the means over all steps. */
    double percent, low, high, detectable, mean_percent;
    double p, q; /* NaN: not tested */
    enum verdict verdict;
    enum gate gate;
    int64_t runs_needed; /* NUMBER_NONE: unknown or not needed */
    /* For tested rows: the difference of logarithms, its deviation in one run, the logarithm of the
    ** floor, and the one-sided p-values of V8. */
    double log_diff, deviation, log_floor, p_slower, p_not_slower;
};

struct comparison_request {
    enum run_unit unit; /* UNIT_RUN or UNIT_STEP */
    double min_effect;  /* smallest relevant change, as a ratio */
    bool counts;        /* values are numbers of events */
    double min_diff;    /* us per step, or events */
    bool copied;        /* two runs are the same recording, so no verdict is possible (V11) */
};

struct comparisons {
    struct compared *items;
    size_t count, capacity;
};

/* Returns UNIT_RUN if there are enough runs (V3), otherwise UNIT_STEP. */
enum run_unit runs_unit(const struct runs *runs);

/* Returns whether the means differ by more than min_effect although `percent` does not, because
** some steps are slow or fast (V2). */
bool means_disagree(const struct compared *row, double min_effect);

/* Compares every operator. The runs must be sorted. */
bool compare_runs(const struct runs *runs, const struct comparison_request *request,
                  struct comparisons *found, const struct stopper *stopper,
                  struct failure *failure);

void comparisons_clear(struct comparisons *comparisons);

#endif
