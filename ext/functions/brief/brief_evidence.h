/*
** The evidence of a cause: how the work with its name differs (Z4).
*/
#ifndef TRACEDIFF_BRIEF_EVIDENCE_H
#define TRACEDIFF_BRIEF_EVIDENCE_H

#include "functions/facts/answer_facts.h"

/* Means per step; arrays are by side. */
struct evidence {
    bool of_device;
    const struct name *shapes; /* NULL: unknown */
    double counts[2], kernels[2];
    double tflops[2]; /* NAN: unknown */
};

/* Device work to search for evidence. */
struct device_work {
    const struct keyed *const *sums; /* by enum device_key, including FLOPs and bytes */
    size_t count;
    int64_t steps[2];
};

/* Finds the operator, shapes and kernel with the largest difference in device time for a name:
** `key` is DEVICE_TOP_OP or DEVICE_KERNEL. `*found`: whether there is one. */
bool device_evidence_find(struct call *call, const struct device_work *work, int key,
                          const struct name *name, struct evidence *evidence, bool *found);

/* Finds how often the host executes the name; false if that did not change. */
bool run_evidence_find(const struct run_changes *changes, const struct name *name,
                       struct evidence *evidence);

#endif
