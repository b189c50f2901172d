/*
** Errors. The text is made once, where the error is found.
**
** A function that can fail takes a `struct failure *` as its last argument. The first failure
** set is kept. Its text is complete except for the name of the SQL function, which the SQLite
** layer puts before it. Paths are in single quotes. Bytes are counted from 1 in the decompressed
** document; for damaged gzip data, in the file. To compilers, paths that set a failure are cold.
*/
#ifndef TRACEDIFF_FAILURE_H
#define TRACEDIFF_FAILURE_H

#include <stdbool.h>

enum failure_code {
    FAILURE_NONE = 0,
    FAILURE_MEMORY,      /* out of memory; text is NULL */
    FAILURE_INTERRUPTED, /* the caller asked to stop; text is NULL */
    FAILURE_READ,        /* a file cannot be opened or read */
    FAILURE_DAMAGE,      /* T15: damaged gzip, or a truncated document */
    FAILURE_NOT_TRACE,   /* T16: a file is not a trace */
    FAILURE_REQUEST,     /* something asked for does not exist or makes no sense */
    FAILURE_SAME_RANK    /* T8: files of one rank that are not one recording */
};

struct failure {
    enum failure_code code;
    char *text;       /* owned; NULL if out of memory */
    const char *what; /* set by failure_at(): the error, without path and byte */
    long long byte;   /* set by failure_at() */
};

/* Sets the failure unless one is already set. The format takes %s, %d, %lld and the like, but
** nothing that depends on the locale. Always returns false. */
bool failure_set(struct failure *failure, enum failure_code code, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* Sets a failure in a file: `'path': what at byte N`; the byte is left out if it is 0. `what`
** must outlive the failure. */
bool failure_at(struct failure *failure, enum failure_code code, const char *path, const char *what,
                long long byte) __attribute__((cold));

/* Sets FAILURE_MEMORY. Always returns false. */
bool failure_memory(struct failure *failure) __attribute__((cold));

/* Frees the text and resets the struct to no failure. */
void failure_clear(struct failure *failure);

/* Copies a failure to `to`, unless that is set. A failure without a text is out of memory. Always
** returns false. */
bool failure_copy(struct failure *to, const struct failure *from);

/* Moves `from` to `to`, unless `to` is already set. */
void failure_move(struct failure *to, struct failure *from);

#endif
