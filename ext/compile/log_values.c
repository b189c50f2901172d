#include "log_values.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "text/ascii.h"
#include "text/strict_json.h"
#include "text/text.h"

enum { MOST_NAMES = 1 << 20 };

const char *log_text(struct log_scratch *scratch, const struct token *token)
{
    enum { MOST_GROWTH = 3 }; /* text.h */
    struct problems unused = {.count = {0}};
    if (token->kind == TOKEN_NONE ||
        !MEMORY_GROW(scratch->text, scratch->capacity, MOST_GROWTH * token->length + 1))
        return NULL;
    if (token->kind == TOKEN_ODD_TEXT) {
        scratch->length = text_decode(token->at, token->length, (unsigned char *)scratch->text,
                                      &unused, 0);
    } else {
        memcpy(scratch->text, token->at, token->length);
        scratch->length = token->length;
    }
    scratch->text[scratch->length] = 0;
    return scratch->text;
}

uint32_t log_intern(struct names *names, const char *text, size_t length, bool *failed)
{
    if (names->count >= MOST_NAMES)
        return names_find(names, text, length);
    size_t repaired = length;
    char *whole = text_repaired(text, &repaired);
    uint32_t id = whole ? names_intern(names, whole, repaired) : NAME_NONE;
    *failed = *failed || id == NAME_NONE;
    memory_free(whole);
    return id;
}

uint32_t log_name(struct names *names, struct log_scratch *scratch, const struct token *token,
                  bool *failed)
{
    if (token->kind != TOKEN_TEXT && token->kind != TOKEN_ODD_TEXT)
        return NAME_NONE;
    if (token->kind == TOKEN_TEXT && names->count < MOST_NAMES) {
        uint32_t id = names_intern(names, token->at, token->length);
        *failed = *failed || id == NAME_NONE;
        return id;
    }
    const char *text = log_text(scratch, token);
    *failed = *failed || !text;
    return text ? log_intern(names, text, scratch->length, failed) : NAME_NONE;
}

int64_t log_integer(const struct token *token)
{
    int64_t integer = NUMBER_NONE;
    if (token->kind == TOKEN_BARE)
        number_integer(token->at, token->length, &integer);
    return integer;
}

int64_t log_seconds(const struct token *token)
{
    enum { LONGEST = 40, MICROSECONDS = 6, MOST_EXPONENT = 400 };
    char text[2 * LONGEST];
    size_t length = 0;
    int exponent = 0;
    bool down = false;
    if (token->kind != TOKEN_BARE || token->length > LONGEST ||
        !number_is_valid(token->at, token->length))
        return NUMBER_NONE;
    while (length < token->length && (token->at[length] | 0x20) != 'e') {
        text[length] = (char)token->at[length];
        length++;
    }
    for (size_t i = length; i < token->length; i++) {
        down = down || token->at[i] == '-';
        if (is_digit(token->at[i]) && exponent < MOST_EXPONENT)
            exponent = exponent * 10 + (token->at[i] - '0');
    }
    exponent = (down ? -exponent : exponent) + MICROSECONDS;
    text[length++] = 'e';
    if (exponent < 0)
        text[length++] = '-';
    exponent = exponent < 0 ? -exponent : exponent;
    for (int digit = 1000; digit > 0; digit /= 10)
        text[length++] = (char)('0' + exponent / digit % 10);
    int64_t ns = number_nanoseconds((const unsigned char *)text, length);
    return ns < 0 || ns > LOG_LATEST ? NUMBER_NONE : ns;
}

bool log_item(const struct token *array, const unsigned char **p, struct token *item)
{
    struct scan scan = {array->at + array->length, NULL};
    if (array->kind != TOKEN_NESTED || *array->at != '[')
        return false;
    const unsigned char *at = scan_space(*p ? *p : array->at + 1);
    at = *p && *at == ',' ? scan_space(at + 1) : at;
    if (*at == ']' || !(at = scan_value(&scan, at, item)))
        return false;
    *p = at;
    return true;
}

bool log_payload(const struct log_record *record, struct token *json)
{
    if (!record->has_payload || !json_is_strict(record->payload, record->payload_length))
        return false;
    const unsigned char *p = scan_space(record->payload);
    *json = (struct token){p, record->payload_length - (size_t)(p - record->payload),
                           TOKEN_NESTED};
    return true;
}

size_t log_id(const struct log_record *record, char id[LOG_ID_SIZE])
{
    int64_t autograd = log_integer(&record->members[LOG_AUTOGRAD]);
    int64_t frame = log_integer(&record->members[LOG_FRAME]);
    int64_t compile = log_integer(&record->members[LOG_COMPILE]);
    bool framed = frame != NUMBER_NONE && compile != NUMBER_NONE;
    int length = 0;
    if (autograd != NUMBER_NONE)
        length = snprintf(id, LOG_ID_SIZE, framed ? "!%lld/" : "!%lld", (long long)autograd);
    if (framed)
        length += snprintf(id + length, LOG_ID_SIZE - (size_t)length, "%lld/%lld",
                           (long long)frame, (long long)compile);
    return (size_t)length;
}
