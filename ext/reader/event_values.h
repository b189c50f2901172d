/*
** Converts the tokens of an event.
*/
#ifndef TRACEDIFF_EVENT_VALUES_H
#define TRACEDIFF_EVENT_VALUES_H

#include "event.h"
#include "text/ascii.h"
#include "text/number.h"
#include "text/text.h"

enum { SHORT_TOKEN = 24, ESCAPED_TOKEN = 6 * SHORT_TOKEN };

static inline bool token_is_text(const struct token *token)
{
    return token->kind == TOKEN_TEXT || token->kind == TOKEN_ODD_TEXT;
}

/* An integer, or NUMBER_NONE. */
static inline int64_t token_integer(const struct token *token)
{
    int64_t value = NUMBER_NONE;
    if (token->kind == TOKEN_BARE)
        number_integer(token->at, token->length, &value);
    return value;
}

static inline bool token_is_number(const struct token *token)
{
    return token->kind == TOKEN_BARE && (*token->at == '-' || is_digit(*token->at));
}

static inline bool token_is_object(const struct token *token)
{
    return token->kind == TOKEN_NESTED && *token->at == '{';
}

/* A member of args that is an integer, possibly written as a string; NUMBER_NONE otherwise. */
static inline int64_t event_integer(const struct event *event, const char *key)
{
    unsigned char decoded[3 * ESCAPED_TOKEN];
    struct problems unused = {0};
    struct token value;
    if (!token_is_object(&event->field[EVENT_ARGS]) ||
        !scan_member(&event->field[EVENT_ARGS], key, &value) || value.kind == TOKEN_NESTED)
        return NUMBER_NONE;
    if (value.kind == TOKEN_ODD_TEXT && value.length <= ESCAPED_TOKEN) {
        value.length = text_decode(value.at, value.length, decoded, &unused, 0);
        value.at = decoded;
    }
    value.kind = TOKEN_BARE;
    return token_integer(&value);
}

#endif
