/*
** The peak performance of a file's device (trace_device_peaks), and how long its work would take at
** that peak: rule F9.
*/
#ifndef TRACEDIFF_DEVICE_PEAKS_H
#define TRACEDIFF_DEVICE_PEAKS_H

#include "kernel_work.h"

/* By row: us of the device work's FLOPs and bytes at the peak; NAN: the peak is unknown. Rows
** without known work have no meaning. */
struct ideal_times {
    double *flops, *bytes; /* owned */
};

/* Finds the ideal times of a file from its work by row; `owners` gives the input types. On failure,
** fills call->failure. */
bool ideal_times_find(struct call *call, const struct trace_file *file,
                      const struct kernel_work *owners, const struct work *work,
                      struct ideal_times *ideal);

void ideal_times_clear(struct ideal_times *ideal);

#endif
