/*
** Attributes the time of each step. Every instant of a step belongs to one class and one name,
** so the parts of a step sum to its length exactly.
**
** 1. Device work is the events that take part in busy.h. T10 and T11 give its launch and step.
**    Each file is attributed by itself.
** 2. Windows, by the device's clock:
**    a. The window of step N is [R(N-1), R(N)), where step N-1 is the step that starts before it
**       in the file, chosen or not. R(N) is the latest end of device work of step N, or the end
**       of the host's step if it launched none, and at least R(N-1).
**    b. The window of the first step begins at R(0). R(0) is the later of the start of the
**       host's step and the latest end of the backlog (T10) that starts before R(1); R(1) is
**       computed without R(0) here.
**    c. A file with a single step, whose backlog does not reach past the start of the host's
**       step, has the window [that start, the later of R(1) and the end of the host's step).
**    By the host's clock, and in a file without device work, a window is the host's step,
**    [start, end). A file without steps is one window over all its events. Events of one number
**    are one step, from the earliest start to the latest end, on the thread of the one that
**    starts first.
** 3. While device work runs, the class is `compute`, `comm` or `memory`, as in busy.h. The name
**    is the owner's own name for comm, for level kernel, and for work without a launch.
**    Otherwise it is the label (labels.h) on the thread of the owner's launch, at the start of
**    that launch.
** 4. Otherwise the device is idle. While a replay whose kernels were not recorded may run
**    (replays.h), the class is `idle_unrecorded`, without a name.
** 5. Otherwise the device is idle until the device event X starts. Until L, the launch of X,
**    starts, the host is late. If L's thread is in a call, the class is `idle_call`, named by
**    the call; if it is in something else, `idle_host`, named by the label. If it is in nothing,
**    the step's thread decides in the same way; if that is in nothing too, the class is
**    `idle_unrecorded`. The step's thread is the thread of the host's step. In a file without
**    steps it is the thread with the most operators; ties: the thread whose first operator is
**    first. Without operators there is no step's thread.
** 6. While L runs, the class is `idle_launch`, named by the call. After L it is `idle_wait`,
**    with the label of L as its name. But if X starts more than 1 ms after both the end of L and
**    the latest end of device work that starts before X, inside the window or not, nothing
**    recorded explains the wait: `idle_unrecorded`, without a name.
** 7. Without X or L, or if L does not start before the window ends, the step's thread decides
**    all the time.
** 8. A file without device work has the classes `call`, `host` and `unrecorded` instead.
** 9. Names are stable names (short_name.h). A part without a label, and a launch without a name,
**    have none.
** 10. A window of length zero has one row, without class and time, so that the step counts.
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

/* The name shown to users; NULL for CLASS_NONE. */
const char *step_class_name(enum step_class step_class);

enum step_clock { CLOCK_DEVICE, CLOCK_HOST };

/* A part of a step. */
struct attributed {
    enum step_class step_class;
    uint32_t name;  /* id in attribution_names(), or NAME_NONE */
    wide_time time; /* ns */
};

struct attributed_step {
    int64_t rank;
    int64_t iteration;       /* NUMBER_NONE: the file has no steps */
    struct attributed *rows; /* by time descending, then class, then name; owned */
    size_t count, capacity;
};

/* The chosen steps of the chosen files of a trace, by rank, then iteration. The parts of a step
** are computed when they are asked for, because all parts together can be as many as the square
** of the number of steps. */
struct attribution;

/* The trace must outlive the attribution; the choice need not. NULL on failure. */
struct attribution *attribution_new(const struct trace *trace, const struct step_choice *choice,
                                    enum label_level level, enum step_clock clock,
                                    const struct stopper *stopper, struct failure *failure);

/* The number of steps. */
size_t attribution_count(const struct attribution *attribution);

/* Computes the parts of a step and replaces those that `step` holds. Asking for the steps of a
** rank one after the other is quick, because the data of its files is kept in between. */
bool attribution_step(struct attribution *attribution, size_t number, struct attributed_step *step,
                      struct failure *failure);

/* The names of the parts computed so far. */
const struct names *attribution_names(const struct attribution *attribution);

/* NULL is allowed. */
void attribution_free(struct attribution *attribution);

#endif
