/*
** Reads a pickle, of protocols 2 to 5, and runs nothing of it.
**
** 1. It has the opcodes that data need. Those that import, call or look up what is not in the file
**    are an error that names the opcode and its byte; others, of protocols 0 and 1, too.
** 2. A container that is added to after it was put into another one, or into itself, is an error:
**    no cycle can be made without. Python's pickler fills a container before it puts it into
**    another one unless there is a cycle.
** 3. Depth, stack, memo and texts are bounded, and so is memory: by the bytes that were read, by
**    those of the file on disk, and by 4 GiB.
** 4. What follows STOP is read, since gzip has its checksum at the end, and left out.
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
    bool truncated;               /* of one that could not be read: it ends too early */
    char refused[LONGEST_REFUSED]; /* or the class that it would make, MODULE.NAME; else "" */
};

/* Reads a file. `identity` becomes that of the file. Failures: FAILURE_NOT_TRACE if it does not
** begin like a pickle, FAILURE_DAMAGE, and others; the pickle is to be cleared then, too. */
bool pickle_read(struct pickle *pickle, const char *path, const char *const *keys, size_t key_count,
                 struct identity *identity, const struct stopper *stopper, struct failure *failure);

/* Whether a file begins like a pickle, once decompressed. False, too, on failure. */
bool pickle_begins(const char *path, struct failure *failure);

void pickle_clear(struct pickle *pickle);

#endif
