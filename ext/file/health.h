/*
** What is odd in a recording, as far as its file tells without a choice of steps (I1 to I9). It is
** found while the file is loaded, and kept with it.
*/
#ifndef TRACEDIFF_HEALTH_H
#define TRACEDIFF_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Thresholds; each has a test on both sides (test_health) */
#define MANY_LEAST 3              /* so many, and ... */
#define MANY_PART 100             /* ... more than one in so many, are many: I1 to I5, I9 */
#define OVERRUN_NS 100000         /* beyond the end of later work: I1 */
#define OVERRUN_ODD_NS 1000000000 /* the same where work is in no order: I1.2 */
#define OVERRUN_LONE_PART 20      /* one in so many of the device time is too much: I1.4 */
#define BEYOND_NS 60000000000     /* beyond the end of the recording: I2 */
#define UNTIMED_LEAST 2           /* events at 0: I3 */
#define EARLY_NS 10000            /* before the launch: I13 */
#define EARLY_PART 2              /* one in so many of the work: I13 */
#define OUT_OF_STEP_PART 4        /* one in so many of the host's time: I7 */
#define OUT_OF_STEP_LEAST 3       /* steps: I7 */

static inline bool is_many(int64_t count, int64_t total)
{
    return count >= MANY_LEAST && count > total / MANY_PART;
}

/* An event whose times are read in another way than they were recorded. */
struct odd_event {
    int64_t ts, dur; /* ns, as recorded */
    uint32_t row;
    unsigned char what; /* enum oddity */
    bool alone;         /* work that is too long: no other work of its name tells how long */
    bool step;          /* it was a step */
};

enum oddity { ODD_DURATION /* I1, I2 */, ODD_UNTIMED /* I3 */ };

/* A call that launches device work, and lies in no other (I4). */
struct launch {
    uint32_t row;
    bool graph;
    unsigned char state; /* enum launch_state */
};

enum launch_state { LAUNCH_RAN, LAUNCH_LOST /* I4 */, LAUNCH_WAITS /* I5 */ };

/* Device work that tells no launch, and the linked work that places it (I8); ROW_NONE: none. */
struct placed_work {
    uint32_t row, by;
};

struct file_health {
    struct odd_event *odd; /* in the order of the file; owned, like the others */
    size_t odd_count, odd_capacity;
    struct launch *launches; /* by thread and start */
    size_t launch_count, launch_capacity;
    int64_t captured, calls; /* launches in captures (A15), and all; 0 without a capture */
    int64_t waits_from; /* the start of the first that waits; INT64_MAX: none */
    struct placed_work *placed; /* in the order of the file */
    size_t placed_count, placed_capacity;
    int64_t backlog_kernels; /* kernels in the backlog (T10.4) */
};

#endif
