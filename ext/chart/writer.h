/*
** A text that grows, and what JSON, HTML and Plotly's labels want escaped in it.
**
** 1. Strings come as bytes; what is no UTF-8 becomes U+FFFD.
** 2. JSON is safe within <script>: `<`, `>`, `&`, U+2028 and U+2029 are written as \uXXXX.
** 3. Plotly reads its labels as a little HTML, and as formulas between dollars: in a label
**    `<`, `>`, `&` and `$` are entities, so that a name is only ever text.
** 4. Numbers are read back as the same double, whatever the locale; what is not finite
**    is null.
** 5. Running out of memory is remembered: look at `failed` once, at the end.
*/
#ifndef TRACEDIFF_WRITER_H
#define TRACEDIFF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer {
    char *bytes; /* memory.h; not terminated */
    size_t length, capacity;
    bool failed;
};

void writer_clear(struct writer *writer);

/* As they are. */
void write_bytes(struct writer *writer, const char *bytes, size_t length);
void write_string(struct writer *writer, const char *string);

void write_json(struct writer *writer, const char *text, size_t length);
void write_json_string(struct writer *writer, const char *string);
void write_number(struct writer *writer, double number);

/* A number for people: the fewest decimals, up to nine, that are right to 14 digits. */
void write_shown(struct writer *writer, double number);
void write_integer(struct writer *writer, int64_t integer);

/* An integer as people read it: 1,234,567. */
void write_grouped(struct writer *writer, int64_t integer);

/* Text in an element, or in an attribute within quotes. */
void write_html(struct writer *writer, const char *text, size_t length);

/* A label of Plotly, as a JSON string, in lines of `width` characters, at most `lines` of
** them: what is longer loses its middle. */
void write_label(struct writer *writer, const char *text, size_t length, size_t width,
                 size_t lines);

#endif
