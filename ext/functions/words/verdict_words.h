/*
** Verdicts in words.
*/
#ifndef TRACEDIFF_VERDICT_WORDS_H
#define TRACEDIFF_VERDICT_WORDS_H

#include "analysis/answer/verdict.h"

/* As trace_verdict says it, such as 'slower here'. */
const char *verdict_words(const struct verdict *verdict);

#endif
