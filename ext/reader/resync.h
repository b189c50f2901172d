/*
** Where to read on after a byte that is no JSON.
**
** These are guesses, and good ones: a `{` that is followed by a key of trace
** events, and does not stand where an event's own values would have it; a `]` after
** which the document ends, or goes on with one of its own keys.
*/
#ifndef TRACEDIFF_RESYNC_H
#define TRACEDIFF_RESYNC_H

#include "window.h"

/* From window->at on, which becomes the next event, or, if `end_too`, the bracket
** that ends the list of events, or the end of the document. `array_form`: the list
** is the whole document. False on failure. */
bool resync_events(struct window *window, bool array_form, bool end_too, struct failure *failure);

/* Whether the brace at window->at is likely the beginning of an event, by the key
** that follows. False on failure. */
bool resync_is_event(struct window *window, bool *event, struct failure *failure);

/* The same as resync_events() among top-level keys: to the next one that is known, or to the end.
 */
bool resync_keys(struct window *window, struct failure *failure);

#endif
