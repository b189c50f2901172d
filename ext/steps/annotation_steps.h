/*
** Steps by annotation: those of a serving framework's engine, or what a user names (T20 to T22).
*/
#ifndef TRACEDIFF_ANNOTATION_STEPS_H
#define TRACEDIFF_ANNOTATION_STEPS_H

#include "steps.h"

/* Which events are steps. */
struct step_wish {
    enum { STEPS_AUTO, STEPS_PROFILER, STEPS_LIKE } kind;
    /* STEPS_LIKE: whether a name, which ends with a 0, is like the ith of some patterns. */
    bool (*like)(const void *argument, size_t i, const char *name);
    const void *argument;
    size_t count;     /* of patterns */
    const char *text; /* what was asked for, for errors */
};

/* What the names of a file say of its events, by name id: KNOWN_... bits; `*known` becomes NULL if
** they say nothing. */
enum { KNOWN_STEP = 1, KNOWN_FORM = 2 };
bool known_names(const struct trace_file *file, unsigned char **known,
                 const struct stopper *stopper, struct failure *failure);

/* Whether a host event of that name is a step, of the profiler or of a framework. */
bool name_is_step(const struct name *name);

/* Makes the steps of a file of the events whose name has one of `bits` in `named`, by name id: of
** known annotations only, or of any host event but calls.
** 1. An event that starts inside another of its thread (spans.h) is not a step.
** 2. Of several threads the one with the most steps counts; ties: the one whose first step starts
**    first, then is first in the file.
** 3. A step ends where the next one begins; the last one at its own end.
** 4. Numbers are 0, 1, 2, ... by start. */
bool annotation_steps_make(struct steps *steps, struct trace_file *file, const unsigned char *named,
                           unsigned bits, bool any_host, const struct stopper *stopper,
                           struct failure *failure);

/* Finds the names that tell the phases of steps (T22). `known` may be NULL. */
bool step_forms_find(struct steps *steps, const struct trace_file *file, const unsigned char *known,
                     const struct stopper *stopper, struct failure *failure);

/* Makes the steps that a wish of the kind STEPS_LIKE names. */
bool wished_steps_make(struct steps *steps, struct trace_file *file, const struct step_wish *wish,
                       const struct stopper *stopper, struct failure *failure);

#endif
