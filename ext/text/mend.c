#include "mend.h"

#include "ascii.h"
#include "bytes16.h"
#include "text.h"

struct mending {
    const unsigned char *p, *end;
    unsigned char *to;
    bool changed;
};

/* The next byte, or 0 at the end; JSON never contains a NUL. */
static unsigned char peek(const struct mending *mending)
{
    return mending->p < mending->end ? *mending->p : 0;
}

static void copy(struct mending *mending, size_t count)
{
    memcpy(mending->to, mending->p, count);
    mending->to += count;
    mending->p += count;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static unsigned char peek_after_space(struct mending *mending)
{
    while (is_space(peek(mending)))
        copy(mending, 1);
    return peek(mending);
}

static size_t digits(const unsigned char *p, const unsigned char *end)
{
    const unsigned char *from = p;
    while (p < end && is_digit(*p))
        p++;
    return (size_t)(p - from);
}

static bool is_number(const unsigned char *p, const unsigned char *end)
{
    p += p < end && *p == '-';
    size_t count = digits(p, end);
    if (count == 0 || (count > 1 && *p == '0'))
        return false;
    p += count;
    if (p < end && *p == '.') {
        count = digits(p + 1, end);
        if (count == 0)
            return false;
        p += count + 1;
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        count = digits(p, end);
        if (count == 0)
            return false;
        p += count;
    }
    return p == end;
}

static bool ends_word(unsigned char c)
{
    return c <= ' ' || c == '"' || c == ',' || c == ':' || c == '[' || c == ']' || c == '{' ||
           c == '}';
}

/* Rule 2; false if there is no word at this place. */
static bool bare_word(struct mending *mending)
{
    const unsigned char *p = mending->p;
    while (p < mending->end && !ends_word(*p))
        p++;
    size_t length = (size_t)(p - mending->p);
    bool known = (length == 4 && memcmp(mending->p, "true", 4) == 0) ||
                 (length == 5 && memcmp(mending->p, "false", 5) == 0) ||
                 (length == 4 && memcmp(mending->p, "null", 4) == 0);
    if (known || is_number(mending->p, p)) {
        copy(mending, length);
        return true;
    }
    memcpy(mending->to, "null", 4);
    mending->to += 4;
    mending->p = p;
    mending->changed = true;
    return length > 0;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void escape(struct mending *mending)
{
    const unsigned char *p = mending->p;
    size_t left = (size_t)(mending->end - p);
    int32_t unit = text_unit(p, mending->end);
    if (left > 1 && p[1] == '/') { /* rule 1 */
        mending->p++;
        copy(mending, 1);
    } else if (unit >= 0 && unit < 0x80 && is_plain((unsigned char)unit)) { /* rule 1 */
        *mending->to++ = (unsigned char)unit;
        mending->p += 6;
    } else if (left > 1 && p[1] != 0 && strchr("\"\\bfnrt", p[1])) {
        copy(mending, 2);
    } else if (unit >= 0) {
        copy(mending, 6);
    } else {
        *mending->to++ = '\\';
        copy(mending, 1);
        mending->changed = true;
    }
}

/* Copies bytes beyond ASCII. */
static void sequences(struct mending *mending)
{
    const unsigned char *p = mending->p;
    while (p < mending->end && *p >= 0x80)
        p++;
    size_t length = (size_t)(p - mending->p);
    size_t written = text_repair(mending->p, length, mending->to);
    mending->changed =
        mending->changed || written != length || memcmp(mending->to, mending->p, length) != 0;
    mending->to += written;
    mending->p = p;
}

/* Copies text that strings contain as it is. */
static void plain(struct mending *mending)
{
    const unsigned char *p = mending->p;
    uint32_t other = 0;
    while (other == 0 && mending->end - p >= 16) {
        bytes16 bytes = bytes16_at(p);
        other = bytes16_mask((bytes16)(bytes - 0x20 >= 0x60) | (bytes16)(bytes == '"') |
                             (bytes16)(bytes == '\\'));
        p += other ? __builtin_ctz(other) : 16;
    }
    while (other == 0 && p < mending->end && is_plain(*p))
        p++;
    copy(mending, (size_t)(p - mending->p));
}

/* Rule 3; false if the string does not end. */
static bool string(struct mending *mending)
{
    copy(mending, 1);
    while (mending->p < mending->end) {
        unsigned char c = *mending->p;
        if (c == '"') {
            copy(mending, 1);
            return true;
        }
        if (c == '\\') {
            escape(mending);
        } else if (c < 0x20) {
            static const char digits[] = "0123456789abcdef";
            memcpy(mending->to, "\\u00", 4);
            mending->to[4] = (unsigned char)digits[c >> 4];
            mending->to[5] = (unsigned char)digits[c & 15];
            mending->to += 6;
            mending->p++;
            mending->changed = true;
        } else if (c < 0x80) {
            plain(mending);
        } else {
            sequences(mending);
        }
    }
    return false;
}

static bool mend_key(struct mending *mending)
{
    if (peek_after_space(mending) != '"' || !string(mending) || peek_after_space(mending) != ':')
        return false;
    copy(mending, 1);
    return true;
}

/* Whether the text is an object once mended. `open` holds the open brackets. */
static bool object(struct mending *mending)
{
    char open[MEND_DEEPEST];
    int depth = 0;
    bool value = true; /* a value must come next; false: one has been read */
    if (peek(mending) != '{')
        return false;
    do {
        unsigned char c = peek_after_space(mending);
        if (!value && c == ',') {
            copy(mending, 1);
            if (open[depth - 1] == '{' && !mend_key(mending))
                return false;
            value = true;
        } else if (!value) {
            if (c != (open[depth - 1] == '{' ? '}' : ']'))
                return false;
            copy(mending, 1);
            depth--;
        } else if (c == '{' || c == '[') {
            if (depth == MEND_DEEPEST)
                return false;
            open[depth++] = (char)c;
            copy(mending, 1);
            value = peek_after_space(mending) != (c == '{' ? '}' : ']');
            if (value && c == '{' && !mend_key(mending))
                return false;
        } else {
            if (c == '"' ? !string(mending) : !bare_word(mending))
                return false;
            value = false;
        }
    } while (depth > 0);
    return mending->p == mending->end;
}

enum mended mend_json(const unsigned char *from, size_t length, unsigned char *to, size_t *written)
{
    struct mending mending = {from, from + length, to, false};
    if (!object(&mending))
        return MEND_IMPOSSIBLE;
    *written = (size_t)(mending.to - to);
    return mending.changed ? MEND_MENDED : MEND_STRICT;
}
