/*
** Recognises files that are not JSON but are given by mistake: archives, other compressions,
** pickles, databases.
*/
#ifndef TRACEDIFF_FOREIGN_H
#define TRACEDIFF_FOREIGN_H

#include <stddef.h>

/* The number of leading bytes needed to recognise a file. */
enum { FOREIGN_BYTES = 257 + 5 };

/* What a document with these first bytes is, and what to do: `a zip archive: unpack it first`.
** NULL if unknown. */
const char *foreign_kind(const unsigned char *bytes, size_t count);

#endif
