/*
** What may make the comparison of two traces wrong (J1 to J4).
*/
#ifndef TRACEDIFF_CHECKS_H
#define TRACEDIFF_CHECKS_H

#include "analysis/parts/first_calls.h"
#include "tally.h"
#include "work_keys.h"

/* The kinds of checks, in their order. */
enum check_code {
    CHECK_HEALTH_OF_BOTH, /* what one recording says of the other (I15) */
    CHECK_HEALTH,         /* what is impossible or missing in a recording (I1 to I10) */
    CHECK_STEPS,
    CHECK_WORK, /* whether there is device work */
    CHECK_DEVICE,
    CHECK_DEVICES, /* their number; and of the first one the next two */
    CHECK_MULTIPROCESSORS,
    CHECK_MEMORY,
    CHECK_RANKS,
    CHECK_RECORDED,
    CHECK_BACKEND,
    CHECK_FEW_STEPS,
    CHECK_CHOSEN, /* the numbers of the steps */
    CHECK_PHASES,
    CHECK_LONG_STEP,
    CHECK_FIRST_CALLS, /* of launches; and from it on one of each kind (enum first_call) */
    CHECK_COPIES = CHECK_FIRST_CALLS + FIRST_KINDS,
    CHECK_SHAPES,          /* of all operators */
    CHECK_OPERATOR_SHAPES, /* of one */
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
        VALUE_IN_WORDS /* check_words.h has words for it */
    } kind;
    int64_t integer; /* also of words: equal ones are the same */
    double real;
    uint32_t text; /* id in checks->texts */
};

/* Arrays are by side. */
struct check {
    enum check_code code;
    enum matters matters;
    uint32_t item; /* an operator or a key, in checks->texts; NAME_NONE: the code says what it is */
    bool is_said; /* CHECK_HEALTH: a note that is a caution (I16) */
    int side; /* of a long step, few steps, problems and findings: of which side it is */
    struct check_value values[2], highest[2]; /* highest: of several values, else VALUE_NONE */
    int same;       /* 1 or 0; -1: a side has no value */
    int64_t common; /* shapes of copies */
    int64_t calls[2]; /* CHECK_FIRST_CALLS */
    double share;   /* of the time of operators */
    int64_t scale[2]; /* CHECK_SHAPES: how large tensors are, by one another (J4); 0: not known */
    uint32_t scaled[2]; /* dims of one of these, in checks->texts; empty: too long to be shown */
    double diff;    /* us per step: CHECK_RETYPED */
};

/* The value of CHECK_FLOATS is a set of these: double, float, bfloat16, float16, float8, float4. */
enum { CHECK_FLOAT_TYPES = 6 };

/* What is known of a side. */
struct check_side {
    int64_t steps;                  /* of all ranks, 0: none are marked; NUMBER_NONE: no events */
    int64_t numbers, first, last;   /* of these steps */
    int64_t steady_of; /* 'steady' leaves these of so many; 0: others were asked for */
    int64_t ranks, rank, last_rank; /* that are compared */
    int64_t of_host; /* 1: no device work; NUMBER_NONE: steps have no length */
    bool of_modules;
    int64_t fraction; /* ns by which times are not whole us, at most; NUMBER_NONE: no steps */
    double longest;   /* the longest step by the median; 0: the median is */
    double mean;      /* ns: of the steps, or whole traces */
    struct first_calls first_calls; /* of the rank on which they take longest */
    int64_t windows;                /* its steps, or 1: whole traces */
    bool is_long;     /* J2.4 */
    int64_t world;    /* NUMBER_NONE: not known */
    int64_t recorded, bad; /* ranks, and files with problems */
};

struct checks {
    struct check *items; /* in order */
    size_t count, capacity;
    struct check_side sides[2];
    struct tally phases; /* the steps by phase */
    struct names strata; /* of the steps (T22) */
    struct names texts;
    struct check dropped; /* private, like the next */
    bool failed;          /* out of memory */
};

/* A step of a side; the steps are by rank. */
struct check_step {
    int64_t rank, iteration; /* NUMBER_NONE: no steps are marked */
    wide_time time;          /* ns */
};

/* Finds what the steps of a side say: of the struct, steps to last_rank, longest and is_long. */
bool check_steps_add(struct check_side *side, const struct check_step *steps, size_t count,
                     struct failure *failure);

/* What files of a side say of something. */
struct check_told {
    const struct names *texts;
    enum check_code code;
    uint32_t item;
    int side;
    struct check_value value;
};

/* Adds what the sides, and the first calls in them, are and what their files say. Sorts `told`. */
bool checks_add(struct checks *checks, struct check_told *told, size_t count,
                const struct stopper *stopper, struct failure *failure);

/* Device work by enum device_key; and by enum host_key host events, if shapes and types are theirs,
** as a side has no device work. */
struct check_work {
    const struct keyed *const *device;
    size_t device_count;
    const struct keyed *host; /* NULL: they are of device work */
    int64_t steps[2];
};

/* Adds what shapes and types tell (J3, J4, L6). */
bool checks_add_work(struct checks *checks, const struct check_work *work,
                     const struct stopper *stopper, struct failure *failure);

/* Brings the checks in their order: by code; then by item, as they were added; control first. */
bool checks_order(struct checks *checks, const struct stopper *stopper, struct failure *failure);

void checks_clear(struct checks *checks);

/* The finding for which the traces cannot be compared (J2.11). NULL: there is none. */
const struct check *checks_worst_finding(const struct checks *checks);

/* Whether it is an option of the profiler that makes the host slower. */
bool check_slows_host(const struct checks *checks, const struct check *check);

/* The steps of a side that are of a phase, in percent. */
int64_t check_phase_percent(const struct checks *checks, size_t phase, int side);

/* For those that find checks: a value, and a new check, which is dropped if no side has a value. */
struct check_value check_integer(int64_t value); /* none if it is NUMBER_NONE */
struct check_value check_text(uint32_t text);    /* the same for NAME_NONE */
struct check_value check_in_words(int64_t value);
struct check *check_add(struct checks *checks, enum check_code code, enum matters matters,
                        struct check_value control, struct check_value test);

#endif
