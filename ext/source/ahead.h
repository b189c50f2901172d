/*
** Reads ahead: a thread fills buffers while its user works on those before.
**
** A thread is started only for a processor that no other thread of the reading needs. The user
** gets the same bytes and failures, in the same order, as without the thread.
*/
#ifndef TRACEDIFF_AHEAD_H
#define TRACEDIFF_AHEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"

/* Reads up to `room` bytes, and sets `*position` to where it is then in what it reads from. Returns
** the number of bytes read, 0 at the end, -1 on failure. */
typedef ptrdiff_t ahead_reader(void *argument, unsigned char *to, size_t room, int64_t *position,
                               struct failure *failure);

struct ahead;

/* Bytes of a buffer, and before it. */
enum { AHEAD_SIZE = 256 * 1024, AHEAD_BEFORE = 64 * 1024 };

/* Starts a thread that calls `read`, until its first result that is not positive. Takes one of the
** `idle` processors, and gives it back when the thread has read everything. `left` are the bytes of
** the file that are still to be read. NULL if no processor is idle, or if memory or threads are not
** to be had. */
struct ahead *ahead_start(atomic_int *idle, ahead_reader *read, void *argument, int64_t left);

/* As `read`. What ahead_lend() has lent is given back. */
ptrdiff_t ahead_read(struct ahead *ahead, unsigned char *to, size_t room, int64_t *position,
                     struct failure *failure);

/* As `read`, but lends a buffer: what was read lies after a copy of the `length` bytes at `before`,
** at most AHEAD_BEFORE, where `*bytes` then points to. SCAN_PADDING bytes after it may be written.
** `before` may be in what was lent last, which is given back, unless nothing is read. */
ptrdiff_t ahead_lend(struct ahead *ahead, const unsigned char *before, size_t length,
                     unsigned char **bytes, int64_t *position, struct failure *failure);

/* Waits until the thread has ended, for which it reads at most one more buffer. Nothing can be
** read afterwards. */
void ahead_stop(struct ahead *ahead);

/* Stops and frees. NULL is allowed. */
void ahead_close(struct ahead *ahead);

#endif
