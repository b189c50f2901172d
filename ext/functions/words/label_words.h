/*
** Names and numbers in the lines of an answer.
*/
#ifndef TRACEDIFF_LABEL_WORDS_H
#define TRACEDIFF_LABEL_WORDS_H

#include "base/names.h"
#include "chart/writer.h"

/* control and test, by side. */
extern const char *const side_words[2];

/* Writes the label of a name (trace_label). */
void write_label_of_name(struct writer *text, const struct name *name);

/* Counts the written characters. */
size_t characters_of(const struct writer *text);

/* Writes at most `most` characters of a text in UTF-8. A longer text is cut after a word, and ends
** in `...`. */
void write_cut(struct writer *text, const char *bytes, size_t length, size_t most);

/* Writes the first characters of a longer text and `...`, `most` together: 3 or more. */
void write_first(struct writer *text, const char *bytes, size_t length, size_t most);

/* Returns the number of decimals that gives a rounded number this many digits; at most `digits`. */
int decimals_for(double number, int digits);

/* Writes like SQL's printf(), so numbers are the same in every locale. */
void write_format(struct writer *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
