/*
** Writes the lines of causes, for answer_words.
*/
#ifndef TRACEDIFF_LINE_WORDS_H
#define TRACEDIFF_LINE_WORDS_H

#include "call_answer.h"
#include "functions/words/time_format.h"

/* State of the line that is written: prefix, body and tail. In a line that is too long, the body is
** cut. */
struct words {
    struct answer *answer;
    struct time_format amounts;
    const struct answer_line *line;
    struct writer prefix, body, tail, behind;
    struct writer shorter; /* replacement for a body that does not fit; empty: the body is cut */
};

/* Writes a difference in its unit, with a sign. */
void write_change_of(struct words *words, struct writer *text, double ms);

/* Writes a time in the format `own`, with its unit if that differs from the unit of `other`, or if
** there is no other; and two times, such as `12.3 s -> 45.6 ms`. */
void write_time_as(struct writer *text, const struct time_format *own, double ms,
                   const struct time_format *other);
void write_both(struct words *words, struct writer *text, double control, double test);

/* CL13: writes the line of the steps that do not compile. */
void write_compiled(struct words *words);

/* CL13: writes a line from a compiler log, or a hint to record one. */
void write_log(struct words *words);

/* Writes the parts of the line of a cause. False if out of memory. */
bool write_cause(struct words *words);

/* The same for the rest, the causes without a line. */
void write_rest(struct words *words);

#endif
