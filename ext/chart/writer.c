#include "writer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "text/text.h"

enum { REPLACEMENT = 0xfffd };

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
    } else if (c < ' ' || c == '<' || c == '>' || c == '&' || text_acts(c) ||
               (c >> 1) == 0x1014) {
        char escape[] = {
            '\\',          'u', digits[c >> 12 & 15], digits[c >> 8 & 15], digits[c >> 4 & 15],
            digits[c & 15]};
        write_bytes(writer, escape, sizeof escape);
    } else {
        write_utf8(writer, c);
    }
}

/* Writes the ASCII before the first character that is escaped, and returns what follows it. */
static const char *write_plain(struct writer *writer, const char *text, const char *end)
{
    const char *start = text;
    while (text < end && *text >= ' ' && *text <= '~' && *text != '"' && *text != '\\' &&
           *text != '<' && *text != '>' && *text != '&')
        text++;
    write_bytes(writer, start, (size_t)(text - start));
    return text;
}

void write_json(struct writer *writer, const char *text, size_t length)
{
    const char *end = text + length;
    write_bytes(writer, "\"", 1);
    while ((text = write_plain(writer, text, end)) < end)
        write_json_character(writer, next_character(&text, end));
    write_bytes(writer, "\"", 1);
}

void write_shown(struct writer *writer, const char *text, size_t length)
{
    const char *end = text + length;
    write_bytes(writer, "\"", 1);
    while ((text = write_plain(writer, text, end)) < end) {
        uint32_t c = next_character(&text, end);
        write_json_character(writer, text_acts(c) && c != '\n' && c != '\t' ? REPLACEMENT : c);
    }
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

static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/* Doubles below it are exact integers. */
static const double exact = 9007199254740992.0;

int decimals_of(double number, int most)
{
    int decimals = 0;
    while (decimals < most && fabs(number) * powers[decimals] < exact &&
           !(fabs(nearbyint(number * powers[decimals]) / powers[decimals] - number) <=
             1e-14 * fabs(number)))
        decimals++;
    return decimals;
}

/* Writes the digits of a number that is not negative. A number too large for its decimals has
** fewer of them. */
static void write_digits(struct writer *writer, double number, int decimals,
                         void (*write_whole)(struct writer *, int64_t))
{
    while (decimals > 0 && !(number * powers[decimals] < exact))
        decimals--;
    if (!(number < exact)) {
        char digits[320];
        int length = snprintf(digits, sizeof digits, "%.0f", number);
        write_bytes(writer, digits, (size_t)length);
        return;
    }
    int64_t units = (int64_t)nearbyint(number * powers[decimals]);
    int64_t place = (int64_t)powers[decimals];
    write_whole(writer, units / place);
    if (decimals > 0)
        write_bytes(writer, ".", 1);
    for (int64_t rest = units % place; place > 1; rest %= place) {
        place /= 10;
        write_bytes(writer, &"0123456789"[rest / place], 1);
    }
}

bool rounds_to_zero(double number, int decimals)
{
    return fabs(number) * powers[decimals] <= 0.5;
}

void write_number(struct writer *writer, double number)
{
    enum { MOST = 9 };
    if (!isfinite(number)) {
        write_string(writer, "null");
        return;
    }
    if (number < 0 && !rounds_to_zero(number, MOST))
        write_string(writer, "-");
    write_digits(writer, fabs(number), decimals_of(number, MOST), write_integer);
}

/* Decimal digits of a number that is finite and greater than 0: 0.DIGITS times 10^exponent. */
struct decimal_digits {
    char digits[24];
    int count, exponent;
};

/* snprintf() is exact, but what it writes between the digits depends on the locale. */
static struct decimal_digits decimal_of(double number, int count)
{
    struct decimal_digits decimal = {.count = count};
    char text[64];
    int found = 0, at = 0;
    snprintf(text, sizeof text, "%.*e", count - 1, number);
    for (; found < count; at++)
        if (text[at] >= '0' && text[at] <= '9')
            decimal.digits[found++] = text[at];
    bool negative = text[at + 1] == '-';
    for (at += 2; text[at]; at++)
        decimal.exponent = decimal.exponent * 10 + (text[at] - '0');
    decimal.exponent = 1 + (negative ? -decimal.exponent : decimal.exponent);
    return decimal;
}

/* Whether the nearest double to a decimal is this number. It is if the decimal is less than half as
** far away as the next double there; the rest of that half is for errors of the arithmetic here, so
** the answer may be no, but never wrongly yes. */
static bool reads_back(const struct decimal_digits *decimal, double number)
{
    enum { PRECISE = LDBL_MANT_DIG >= 64 };
    long double value = 0, scale = 1, base = 10;
    for (int i = 0; i < decimal->count; i++)
        value = value * 10 + (decimal->digits[i] - '0');
    int power = decimal->exponent - decimal->count;
    for (int left = abs(power); left > 0; left /= 2, base *= base)
        scale *= left % 2 ? base : 1;
    value = power < 0 ? value / scale : value * scale;
    long double next = nextafter(number, value < number || number >= DBL_MAX ? 0 : DBL_MAX);
    return PRECISE && fabsl(value - number) < fabsl(next - number) * 0.48L;
}

void write_real(struct writer *writer, double number)
{
    enum { LEAST = -3, MOST = 17 /* exponents beyond which the number is written with one */ };
    double size = fabs(number);
    if (number < 0)
        write_string(writer, "-");
    if (size == 0 || isinf(size)) {
        write_string(writer, size == 0 ? "0.0" : "9e999");
        return;
    }
    struct decimal_digits it = decimal_of(size, 15);
    for (int count = 16; count <= 17 && !reads_back(&it, size); count++)
        it = decimal_of(size, count);
    while (it.count > 1 && it.digits[it.count - 1] == '0')
        it.count--;
    bool plain = it.exponent >= LEAST && it.exponent <= MOST;
    int point = plain ? it.exponent : 1; /* digits before the point */
    write_string(writer, point > 0 ? "" : "0.");
    for (int i = point; i < 0; i++)
        write_string(writer, "0");
    for (int i = 0; i < it.count || i <= point; i++) {
        if (i == point && i > 0)
            write_string(writer, ".");
        write_bytes(writer, i < it.count ? &it.digits[i] : "0", 1);
    }
    if (!plain) {
        write_string(writer, "e");
        write_integer(writer, it.exponent - 1);
    }
}

void write_key(struct writer *writer, const char *start, const char *key)
{
    write_string(writer, start);
    write_json_string(writer, key);
    write_string(writer, ": ");
}

void write_real_member(struct writer *writer, const char *start, const char *key, bool known,
                       double number)
{
    write_key(writer, start, key);
    if (known)
        write_real(writer, number);
    else
        write_string(writer, "null");
}

void write_amount(struct writer *writer, double number, int decimals)
{
    bool zero = rounds_to_zero(number, decimals);
    if (number < 0 && !zero)
        write_string(writer, "−");
    write_digits(writer, zero ? 0 : fabs(number), decimals, write_grouped);
}

void write_fixed(struct writer *writer, double number, int decimals)
{
    bool zero = rounds_to_zero(number, decimals);
    if (number < 0 && !zero)
        write_string(writer, "−");
    write_digits(writer, zero ? 0 : fabs(number), decimals, write_integer);
}

void write_change(struct writer *writer, double number, int decimals)
{
    if (rounds_to_zero(number, decimals)) {
        write_string(writer, "0");
        return;
    }
    write_string(writer, number > 0 ? "+" : "");
    write_amount(writer, number, decimals);
}

void write_percent(struct writer *writer, double percent)
{
    int decimals = 0;
    for (double size = fabs(percent); decimals < 2 && size > 0 && size < 9.95; size *= 10)
        decimals++;
    if (rounds_to_zero(percent, decimals))
        decimals = 0;
    write_amount(writer, percent, decimals);
    write_string(writer, " %");
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
            write_utf8(writer, text_acts(c) && c != '\n' && c != '\t' ? REPLACEMENT : c);
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
        write_json_character(writer, c < ' ' ? ' ' : text_acts(c) ? REPLACEMENT : c);
    }
}

