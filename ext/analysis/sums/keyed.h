/*
** Sums up the device work and host events of two traces side by side, by the requested keys (B1 to
** B6), and the FLOPs and bytes of device work (F7).
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

/* Keys whose values are in args: first for operators, then for device work. */
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
    int64_t executions, kernels, events;         /* B3, B5 and B6; `events` counts host events */
    wide_time device_time, host_time, self_time; /* ns */
};

/* sums over the device work whose work is known (F7) */
struct keyed_measure {
    int64_t kernels;
    wide_time amount; /* FLOPs or bytes */
    wide_time time;   /* ns */
    /* Over the part whose peak is known (F9): */
    int64_t peak_kernels;
    wide_time peak_time; /* ns */
    double ideal_time;   /* us at the peak */
};

struct keyed_work {
    struct keyed_measure flops, bytes;
};

struct keyed {
    enum key keys[KEY_COUNT]; /* requested keys */
    size_t width;             /* number of keys */
    /* Shortens names; NULL keeps them. */
    size_t (*rename)(const char *name, size_t length, char *to);
    struct names names;
    uint32_t *ids;                /* `width` per row: ids in `names`, or NAME_NONE */
    struct keyed_sums (*sums)[2]; /* by row and side */
    bool wants_executions; /* otherwise executions are 0 */
    size_t run_width; /* rows with this many equal first keys share executions; 0: all keys */
    bool without_calls; /* leave out calls into the runtime */
    bool wants_work;
    bool wants_transfers; /* with the bytes of collectives (F8) */
    bool wants_peaks;     /* with the time of the work at the peak (F9) */
    struct keyed_work (*work)[2]; /* by row and side; NULL unless `wants_work` */
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
    const struct work *work; /* by row of device work, if wanted; read_args() may set it */
    const double *ideal_flops, *ideal_bytes; /* us, by row; NAN: unknown. NULL: not wanted */
    /* Reads values from args and stores them as ids in `names`. `values` has, by enum keyed_arg,
    ** NULL or an array by row; values are wanted for rows that are not NAME_NONE. Called only if
    ** values or work are wanted. */
    bool (*read_args)(void *from, struct trace_file *file, uint32_t *const *values);
    void *from;
};

/* Adds a file to one of the sides. */
bool keyed_add(struct keyed *keyed, const struct keyed_request *request,
               const struct stopper *stopper, struct failure *failure);

void keyed_clear(struct keyed *keyed);

#endif
