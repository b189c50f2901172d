/*
** Files that are not JSON and get here by mistake: archives, other compressions, pickles,
** databases.
*/
#ifndef TRACEDIFF_FOREIGN_H
#define TRACEDIFF_FOREIGN_H

#include <stddef.h>

/* How many of its first bytes tell what a file is. */
enum { FOREIGN_BYTES = 257 + 5 };

/* What a document that begins with these bytes is, and what to do: `a zip archive: unpack it
** first`. NULL if that is not known. */
const char *foreign_kind(const unsigned char *bytes, size_t count);

#endif
