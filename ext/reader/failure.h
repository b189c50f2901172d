/*
** What went wrong, said once, where it is seen.
**
** A function that can fail takes a `struct failure *` last. The first failure
** set stays; its text is whole but for the name of the SQL function, which the
** SQLite layer puts before it. Paths stand in single quotes in the text, bytes
** are counted from 1 in the decompressed document unless it says otherwise.
*/
#ifndef TRACEDIFF_FAILURE_H
#define TRACEDIFF_FAILURE_H

#include <stdbool.h>

enum failure_code {
    FAILURE_NONE = 0,
    FAILURE_MEMORY,      /* no memory; text is NULL */
    FAILURE_INTERRUPTED, /* the caller asked to stop; text is NULL */
    FAILURE_READ,        /* a file that cannot be opened or read */
    FAILURE_DAMAGE,      /* T15: gzip damage, or a document that ends too early */
    FAILURE_NOT_TRACE,   /* T16: a file that is no trace */
    FAILURE_REQUEST      /* what was asked for is not there, or makes no sense */
};

struct failure {
    enum failure_code code;
    char *text;       /* owned; NULL if out of memory */
    const char *what; /* of failure_at(): what is wrong, without path and byte */
    long long byte;   /* of failure_at() */
};

/* Sets the failure unless one is set already. The format takes %s, %d, %lld and
** the like; nothing that depends on the locale. Always returns false. */
bool failure_set(struct failure *failure, enum failure_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for something wrong in a file: `'path': what at byte N`, or without the
** byte if that is 0. `what` must outlive the failure. */
bool failure_at(struct failure *failure, enum failure_code code, const char *path, const char *what,
                long long byte);

/* No memory. Always returns false. */
bool failure_memory(struct failure *failure);

/* Frees the text and makes it no failure again. */
void failure_clear(struct failure *failure);

/* Moves `from` into `to`, unless that one is set already. */
void failure_move(struct failure *to, struct failure *from);

#endif
