/*
** Reads logs of TORCH_TRACE.
*/
#ifndef TRACEDIFF_COMPILE_LOAD_H
#define TRACEDIFF_COMPILE_LOAD_H

#include "compile_log.h"

/* Adds a log to a zeroed struct, or to one that has others. A file that was named, not `listed` in
** a directory, has a record or is empty (CL1). To be cleared on failure, too. */
bool compile_load_file(struct compile_log *log, const char *path, bool listed,
                       const struct stopper *stopper, struct failure *failure);

/* Ends the spans and compilations of all files: their times, phases and functions. */
bool compile_load_end(struct compile_log *log, const struct stopper *stopper,
                      struct failure *failure);

/* Times of a process whose clock became known. */
void compile_times(struct compile_log *log, struct compile_process *process);

#endif
