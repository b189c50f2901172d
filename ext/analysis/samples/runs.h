/*
** What operators and kernels take in each step of several runs: the values that two sides of runs
** are compared by.
*/
#ifndef TRACEDIFF_RUNS_H
#define TRACEDIFF_RUNS_H

#include "analysis/sums/summary.h"

enum run_measure { MEASURE_SELF, MEASURE_TOTAL, MEASURE_COUNT };

/* What is compared: 0 the steps themselves, then for each name its host events, and its events of
** the device. */
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
    bool whole;    /* there is one value, and not one of each step */
    bool empty;    /* nothing of the device type was chosen, whatever is `wanted` */
    size_t steps;  /* values that an operator has, of which those that are 0 may be missing */
    int64_t start; /* ns, the earliest event; NUMBER_NONE if the time of day is not known */
};

/* A chosen file of a run. */
struct run_file {
    uint32_t run, path; /* path: id in `paths` */
    int64_t rank;
    uint64_t fingerprint; /* of its events (V11); 0: there are none */
};

/* A value of one operator in one step of a run: us, or events. */
struct run_value {
    uint32_t op, run, step;
    double value;
};

/* What a rank has of an operator on the path of its job (V12): us of all steps of a run. */
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
    struct names paths;     /* of files, as they are shown */
    struct run_file *files; /* in the order of their runs */
    size_t file_count, file_capacity;
    struct run_value *values; /* in the order of their runs; runs_sort(): of op, run and step */
    size_t value_count, value_capacity;
    struct run_share *shares; /* of jobs; runs_sort(): of op, side and rank */
    size_t share_count, share_capacity;
};

struct runs_request {
    enum run_measure measure;
    enum device_type device_type;
    size_t (*rename)(const char *name, size_t length, char *to); /* NULL: the full name */
    bool (*wanted)(const void *argument, const char *name);      /* by the renamed name */
    const void *argument;
};

/* Adds a run.
** 1. A value is the sum over the events of one step of one rank, averaged over the ranks that have
**    the step. The measure `self` is own time (T5) of host events, and duration on the device.
** 2. If everything is chosen, and not steps, there is one value: the sum divided by the number of
**    steps, without steps by that of files.
** 3. The value of OP_STEP is the duration of the step, whatever the measure; there is none if the
**    trace has no steps or the device type is not DEVICE_ALL. */
bool runs_add(struct runs *runs, const struct runs_request *request, int side,
              const struct trace *trace, const struct step_choice *choice,
              const struct stopper *stopper, struct failure *failure);

/* V12: adds a run whose values are times on the path of the job that its ranks are. The measure is
** `self`. */
bool runs_add_job(struct runs *runs, const struct runs_request *request, int side,
                  const struct trace *trace, const struct step_choice *choice,
                  const struct stopper *stopper, struct failure *failure);

/* V12: finds the rank that has most of an operator on a side of sorted runs, and its share, of 1.
** False: there are no jobs, or they have none of it. */
bool runs_find_share(const struct runs *runs, uint32_t op, int side, int64_t *rank, double *share);

/* V10: finds two runs of which the first has a file of a rank, and the second none. False: there
** are none. */
bool runs_find_rank(const struct runs *runs, uint32_t *has, uint32_t *lacks, int64_t *rank);

/* V11: finds two files of different runs with the same events; the pair is NULL if there are none.
** False on failure. */
bool runs_find_copy(const struct runs *runs, const struct run_file *pair[2],
                    const struct stopper *stopper, struct failure *failure);

bool runs_sort(struct runs *runs, const struct stopper *stopper, struct failure *failure);

void runs_clear(struct runs *runs);

#endif
