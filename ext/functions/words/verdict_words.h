/*
** Verdicts in words.
*/
#ifndef TRACEDIFF_VERDICT_WORDS_H
#define TRACEDIFF_VERDICT_WORDS_H

#include "analysis/answer/judgement.h"
#include "chart/writer.h"

/* As trace_verdict says it, such as 'slower here'. */
const char *verdict_words(const struct pair_verdict *verdict);

/* As trace_summary says it, such as 'test is slower here'. */
void write_judged(struct writer *text, enum judged judged, const struct pair_verdict *verdict,
                  const struct pair *pair);

/* slower, faster, same or unknown */
const char *judged_code(enum judged judged, const struct pair_verdict *verdict);

/* The steps of a side as a JSON array: those that are left out, or the others. */
void write_steps(struct writer *text, const struct pair_side *side, bool out);

/* The same, but for what is not clear a word for why. */
const char *judged_word(enum judged judged, const struct pair_verdict *verdict);

#endif
