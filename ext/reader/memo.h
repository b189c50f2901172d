/*
** Events that look like events read before.
**
** A trace repeats itself: between the numbers and names that vary stands text that hardly changes.
** A memo keeps that text, cut into spans, and what event.c read in it. An event whose spans are all
** known is read by comparing bytes.
**
** 1. event_read() is the definition. It reads every event that the memo does not know, and the memo
**    learns from what it read.
** 2. A span ends before a number that varies, before the contents of a name, after args, and after
**    the event; where args begin in many ways, after their brace. What varies is a run of digits,
**    dots and slashes, or the contents of a name: neither can change how event_read() reads the
**    rest. A run has no brackets and no quotes, is part of one value, and of no key that is looked
**    for.
** 3. ts and dur vary, and long numbers that are members of args. Of other numbers, one is taken to
**    vary when some events have differed in it; until then it is part of a span.
** 4. Spans form a tree: what is known of a span holds after the spans before it. So the same spans
**    give the same fields, and nothing is guessed.
** 5. Not learnt: events with a problem, with an escape outside of their name, or with a digit for a
**    phase.
** 6. Where args are not known, event.c crosses them.
** 7. Learning costs more than reading: an event is learnt only if some before it were known.
** 8. A name that was met before is known by its bytes and its closing quote: to find its end takes
**    no search, and the user of the events, who gave it a number, need not look it up again.
** 9. Where the name, cat, pid, tid and args of an event are is found out in event_complete(): of
**    most events, all that is wanted of these is known already from the name and the form.
**
** Memory: 633 KiB, of which a trace that repeats itself touches half.
*/
#ifndef TRACEDIFF_MEMO_H
#define TRACEDIFF_MEMO_H

#include "event.h"

struct memo;

/* NULL if out of memory. */
struct memo *memo_new(void);

/* NULL is allowed. */
void memo_free(struct memo *memo);

/* Keeps a memo in `*kept` for the next document with events of the same phases, `wanted`; frees it
** if `kept` is NULL, or has one. `memo` may be NULL. */
void memo_keep(struct memo **kept, struct memo *memo, const bool *wanted);

/* Takes the memo that is kept: it knows the spans of the documents before, unless other phases were
** wanted there, and no names, whose numbers were those of their users. NULL if none is kept. */
struct memo *memo_take(struct memo **kept, const bool *wanted);

/* As event_read() in a text up to `text_end`, but the event is to be completed (rule 9), and NULL
** says only that the memo does not know it: what `event` holds is then undefined but for its byte.
** Learns args that it did not know. */
const unsigned char *memo_read(struct memo *memo, const unsigned char *text_end,
                               const unsigned char *p, struct event *event);

/* Fills in the fields that are not there yet. */
void event_complete(struct event *event);

#endif
