/*
** The text of checks in trace_comparability.
*/
#ifndef TRACEDIFF_CHECK_WORDS_H
#define TRACEDIFF_CHECK_WORDS_H

#include "analysis/answer/checks.h"
#include "sqlite/api.h"

/* Returns the topic of a check: `steps`, `device`, ... */
const char *check_words_topic(enum check_code code);

/* Returns the compared item; NULL: it is in checks->texts. */
const char *check_words_item(enum check_code code);

/* Writes the value of a side, which must have one. */
void check_words_value(sqlite3_str *text, const struct checks *checks, const struct check *check,
                       int side);

/* Writes a sentence about whether the check makes the comparison wrong. */
void check_words_why(sqlite3_str *text, const struct checks *checks, const struct check *check);

#endif
