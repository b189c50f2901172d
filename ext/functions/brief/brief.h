/*
** The brief: the answer as a document for programs (Z1 to Z7).
*/
#ifndef TRACEDIFF_BRIEF_H
#define TRACEDIFF_BRIEF_H

#include "chart/writer.h"
#include "functions/answer/call_answer.h"

/* Writes the document of an answer that was found with `evidence`. On failure, fills
** call->failure. */
bool brief_write(struct answer *answer, struct writer *to);

#endif
