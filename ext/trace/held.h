/*
** Holds args in memory while a query reads them out of file order (T6).
**
** Rows are held in blocks: uncompressed up to HELD_PLAIN bytes in total, then compressed. The total
** for all files is at most HELD_MOST bytes. Beyond that, or without memory, args are not held and
** the caller reads them from the file.
*/
#ifndef TRACEDIFF_HELD_H
#define TRACEDIFF_HELD_H

#include "file/file.h"

#define HELD_PLAIN ((size_t)64 << 20)
#define HELD_MOST ((size_t)256 << 20)

enum { HELD_UNPACKED = 32 /* blocks of about 10 KB */ };

/* A zeroed struct holds nothing. */
struct held {
    struct held_file *files; /* the files left earlier */
    size_t count, capacity;
    size_t most_plain, most;   /* limits in bytes; 0: HELD_PLAIN, HELD_MOST */
    size_t memory;             /* total size of the blocks */
    struct held_file *filling; /* the file of the latest held_begin() */
    unsigned char *text;       /* the block being filled */
    size_t length, text_capacity;
    bool lost; /* that block will not be held: it is too long, or memory ran out */
    struct held_unpacked {
        const struct held_block *block;
        unsigned char *text;
        size_t capacity;
    } unpacked[HELD_UNPACKED]; /* the latest unpacked blocks */
    size_t next_unpacked;      /* the entry to replace next */
    void *decoder;             /* NULL: not needed yet */
};

/* Remembers a file whose args were read and may be needed again. */
void held_leave(struct held *held, const struct trace_file *file);

/* Whether the args of a file must be held now: it was left earlier and is not held yet. If so, the
** caller calls held_add() for its rows, starting at row 0. */
bool held_begin(struct held *held, const struct trace_file *file);

/* Adds the args of the next row of the file of held_begin(). False if the limit is reached. */
bool held_add(struct held *held, size_t row, const struct event *event);

/* Sets EVENT_ARGS and byte of a row's event, valid until the next call. False without held args. */
bool held_find(struct held *held, const struct trace_file *file, size_t row, struct event *event);

/* Frees everything and zeroes the struct. */
void held_clear(struct held *held);

#endif
