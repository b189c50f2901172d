/*
** The evidence of a cause: how the work that it is named by differs (Z4).
*/
#ifndef TRACEDIFF_BRIEF_EVIDENCE_H
#define TRACEDIFF_BRIEF_EVIDENCE_H

#include "functions/facts/answer_facts.h"

/* A step; arrays are by side. */
struct evidence {
    bool of_device;
    const struct name *shapes; /* NULL: not known */
    double counts[2], kernels[2];
    double tflops[2]; /* not a number: not known */
};

/* Device work that evidence is found in. */
struct device_work {
    const struct keyed *const *sums; /* by enum device_key, with work */
    size_t count;
    int64_t steps[2];
};

/* Finds the operator, shapes and kernel of a name whose device time differs most: `key` is
** DEVICE_TOP_OP or DEVICE_KERNEL. `*found`: there is one. */
bool device_evidence_find(struct call *call, const struct device_work *work, int key,
                          const struct name *name, struct evidence *evidence, bool *found);

/* Finds how often the host runs something; false if it runs as often. */
bool run_evidence_find(const struct run_changes *changes, const struct name *name,
                       struct evidence *evidence);

#endif
