#include "writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../reader/memory.h"
#include "../reader/text.h"

enum { REPLACEMENT = 0xfffd, ELLIPSIS = 0x2026 };

void writer_clear(struct writer *writer)
{
    memory_free(writer->bytes);
    *writer = (struct writer){0};
}

void write_bytes(struct writer *writer, const char *bytes, size_t length)
{
    if (writer->failed || length == 0)
        return;
    if (length > SIZE_MAX - writer->length ||
        !MEMORY_GROW(writer->bytes, writer->capacity, writer->length + length)) {
        writer->failed = true;
        return;
    }
    memcpy(writer->bytes + writer->length, bytes, length);
    writer->length += length;
}

void write_string(struct writer *writer, const char *string)
{
    write_bytes(writer, string, strlen(string));
}

/* Reads the character at `*text` and moves past it. Invalid UTF-8 gives U+FFFD for one byte. */
static uint32_t next_character(const char **text, const char *end)
{
    const unsigned char *at = (const unsigned char *)*text;
    bool whole;
    size_t length = text_sequence(at, (const unsigned char *)end, &whole);
    *text += whole ? length : 1;
    uint32_t character = length == 1 ? *at : *at & (0x7fU >> length);
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (at[i] & 0x3f);
    return whole ? character : REPLACEMENT;
}

static void write_utf8(struct writer *writer, uint32_t c)
{
    unsigned char bytes[4];
    write_bytes(writer, (const char *)bytes, text_put(bytes, c));
}

static void write_json_character(struct writer *writer, uint32_t c)
{
    static const char digits[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        write_bytes(writer, "\\", 1);
        write_utf8(writer, c);
    } else if (c < ' ' || c == '<' || c == '>' || c == '&' || c == 0x7f || (c >> 1) == 0x1014) {
        char escape[] = {
            '\\',          'u', digits[c >> 12 & 15], digits[c >> 8 & 15], digits[c >> 4 & 15],
            digits[c & 15]};
        write_bytes(writer, escape, sizeof escape);
    } else {
        write_utf8(writer, c);
    }
}

void write_json(struct writer *writer, const char *text, size_t length)
{
    const char *end = text + length;
    write_bytes(writer, "\"", 1);
    while (text < end)
        write_json_character(writer, next_character(&text, end));
    write_bytes(writer, "\"", 1);
}

void write_json_string(struct writer *writer, const char *string)
{
    write_json(writer, string, strlen(string));
}

void write_integer(struct writer *writer, int64_t integer)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)integer);
    write_bytes(writer, digits, (size_t)length);
}

void write_grouped(struct writer *writer, int64_t integer)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)integer);
    for (int i = 0; i < length; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0)
            write_bytes(writer, ",", 1);
        write_bytes(writer, &digits[i], 1);
    }
}

/* Writes the fewest decimals, at most nine, that are read back as the number, or as a number
** within the relative error `slack`. False if there are none. Below 2^53 both `scaled` and
** `power` are exact, so their quotient is the double that a parser of the decimals gets. */
static bool write_decimals(struct writer *writer, double number, double slack)
{
    double power = 1;
    for (int decimals = 0; decimals <= 9; decimals++, power *= 10) {
        double scaled = nearbyint(number * power);
        if (!(fabs(scaled) < 9007199254740992.0))
            return false;
        if (!(fabs(scaled / power - number) <= slack * fabs(number)))
            continue;
        int64_t units = (int64_t)fabs(scaled), whole = (int64_t)power;
        if (scaled < 0)
            write_bytes(writer, "-", 1);
        write_integer(writer, units / whole);
        if (decimals > 0)
            write_bytes(writer, ".", 1);
        for (int64_t rest = units % whole; whole > 1; rest %= whole) {
            whole /= 10;
            write_bytes(writer, &"0123456789"[rest / whole], 1);
        }
        return true;
    }
    return false;
}

static void write_rounded(struct writer *writer, double number, double slack)
{
    if (!isfinite(number)) {
        write_string(writer, "null");
        return;
    }
    if (write_decimals(writer, number, slack))
        return;
    /* -d.dddde-dd, where the locale's decimal point is replaced by `.` */
    char digits[64];
    snprintf(digits, sizeof digits, "%.16e", number);
    const char *at = digits, *rest = digits + (digits[0] == '-') + 1;
    write_bytes(writer, at, (size_t)(rest - at));
    write_bytes(writer, ".", 1);
    write_string(writer, rest + strcspn(rest, "0123456789"));
}

void write_number(struct writer *writer, double number)
{
    write_rounded(writer, number, 0);
}

void write_shown(struct writer *writer, double number)
{
    write_rounded(writer, number, 1e-14);
}

/* The HTML entity of a character, without `&`; NULL: it needs none. */
static const char *entity_of(uint32_t c)
{
    return c == '&' ? "amp;" : c == '<' ? "lt;" : c == '>' ? "gt;" : NULL;
}

void write_html(struct writer *writer, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        uint32_t c = next_character(&text, end);
        const char *entity = c == '"' ? "quot;" : c == '\'' ? "#39;" : entity_of(c);
        if (entity) {
            write_string(writer, "&");
            write_string(writer, entity);
        } else {
            write_utf8(writer, c < ' ' && c != '\n' && c != '\t' ? REPLACEMENT : c);
        }
    }
}

static void write_label_character(struct writer *writer, uint32_t c)
{
    const char *entity = c == '$' ? "#36;" : entity_of(c);
    if (entity) {
        write_string(writer, "\\u0026");
        write_string(writer, entity);
    } else {
        write_json_character(writer, c < ' ' ? ' ' : c);
    }
}

void write_label(struct writer *writer, const char *text, size_t length, size_t width, size_t lines)
{
    const char *end = text + length;
    size_t characters = 0, room = width * lines, shown = 0;
    for (const char *at = text; at < end; characters++)
        next_character(&at, end);
    /* a name that is too long keeps its beginning (2/5 of the room) and its end (3/5) */
    size_t gap = characters > room ? room * 2 / 5 : characters;
    size_t after = characters > room ? characters - (room - gap - 1) : characters;
    write_bytes(writer, "\"", 1);
    for (size_t i = 0; text < end; i++) {
        uint32_t c = next_character(&text, end);
        if (i > gap && i < after)
            continue;
        if (shown > 0 && shown % width == 0)
            write_string(writer, "\\u003cbr\\u003e");
        write_label_character(writer, i == gap ? ELLIPSIS : c);
        shown++;
    }
    write_bytes(writer, "\"", 1);
}
