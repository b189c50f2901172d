/*
** A text buffer that grows, with functions that escape text for JSON, HTML and Plotly's labels.
**
** 1. Strings are bytes. Invalid UTF-8 becomes U+FFFD.
** 2. JSON is safe inside <script>: `<`, `>`, `&`, U+2028 and U+2029 are written as \uXXXX.
** 3. Plotly parses labels as a subset of HTML, and text between dollar signs as formulas. So `<`,
**    `>`, `&` and `$` in a label are written as entities, and a name is always plain text.
** 4. A number is read back as the same double, whatever the locale. A number that is not finite
**    is null.
** 5. If memory runs out, `failed` is set, and callers check it once at the end.
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
void write_json_string(struct writer *writer, const char *string);
void write_number(struct writer *writer, double number);

/* A number for people: the fewest decimals, at most nine, that are accurate to 14 digits. */
void write_shown(struct writer *writer, double number);
void write_integer(struct writer *writer, int64_t integer);

/* An integer as people read it: 1,234,567. */
void write_grouped(struct writer *writer, int64_t integer);

/* Text of an element, or of an attribute in quotes. */
void write_html(struct writer *writer, const char *text, size_t length);

/* A label of Plotly, as a JSON string: at most `lines` lines of `width` characters. An ellipsis
** replaces the middle of a longer text. */
void write_label(struct writer *writer, const char *text, size_t length, size_t width,
                 size_t lines);

#endif
