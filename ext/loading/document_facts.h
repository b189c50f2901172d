/*
** Facts that a document states about the whole file.
*/
#ifndef TRACEDIFF_DOCUMENT_FACTS_H
#define TRACEDIFF_DOCUMENT_FACTS_H

#include "file/file.h"

/* Copies the facts to the file, after the first event or after all of them. */
void document_facts_take(struct trace_file *file, struct document *document);

#endif
