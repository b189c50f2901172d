/*
** A file as a stream of decompressed bytes. The first two bytes, never the name, tell whether it
** is plain or gzip. The layers above do not know how a file is compressed; decoder.h declares
** the decompressors.
**
** gzip is read member by member (RFC 1952, 2.2: a file may have several). NULs after the last
** member are padding; reading stops after 1 MiB of them. Other bytes after the last member are
** reported and not read, as gunzip does.
*/
#ifndef TRACEDIFF_SOURCE_H
#define TRACEDIFF_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ahead.h"
#include "base/failure.h"
#include "platform/files.h"

struct source;

/* Opens a regular file; never blocks on a FIFO. NULL and FAILURE_READ if it cannot be opened or
** is not a regular file. The path must outlive the source, because failures name it. gzip is
** read by the fastest decoder available, or by zlib if `by_zlib`. */
struct source *source_open(const char *path, bool by_zlib, struct failure *failure);

/* Lets a thread decompress ahead of source_read(), if the file is large, as soon as one of the
** `idle` processors can be taken (ahead.h). */
void source_read_ahead(struct source *source, atomic_int *idle);

/* NULL is allowed. */
void source_close(struct source *source);

/* The identity at the time of opening. */
const struct identity *source_identity(const struct source *source);

/* Whether the file is unchanged since it was opened; false sets FAILURE_READ. */
bool source_unchanged(const struct source *source, struct failure *failure);

bool source_same(const struct identity *a, const struct identity *b);

/* Gets the identity without opening the file. False and FAILURE_READ if that fails. */
bool source_identify(const char *path, struct identity *identity, struct failure *failure);

/* Whether a path is a regular file that begins with some bytes, at most 32. */
bool source_begins(const char *path, const char *bytes, size_t length);

/* Reads the first bytes of a file, as many as there is room for. Damaged gzip ends them: who reads
** the file will say so. False on failure (FAILURE_READ, FAILURE_MEMORY). */
bool source_head(const char *path, void *bytes, size_t room, size_t *length,
                 struct failure *failure);

/* Reads up to `room` bytes into `to`. Returns the number of bytes read, 0 at the end, -1 on
** failure: FAILURE_DAMAGE for damaged gzip (after all bytes before the damage have been given),
** FAILURE_READ for an error of the system. */
ptrdiff_t source_read(struct source *source, unsigned char *to, size_t room,
                      struct failure *failure);

enum { SOURCE_LENT = AHEAD_SIZE, SOURCE_LENT_BEFORE = AHEAD_BEFORE };

/* Whether a thread reads ahead, so that source_lend() can be used; it is started if need be. */
bool source_lends(struct source *source);

/* As source_read(), but gives up to SOURCE_LENT bytes where they are, after a copy of `length`
** others, at most SOURCE_LENT_BEFORE: ahead_lend(). */
ptrdiff_t source_lend(struct source *source, const unsigned char *before, size_t length,
                      unsigned char **bytes, struct failure *failure);

/* The bytes of the file in which what was given so far lies; of gzip, before decompression. */
int64_t source_position(const struct source *source);

/* The byte of the file, from 1, where data after the gzip data begins; 0 without such data.
** Known at the end. */
int64_t source_trailing(const struct source *source);

/* Whether the bytes so far, or those read ahead, come from a decoder other than zlib and no
** checksum has confirmed them. That decoder may give other bytes than zlib for damaged data. */
bool source_unsure(const struct source *source);

/* Name and version of the fastest gzip decoder available, such as `zlib 1.2.13`. */
const char *source_decoder(void);

#endif
