/*
** The lines of causes in words, for answer_words.
*/
#ifndef TRACEDIFF_LINE_WORDS_H
#define TRACEDIFF_LINE_WORDS_H

#include "call_answer.h"
#include "functions/words/time_format.h"

/* While a line is written. It is the prefix, the body and the tail; of one that is too long, the
** body is cut. */
struct words {
    struct answer *answer;
    struct time_format amounts;
    const struct answer_line *line;
    struct writer prefix, body, tail, behind;
    struct writer shorter; /* what stands for the body if there is no room for that; empty: it is
                           ** cut */
};

/* Writes a time in its unit, with a sign. */
void write_change_of(struct words *words, struct writer *text, double ms);

/* Writes a time as `own` has it, with the unit if that is not the one of `other`, or there is none;
** and two times, such as `12.3 s -> 45.6 ms`. */
void write_time_as(struct writer *text, const struct time_format *own, double ms,
                   const struct time_format *other);
void write_both(struct words *words, struct writer *text, double control, double test);

/* CL13: writes the line of the steps that do not compile. */
void write_compiled(struct words *words);

/* CL13: writes a line of a log of the compiler, or a hint to record one. */
void write_log(struct words *words);

/* Writes the parts of the line of a cause. False if out of memory. */
bool write_cause(struct words *words);

/* The same for what is in no line. */
void write_rest(struct words *words);

#endif
