/*
** Patterns of the user: files of a directory, and the rows of temp.patterns (DG8).
*/
#ifndef TRACEDIFF_OWN_PATTERNS_H
#define TRACEDIFF_OWN_PATTERNS_H

#include "change_pattern.h"
#include "sqlite/table_function.h"

struct own_patterns {
    struct pattern *items;
    size_t count, capacity;
};

/* Reads them; `folder`: of files NAME.sql, or NULL. On failure, fills call->failure; to be cleared
** then, too. */
bool own_patterns_read(struct call *call, const char *folder, struct own_patterns *found);

void own_patterns_clear(struct own_patterns *found);

#endif
