#include "change_pattern.h"

#include <string.h>

enum { DEFAULT_RANK = 50, MOST_RANK = 99 };

/* Returns the value in a line of the head if the line has this key, or NULL. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 ? line + length : NULL;
}

static bool is_word(const char *value, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(value, word, length) == 0;
}

static bool read_rank(const char *value, size_t length, int *rank)
{
    *rank = 0;
    for (size_t i = 0; i < length && *rank <= MOST_RANK; i++) {
        if (value[i] < '0' || value[i] > '9')
            return false;
        *rank = 10 * *rank + (value[i] - '0');
    }
    return length > 0 && *rank <= MOST_RANK;
}

/* Reads a line of the head. Lines with other keys are prose. */
static bool read_line(struct pattern *pattern, const char *line, size_t length)
{
    const char *value;
    if ((value = value_of(line, "-- Rank: ")))
        return read_rank(value, length - (size_t)(value - line), &pattern->rank);
    if ((value = value_of(line, "-- Said: "))) {
        size_t rest = length - (size_t)(value - line);
        pattern->is_guess = is_word(value, rest, "a tenth");
        return pattern->is_guess || is_word(value, rest, "always");
    }
    if ((value = value_of(line, "-- Alike: "))) {
        size_t rest = length - (size_t)(value - line);
        pattern->alike = is_word(value, rest, "no") ? ALIKE_ANY : ALIKE_WITHIN;
        return pattern->alike == ALIKE_ANY || is_word(value, rest, "within");
    }
    return true;
}

void pattern_read(struct pattern *pattern, const char *name, const char *text)
{
    *pattern = (struct pattern){.name = name, .text = text, .rank = DEFAULT_RANK};
    for (const char *line = text; strncmp(line, "--", 2) == 0;) {
        size_t length = strcspn(line, "\n");
        if (!pattern->wrong && !read_line(pattern, line, length)) {
            pattern->wrong = line;
            pattern->wrong_length = length;
        }
        line += length + (line[length] != '\0');
    }
}
