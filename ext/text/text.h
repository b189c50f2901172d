/*
** Decodes JSON strings, from the text between the quotes to valid UTF-8.
**
** Valid JSON is decoded as in RFC 8259, section 7. Invalid JSON is kept as far as possible, and
** reported as a problem:
** 1. an unknown escape (`\d`, `\u12`) is kept as written: PROBLEM_ESCAPE
** 2. a raw control character is kept: PROBLEM_CONTROL
** 3. bytes that are not UTF-8 become U+FFFD, one for each maximal part of a sequence (Unicode
**    15, section 3.9), and so does half a surrogate pair: PROBLEM_UTF8
*/
#ifndef TRACEDIFF_TEXT_H
#define TRACEDIFF_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "problems.h"

/* The number of bytes from `p` on that form one well-formed sequence, or the maximal part of
** one; `*whole` tells which (Unicode 15, table 3-7). */
size_t text_sequence(const unsigned char *p, const unsigned char *end, bool *whole);

/* Whether a character would act on what people read instead of being seen: a control of terminals
** (C0, DEL, C1), or one that changes the direction of text, behind which a name can look like
** another one. Columns keep names as they are; what is written for people must not have these. */
static inline bool text_acts(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
           (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Replaces such characters, in place: those of one or two bytes by a space, others by U+FFFD.
** Returns the length that is left. */
size_t text_visible(char *text, size_t length);

/* Writes a character as UTF-8 and returns the number of bytes written, at most 4. */
size_t text_put(unsigned char *to, uint32_t character);

/* The UTF-16 unit of the escape \uXXXX at `p`; -1 if there is none. */
int32_t text_unit(const unsigned char *p, const unsigned char *end);

/* Writes the text to `to`, which must have room for 3 times `length` bytes, and returns the
** number of bytes written. `byte` is the place of the string in the document, for the problems. */
size_t text_decode(const unsigned char *from, size_t length, unsigned char *to,
                   struct problems *problems, int64_t byte);

/* Whether the text between the quotes decodes to `expected`, which is ASCII without backslashes. */
bool text_says(const unsigned char *from, size_t length, const char *expected);

/* Compares texts as strcmp() does, but digits as numbers: `a2` is before `a10` (T7.3). 0: they are
** equal. */
int text_order(const char *a, const char *b);

/* Copies a text and replaces bytes that are not UTF-8 as in rule 3. `to` must have room for 3
** times `length` bytes; returns the number of bytes written. */
size_t text_repair(const unsigned char *from, size_t length, unsigned char *to);

/* The same as a new text with a NUL after it, to be freed with memory_free(); `*length` becomes
** its length. NULL if out of memory. */
char *text_repaired(const char *text, size_t *length);

#endif
