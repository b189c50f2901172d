/*
** The lines of an answer in words.
*/
#ifndef TRACEDIFF_ANSWER_WORDS_H
#define TRACEDIFF_ANSWER_WORDS_H

#include "call_answer.h"
#include "functions/words/time_format.h"


/* Writes the texts and words of all lines. False if out of memory. */
bool answer_words_write(struct answer *answer);

/* The code of a caution: the topic of a check, or its own. */
const char *caution_code(const struct answer *answer, const struct caution *caution);

/* Whether a caution is about a rank, which its text names. */
bool caution_names_rank(const struct answer *answer, const struct caution *caution);

#endif
