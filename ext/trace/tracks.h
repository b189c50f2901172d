/*
** Tracks: the (pid, tid) of events, each once, under dense numbers.
*/
#ifndef TRACEDIFF_TRACKS_H
#define TRACEDIFF_TRACKS_H

#include "table.h"

/* A pid or tid as it stands in the file. */
struct identifier {
    enum {
        IDENTIFIER_NONE,
        IDENTIFIER_INTEGER,
        IDENTIFIER_TEXT,
        IDENTIFIER_PROCESS /* instead of a tid: the process as such */
    } kind;
    int64_t value; /* the integer, or the id of the text */
};

struct track {
    struct identifier pid, tid;
    bool device; /* of a process that is named as a GPU */
};

struct tracks {
    struct track *items;
    size_t count;
    /* private */
    size_t capacity;
    struct table table; /* empty once all are there */
};

/* The number of a track, new or known; false if out of memory. */
bool tracks_number(struct tracks *tracks, const struct track *track, uint32_t *number);

/* The track of a process as such, or NULL. */
struct track *tracks_process(const struct tracks *tracks, struct identifier pid);

void tracks_clear(struct tracks *tracks);

#endif
