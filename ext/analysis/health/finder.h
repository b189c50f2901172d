/*
** Internals of the search for findings in a file's recording.
*/
#ifndef TRACEDIFF_FINDER_H
#define TRACEDIFF_FINDER_H

#include "findings.h"

/* a step, by index of the file's iterations */
struct step_state {
    int64_t start, end;   /* ns, of the host's step */
    int64_t worked_until; /* ns: latest end of its device work; NUMBER_NONE: none */
    bool exists, works, told; /* told: affected by the finding in progress */
    int64_t launches, lost;   /* `lost` includes launches that had not run yet */
};

struct health_finder {
    struct health *health;
    const struct trace_member *member;
    const struct trace_file *file;
    unsigned char *chosen; /* by index of iterations */
    struct step_state *steps;
    int64_t step_count;
    int64_t work, kernels, hosts;   /* numbers of events */
    int64_t work_time;              /* ns */
    int64_t short_kernels;          /* kernels of duration 0 */
    int64_t launches[2], chosen_launches[2]; /* of kernels, of graphs */
    bool whole_us;
    const struct stopper *stopper;
    struct failure *failure;
};

/* Begins a finding for a check, with nothing found yet. */
void finding_begin(struct health_finder *finder, enum health_check check,
                   struct health_finding *finding);

/* Makes an event the example, unless there is one already. */
void finding_exemplify(struct health_finding *finding, uint32_t row, int64_t ts);

/* Marks a step as affected. `step` may be STEP_NONE. */
void finding_tell_step(struct health_finder *finder, uint32_t step);

/* Adds the finding if it has any hits. */
void finding_end(struct health_finder *finder, struct health_finding *finding);

/* Finds launches with device work from several pids (I10). */
bool find_processes(struct health_finder *finder);

/* Finds device work that starts before its launch (I13). */
bool find_early(struct health_finder *finder);

#endif
