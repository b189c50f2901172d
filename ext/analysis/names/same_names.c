#include "same_names.h"

#include <string.h>

#include "base/memory.h"
#include "naming/collective_name.h"
#include "text/ascii.h"

#define BOTH 3
#define HASHED 4 /* a name of both sides that ends in a number or a hash has this short name */

enum { HASH_LEAST = 8 }; /* digits */

/* Whether a text only lists types, such as `bf16f32`, and so is not a hash. */
static bool is_types(const char *text, size_t length)
{
    static const char *const bits[] = {"8", "16", "32", "64"};
    size_t at = 0, bit = 0;
    while (at < length && bit < sizeof bits / sizeof *bits) {
        size_t digits = at + (text[at] == 'b') + 1;
        if (digits > length || text[digits - 1] != 'f')
            return false;
        for (bit = 0; bit < sizeof bits / sizeof *bits; bit++) {
            size_t own = strlen(bits[bit]);
            if (digits + own <= length && memcmp(text + digits, bits[bit], own) == 0) {
                at = digits + own;
                break;
            }
        }
    }
    return at == length;
}

static bool is_hash_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* Returns the start of the hash at the end of a text, or its length if there is none. */
static size_t hash_start(const char *text, size_t length)
{
    size_t start = length;
    bool digit = false;
    while (start > 0 && is_hash_digit(text[start - 1]))
        digit = is_digit(text[--start]) || digit;
    bool is_hash = length - start >= HASH_LEAST && digit && start > 0 && text[start - 1] == '_';
    return is_hash && !is_types(text + start, length - start) ? start : length;
}

/* Returns the length of a name without the numbers and hashes at its end. A separator must precede
** them, and some text must remain: `Region: 5/0`, `add_1`, `fused_add_15680171862954066917`.
** `*hashed`: one of them is a hash. */
static size_t unnumbered(const struct name *name, bool *hashed)
{
    size_t length = name->length;
    *hashed = false;
    while (length > 0) {
        size_t hash = hash_start(name->text, length), digits = hash;
        while (hash == length && digits > 0 && is_digit(name->text[digits - 1]))
            digits--;
        size_t marks = digits;
        if (marks > 1 && name->text[marks - 1] == ' ' && name->text[marks - 2] == ':')
            marks--;
        while (marks > 0 && strchr("_:/.#", name->text[marks - 1]))
            marks--;
        if (digits == length || marks == digits || marks == 0)
            break;
        *hashed = *hashed || hash < length;
        length = marks;
    }
    return length;
}

uint32_t *same_names_make(struct names *names, const unsigned char *sides, struct failure *failure)
{
    size_t count = names->count;
    uint32_t *same = memory_items(count, sizeof *same);
    bool *hashes = memory_zeroed(count, sizeof *hashes), done = same && hashes;
    for (size_t i = 0; done && i < count; i++) {
        const struct name *name = &names->items[i];
        char kernel[COLLECTIVE_ROOM];
        size_t length = sides[i] ? collective_write(name, kernel) : 0;
        same[i] = (uint32_t)i;
        if (length > 0)
            same[i] = names_intern(names, kernel, length);
        else if (sides[i] && (length = unnumbered(name, &hashes[i])) < name->length)
            same[i] = names_intern(names, name->text, length);
        done = same[i] != NAME_NONE;
    }
    /* by id of a short name: the sides with such names */
    unsigned char *shorts = done ? memory_zeroed(names->count + 1, 1) : NULL;
    for (size_t i = 0; shorts && i < count; i++)
        shorts[same[i]] |= sides[i] == BOTH && same[i] != i ? HASHED : sides[i];
    for (size_t i = 0; shorts && i < count; i++)
        if (sides[i] == BOTH || ((shorts[same[i]] & BOTH) != BOTH &&
                                 (!hashes[i] || shorts[same[i]] & HASHED)))
            same[i] = (uint32_t)i;
    done = shorts || failure_memory(failure);
    memory_free(shorts);
    memory_free(hashes);
    if (!done)
        memory_free(same);
    return done ? same : NULL;
}
