#include "label_words.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "naming/label.h"
#include "sqlite/api.h"

const char *const side_words[2] = {"control", "test"};

void write_label_of_name(struct writer *text, const struct name *name)
{
    size_t room = (size_t)name->length + LABEL_ROOM;
    char *to = memory_allocate(2 * room);
    if (to)
        write_bytes(text, to, label_write(name->text, name->length, to + room, to));
    else
        text->failed = true;
    memory_free(to);
}

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

static size_t count_characters(const char *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += begins_character(bytes[i]);
    return count;
}

size_t characters_of(const struct writer *text)
{
    return count_characters(text->bytes, text->length);
}

/* Returns the length in bytes of the first characters of a text. */
static size_t length_of(const char *bytes, size_t length, size_t characters)
{
    size_t i = 0;
    for (; i < length; i++)
        if (begins_character(bytes[i]) && characters-- == 0)
            break;
    return i;
}

static bool is_of_word(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= 'a' && byte <= 'z');
}

void write_cut(struct writer *text, const char *bytes, size_t length, size_t most)
{
    static const char marks[] = " .,;:(<_#-", dots[] = "...";
    size_t whole, word;
    if (count_characters(bytes, length) <= most) {
        write_bytes(text, bytes, length);
        return;
    }
    if (most < sizeof dots)
        return;
    whole = length_of(bytes, length, most - 3);
    word = length_of(bytes, length, most - 2);
    while (word > 0 && is_of_word(bytes[word - 1]))
        word--;
    word = word < whole ? word : whole;
    if (count_characters(bytes, word) + CUT_LEAVES > most) {
        while (word > 0 && bytes[word - 1] && strchr(marks, bytes[word - 1]))
            word--;
        if (count_characters(bytes, word) >= LEAST_OF_NAME)
            whole = word;
    }
    write_bytes(text, bytes, whole);
    write_string(text, dots);
}

void write_first(struct writer *text, const char *bytes, size_t length, size_t most)
{
    write_bytes(text, bytes, length_of(bytes, length, most - 3));
    write_string(text, "...");
}

int decimals_for(double number, int digits)
{
    int decimals = digits;
    for (double from = 1; decimals > 0; from *= 10, decimals--)
        if (fabs(number) < from - 0.5 * pow(10, -decimals))
            break;
    return decimals;
}

void write_format(struct writer *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *written = sqlite3_vmprintf(format, values);
    va_end(values);
    if (written)
        write_string(text, written);
    else
        text->failed = true;
    sqlite3_free(written);
}
