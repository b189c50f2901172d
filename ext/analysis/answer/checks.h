/*
** The checks that decide whether two traces can be compared (J1 to J4).
*/
#ifndef TRACEDIFF_CHECKS_H
#define TRACEDIFF_CHECKS_H

#include "analysis/parts/first_calls.h"
#include "tally.h"
#include "work_keys.h"

/* The kinds of checks, in their order. */
enum check_code {
    CHECK_HEALTH_OF_BOTH, /* a contradiction between the recordings (I15) */
    CHECK_HEALTH,         /* an impossible or missing item in a recording (I1 to I10) */
    CHECK_STEPS,
    CHECK_WORK, /* whether there is device work */
    CHECK_DEVICE,
    CHECK_DEVICES, /* number of devices; the next two are about the first one */
    CHECK_MULTIPROCESSORS,
    CHECK_MEMORY,
    CHECK_RANKS,
    CHECK_RECORDED,
    CHECK_BACKEND,
    CHECK_FEW_STEPS,
    CHECK_CHOSEN, /* numbers of the compared steps */
    CHECK_PHASES,
    CHECK_LONG_STEP,
    CHECK_FIRST_CALLS, /* of launches; the other kinds of enum first_call follow */
    CHECK_COPIES = CHECK_FIRST_CALLS + FIRST_KINDS,
    CHECK_SHAPES,          /* shapes of all operators */
    CHECK_OPERATOR_SHAPES, /* shapes of one operator */
    CHECK_FLOATS,
    CHECK_RETYPED, /* the change of types with the most time */
    CHECK_OPERATOR_TYPES,
    CHECK_PROBLEMS,
    CHECK_PROFILER,
    CHECK_OPTION,
    CHECK_MODULES,
    CHECK_VERSION,
    CHECK_RESOLUTION
};

enum matters { MATTERS_NO, MATTERS_MAYBE, MATTERS_YES };

struct check_value {
    enum value_kind {
        VALUE_NONE,
        VALUE_INTEGER,
        VALUE_REAL,
        VALUE_TEXT,
        VALUE_IN_WORDS /* check_words.h writes it in words */
    } kind;
    int64_t integer; /* VALUE_IN_WORDS: equal numbers are equal values */
    double real;
    uint32_t text; /* id in checks->texts */
};

/* Arrays are by side. */
struct check {
    enum check_code code;
    enum matters matters;
    uint32_t item; /* operator or key in checks->texts; NAME_NONE: the code is enough */
    bool is_said; /* CHECK_HEALTH: the note becomes a caution (I16) */
    int side; /* the side of a long step, few steps, problems or a finding */
    struct check_value values[2], highest[2]; /* highest: if a side has several, else VALUE_NONE */
    int same;       /* 1 or 0; -1: a side has no value */
    int64_t common; /* shapes of copies that both sides have */
    int64_t calls[2]; /* CHECK_FIRST_CALLS */
    double share;   /* fraction of the operators' time */
    int64_t scale[2]; /* CHECK_SHAPES: ratio of the tensors' sizes (J4); 0: unknown */
    uint32_t scaled[2]; /* dims of such a tensor, in checks->texts; empty: too long to show */
    double diff;    /* CHECK_RETYPED: us per step */
};

/* CHECK_FLOATS is a bit set, in this order: double, float, bfloat16, float16, float8, float4. */
enum { CHECK_FLOAT_TYPES = 6 };

/* The properties of a side. */
struct check_side {
    int64_t steps;                  /* of all ranks; 0: no step is marked; NUMBER_NONE: no events */
    int64_t numbers, first, last;   /* number of different iterations, and their range */
    int64_t steady_of; /* steps from which 'steady' chose these; 0: another choice of steps */
    int64_t ranks, rank, last_rank; /* the compared ranks */
    int64_t of_host; /* 1: no device work; NUMBER_NONE: steps have no length */
    bool of_modules;
    int64_t fraction; /* largest fraction of a us in a time, in ns; NUMBER_NONE: no steps */
    double longest;   /* ratio of the longest step to the median; 0: the median is 0 */
    double mean;      /* ns: mean of the steps, or the whole trace */
    struct first_calls first_calls; /* of the rank with the most time in first calls */
    int64_t windows;                /* number of its steps; 1: whole trace */
    bool is_long;     /* J2.4 */
    int64_t world;    /* world size; NUMBER_NONE: unknown */
    int64_t recorded, bad; /* recorded ranks; files with problems */
};

struct checks {
    struct check *items; /* ordered by checks_order() */
    size_t count, capacity;
    struct check_side sides[2];
    struct tally phases; /* steps by phase */
    struct names strata; /* strata of the steps (T22) */
    struct names texts;
    struct check dropped; /* private: receives checks without values */
    bool failed;          /* private: out of memory */
};

/* A step of a side. Steps are ordered by rank. */
struct check_step {
    int64_t rank, iteration; /* NUMBER_NONE: no step is marked */
    wide_time time;          /* ns */
};

/* Sets the fields of a side that follow from its steps: steps to last_rank, longest, mean and
** is_long. */
bool check_steps_add(struct check_side *side, const struct check_step *steps, size_t count,
                     struct failure *failure);

/* One fact from the metadata of a side's files. */
struct check_told {
    const struct names *texts;
    enum check_code code;
    uint32_t item;
    int side;
    struct check_value value;
};

/* Adds the checks of both sides, their first calls and their metadata. Sorts `told`. */
bool checks_add(struct checks *checks, struct check_told *told, size_t count,
                const struct stopper *stopper, struct failure *failure);

/* Device work by enum device_key, and host events by enum host_key. Shapes and types come from host
** events if a side has no device work. */
struct check_work {
    const struct keyed *const *device;
    size_t device_count;
    const struct keyed *host; /* NULL: shapes and types come from device work */
    int64_t steps[2];
};

/* Adds the checks of shapes and types (J3, J4, L6). */
bool checks_add_work(struct checks *checks, const struct check_work *work,
                     const struct stopper *stopper, struct failure *failure);

/* Orders the checks by code. Checks with the same code keep their order. */
bool checks_order(struct checks *checks, const struct stopper *stopper, struct failure *failure);

void checks_clear(struct checks *checks);

/* Returns the finding that makes the traces incomparable (J2.11), or NULL. */
const struct check *checks_worst_finding(const struct checks *checks);

/* Whether the check is a profiler option that slows the host. */
bool check_slows_host(const struct checks *checks, const struct check *check);

/* Returns the steps of a side in this phase, in percent. */
int64_t check_phase_percent(const struct checks *checks, size_t phase, int side);

/* Make values, and add a check. A check without a value on either side is dropped. */
struct check_value check_integer(int64_t value); /* none for NUMBER_NONE */
struct check_value check_text(uint32_t text);    /* none for NAME_NONE */
struct check_value check_in_words(int64_t value);
struct check *check_add(struct checks *checks, enum check_code code, enum matters matters,
                        struct check_value control, struct check_value test);

#endif
