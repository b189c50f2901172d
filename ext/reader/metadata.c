#include "metadata.h"

#include <string.h>

#include "base/memory.h"
#include "text/mend.h"
#include "text/number.h"

enum { LONGEST = 1024 * 1024 };

/* Undoes escapes in an object, if it is strict JSON (mend.h, rule 1). Changes `*length`. */
static bool undo_escapes(char *object, size_t *length, struct failure *failure)
{
    if (!memchr(object, '\\', *length))
        return true;
    unsigned char *mended = memory_allocate(*length * MEND_ROOM);
    size_t written;
    if (!mended)
        return failure_memory(failure);
    if (mend_json((unsigned char *)object, *length, mended, &written) == MEND_STRICT) {
        memcpy(object, mended, written);
        *length = written;
    }
    memory_free(mended);
    return true;
}

/* Appends a key and its value. */
static bool keep(struct metadata *metadata, const struct token *key, const struct token *value,
                 struct problems *problems, struct failure *failure)
{
    bool string = value->kind == TOKEN_TEXT || value->kind == TOKEN_ODD_TEXT;
    size_t from = string, length = value->length + 2 * (size_t)string;
    size_t needed = metadata->length + key->length + length + 6;
    if (needed > LONGEST) {
        metadata->left_out = true;
        problem_add(problems, PROBLEM_METADATA, 0);
        return true;
    }
    if (!MEMORY_GROW(metadata->text, metadata->capacity, needed))
        return failure_memory(failure);
    size_t before = metadata->length - (metadata->length > 0);
    char *member = metadata->text + before, *to = member;
    *to++ = '{';
    *to++ = '"';
    memcpy(to, key->at, key->length);
    to += key->length;
    *to++ = '"';
    *to++ = ':';
    memcpy(to, value->at - from, length);
    to += length;
    *to++ = '}';
    length = (size_t)(to - member);
    if (!undo_escapes(member, &length, failure))
        return false;
    if (before > 0)
        *member = ',';
    member[length] = 0;
    metadata->length = before + length;
    return true;
}

static bool is_integer(const struct token *token, int64_t *integer)
{
    return token->kind == TOKEN_BARE && number_integer(token->at, token->length, integer);
}

/* Reads the members that the reader needs. For duplicate keys, the first counts. */
static void use(struct metadata *metadata, const struct token *key, const struct token *value)
{
    struct token rank;
    int64_t number;
    if (scan_equal(key, "baseTimeNanoseconds") && !metadata->base_seen) {
        metadata->base_seen = true;
        metadata->has_base = is_integer(value, &metadata->base);
    }
    if (scan_equal(key, "distributedInfo") && metadata->rank < 0 && *value->at == '{' &&
        scan_member(value, "rank", &rank) && is_integer(&rank, &number) && number >= 0)
        metadata->rank = number;
}

bool metadata_take(struct metadata *metadata, const struct token *key, const struct token *value,
                   struct problems *problems, struct failure *failure)
{
    use(metadata, key, value);
    return keep(metadata, key, value, problems, failure);
}
