/*
** JSON that is being written, for args.
*/
#ifndef TRACEDIFF_JSON_TEXT_H
#define TRACEDIFF_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed struct is empty. If memory runs out, `failed` is set, and the rest is not written. The
** same holds of `full`, if it becomes longer than `most`. */
struct json_text {
    char *bytes;
    size_t length, capacity;
    size_t most; /* bytes; 0: any number */
    bool failed, full;
};

void json_put(struct json_text *json, const char *text, size_t length);
/* As many characters as there are. */
void json_word(struct json_text *json, const char *word);
/* In quotes. What is not UTF-8 is repaired. */
void json_quoted(struct json_text *json, const void *text, size_t length);
/* A comma, unless a bracket is before it, a key in quotes and a colon. */
void json_key(struct json_text *json, const void *key, size_t length);
void json_comma(struct json_text *json);
void json_signed(struct json_text *json, int64_t value);
void json_unsigned(struct json_text *json, uint64_t value);
/* With as many digits as tell it from others; in quotes if JSON has no number for it. */
void json_double(struct json_text *json, double value);

#endif
