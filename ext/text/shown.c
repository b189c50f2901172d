#include "shown.h"

#include <stdint.h>

#include "text.h"

/* The first and the last character, ascending. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0, 0x1f},          {0x7f, 0x9f},     {0xad, 0xad},     {0x34f, 0x34f},
    {0x61c, 0x61c},     {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
    {0xe0000, 0xe0fff},
};

static bool is_hidden(uint32_t character)
{
    size_t i = 0;
    while (i < sizeof hidden / sizeof *hidden && hidden[i].last < character)
        i++;
    return i < sizeof hidden / sizeof *hidden && hidden[i].first <= character;
}

size_t shown_character(const char *text, size_t length, bool *shown)
{
    const unsigned char *p = (const unsigned char *)text;
    bool whole;
    size_t count = text_sequence(p, p + length, &whole);
    uint32_t character = count > 1 ? *p & (0x7fu >> count) : *p;
    for (size_t i = 1; i < count; i++)
        character = character << 6 | (p[i] & 0x3f);
    *shown = whole && !is_hidden(character);
    return count;
}

bool shown_text(const char *text, size_t length)
{
    bool shown = true;
    for (size_t i = 0; i < length && shown;)
        i += shown_character(text + i, length - i, &shown);
    return shown;
}

size_t shown_first(const char *text, size_t length, size_t characters)
{
    size_t i = 0;
    bool shown;
    for (; i < length && characters > 0; characters--)
        i += shown_character(text + i, length - i, &shown);
    return i;
}
