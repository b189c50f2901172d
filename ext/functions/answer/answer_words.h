/*
** Writes the lines of an answer as text.
*/
#ifndef TRACEDIFF_ANSWER_WORDS_H
#define TRACEDIFF_ANSWER_WORDS_H

#include "call_answer.h"
#include "functions/words/time_format.h"


/* Writes the texts and words of all lines. False if out of memory. */
bool answer_words_write(struct answer *answer);

/* Returns the code of a caution: the topic of its check, or its own code. */
const char *caution_code(const struct answer *answer, const struct caution *caution);

/* Whether the text of a caution names a rank. */
bool caution_names_rank(const struct answer *answer, const struct caution *caution);

#endif
