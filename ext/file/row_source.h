/*
** Where the rows of a file come from if it is not a JSON document: a database, or packets. The
** layers above implement it, so that this one does not depend on SQLite.
*/
#ifndef TRACEDIFF_ROW_SOURCE_H
#define TRACEDIFF_ROW_SOURCE_H

#include "file.h"

struct loading;

struct row_source {
    /* Whether a path is such a file. Of a file that the host may have open as a database, only
    ** SQLite may close a descriptor: POSIX then drops all locks that the process has on it. So
    ** databases are looked for first. A file that is named as JSON (`json`) is none of these, and
    ** is opened in less time. False on failure (FAILURE_READ, FAILURE_MEMORY). */
    bool (*look)(const char *path, bool json, bool *is, struct failure *failure);

    /* Whether the file is complete (G2); false on failure (FAILURE_READ, FAILURE_MEMORY). NULL: it
    ** always is. */
    bool (*complete)(const char *path, struct failure *failure);

    /* Fills in parts of a file (loading->file->part), which are read together: what each is, and if
    ** loading->whole its rows. All have the same failure. False on failure (FAILURE_READ,
    ** FAILURE_MEMORY, FAILURE_INTERRUPTED); a file that is damaged or no trace is none. */
    bool (*read)(struct loading *loadings, size_t count);

    /* Gives the args of a row of a file in `*text`, a JSON object, with its length; NULL if it has
    ** none. The text is valid until the next call with this reader. `*reader` is NULL at first;
    ** later calls may ask for other parts of the same database. False on failure. */
    bool (*args)(void **reader, const struct trace_file *file, size_t row,
                 const struct stopper *stopper, const unsigned char **text, size_t *length,
                 struct failure *failure);

    /* Ends a reader; NULL is allowed. */
    void (*args_close)(void *reader);

    /* Instead of these two, of a file that can only be read from its beginning: begins to read it,
    ** goes on to the args of an event that becomes a row, later in the file than the one before
    ** (TOKEN_NONE: it has none; they are valid until the next call), and ends that. NULL and false
    ** on failure. */
    void *(*begin)(const struct trace_file *file, const struct stopper *stopper,
                   struct failure *failure);
    bool (*next)(void *begun, int64_t event, struct token *args, struct failure *failure);
    void (*end)(void *begun);

    /* Frees what `read` left in file->origin; NULL is allowed. NULL: it leaves nothing. */
    void (*release)(void *origin);
};

#endif
