/*
** Recognizes events that resemble earlier events.
**
** A trace repeats itself: its numbers and names vary, but the text between them hardly changes. A
** memo keeps that text, cut into spans, together with the values that event.c found in it. If all
** spans of an event are known, it is read by comparing bytes.
**
** 1. event_read() is the definition. It reads every event that the memo does not know, and the memo
**    learns from the result.
** 2. A span ends before a number that varies, before the contents of a name, after args, and after
**    the event; where args begin in many ways, after their brace. The varying text is a run of
**    digits, dots and slashes, or the contents of a name. Neither can change how event_read() reads
**    the rest: a run has no brackets or quotes, and is part of one value, not of a relevant key.
** 3. ts, dur, and long numbers among args always vary. Any other number varies once some events
**    have differed in it; until then it is part of a span.
** 4. Spans form a tree: the values of a span depend on the spans before it. So equal spans give
**    equal fields, without guessing.
** 5. Never learnt: events with a problem, with an escape outside of their name, or with a digit as
**    phase.
** 6. event.c skips unknown args.
** 7. Learning costs more than reading, so an event is learnt only if earlier ones were recognized.
** 8. A known name is recognized by its bytes and closing quote. This saves the search for its end,
**    and the caller, who gave the name a number, need not look it up again.
** 9. event_complete() locates the name, cat, pid, tid and args of an event. Most events do not need
**    it, because their name and form are known.
**
** Memory: 633 KiB; a repetitive trace touches half of it.
*/
#ifndef TRACEDIFF_MEMO_H
#define TRACEDIFF_MEMO_H

#include "event.h"

struct memo;

/* Makes an empty memo; NULL if out of memory. */
struct memo *memo_new(void);

/* Frees a memo; NULL is allowed. */
void memo_free(struct memo *memo);

/* Keeps a memo in `*kept` for the next document with the same wanted phases. Frees it if `kept` is
** NULL or occupied. `memo` may be NULL. */
void memo_keep(struct memo **kept, struct memo *memo, const bool *wanted);

/* Takes the kept memo; NULL without one. It knows the spans of earlier documents, unless other
** phases were wanted there, but no names, because their numbers belonged to earlier callers. */
struct memo *memo_take(struct memo **kept, const bool *wanted);

/* Like event_read() in a text up to `text_end`, with these differences: the event needs
** event_complete() (rule 9); NULL means only that the memo does not know it, and leaves `event`
** undefined except for its byte. Learns unknown args. */
const unsigned char *memo_read(struct memo *memo, const unsigned char *text_end,
                               const unsigned char *p, struct event *event);

/* Fills in the missing fields. */
void event_complete(struct event *event);

#endif
