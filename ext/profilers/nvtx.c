#include "nvtx.h"

#include <string.h>

#include "text/ascii.h"
#include "text/number.h"

/* The unread rest of a text. */
struct text_rest {
    const unsigned char *at, *end;
};

/* Skips a text, if it comes next. */
static bool pass(struct text_rest *rest, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(rest->end - rest->at) < length || memcmp(rest->at, text, length) != 0)
        return false;
    rest->at += length;
    return true;
}

/* Skips digits; false without any. */
static bool pass_digits(struct text_rest *rest)
{
    const unsigned char *start = rest->at;
    while (rest->at < rest->end && is_digit(*rest->at))
        rest->at++;
    return rest->at > start;
}

static bool pass_number(struct text_rest *rest, const unsigned char **number, size_t *length)
{
    const unsigned char *start = rest->at;
    if (!pass_digits(rest))
        return false;
    while (start + 1 < rest->at && *start == '0')
        start++;
    *number = start;
    *length = (size_t)(rest->at - start);
    return true;
}

/* Skips a list of lists and integers, such as [[8, 512], [], 3]. */
static bool pass_sizes(struct text_rest *rest)
{
    size_t depth = 0;
    do {
        if (pass(rest, "[")) {
            depth++;
            if (!pass(rest, "]"))
                continue;
            depth--;
        } else {
            pass(rest, "-");
            const unsigned char *start = rest->at;
            if (!pass_digits(rest) || (*start == '0' && rest->at > start + 1)) /* not JSON */
                return false;
        }
        while (depth > 0 && pass(rest, "]"))
            depth--;
        if (depth > 0 && !pass(rest, ","))
            return false;
        if (depth > 0)
            pass(rest, " ");
    } while (depth > 0);
    return true;
}

/* Skips a list of pairs, such as [(3,0), (4,1)]. */
static bool pass_pairs(struct text_rest *rest)
{
    if (!pass(rest, "["))
        return false;
    if (pass(rest, "]"))
        return true;
    do {
        if (!pass(rest, "(") || !pass_digits(rest) || !pass(rest, ","))
            return false;
        pass(rest, " ");
        if (!pass_digits(rest) || !pass(rest, ")"))
            return false;
    } while (pass(rest, ", ") || pass(rest, ","));
    return pass(rest, "]");
}

/* Reads parts from `at` to the end. */
static bool read_parts(const unsigned char *at, const unsigned char *end, struct nvtx_text *parts)
{
    struct text_rest rest = {at, end};
    *parts = (struct nvtx_text){.emitted = true};
    if (pass(&rest, ", seq = ") && !pass_number(&rest, &parts->seq, &parts->seq_length))
        return false;
    if (pass(&rest, ", op_id = ") && !pass_number(&rest, &parts->op_id, &parts->op_id_length))
        return false;
    if (pass(&rest, ", sizes = ")) {
        parts->sizes = rest.at;
        if (rest.at == end || *rest.at != '[' || !pass_sizes(&rest))
            return false;
        parts->sizes_length = (size_t)(rest.at - parts->sizes);
    }
    if (pass(&rest, ", input_op_ids = ") && !pass_pairs(&rest))
        return false;
    return rest.at == end && rest.at > at;
}

void nvtx_read(const unsigned char *text, size_t length, struct nvtx_text *parts)
{
    const unsigned char *end = text + length, *at = text;
    while (at < end && (at = memchr(at, ',', (size_t)(end - at))) != NULL) {
        if (read_parts(at, end, parts)) {
            parts->name_length = (size_t)(at - text);
            return;
        }
        at++;
    }
    *parts = (struct nvtx_text){.name_length = length};
}

bool nvtx_is_operator(const unsigned char *text, const struct nvtx_text *parts)
{
    const char *name = (const char *)text;
    size_t length = parts->name_length, i = 0;
    if (!parts->emitted)
        return false;
    while (i < length && (is_small(name[i]) || name[i] == '_' || (i > 0 && is_digit(name[i]))))
        i++;
    return parts->seq || (i > 0 && length - i >= 2 && memcmp(name + i, "::", 2) == 0) ||
           text_is(name, length, "record_param_comms") || text_is(name, length, "detach") ||
           text_is(name, length, "detach_");
}

/* Moves past the first occurrence of a text. */
static bool pass_until(struct text_rest *rest, const char *text)
{
    for (; rest->at < rest->end; rest->at++)
        if (pass(rest, text))
            return true;
    return false;
}

/* The last component of a quoted path, without a number in brackets at its end. */
static size_t last_component(struct text_rest rest, const unsigned char **name)
{
    const unsigned char *end = memchr(rest.at, '\'', (size_t)(rest.end - rest.at));
    if (!end)
        return 0;
    *name = rest.at;
    for (const unsigned char *p = rest.at; p < end; p++)
        if (*p == '/')
            *name = p + 1;
    const unsigned char *digits = end - (end > *name && end[-1] == ')');
    while (digits < end && digits > *name && is_digit(digits[-1]))
        digits--;
    if (digits + 1 < end && digits > *name + 1 && digits[-1] == '(')
        end = digits - 1;
    return (size_t)(end - *name);
}

size_t nvtx_marker(const unsigned char *text, size_t length, const unsigned char **name)
{
    struct text_rest rest = {text, text + length};
    if (pass(&rest, "{'mod': '"))
        return pass_until(&rest, "', 'op': '") ? last_component(rest, name) : 0;
    if (!pass(&rest, "{'traceMarker': "))
        return 0;
    struct text_rest stack = rest, next = rest;
    if (pass_until(&stack, "'funcStack': '"))
        return last_component(stack, name);
    while (pass_until(&next, "'")) { /* the last text counts */
        rest = next;
        if (!pass_until(&next, "'"))
            return 0;
    }
    return last_component(rest, name);
}

int nvtx_step(const unsigned char *name, size_t length, int64_t *number)
{
    static const char *const words[] = {"profilerstep",  "step",      "train_step",
                                        "training_step", "iteration", "iter"};
    size_t digits = length, word;
    while (digits > 0 && is_digit(name[digits - 1]))
        digits--;
    if (digits == length)
        return NVTX_NO_WORD;
    for (word = digits; word > 0 && strchr(" _:=#-", name[word - 1]) && name[word - 1];)
        word--;
    while (digits + 1 < length && name[digits] == '0')
        digits++;
    if (!number_integer(name + digits, length - digits, number))
        return NVTX_NO_WORD;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t same = 0;
        while (same < word && words[i][same] && small(name[same]) == words[i][same])
            same++;
        if (same == word && words[i][same] == 0)
            return (int)i;
    }
    return NVTX_NO_WORD;
}
