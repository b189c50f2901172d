/*
** Finds where to resume reading after invalid JSON.
**
** The rules are heuristics that rarely fail: a `{` that is followed by a key of trace events and is
** not the value of a key in an event; a `]` after which the document ends or continues with one of
** its own keys.
*/
#ifndef TRACEDIFF_RESYNC_H
#define TRACEDIFF_RESYNC_H

#include "excerpt.h"
#include "text/problems.h"

/* Searches from excerpt->at for the next event, the end of the document or, if `end_too`, the
** bracket that ends the list of events. `array_form`: the list is the whole document. excerpt->at
** moves to the place found, and the events before it are counted. False on failure. */
bool resync_events(struct excerpt *excerpt, bool array_form, bool end_too,
                   struct skipped_events *skipped, struct failure *failure);

/* Whether the brace at excerpt->at begins an event, judging by the key after it. False on
** failure. */
bool resync_is_event(struct excerpt *excerpt, bool *event, struct failure *failure);

/* Like resync_events(): searches for the next known top-level key, or for the document's end. */
bool resync_keys(struct excerpt *excerpt, struct skipped_events *skipped, struct failure *failure);

/* Skips the rest of an overlong value, from excerpt->at to the byte after it, or to the end of the
** document. Events in it are counted. False on failure. */
bool resync_after_value(struct excerpt *excerpt, struct skipped_events *skipped,
                        struct failure *failure);

#endif
