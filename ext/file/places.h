/*
** Places: combinations of track, category and stream that many events share. Each is kept once and
** numbered from 0.
*/
#ifndef TRACEDIFF_PLACES_H
#define TRACEDIFF_PLACES_H

#include "base/table.h"

struct place {
    int64_t stream;      /* NUMBER_NONE */
    uint32_t track, cat; /* number of the track; id of a name, or NAME_NONE */
    unsigned char phase;
};

struct places {
    struct place *items;
    size_t count;
    /* private */
    size_t capacity;
    struct table table; /* cleared after the file is read */
};

/* Gives the number of a place, and adds new places; false if out of memory. */
bool places_number(struct places *places, const struct place *place, uint32_t *number);

/* The memory of the places, in bytes. */
size_t places_memory(const struct places *places);

void places_clear(struct places *places);

#endif
