/*
** Reasons why the comparison of two traces may be wrong, with the arguments of a call.
*/
#ifndef TRACEDIFF_CALL_CHECKS_H
#define TRACEDIFF_CALL_CHECKS_H

#include "analysis/answer/checks.h"
#include "analysis/health/trust.h"
#include "analysis/steps/attribute.h"
#include "functions/call/call_trace.h"

struct checks_request {
    const struct call_trace *opened; /* control and test, with ranks one by one, not as a job */
    enum step_clock clock;
    const struct trust *trust; /* findings about these ranks; NULL: call_checks_find() finds them */
    bool shapes; /* check shapes and types, which are in args */
    /* Returns sums of all device work of these ranks by enum device_key, once the other checks are
    ** known. NULL, like `host`: call_checks_find() finds them. */
    bool (*device)(void *from, const struct checks *checks, const struct keyed *const **sums,
                   size_t *count);
    /* The same for host events by enum host_key; returns NULL on failure. */
    const struct keyed *(*host)(void *from);
    void *from;
};

/* On failure, fills call->failure and leaves nothing to clear. */
bool call_checks_find(struct call *call, const struct checks_request *request,
                      struct checks *checks);

#endif
