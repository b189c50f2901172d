/*
** What comes between two events: a comma, white space and a brace, mostly the same as before.
*/
#ifndef TRACEDIFF_GAP_H
#define TRACEDIFF_GAP_H

#include "text/bytes16.h"
#include "text/scan.h"

/* The one met last. */
struct gap {
    unsigned char text[16];
    uint32_t mask; /* a bit for each byte of it */
    size_t length; /* 0: none, or it is longer than `text` */
};

/* Goes from the comma after an event to the brace of the next one; NULL if they are not there. */
static inline const unsigned char *gap_cross(struct gap *gap, const unsigned char *p)
{
    if (gap->length > 0 && bytes16_same(bytes16_at(gap->text), p, gap->mask))
        return p + gap->length - 1;
    if (*p != ',')
        return NULL;
    const unsigned char *brace = scan_space(p + 1);
    if (*brace != '{')
        return NULL;
    size_t length = (size_t)(brace - p) + 1;
    gap->length = length <= sizeof gap->text ? length : 0;
    memcpy(gap->text, p, gap->length);
    gap->mask = (1U << gap->length) - 1;
    return brace;
}

#endif
