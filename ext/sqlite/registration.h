/*
** Gives a database all functions of a connection.
*/
#ifndef TRACEDIFF_REGISTRATION_H
#define TRACEDIFF_REGISTRATION_H

#include "connection.h"

/* Registers scalars, aggregates and table functions; without `files` only table functions that read
** none. The database is the connection's own, or one that is closed before the call that opened it
** ends. What is there stays (S16). Returns a SQLite result code; `*error` may then have a text. */
int functions_register(struct connection *connection, sqlite3 *db, bool files, char **error);

#endif
