/*
** Where the time of each step went: every instant of a step belongs to one class and
** one name, so that its parts sum to its length exactly.
**
** 1. Device work is what takes part in busy.h; its launch and step: T10, T11. Each file
**    is by itself.
** 2. Windows, by the device's clock:
**    a. The window of step N is [R(N-1), R(N)), N-1 being the step that starts before it in
**       the file, chosen or not. R(N) is the latest end of device work of step N, or the end
**       of the host's step if it launched none, and R(N-1) at the least.
**    b. The window of the first step begins at R(0): at the later of the start of the
**       host's step and the latest end of the backlog (T10) that starts before R(1), as it
**       is without R(0).
**    c. A file with a single step whose backlog does not reach past the start of the host's
**       step: [that start, the later of R(1) and the end of the host's step).
**    By the host's clock, and in a file without device work, a window is the host's step,
**    [start, end). A file without steps is one window, over all its events. Events of one
**    number are one step, from the earliest start to the latest end, on the thread of the
**    one that starts first.
** 3. While device work runs the instant is `compute`, `comm` or `memory`, as busy.h has
**    it. Its name is the owner's own for comm, by level kernel, and for work without a
**    launch; else the label (labels.h) at the start of the owner's launch, on the launch's
**    thread.
** 4. Otherwise the device is idle. While a replay may run whose kernels were not recorded
**    (replays.h) it is `idle_unrecorded`, without a name.
** 5. Otherwise the device is idle until the device event X starts. Until L, the launch
**    of X, starts the host is late: its thread is in a call (`idle_call`, named by it),
**    in something else (`idle_host`, named by the label), or in nothing; then the step's
**    thread is asked in the same way, and then it is `idle_unrecorded`. The step's thread
**    is the host step's; without steps it is the one with most operators, of several the
**    one that has its first one first, and without operators there is none.
** 6. While L runs it is `idle_launch`, named by the call. After L it is `idle_wait`, named
**    as the label of L; but if X starts more than 1 ms after both the end of L and the
**    latest end of device work that starts before X, in the window or not, nothing recorded
**    holds X back: `idle_unrecorded`, without a name.
** 7. Without X, or L, or with an L that does not start before the window ends, the step's
**    thread is asked throughout.
** 8. A file without device work has the classes `call`, `host` and `unrecorded` instead.
** 9. Names are stable names (short_name.h). What has no label, and a launch without a
**    name, has none.
** 10. A window of no length has a row of no class and no time, so that it counts.
*/
#ifndef TRACEDIFF_ATTRIBUTE_H
#define TRACEDIFF_ATTRIBUTE_H

#include "../trace/trace.h"
#include "../trace/wide.h"
#include "labels.h"

enum step_class {
    CLASS_COMPUTE,
    CLASS_COMM,
    CLASS_MEMORY,
    CLASS_IDLE_CALL,
    CLASS_IDLE_HOST,
    CLASS_IDLE_UNRECORDED,
    CLASS_IDLE_LAUNCH,
    CLASS_IDLE_WAIT,
    CLASS_CALL,
    CLASS_HOST,
    CLASS_UNRECORDED,
    CLASS_NONE /* rule 10 */
};

/* As users read it; NULL for CLASS_NONE. */
const char *step_class_name(enum step_class step_class);

enum step_clock { CLOCK_DEVICE, CLOCK_HOST };

/* A part of a step. */
struct attributed {
    enum step_class step_class;
    uint32_t name;  /* of attribution_names(), or NAME_NONE */
    wide_time time; /* ns */
};

struct attributed_step {
    int64_t rank;
    int64_t iteration;       /* NUMBER_NONE: the file has no steps */
    struct attributed *rows; /* by time descending, class, name; owned */
    size_t count, capacity;
};

/* The chosen steps of the chosen files of a trace, by rank and iteration. The parts of a
** step are found when they are asked for, for there can be as many as the square of the
** number of steps. */
struct attribution;

/* The trace must outlive it, the choice need not. NULL on failure. */
struct attribution *attribution_new(const struct trace *trace, const struct step_choice *choice,
                                    enum label_level level, enum step_clock clock,
                                    const struct stopper *stopper, struct failure *failure);

/* How many steps there are. */
size_t attribution_count(const struct attribution *attribution);

/* Finds the parts of a step, which takes the place of the one that `step` holds. Steps of
** one rank, one after the other, are quick: what is known of its files is kept meanwhile. */
bool attribution_step(struct attribution *attribution, size_t number, struct attributed_step *step,
                      struct failure *failure);

/* The names of the parts that were found. */
const struct names *attribution_names(const struct attribution *attribution);

/* NULL is allowed. */
void attribution_free(struct attribution *attribution);

#endif
