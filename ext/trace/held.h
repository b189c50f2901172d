/*
** Args held in memory while a query asks for them in another order than that of the file (T6).
**
** Rows are held in blocks: as they are until HELD_PLAIN bytes are held, then compressed. No more
** than HELD_MOST bytes are held, whatever the number of files. Args that find no room, or no
** memory, are not held; the caller reads them from the file.
*/
#ifndef TRACEDIFF_HELD_H
#define TRACEDIFF_HELD_H

#include "file/file.h"

#define HELD_PLAIN ((size_t)64 << 20)
#define HELD_MOST ((size_t)256 << 20)

enum { HELD_UNPACKED = 32 /* blocks, of some 10 KB */ };

/* A zeroed struct holds nothing. */
struct held {
    struct held_file *files; /* the files that were left */
    size_t count, capacity;
    size_t most_plain, most;   /* bytes; 0: HELD_PLAIN, HELD_MOST */
    size_t memory;             /* bytes of all blocks */
    struct held_file *filling; /* the file that held_begin() began last */
    unsigned char *text;       /* the block that is being filled */
    size_t length, text_capacity;
    bool lost; /* that block will not be held: it is too long, or memory ran out */
    struct held_unpacked {
        const struct held_block *block;
        unsigned char *text;
        size_t capacity;
    } unpacked[HELD_UNPACKED]; /* the blocks that were unpacked last */
    size_t next_unpacked;      /* the one to replace */
    void *decoder;             /* NULL: not needed yet */
};

/* Remembers a file whose args were read and may be asked for again. */
void held_leave(struct held *held, const struct trace_file *file);

/* Whether the args of a file are to be held now: it was left and has not been held yet. If so,
** held_add() follows for its rows, from row 0 on. */
bool held_begin(struct held *held, const struct trace_file *file);

/* Adds the args of the next row of the file that was begun last. False if there is no more room. */
bool held_add(struct held *held, size_t row, const struct event *event);

/* Sets EVENT_ARGS and the byte of the event of a row, valid until the next call. False if its
** args are not held. */
bool held_find(struct held *held, const struct trace_file *file, size_t row, struct event *event);

/* Frees everything. The struct is zeroed. */
void held_clear(struct held *held);

#endif
