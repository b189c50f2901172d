/*
** What a document says of the whole file.
*/
#ifndef TRACEDIFF_DOCUMENT_FACTS_H
#define TRACEDIFF_DOCUMENT_FACTS_H

#include "file/file.h"

/* Copies it, once the events have been read, or the first of them has been reached. */
void document_facts_take(struct trace_file *file, struct document *document);

#endif
