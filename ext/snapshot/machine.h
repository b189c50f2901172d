/*
** The machine that runs the opcodes of a pickle: a chunk of the file, a stack, marks on it, and the
** memo. Shared by pickle.c, which reads opcodes, and machine.c.
*/
#ifndef TRACEDIFF_MACHINE_H
#define TRACEDIFF_MACHINE_H

#include "pickle.h"

enum {
    CHUNK_SIZE = 256 * 1024,
    CHUNK_PADDING = 16, /* NULs after the end; only text opcodes read more bytes */
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
    const unsigned char *p, *end; /* the next byte; the end of the chunk */
    int64_t origin;               /* bytes of the file before the chunk */
    int64_t opcode;               /* offset (from 1) of the current opcode */
    bool ended;                   /* the chunk contains the end of the file */
    bool truncated;               /* the file ended too early */
    pickled *stack;
    size_t top, capacity;
    size_t fence; /* number of values below the last mark */
    uint32_t marks[MOST_MARKS];
    size_t depth;
    pickled *memo;
    size_t memo_count, memo_capacity; /* 0 in entries without a value */
    size_t puts, memoized; /* numbers of stores: in total, and into empty entries */
    char *text;
    size_t text_capacity;
};

/* Sets a failure at the current opcode; returns false. After the end of the file, the failure says
** that it is truncated. */
bool machine_refuse(struct machine *machine, enum failure_code code, const char *what);

/* Sets FAILURE_MEMORY; returns false. */
bool machine_lost(struct machine *machine);

/* Moves the unread bytes to the start of the chunk, and reads more. */
bool machine_fill(struct machine *machine);

/* Makes room on the stack. */
bool machine_grow(struct machine *machine);

/* Pushes a value; 0 means out of memory. */
bool machine_push(struct machine *machine, pickled value);

bool machine_put(struct machine *machine, uint64_t i);
bool machine_get(struct machine *machine, uint64_t i);
bool machine_mark(struct machine *machine);

/* Drops the last mark, and gives the index of the first value above it. */
bool machine_unmark(struct machine *machine, size_t *from);

/* Whether at least `count` values lie above the last mark. */
bool machine_has(struct machine *machine, size_t count);

/* Takes a text of `length` bytes from the file; only skips bytes if `kept` is false. */
bool machine_text(struct machine *machine, uint64_t length, bool kept);

/* Takes an integer of `length` bytes, lowest first. */
bool machine_long(struct machine *machine, uint64_t length);

/* Adds the values from `from` on to the container below them, which stays on the stack. */
bool machine_append(struct machine *machine, size_t from, enum pickled_kind kind);
bool machine_set(struct machine *machine, size_t from);

/* Replaces the values from `from` on by a container of them. */
bool machine_build(struct machine *machine, size_t from, enum pickled_kind kind);

#endif
