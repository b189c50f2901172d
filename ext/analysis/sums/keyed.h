/*
** Sums up device work and host events of two traces side by side, by the keys asked for and by
** rules B1 to B6, and the work of device work by rule F7.
*/
#ifndef TRACEDIFF_KEYED_H
#define TRACEDIFF_KEYED_H

#include "trace/trace.h"
#include "base/wide.h"
#include "operator_work.h"

enum key {
    KEY_OP,
    KEY_TOP_OP,
    KEY_MODULE,
    KEY_ANNOTATION,
    KEY_KERNEL,
    KEY_KERNEL_TYPE,
    KEY_CAT,
    KEY_STREAM,
    KEY_SHAPES,
    KEY_TYPES,
    KEY_NAME,
    KEY_GRID,
    KEY_BLOCK,
    KEY_COLLECTIVE,
    KEY_PROCESS_GROUP,
    KEY_COUNT
};

/* Keys whose values are in args: those of operators, and those of device work. */
enum keyed_arg {
    ARG_SHAPES,
    ARG_TYPES,
    ARG_GRID,
    ARG_BLOCK,
    ARG_COLLECTIVE,
    ARG_PROCESS_GROUP,
    KEYED_ARGS
};

struct keyed_sums {
    int64_t executions, kernels, events;         /* B3, B5 and B6; of the host */
    wide_time device_time, host_time, self_time; /* ns */
};

/* Of the device work of which it is known (F7). */
struct keyed_measure {
    int64_t kernels;
    wide_time amount; /* FLOPs or bytes */
    wide_time time;   /* ns */
    /* Of that whose peak is known (F9): */
    int64_t peak_kernels;
    wide_time peak_time; /* ns */
    double ideal_time;   /* us at the peak */
};

struct keyed_work {
    struct keyed_measure flops, bytes;
};

struct keyed {
    enum key keys[KEY_COUNT]; /* the keys asked for */
    size_t width;             /* number of keys */
    /* Changes names; NULL: they are kept. */
    size_t (*rename)(const char *name, size_t length, char *to);
    struct names names;
    uint32_t *ids;                /* `width` per row: ids in `names`, or NAME_NONE */
    struct keyed_sums (*sums)[2]; /* by row: for the two sides */
    bool wants_executions; /* else they are 0 */
    size_t run_width; /* an execution counts in one of rows with so many equal first keys; 0: all */
    bool without_calls; /* calls into the runtime are not summed up */
    bool wants_work;
    bool wants_transfers; /* the bytes of collectives, too (F8) */
    bool wants_peaks;     /* and how long the work takes at the peak (F9) */
    struct keyed_work (*work)[2]; /* the same; NULL unless `wants_work` */
    size_t count;
    /* private */
    size_t id_capacity, sum_capacity, work_capacity;
    struct table table;
};

struct keyed_request {
    const struct trace_member *member;
    const unsigned char *chosen; /* by index of steps->iterations; NULL: everything */
    enum device_type device_type;
    int side;                /* 0 or 1 */
    const struct work *work; /* by row of device work, if it is asked for: read_args() may set it */
    const double *ideal_flops, *ideal_bytes; /* us, the same; NAN: not known. NULL: not asked for */
    /* Sets values of args, ids in `names`. By enum keyed_arg, `values` are NULL or arrays by row,
    ** in which rows that are not NAME_NONE are wanted. Asked only for these or for work. */
    bool (*read_args)(void *from, struct trace_file *file, uint32_t *const *values);
    void *from;
};

/* Adds a file to one of the sides. */
bool keyed_add(struct keyed *keyed, const struct keyed_request *request,
               const struct stopper *stopper, struct failure *failure);

void keyed_clear(struct keyed *keyed);

#endif
