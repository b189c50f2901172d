/*
** The user's patterns: files of a directory, and the rows of temp.patterns (DG8).
*/
#ifndef TRACEDIFF_OWN_PATTERNS_H
#define TRACEDIFF_OWN_PATTERNS_H

#include "change_pattern.h"
#include "sqlite/table_function.h"

struct own_patterns {
    struct pattern *items;
    size_t count, capacity;
};

/* Reads the patterns. `folder` has files NAME.sql, or is NULL. On failure, fills call->failure.
** Clear the patterns in this case, too. */
bool own_patterns_read(struct call *call, const char *folder, struct own_patterns *found);

void own_patterns_clear(struct own_patterns *found);

#endif
