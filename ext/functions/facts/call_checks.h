/*
** What may make the comparison of two traces wrong, as a call asks for it.
*/
#ifndef TRACEDIFF_CALL_CHECKS_H
#define TRACEDIFF_CALL_CHECKS_H

#include "analysis/answer/checks.h"
#include "analysis/health/trust.h"
#include "analysis/steps/attribute.h"
#include "functions/call/call_trace.h"

struct checks_request {
    const struct call_trace *opened; /* control and test: ranks one by one, not as a job */
    enum step_clock clock;
    const struct trust *trust; /* of these ranks; NULL: it is found here */
    bool shapes; /* whether shapes and types are checked, which are in args */
    /* Gives sums of all device work of these ranks by enum device_key, when the other checks are
    ** known. NULL, like `host`: they are found here. */
    bool (*device)(void *from, const struct checks *checks, const struct keyed *const **sums,
                   size_t *count);
    /* The same of host events by enum host_key; NULL on failure. */
    const struct keyed *(*host)(void *from);
    void *from;
};

/* On failure, fills call->failure and leaves nothing to clear. */
bool call_checks_find(struct call *call, const struct checks_request *request,
                      struct checks *checks);

#endif
