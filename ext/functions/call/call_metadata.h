/*
** The metadata of trace files: the members of a document other than the events.
*/
#ifndef TRACEDIFF_CALL_METADATA_H
#define TRACEDIFF_CALL_METADATA_H

#include "call_trace.h"

/* Calls `take` for each key of a file's metadata (T18). `row` has the key, and its value in the
** form that `->>` returns; texts may be invalid UTF-8. `take` returns a SQLite result code.
** `*strict` is whether no key was left out. On failure, fills call->failure. */
bool call_metadata_read(struct call *call, const struct trace_file *file,
                   int (*take)(void *to, sqlite3_stmt *row), void *to, bool *strict);

#endif
