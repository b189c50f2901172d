/*
** Time or number of events per operator, kernel and step in several runs: the values by which two
** sides of runs are compared.
*/
#ifndef TRACEDIFF_RUNS_H
#define TRACEDIFF_RUNS_H

#include "analysis/sums/summary.h"

enum run_measure { MEASURE_SELF, MEASURE_TOTAL, MEASURE_COUNT };

/* Index of a compared row: 0 is the step itself. Each name then has one index for host events and
** one for device events. */
enum { OP_STEP = 0 };
static inline uint32_t op_of(uint32_t name, bool device)
{
    return 1 + 2 * name + device;
}
static inline uint32_t op_name(uint32_t op)
{
    return (op - 1) / 2;
}
static inline bool op_is_device(uint32_t op)
{
    return (op - 1) % 2;
}

struct run {
    int side;      /* 0 control, 1 test */
    bool whole;    /* one value for the whole run, not one per step */
    bool empty;    /* no event of the device type was chosen, whether or not `wanted` */
    size_t steps;  /* values per operator; values of 0 may be left out */
    int64_t start; /* ns, earliest event; NUMBER_NONE if the time of day is unknown */
};

/* a chosen file of a run */
struct run_file {
    uint32_t run, path; /* path: id in `paths` */
    int64_t rank;
    uint64_t fingerprint; /* of its events (V11); 0: it has none */
};

/* a value of one operator in one step of one run: us, or events */
struct run_value {
    uint32_t op, run, step;
    double value;
};

/* a rank's part of an operator on the path of its job (V12): us over all steps of a run */
struct run_share {
    uint32_t op;
    int side;
    int64_t rank;
    double time;
};

struct runs {
    struct names names; /* of operators, after `rename` */
    struct run *items;
    size_t count, capacity;
    struct names paths;     /* paths of files, as shown to the user */
    struct run_file *files; /* ordered by run */
    size_t file_count, file_capacity;
    struct run_value *values; /* ordered by run; after runs_sort(), by op, run and step */
    size_t value_count, value_capacity;
    struct run_share *shares; /* shares in jobs; after runs_sort(), by op, side and rank */
    size_t share_count, share_capacity;
};

struct runs_request {
    enum run_measure measure;
    enum device_type device_type;
    size_t (*rename)(const char *name, size_t length, char *to); /* NULL: the full name */
    bool (*wanted)(const void *argument, const char *name);      /* called with the renamed name */
    const void *argument;
};

/* Adds a run.
** 1. A value is the sum over the events of one step on one rank, averaged over the ranks that have
**    the step. The measure `self` is self time (T5) of host events and duration of device events.
** 2. If everything is chosen instead of steps, there is one value: the sum divided by the number of
**    steps or, without steps, of files.
** 3. The value of OP_STEP is the duration of the step for every measure. It is missing if the trace
**    has no steps or the device type is not DEVICE_ALL. */
bool runs_add(struct runs *runs, const struct runs_request *request, int side,
              const struct trace *trace, const struct step_choice *choice,
              const struct stopper *stopper, struct failure *failure);

/* Adds a run whose values are times on the path of the job formed by its ranks (V12). The measure
** is always `self`. */
bool runs_add_job(struct runs *runs, const struct runs_request *request, int side,
                  const struct trace *trace, const struct step_choice *choice,
                  const struct stopper *stopper, struct failure *failure);

/* Finds the rank with most of an operator on a side, and its share between 0 and 1 (V12). The runs
** must be sorted. False: there are no jobs, or none has the operator. */
bool runs_find_share(const struct runs *runs, uint32_t op, int side, int64_t *rank, double *share);

/* Finds two runs: one has a file of some rank, the other has none (V10). False if there are
** none. */
bool runs_find_rank(const struct runs *runs, uint32_t *has, uint32_t *lacks, int64_t *rank);

/* Finds two files of different runs with the same events (V11); `pair` is NULL if there are none.
** False on failure. */
bool runs_find_copy(const struct runs *runs, const struct run_file *pair[2],
                    const struct stopper *stopper, struct failure *failure);

bool runs_sort(struct runs *runs, const struct stopper *stopper, struct failure *failure);

void runs_clear(struct runs *runs);

#endif
