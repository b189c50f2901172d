/*
** SQLite's functions, called through the table of pointers that the host passes.
*/
#ifndef TRACEDIFF_API_H
#define TRACEDIFF_API_H

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

#endif
