/*
** The range of two traces without steps of which one run is to be compared, in words (C22).
*/
#ifndef TRACEDIFF_REPEAT_WORDS_H
#define TRACEDIFF_REPEAT_WORDS_H

#include "analysis/answer/repeats.h"
#include "chart/writer.h"

/* Says which range it is, in at most `room` characters if that is possible. */
void repeat_write(struct writer *text, const struct repeat *repeat, size_t room);

#endif
