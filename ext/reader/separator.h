/*
** What comes between two events: a comma, white space and a brace, mostly the same as before.
*/
#ifndef TRACEDIFF_SEPARATOR_H
#define TRACEDIFF_SEPARATOR_H

#include "text/bytes16.h"
#include "text/scan.h"

/* The one met last. */
struct separator {
    unsigned char text[16];
    uint32_t mask; /* a bit for each byte of it */
    size_t length; /* 0: none, or it is longer than `text` */
};

/* Goes from the comma after an event to the brace of the next one; NULL if they are not there. */
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
