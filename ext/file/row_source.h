/*
** Sources of rows other than JSON documents: databases and packets. Upper layers implement this
** interface, so this layer does not depend on SQLite.
*/
#ifndef TRACEDIFF_ROW_SOURCE_H
#define TRACEDIFF_ROW_SOURCE_H

#include "file.h"

struct loading;

struct row_source {
    /* Whether this source can read a file. If the host may have the file open as a database, only
    ** SQLite may close a descriptor, because POSIX then drops all locks of the process on it. So
    ** the sources for databases come first. With `json` the path suggests JSON, which allows a
    ** faster answer. False on failure (FAILURE_READ, FAILURE_MEMORY). */
    bool (*look)(const char *path, bool json, bool *is, struct failure *failure);

    /* Whether the file is complete (G2); NULL: always. False on failure (FAILURE_READ,
    ** FAILURE_MEMORY). */
    bool (*complete)(const char *path, struct failure *failure);

    /* Fills in parts of a file (loading->file->part) in one pass: the facts of each, and its rows
    ** if loading->whole. All loadings share one failure. False on failure (FAILURE_READ,
    ** FAILURE_MEMORY, FAILURE_INTERRUPTED); files that are damaged or not traces are no failure. */
    bool (*read)(struct loading *loadings, size_t count);

    /* Gives the args of a row in `*text`, a JSON object, with its length; NULL without args. The
    ** text is valid until the next call with this reader. `*reader` is NULL at first; later calls
    ** may request other parts of the same database. False on failure. */
    bool (*args)(void **reader, const struct trace_file *file, size_t row,
                 const struct stopper *stopper, const unsigned char **text, size_t *length,
                 struct failure *failure);

    /* Closes a reader; NULL is allowed. */
    void (*args_close)(void *reader);

    /* Replacement for these two if a file can only be read from its beginning. `begin` starts.
    ** `next` advances to the args of a row's event, later in the file than the previous one
    ** (TOKEN_NONE: no args; valid until the next call). `end` stops. NULL and false on failure. */
    void *(*begin)(const struct trace_file *file, const struct stopper *stopper,
                   struct failure *failure);
    bool (*next)(void *begun, int64_t event, struct token *args, struct failure *failure);
    void (*end)(void *begun);

    /* Frees file->origin; NULL is allowed. A NULL function: there is no origin. */
    void (*release)(void *origin);
};

#endif
