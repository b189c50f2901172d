/*
** Characters that do not show, or that turn the direction of text: a text that has some is not what
** it looks like.
*/
#ifndef TRACEDIFF_SHOWN_H
#define TRACEDIFF_SHOWN_H

#include <stdbool.h>
#include <stddef.h>

/* The number of bytes of the character that a text begins with; of a text that is not UTF-8, of
** what stands for one. `*shown`: it shows, and it is UTF-8. */
size_t shown_character(const char *text, size_t length, bool *shown);

/* Whether all characters show. */
bool shown_text(const char *text, size_t length);

/* The number of bytes of the first characters of a text, so many, and of all if it has fewer. */
size_t shown_first(const char *text, size_t length, size_t characters);

#endif
