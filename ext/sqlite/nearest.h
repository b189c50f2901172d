/*
** Finds the name that a misspelt word may mean, for errors.
*/
#ifndef TRACEDIFF_NEAREST_H
#define TRACEDIFF_NEAREST_H

#include <stddef.h>

/* A search for the name nearest to a word. Initialise with {word, length, NULL, 0}. */
struct nearest {
    const char *word; /* borrowed */
    size_t length;    /* bytes of the word */
    const char *name; /* the nearest so far; NULL: none was near */
    int distance;
};

/* Offers a name, which must outlive the search. A name is near in two cases:
** 1. it contains the word or the word contains it, and both have at least SHORTEST letters;
** 2. its edit distance to the word is at most one more than a third of the word's letters.
** Case is ignored. Of equally near names, the one offered first stays. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
