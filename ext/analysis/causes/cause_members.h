/*
** The members of causes: the time and the kernels of both sides by cause, part, area and kernel.
*/
#ifndef TRACEDIFF_CAUSE_MEMBERS_H
#define TRACEDIFF_CAUSE_MEMBERS_H

#include "cause_parts.h"

struct cause_member {
    size_t cause;          /* index in causes.items */
    size_t part;           /* index in causes.parts->items */
    uint32_t area, kernel; /* ids in causes.names; NAME_NONE: no device work */
    wide_time time[2];     /* ns: over all windows of control and of test */
    int64_t kernels[2];    /* number of device events that start in these windows */
};

struct cause_members {
    struct cause_member *items; /* by cause, then by part, area and kernel; owned */
    size_t count;
};

/* Finds the members of causes. On failure there is nothing to clear. */
bool cause_members_find(struct cause_members *members, const struct causes *causes,
                        const struct stopper *stopper, struct failure *failure);

void cause_members_clear(struct cause_members *members);

/* Returns the index of each part's cause, by part; UINT32_MAX: no cause. NULL if out of memory. */
uint32_t *causes_of_parts(const struct causes *causes);

#endif
