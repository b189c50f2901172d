/*
** Which steps of a trace are chosen, and which of its events count.
*/
#ifndef TRACEDIFF_STEP_CHOICE_H
#define TRACEDIFF_STEP_CHOICE_H

#include "trace.h"

/* T13: for each rank, a time in ns. An analysis counts an event only if the event, or the event
** that places it (its launch, or see annotations.h), begins before that time. It is the start of
** the rank's last step or, if that step is included, just after its end. INT64_MAX: a rank with
** fewer than two steps is kept whole. `limits` has room for every rank. */
void trace_last_step(const struct trace *trace, bool included, int64_t *limits);

/* The steps of a trace that were chosen. */
struct step_choice {
    bool everything;        /* every event, whether in a step or not */
    unsigned char **chosen; /* by member, then by index of its iterations; may be NULL */
    int64_t steps;          /* times per step are divided by this (T12); at least 1 */
};

/* Whose steps are chosen. */
enum step_owners {
    STEPS_OF_RANKS, /* of the chosen ranks */
    STEPS_OF_JOB,   /* of the reference of the job that they are (Q1) */
    STEPS_OF_ANY    /* of the chosen ranks, as far as they have the phase */
};

/* Chooses steps. A trace without steps is taken whole. If only some ranks have steps, that is a
** FAILURE_REQUEST, unless all iterations are asked for (T12). So is a phase that no step of an
** owner has (T23), unless STEPS_OF_ANY. */
bool trace_choose_steps(const struct trace *trace, const struct selection *iterations,
                        enum step_owners owners, const char *subject, struct step_choice *choice,
                        struct failure *failure);

/* Marks the steady steps of a file (T12.1), by index of its iterations. */
bool trace_steady_steps(const struct trace_member *member, unsigned char *steady,
                        struct failure *failure);

/* Whether a phase, or stratum, is that of a steady step of a file (T23). */
bool trace_has_phase(const struct trace_member *member, const char *phase, bool *has,
                     struct failure *failure);

/* The reference of the job that the chosen ranks are: the lowest of those that have steps, or if
** none has, the lowest. Returns a file of it; NULL if no rank is chosen. */
const struct trace_member *trace_reference(const struct trace *trace);

void step_choice_clear(const struct trace *trace, struct step_choice *choice);

#endif
