/*
** SQLite's functions, which are called through the pointers that the host hands over.
*/
#ifndef TRACEDIFF_API_H
#define TRACEDIFF_API_H

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

#endif
