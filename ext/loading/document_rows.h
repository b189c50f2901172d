/*
** JSON documents as rows.
*/
#ifndef TRACEDIFF_DOCUMENT_ROWS_H
#define TRACEDIFF_DOCUMENT_ROWS_H

#include "loading.h"

/* Fills in a file: its rows if loading->whole, and what its document says. It sets loading->unsure
** if the file is to be read again by zlib. False on failure (FAILURE_READ, FAILURE_MEMORY,
** FAILURE_INTERRUPTED). */
bool document_rows_read(struct loading *loading);

#endif
