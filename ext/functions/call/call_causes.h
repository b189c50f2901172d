/*
** The causes of the difference between the two opened sides of a call (L1 to L3).
*/
#ifndef TRACEDIFF_CALL_CAUSES_H
#define TRACEDIFF_CALL_CAUSES_H

#include "analysis/causes/cause_rates.h"
#include "analysis/steps/attribute.h"
#include "call_trace.h"

/* One trace, with the parts of its chosen steps. */
struct causes_side {
    struct attribution *attribution;
    struct attributed_step total;
    struct attribution *own; /* in a job: the steps of each rank separately */
    struct step_choice steps;
};

struct call_causes {
    const struct call_trace *opened; /* control and test */
    struct causes causes;
    struct cause_rates rates; /* found on demand (W9) */
    struct families families;
    struct drains drains;
    struct drain_side waits[2];
    struct causes_side sides[2];
};

struct call_causes_request {
    enum step_clock clock;
    size_t shown; /* number of causes that should hold most of the change (L3) */
    const struct selection *iterations[2]; /* NULL: from the arguments */
};

/* On failure, fills call->failure. Close it in this case, too. */
bool call_causes_find(struct call *call, const struct call_causes_request *request,
                      const struct call_trace *opened, struct call_causes *found);

/* Does nothing to a zeroed struct. */
void call_causes_close(struct call_causes *found);

/* Adds the rows of a function about causes. On failure, fills call->failure. */
typedef void call_causes_rows(struct call *call, struct result *result, struct call_causes *found);

/* Description of an argument. */
#define CAUSES_SHOWN_ARGUMENT \
    "shown", TAKES_COUNT, false, \
    "merge small causes until this many explain 75 % of the sum of |diff_time|; default no " \
    "merging"

#endif
