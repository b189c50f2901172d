/*
** What the device of a file does at most (trace_device_peaks), and how long its work would take at
** that: rule F9.
*/
#ifndef TRACEDIFF_DEVICE_PEAKS_H
#define TRACEDIFF_DEVICE_PEAKS_H

#include "kernel_work.h"

/* By row: us that the FLOPs and the bytes of device work take at the peak; NAN: the peak is not
** known. Where the work is not known, they mean nothing. */
struct ideal_times {
    double *flops, *bytes; /* owned */
};

/* Finds those of a file, of its work by row. `owners` tells of which types it is. On failure, fills
** call->failure. */
bool ideal_times_find(struct call *call, const struct trace_file *file,
                      const struct kernel_work *owners, const struct work *work,
                      struct ideal_times *ideal);

void ideal_times_clear(struct ideal_times *ideal);

#endif
