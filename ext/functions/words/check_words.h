/*
** Checks in words, as trace_comparability has them.
*/
#ifndef TRACEDIFF_CHECK_WORDS_H
#define TRACEDIFF_CHECK_WORDS_H

#include "analysis/answer/checks.h"
#include "sqlite/api.h"

/* What a check is about: `steps`, `device`, ... */
const char *check_words_topic(enum check_code code);

/* What is compared; NULL: checks->texts has it. */
const char *check_words_item(enum check_code code);

/* Writes the value of a side, which has one. */
void check_words_value(sqlite3_str *text, const struct checks *checks, const struct check *check,
                       int side);

/* Writes whether it makes the comparison wrong, as a sentence. */
void check_words_why(sqlite3_str *text, const struct checks *checks, const struct check *check);

#endif
