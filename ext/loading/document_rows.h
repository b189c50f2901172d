/*
** Turns JSON documents into rows.
*/
#ifndef TRACEDIFF_DOCUMENT_ROWS_H
#define TRACEDIFF_DOCUMENT_ROWS_H

#include "loading.h"

/* Fills in a file: the facts of the document, and the rows if loading->whole. Sets loading->unsure
** if zlib must read the file again. False on failure (FAILURE_READ, FAILURE_MEMORY,
** FAILURE_INTERRUPTED). */
bool document_rows_read(struct loading *loading);

#endif
