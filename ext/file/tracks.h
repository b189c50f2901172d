/*
** Tracks: the (pid, tid) of events, each kept once, with dense numbers.
*/
#ifndef TRACEDIFF_TRACKS_H
#define TRACEDIFF_TRACKS_H

#include "base/table.h"

/* A pid or tid as written in the file. */
struct identifier {
    enum {
        IDENTIFIER_NONE,
        IDENTIFIER_INTEGER,
        IDENTIFIER_TEXT,
        IDENTIFIER_PROCESS /* in place of a tid: the process itself */
    } kind;
    int64_t value; /* the integer, or the id of the text */
};

struct track {
    struct identifier pid, tid;
    unsigned char process; /* of a process: enum process_name (roles.h) */
    unsigned char threads; /* THREAD_...: what the name of the thread says; of a process, what
                           ** those of its threads say */
    unsigned char role;    /* enum role */
};

struct tracks {
    struct track *items;
    size_t count;
    /* private */
    size_t capacity;
    struct table table; /* emptied when the file has been read */
};

/* Gives the number of a track, which is added if it is new; false if out of memory. */
bool tracks_number(struct tracks *tracks, const struct track *track, uint32_t *number);

/* The track of a process itself, or NULL. */
struct track *tracks_process(const struct tracks *tracks, struct identifier pid);

void tracks_clear(struct tracks *tracks);

#endif
