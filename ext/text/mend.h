/*
** Makes strict JSON. SQLite's JSON functions end a query at the first byte they reject (T6).
**
** 1. A JSON object by RFC 8259, in UTF-8, with brackets nested at most MEND_DEEPEST deep, is
**    unchanged, except that the escape of a slash, or of another character of ASCII that JSON need
**    not escape, becomes that character: SQLite before 3.42 finds no key with an escape.
** 2. A bare word in the place of a value that is not a number, true, false or null (`inf`,
**    `NaN`, `N/A`, `01`) becomes null.
** 3. In strings and keys, a raw control character becomes its \u escape, a backslash that does
**    not begin an escape is escaped, and bytes that are not UTF-8 become U+FFFD.
** 4. Anything else cannot be mended: text that is not an object, missing or extra commas, colons
**    or brackets, or deeper nesting.
*/
#ifndef TRACEDIFF_MEND_H
#define TRACEDIFF_MEND_H

#include <stddef.h>

enum {
    MEND_DEEPEST = 1000, /* the limit of SQLite since 3.42; earlier versions take more */
    MEND_ROOM = 6        /* maximum bytes written for each byte read */
};

enum mended { MEND_STRICT, MEND_MENDED, MEND_IMPOSSIBLE };

/* Writes the object to `to`, which must have room for MEND_ROOM * length bytes; `*written` is
** the number of bytes written. */
enum mended mend_json(const unsigned char *from, size_t length, unsigned char *to, size_t *written);

#endif
