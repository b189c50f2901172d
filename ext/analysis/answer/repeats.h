/*
** The range of two traces without steps of which one run is to be compared, instead of the whole
** traces (C17).
*/
#ifndef TRACEDIFF_REPEATS_H
#define TRACEDIFF_REPEATS_H

#include "file/file.h"

struct repeat {
    const struct name *name; /* of a file; NULL: there is none */
    size_t pattern;          /* of a long name: bytes that tell it from others; 0: all */
    int64_t runs[2];         /* by side */
};

/* Finds the range; `files` are those of control and test. */
bool repeat_find(struct repeat *repeat, const struct trace_file *const *files,
                 const struct stopper *stopper, struct failure *failure);

#endif
