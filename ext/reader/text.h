/*
** The text of a JSON string, as it stands between its quotes, to valid UTF-8.
**
** Valid JSON comes out as RFC 8259, section 7 says. What is no valid JSON is
** kept as far as it can be, and said:
** 1. an unknown escape (`\d`, `\u12`) stands as written: PROBLEM_ESCAPE
** 2. a raw control character is kept: PROBLEM_CONTROL
** 3. bytes that are not UTF-8 become U+FFFD, one for each maximal part of a
**    sequence (Unicode 15, section 3.9), and so does half a surrogate pair:
**    PROBLEM_UTF8
*/
#ifndef TRACEDIFF_TEXT_H
#define TRACEDIFF_TEXT_H

#include <stddef.h>

#include "problems.h"

/* The UTF-16 unit of the escape \uXXXX at `p`; -1 if there is none. */
int32_t text_unit(const unsigned char *p, const unsigned char *end);

/* Writes the text to `to`, which has room for 3 * length bytes, and returns how
** many bytes it wrote; `byte` is where the string stands, for the problems. */
size_t text_decode(const unsigned char *from, size_t length, unsigned char *to,
                   struct problems *problems, int64_t byte);

/* Copies a text, what is no UTF-8 as in rule 3. `to` has room for 3 * length bytes;
** returns how many were written. */
size_t text_repair(const unsigned char *from, size_t length, unsigned char *to);

#endif