/* The number of characters, at most `width`, of the next line of a text: all that are left; up to
** the last space in the last two thirds of the line; or up to the last word of its second half that
** begins after one of these characters. */
static size_t line_of(const char *text, const char *end, size_t width)
{
    static const char breaks[] = {' ', '_', ':', ',', '>', ')', '/'};
    uint32_t before = 0;
    size_t best = width, space = 0;
    for (size_t i = 0; i <= width; i++) {
        if (text == end)
            return i;
        uint32_t c = next_character(&text, end);
        if (i > (before == ' ' ? width / 3 : width / 2) && before < 0x80 &&
            memchr(breaks, (int)before, sizeof breaks) &&
            (c >= 0x80 || !memchr(breaks, (int)c, sizeof breaks)))
            *(before == ' ' ? &space : &best) = i;
        before = c;
    }
    return space > 0 ? space : best;
}

size_t write_label(struct writer *writer, const char *text, size_t length, size_t width,
                   size_t lines)
{
    const char *end = text + length;
    size_t line = 0;
    write_bytes(writer, "\"", 1);
    for (; line < lines && (text < end || line == 0); line++) {
        if (line > 0)
            write_string(writer, "\\u003cbr\\u003e");
        for (size_t left = line_of(text, end, width); left > 0; left--)
            write_label_character(writer, next_character(&text, end));
    }
    write_bytes(writer, "\"", 1);
    return line;
}
