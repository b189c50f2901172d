/*
** The name that somebody may have meant.
*/
#ifndef TRACEDIFF_NEAREST_H
#define TRACEDIFF_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Looks for the name that is nearest to a word. Begin with {word, length, NULL, 0}. */
struct nearest {
    const char *word; /* borrowed */
    size_t length;    /* bytes of it */
    const char *name; /* the nearest so far; NULL: none is near */
    int distance;
};

/* Offers a name, which must outlive the search. It is near if
** 1. it contains the word or is contained in it, two letters or more, or
** 2. a third of the word's letters and one more, changed, added or left out, make it of it.
** Letters count in any case; of two names as near the first stays. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
