/*
** Finds where to resume reading after a byte that is not JSON.
**
** The rules are heuristics that rarely fail: a `{` that is followed by a key of trace events and
** is not in the place of a value of an event; a `]` after which the document ends or continues
** with one of its own keys.
*/
#ifndef TRACEDIFF_RESYNC_H
#define TRACEDIFF_RESYNC_H

#include "excerpt.h"
#include "text/problems.h"

/* Searches from excerpt->at for the next event or, if `end_too`, for the bracket that ends the
** list of events, or for the end of the document. `array_form`: the list is the whole document.
** excerpt->at moves to the place found, and the events before it are counted. False on failure. */
bool resync_events(struct excerpt *excerpt, bool array_form, bool end_too,
                   struct skipped_events *skipped, struct failure *failure);

/* Whether the brace at excerpt->at is likely the beginning of an event, judged by the key after
** it. False on failure. */
bool resync_is_event(struct excerpt *excerpt, bool *event, struct failure *failure);

/* As resync_events(), for top-level keys: searches for the next known key, or for the end of the
** document. */
bool resync_keys(struct excerpt *excerpt, struct skipped_events *skipped, struct failure *failure);

/* Skips the rest of a value that is too long to be held, from excerpt->at to the byte after it, or
** to the end of the document. Events in it are counted. False on failure. */
bool resync_after_value(struct excerpt *excerpt, struct skipped_events *skipped,
                        struct failure *failure);

#endif
