/*
** Places: what many events of a file have in common, each kept once, with dense numbers.
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
    struct table table; /* emptied when the file has been read */
};

/* Gives the number of a place, which is added if it is new; false if out of memory. */
bool places_number(struct places *places, const struct place *place, uint32_t *number);

/* The memory the places hold, in bytes. */
size_t places_memory(const struct places *places);

void places_clear(struct places *places);

#endif
