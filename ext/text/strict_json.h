/*
** Whether a text is JSON as Python reads it: RFC 8259, and also NaN, Infinity and -Infinity. Bytes
** that are not UTF-8 are taken for characters.
*/
#ifndef TRACEDIFF_STRICT_JSON_H
#define TRACEDIFF_STRICT_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum { STRICT_DEPTH = 512 }; /* deeper brackets are no JSON */

bool json_is_strict(const unsigned char *text, size_t length);

#endif
