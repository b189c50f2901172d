/*
** The arguments of CREATE VIRTUAL TABLE.
*/
#ifndef TRACEDIFF_CREATE_ARGUMENTS_H
#define TRACEDIFF_CREATE_ARGUMENTS_H

#include "table_function.h"

/* Reads them: SQL literals, by position or as `name = literal`. The table owns the values. */
int arguments_of_create(sqlite3 *db, const struct table_function *function, int count,
                        const char *const *texts, sqlite3_value **values, char **error);

#endif
