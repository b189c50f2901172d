/*
** Writes JSON for args.
*/
#ifndef TRACEDIFF_JSON_TEXT_H
#define TRACEDIFF_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed struct is empty. After a failed allocation `failed` is set and later writes do nothing.
** The same holds for `full`, if the text exceeds `most` bytes. */
struct json_text {
    char *bytes;
    size_t length, capacity;
    size_t most; /* limit in bytes; 0: none */
    bool failed, full;
};

void json_put(struct json_text *json, const char *text, size_t length);
/* Appends a word unchanged. */
void json_word(struct json_text *json, const char *word);
/* Appends a string in quotes. Invalid UTF-8 is repaired. */
void json_quoted(struct json_text *json, const void *text, size_t length);
/* Appends a comma (except after an opening bracket), a quoted key and a colon. */
void json_key(struct json_text *json, const void *key, size_t length);
void json_comma(struct json_text *json);
void json_signed(struct json_text *json, int64_t value);
void json_unsigned(struct json_text *json, uint64_t value);
/* Appends enough digits to identify the number; quoted if JSON has no number for it. */
void json_double(struct json_text *json, double value);

#endif
