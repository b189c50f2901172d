/*
** The range whose runs should be compared for two traces without steps, instead of the whole traces
** (C17).
*/
#ifndef TRACEDIFF_REPEATS_H
#define TRACEDIFF_REPEATS_H

#include "file/file.h"

struct repeat {
    const struct name *name; /* points into control's names; NULL: no range */
    size_t pattern;          /* bytes of a long name that are unique; 0: use the whole name */
    int64_t runs[2];         /* by side */
};

/* Finds the range. `files` are control and test. */
bool repeat_find(struct repeat *repeat, const struct trace_file *const *files,
                 const struct stopper *stopper, struct failure *failure);

#endif
