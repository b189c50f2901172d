/*
** Steps by annotation: steps of a serving engine, or events that the user names (T20 to T22).
*/
#ifndef TRACEDIFF_ANNOTATION_STEPS_H
#define TRACEDIFF_ANNOTATION_STEPS_H

#include "steps.h"

/* which events are steps */
struct step_wish {
    enum { STEPS_AUTO, STEPS_PROFILER, STEPS_LIKE } kind;
    /* STEPS_LIKE: whether a NUL-terminated name matches the ith pattern */
    bool (*like)(const void *argument, size_t i, const char *name);
    const void *argument;
    size_t count;     /* number of patterns */
    const char *text; /* the patterns as the user wrote them, for error messages */
};

/* Finds the names that frameworks give their steps: KNOWN_... bits by name id. `*known` is the
** caller's, and NULL if the file has no such name. */
enum { KNOWN_STEP = 1, KNOWN_FORM = 2 };
bool known_names(const struct trace_file *file, unsigned char **known,
                 const struct stopper *stopper, struct failure *failure);

/* Returns whether a host event with this name is a step of the profiler or of a framework. */
bool name_is_step(const struct name *name);

/* Makes steps from the events whose name has one of `bits` in `named` (by name id). With
** `any_host`, all host events but calls count; otherwise only annotations and operators do.
** 1. An event that starts inside another one of its thread (spans.h) is not a step.
** 2. Only the thread with the most steps counts. Ties: the one whose first step starts first, then
**    is first in the file.
** 3. A step ends where the next one begins, the last one at its own end.
** 4. Numbers are 0, 1, 2, ... by start. */
bool annotation_steps_make(struct steps *steps, struct trace_file *file, const unsigned char *named,
                           unsigned bits, bool any_host, const struct stopper *stopper,
                           struct failure *failure);

/* Finds for each step the name that gives its phase (T22). `known` may be NULL. */
bool step_forms_find(struct steps *steps, const struct trace_file *file, const unsigned char *known,
                     const struct stopper *stopper, struct failure *failure);

/* Makes the steps for a wish of kind STEPS_LIKE. */
bool wished_steps_make(struct steps *steps, struct trace_file *file, const struct step_wish *wish,
                       const struct stopper *stopper, struct failure *failure);

#endif
