/*
** Oddities of a recording that do not depend on the chosen steps (I1 to I9). They are found while
** the file is loaded, and kept with it.
*/
#ifndef TRACEDIFF_HEALTH_H
#define TRACEDIFF_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Thresholds; test_health tests both sides of each. */
#define MANY_LEAST 3              /* minimum number, and ... */
#define MANY_PART 100             /* ... minimum share (1 in 100) to count as many: I1 to I5, I9 */
#define OVERRUN_NS 100000         /* time after the end of later work: I1 */
#define OVERRUN_ODD_NS 1000000000 /* the same for work without an order: I1.2 */
#define OVERRUN_LONE_PART 20      /* too large a share (1 in 20) of the device time: I1.4 */
#define BEYOND_NS 60000000000     /* time after the end of the recording: I2 */
#define UNTIMED_LEAST 2           /* events at 0: I3 */
#define EARLY_NS 10000            /* time before the launch: I13 */
#define EARLY_PART 2              /* minimum share (1 in 2) of the work: I13 */
#define OUT_OF_STEP_PART 4        /* minimum share (1 in 4) of the host's time: I7 */
#define OUT_OF_STEP_LEAST 3       /* steps: I7 */

static inline bool is_many(int64_t count, int64_t total)
{
    return count >= MANY_LEAST && count > total / MANY_PART;
}

/* An event whose recorded times were corrected. */
struct odd_event {
    int64_t ts, dur; /* ns, as recorded */
    uint32_t row;
    unsigned char what; /* enum oddity */
    bool alone;         /* overlong work without other work of its name to estimate its duration */
    bool step;          /* it was a step */
};

enum oddity { ODD_DURATION /* I1, I2 */, ODD_UNTIMED /* I3 */ };

/* A call that launches device work and is not inside another call (I4). */
struct launch {
    uint32_t row;
    bool graph;
    unsigned char state; /* enum launch_state */
};

enum launch_state { LAUNCH_RAN, LAUNCH_LOST /* I4 */, LAUNCH_WAITS /* I5 */ };

/* Device work without a launch, and the linked work that places it (I8); ROW_NONE: none. */
struct placed_work {
    uint32_t row, by;
};

struct file_health {
    struct odd_event *odd; /* in file order; owned, like the other arrays */
    size_t odd_count, odd_capacity;
    struct launch *launches; /* by thread and start */
    size_t launch_count, launch_capacity;
    int64_t captured, calls; /* launches in captures (A15), and all launches; 0 without a capture */
    int64_t waits_from; /* start of the first waiting launch; INT64_MAX: none */
    struct placed_work *placed; /* in file order */
    size_t placed_count, placed_capacity;
    int64_t backlog_kernels; /* number of kernels in the backlog (T10.4) */
};

#endif
