/*
** Patterns of paths. They mean the same on every system and in every locale:
** 1. `*` is any characters, `?` is one, `[...]` one of those listed, `[!...]` or `[^...]` one that
**    is not; the list has characters, ranges (`a-z`, by code point) and classes of ASCII
**    (`[:digit:]`). A character is one of UTF-8; a byte that is none counts as one
** 2. None of these is a separator (path.h) or the dot at the beginning of a name
** 3. `\` before a character makes it stand for itself, where it is not a separator
** 4. Everything else is itself, also `[` without a `]`; letters of ASCII in either case where
**    path_ignores_case
** That is what glob() of POSIX does in the C locale, but for UTF-8.
*/
#ifndef TRACEDIFF_PATTERN_H
#define TRACEDIFF_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/stopper.h"

struct found_paths {
    char **paths; /* owned, as each of them; in no order */
    size_t count, capacity;
};

/* Whether a text may be a pattern: it has one of the characters of rule 1. */
bool pattern_is(const char *text);

/* Finds the files and directories that a pattern matches, also links that lead nowhere. Where names
** of the pattern may lead back, as `..` does, a directory is searched once for the same rest of it:
** of several paths to one file, one is found. Returns 0, ENOMEM, or the error of a directory that
** cannot be read; unless `strict`, one that may not be read (EACCES) and a link in a circle (ELOOP)
** are taken as empty. EINTR: the work is to end, and the failure is set. found_paths_clear() is
** needed whatever the result. */
int pattern_find(const char *pattern, bool strict, struct found_paths *found,
                 const struct stopper *stopper, struct failure *failure);

void found_paths_clear(struct found_paths *found);

#endif
