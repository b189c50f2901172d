/*
** The machine that the opcodes of a pickle run on: a chunk of the file, a stack, marks on it, and
** the memo. Shared by pickle.c, which reads opcodes, and machine.c.
*/
#ifndef TRACEDIFF_MACHINE_H
#define TRACEDIFF_MACHINE_H

#include "pickle.h"

enum {
    CHUNK_SIZE = 256 * 1024,
    CHUNK_PADDING = 16, /* NULs after the end: no opcode but a text reads more bytes */
    MOST_MARKS = 1000,
    MOST_STACK = 4 * 1024 * 1024, /* values */
    MOST_TEXT = 16 * 1024 * 1024  /* bytes */
};

struct machine {
    struct values *values;
    struct source *source;
    const char *path;
    const struct stopper *stopper;
    struct failure *failure;
    unsigned char *chunk;
    const unsigned char *p, *end; /* the next byte; the end of those in the chunk */
    int64_t origin;               /* bytes of the file before the chunk */
    int64_t opcode;               /* the byte, from 1, of the opcode that runs */
    bool ended;                   /* the chunk has the last byte */
    bool truncated;               /* it ended too early */
    pickled *stack;
    size_t top, capacity;
    size_t fence; /* values below the last mark */
    uint32_t marks[MOST_MARKS];
    size_t depth;
    pickled *memo;
    size_t memo_count, memo_capacity; /* entries that were not set are 0 */
    size_t puts, memoized; /* entries that were set, again or for the first time */
    char *text;
    size_t text_capacity;
};

/* Sets a failure at the opcode that runs; false. Past the end, the file is truncated. */
bool machine_refuse(struct machine *machine, enum failure_code code, const char *what);

/* Sets FAILURE_MEMORY; false. */
bool machine_lost(struct machine *machine);

/* Moves the rest of the chunk to its beginning, and reads on. */
bool machine_fill(struct machine *machine);

/* Makes room on the stack. */
bool machine_grow(struct machine *machine);

/* Pushes a value; `value` 0: out of memory. */
bool machine_push(struct machine *machine, pickled value);

bool machine_put(struct machine *machine, uint64_t i);
bool machine_get(struct machine *machine, uint64_t i);
bool machine_mark(struct machine *machine);

/* Drops the last mark, and gives the place of the first value above it. */
bool machine_unmark(struct machine *machine, size_t *from);

/* Whether there are values above the last mark. */
bool machine_has(struct machine *machine, size_t count);

/* A text or, if `kept` is false, bytes, of `length` bytes from `p` on. */
bool machine_text(struct machine *machine, uint64_t length, bool kept);

/* An integer of `length` bytes, the lowest first. */
bool machine_long(struct machine *machine, uint64_t length);

/* Adds the values from `from` on to the container below them, which stays on the stack. */
bool machine_append(struct machine *machine, size_t from, enum pickled_kind kind);
bool machine_set(struct machine *machine, size_t from);

/* Makes a container of the values from `from` on, and replaces them by it. */
bool machine_build(struct machine *machine, size_t from, enum pickled_kind kind);

#endif
