/*
** Names and numbers as lines of the answer have them.
*/
#ifndef TRACEDIFF_LABEL_WORDS_H
#define TRACEDIFF_LABEL_WORDS_H

#include "base/names.h"
#include "chart/writer.h"

/* control and test, by side. */
extern const char *const side_words[2];

/* The label of a name (trace_label). */
void write_label_of_name(struct writer *text, const struct name *name);

/* How many characters were written. */
size_t characters_of(const struct writer *text);

/* Writes at most `most` characters of a text in UTF-8. One that is longer ends in `...`, where a
** word ends. */
void write_cut(struct writer *text, const char *bytes, size_t length, size_t most);

/* Writes the first characters of a longer text and `...`, together `most`: 3 or more. */
void write_first(struct writer *text, const char *bytes, size_t length, size_t most);

/* How many decimals a number has, so that there are so many digits when it is rounded; at most as
** many as digits. */
int decimals_for(double number, int digits);

/* As SQL's printf() writes them: numbers are the same in every language. */
void write_format(struct writer *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
