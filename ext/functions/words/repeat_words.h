/*
** The text that suggests comparing one run of a range, for two traces without steps (C22).
*/
#ifndef TRACEDIFF_REPEAT_WORDS_H
#define TRACEDIFF_REPEAT_WORDS_H

#include "analysis/answer/repeats.h"
#include "chart/writer.h"

/* Writes the range, in at most `room` characters if possible. */
void repeat_write(struct writer *text, const struct repeat *repeat, size_t room);

#endif
