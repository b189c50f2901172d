/*
** Recognizes the text between two events: a comma, white space and a brace, usually the same each
** time.
*/
#ifndef TRACEDIFF_SEPARATOR_H
#define TRACEDIFF_SEPARATOR_H

#include "text/bytes16.h"
#include "text/scan.h"

/* The latest separator. */
struct separator {
    unsigned char text[16];
    uint32_t mask; /* a bit for each byte in use */
    size_t length; /* 0: none, or longer than `text` */
};

/* Moves from the comma after an event to the brace of the next event; NULL if they do not match. */
static inline const unsigned char *separator_cross(struct separator *separator,
                                                   const unsigned char *p)
{
    if (separator->length > 0 && bytes16_same(bytes16_at(separator->text), p, separator->mask))
        return p + separator->length - 1;
    if (*p != ',')
        return NULL;
    const unsigned char *brace = scan_space(p + 1);
    if (*brace != '{')
        return NULL;
    size_t length = (size_t)(brace - p) + 1;
    separator->length = length <= sizeof separator->text ? length : 0;
    memcpy(separator->text, p, separator->length);
    separator->mask = (1U << separator->length) - 1;
    return brace;
}

#endif
