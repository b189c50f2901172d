/*
** Tracks: the (pid, tid) pairs of events. Each is kept once and numbered from 0.
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
        IDENTIFIER_PROCESS /* instead of a tid: the process itself */
    } kind;
    int64_t value; /* an integer, or the id of a text */
};

struct track {
    struct identifier pid, tid;
    unsigned char process; /* for a process: enum process_name (roles.h) */
    unsigned char threads; /* THREAD_... bits; for a process, of all its threads */
    unsigned char role;    /* enum role */
};

struct tracks {
    struct track *items;
    size_t count;
    /* private */
    size_t capacity;
    struct table table; /* cleared after the file is read */
};

/* Gives the number of a track, and adds new tracks; false if out of memory. */
bool tracks_number(struct tracks *tracks, const struct track *track, uint32_t *number);

/* Finds the track of a process itself, or NULL. */
struct track *tracks_process(const struct tracks *tracks, struct identifier pid);

void tracks_clear(struct tracks *tracks);

#endif
