/*
** A text buffer that grows, with functions that escape text for JSON, HTML and Plotly's labels.
**
** 1. Strings are bytes. Invalid UTF-8 becomes U+FFFD.
** 2. JSON is safe inside <script>: `<`, `>`, `&`, U+2028 and U+2029 are written as \uXXXX.
** 3. Plotly parses labels as a subset of HTML, and text between dollar signs as formulas. So `<`,
**    `>`, `&` and `$` in a label are written as entities, and a name is always plain text.
** 4. Characters that act on what people read (text.h) are U+FFFD in what is shown, and \uXXXX in
**    JSON of data.
** 5. A number has at most nine decimals and no exponent, whatever the locale: 14 digits are right,
**    unless it is smaller than these decimals. A number that is not finite is null.
** 6. If memory runs out, `failed` is set, and callers check it once at the end.
*/
#ifndef TRACEDIFF_WRITER_H
#define TRACEDIFF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer {
    char *bytes; /* allocated with memory.h; not terminated */
    size_t length, capacity;
    bool failed;
};

void writer_clear(struct writer *writer);

/* Written without escaping. */
void write_bytes(struct writer *writer, const char *bytes, size_t length);
void write_string(struct writer *writer, const char *string);

void write_json(struct writer *writer, const char *text, size_t length);
/* The same of a text that a page shows. */
void write_shown(struct writer *writer, const char *text, size_t length);

void write_json_string(struct writer *writer, const char *string);
void write_number(struct writer *writer, double number);
void write_integer(struct writer *writer, int64_t integer);

/* A JSON number that reads back as this double: with 15, 16 or 17 digits, as many as it takes,
** and with a point or an exponent, as SQLite writes reals. An infinite one is 9e999, again as
** SQLite writes it. */
void write_real(struct writer *writer, double number);

/* The key of a member of a JSON object, after `start`: "{" or ", "; and one with a real, or null
** unless it is known. */
void write_key(struct writer *writer, const char *start, const char *key);
void write_real_member(struct writer *writer, const char *start, const char *key, bool known,
                       double number);

/* Numbers as people read them: 1,234,567; −1,234.50; +0.300, or 0 if it rounds to 0; 3.4 % and
** 34 %. The number must be finite, and has at most nine decimals. */
void write_grouped(struct writer *writer, int64_t integer);
void write_amount(struct writer *writer, double number, int decimals);
void write_fixed(struct writer *writer, double number, int decimals); /* without commas */
void write_change(struct writer *writer, double number, int decimals);
void write_percent(struct writer *writer, double percent);

/* The fewest decimals, at most `most`, that show 14 digits of a number. */
int decimals_of(double number, int most);
bool rounds_to_zero(double number, int decimals);

/* Text of an element, or of an attribute in quotes. */
void write_html(struct writer *writer, const char *text, size_t length);

/* A label of Plotly, as a JSON string: at most `lines` lines of `width` characters, broken where
** a word begins; a longer text is cut. Returns the number of lines. */
size_t write_label(struct writer *writer, const char *text, size_t length, size_t width,
                   size_t lines);

#endif
