/*
** A file as a stream of decompressed bytes: plain or gzip, told by the first
** two bytes and never by the name. Nothing above it knows how a file is compressed;
** decoder.h has what decompresses.
**
** gzip is read member by member (RFC 1952, 2.2: a file may have several). NULs
** after the last member are padding (what follows 1 MiB of them is not read); other
** bytes there are reported and not read, as gunzip does.
*/
#ifndef TRACEDIFF_SOURCE_H
#define TRACEDIFF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

/* What makes two openings of a path the same file with the same content. */
struct identity {
    uint64_t device, inode;
    int64_t size;     /* bytes on disk */
    int64_t modified; /* ns since 1970 */
    int64_t changed;  /* ns since 1970: the inode's change time */
};

struct source;

/* Opens a regular file; never blocks on a FIFO. NULL and FAILURE_READ if it
** cannot be opened or is not a regular file. The path must outlive the source;
** it is named in failures. gzip is read by the fastest decoder there is, or `by_zlib`. */
struct source *source_open(const char *path, bool by_zlib, struct failure *failure);

/* NULL is allowed. */
void source_close(struct source *source);

/* The identity at the time of opening. */
const struct identity *source_identity(const struct source *source);

/* Whether nobody has written to the file since it was opened; else FAILURE_READ. */
bool source_unchanged(const struct source *source, struct failure *failure);

bool source_same(const struct identity *a, const struct identity *b);

/* The identity without opening: false and FAILURE_READ if that cannot be had. */
bool source_identify(const char *path, struct identity *identity, struct failure *failure);

/* Reads up to `room` bytes to `to`; the number of bytes read, 0 at the end, -1
** on failure: FAILURE_DAMAGE for broken gzip (all bytes before it have been
** given), FAILURE_READ when the system says no. */
ptrdiff_t source_read(struct source *source, unsigned char *to, size_t room,
                      struct failure *failure);

/* The first byte in the file, from 1, of what follows the gzip data; 0 if
** nothing does. Known at the end. */
int64_t source_trailing(const struct source *source);

/* Whether the bytes so far are those of a decoder other than zlib, and no checksum has
** confirmed them. Of damaged data it may give other bytes than zlib. */
bool source_unsure(const struct source *source);

/* Name and version of the fastest gzip decoder there is, such as `zlib 1.2.13`. */
const char *source_decoder(void);

#endif
