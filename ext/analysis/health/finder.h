/*
** While what is odd in the recording of a file is found.
*/
#ifndef TRACEDIFF_FINDER_H
#define TRACEDIFF_FINDER_H

#include "findings.h"

/* What a step has, by index of the iterations of a file. */
struct step_state {
    int64_t start, end;   /* ns, of the host's step */
    int64_t worked_until; /* ns: the latest end of its device work; NUMBER_NONE: none */
    bool exists, works, told; /* told: concerned by the finding that is being made */
    int64_t launches, lost;   /* lost or waiting */
};

struct health_finder {
    struct health *health;
    const struct trace_member *member;
    const struct trace_file *file;
    unsigned char *chosen; /* by index of iterations */
    struct step_state *steps;
    int64_t step_count;
    int64_t work, kernels, hosts;   /* events */
    int64_t work_time;              /* ns */
    int64_t short_kernels;          /* of duration 0 */
    int64_t launches[2], chosen_launches[2]; /* of kernels, of graphs */
    bool whole_us;
    const struct stopper *stopper;
    struct failure *failure;
};

/* A finding of a check, of which nothing is found yet. */
void finding_begin(struct health_finder *finder, enum health_check check,
                   struct health_finding *finding);

/* Takes an event for the example, if there is none yet. */
void finding_exemplify(struct health_finding *finding, uint32_t row, int64_t ts);

/* A step, or STEP_NONE, has what is found. */
void finding_tell_step(struct health_finder *finder, uint32_t step);

/* Adds the finding, if anything was found. */
void finding_end(struct health_finder *finder, struct health_finding *finding);

/* I10: launches of several pids that have device work. */
bool find_processes(struct health_finder *finder);

/* I13: device work that starts before its launch. */
bool find_early(struct health_finder *finder);

#endif
