/*
** Events that look like events read before.
**
** A trace repeats itself: between digits and names stands text that hardly changes. A memo
** keeps that text, cut into spans, and what event.c read in it. An event whose spans are all
** known is read by comparing bytes.
**
** 1. event_read() is the definition. It reads every event that the memo does not know, and the
**    memo learns from what it read.
** 2. A span ends where a run of digits begins, the contents of a name, or those of args, where
**    args end, and where the event ends. It holds neither a digit nor a backslash. Text
**    outside of spans cannot change how event_read() reads the rest: digits are neither
**    brackets nor quotes, and no key that it looks for has digits.
** 3. Spans form a tree: what is known of a span holds after the spans before it. So the
**    same spans give the same fields, and nothing is guessed.
** 4. Not learnt: events with a problem, with an escape outside of their name, or with a digit
**    for a phase.
** 5. Where args go on in a way that is not known, their end is looked for as event.c does it.
**
** Memory: at most 300 KiB.
*/
#ifndef TRACEDIFF_MEMO_H
#define TRACEDIFF_MEMO_H

#include "event.h"

struct memo;

/* NULL if out of memory. */
struct memo *memo_new(void);

/* NULL is allowed. */
void memo_free(struct memo *memo);

/* As event_read(), but NULL says only that the memo does not know the event: what `event` holds
** is then undefined but for its byte. */
const unsigned char *memo_read(struct memo *memo, const struct scan *scan, const unsigned char *p,
                               struct event *event);

/* Learns an event that begins after the brace before `p` and ends before `stop`, if memo_read()
** has just met a span in it that it did not know. */
void memo_learn(struct memo *memo, const unsigned char *p, const unsigned char *stop,
                const struct event *event);

#endif
