/*
** JSON for readers who take no other: SQLite's JSON functions end a query at the
** first byte they do not like (T6).
**
** 1. A JSON object as RFC 8259 has it, in UTF-8, with brackets nested at most
**    MEND_DEEPEST deep, stays as it is, but for an escaped slash, which becomes a slash:
**    SQLite before 3.42 does not find a key that has one.
** 2. A bare word where a value stands that is no number, true, false or null (`inf`,
**    `NaN`, `N/A`, `01`) becomes null.
** 3. In strings and keys, a raw control character becomes its \u escape, a backslash
**    that begins no escape is escaped, and what is no UTF-8 becomes U+FFFD.
** 4. Anything else cannot be mended: no object, commas, colons or brackets that are
**    missing or too many, or nested deeper.
*/
#ifndef TRACEDIFF_MEND_H
#define TRACEDIFF_MEND_H

#include <stddef.h>

enum {
    MEND_DEEPEST = 1000, /* as SQLite since 3.42; before it took more */
    MEND_ROOM = 6        /* bytes written for one that is read, at most */
};

enum mended { MEND_STRICT, MEND_MENDED, MEND_IMPOSSIBLE };

/* Writes the object to `to`, which has room for MEND_ROOM * length bytes; `*written`
** is how many it took. */
enum mended mend_json(const unsigned char *from, size_t length, unsigned char *to, size_t *written);

#endif
