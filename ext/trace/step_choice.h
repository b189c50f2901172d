/*
** Chooses steps of a trace and the events that count.
*/
#ifndef TRACEDIFF_STEP_CHOICE_H
#define TRACEDIFF_STEP_CHOICE_H

#include "trace.h"

/* T13: computes a time limit in ns for each rank. An analysis counts an event only if the event, or
** the event that places it (its launch, or see annotations.h), begins before the limit. The limit
** is the start of the rank's last step or, with `included`, just after its end. INT64_MAX: a rank
** with fewer than two steps is kept whole. `limits` has room for every rank. */
void trace_last_step(const struct trace *trace, bool included, int64_t *limits);

/* The chosen steps of a trace. */
struct step_choice {
    bool everything;        /* all events count, inside and outside steps */
    unsigned char **chosen; /* by member, then by index of its iterations; may be NULL */
    int64_t steps;          /* divisor for times per step (T12); at least 1 */
};

/* The ranks whose steps are chosen. */
enum step_owners {
    STEPS_OF_RANKS, /* every chosen rank */
    STEPS_OF_JOB,   /* the reference rank of the job formed by the chosen ranks (Q1) */
    STEPS_OF_ANY    /* every chosen rank that has the phase */
};

/* Chooses steps. A trace without steps counts as a whole. If only some ranks have steps, that is a
** FAILURE_REQUEST, unless all iterations are requested (T12). So is a phase that an owner lacks
** (T23), unless STEPS_OF_ANY. */
bool trace_choose_steps(const struct trace *trace, const struct selection *iterations,
                        enum step_owners owners, const char *subject, struct step_choice *choice,
                        struct failure *failure);

/* Marks the steady steps of a file (T12.1), by index of its iterations. */
bool trace_steady_steps(const struct trace_member *member, unsigned char *steady,
                        struct failure *failure);

/* Whether a steady step of a file has a phase or stratum (T23). */
bool trace_has_phase(const struct trace_member *member, const char *phase, bool *has,
                     struct failure *failure);

/* Finds the reference rank of the job formed by the chosen ranks: the lowest rank with steps, or if
** none has steps, the lowest. Returns one of its files; NULL if no rank is chosen. */
const struct trace_member *trace_reference(const struct trace *trace);

void step_choice_clear(const struct trace *trace, struct step_choice *choice);

#endif
