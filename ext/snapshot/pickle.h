/*
** Reads a pickle of protocols 2 to 5 without running any of its code.
**
** 1. Only opcodes for plain data are supported. An opcode that imports, calls or refers to anything
**    outside the file is an error with the name and byte of the opcode. So are opcodes that only
**    protocols 0 and 1 use.
** 2. Adding to a container that is already part of another container, or of itself, is an error.
**    This rules out cycles. Python's pickler fills a container before it stores it in another one,
**    except in cycles.
** 3. Depth, stack, memo and texts are limited. Memory is limited by the bytes read, by the size of
**    the file on disk, and by 4 GiB.
** 4. Bytes after STOP are read and ignored, because the checksum of gzip is at the end.
*/
#ifndef TRACEDIFF_PICKLE_H
#define TRACEDIFF_PICKLE_H

#include "source/source.h"
#include "base/stopper.h"
#include "values.h"

enum { LONGEST_REFUSED = 200 };

struct pickle {
    struct values values;
    pickled root;
    int64_t size; /* bytes, decompressed */
    bool truncated;               /* set on failure if the file ends too early */
    char refused[LONGEST_REFUSED]; /* or the class that it would create, MODULE.NAME; else "" */
};

/* Reads a file, and sets `identity`. Failures: FAILURE_NOT_TRACE if the file does not begin like a
** pickle, FAILURE_DAMAGE, and others. The caller clears the pickle on failure, too. */
bool pickle_read(struct pickle *pickle, const char *path, const char *const *keys, size_t key_count,
                 struct identity *identity, const struct stopper *stopper, struct failure *failure);

/* Whether a file begins like a pickle after decompression. False also on failure. */
bool pickle_begins(const char *path, struct failure *failure);

void pickle_clear(struct pickle *pickle);

#endif
