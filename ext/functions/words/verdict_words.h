/*
** The text of verdicts.
*/
#ifndef TRACEDIFF_VERDICT_WORDS_H
#define TRACEDIFF_VERDICT_WORDS_H

#include "analysis/answer/judgement.h"
#include "chart/writer.h"

/* Returns the words of trace_verdict, such as 'slower here'. */
const char *verdict_words(const struct pair_verdict *verdict);

/* Writes the words of trace_summary, such as 'test is slower here'. */
void write_judged(struct writer *text, enum judged judged, const struct pair_verdict *verdict,
                  const struct pair *pair);

/* Returns slower, faster, same or unknown. */
const char *judged_code(enum judged judged, const struct pair_verdict *verdict);

/* Writes the steps of a side as a JSON array: the excluded or the compared ones. */
void write_steps(struct writer *text, const struct pair_side *side, bool out);

/* The same, but if the verdict is not clear, returns a word for the reason. */
const char *judged_word(enum judged judged, const struct pair_verdict *verdict);

#endif
