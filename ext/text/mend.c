#include "mend.h"

#include "ascii.h"
#include "bytes16.h"
#include "text.h"

struct mending {
    const unsigned char *p, *end;
    const unsigned char *kept; /* from here to `p` it stays as it is, and is not written yet */
    unsigned char *to;
    bool changed;
};

/* The next byte, or 0 at the end; JSON never contains a NUL. */
static unsigned char peek(const struct mending *mending)
{
    return mending->p < mending->end ? *mending->p : 0;
}

/* Writes what stays as it is. */
static void write_kept(struct mending *mending)
{
    size_t count = (size_t)(mending->p - mending->kept);
    memcpy(mending->to, mending->kept, count);
    mending->to += count;
    mending->kept = mending->p;
}

/* Writes other bytes in place of the next ones. */
static void replace(struct mending *mending, size_t count, const void *with, size_t length)
{
    write_kept(mending);
    memcpy(mending->to, with, length);
    mending->to += length;
    mending->p += count;
    mending->kept = mending->p;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static unsigned char peek_after_space(struct mending *mending)
{
    while (is_space(peek(mending)))
        mending->p++;
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
        mending->p = p;
        return true;
    }
    replace(mending, length, "null", 4);
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
        replace(mending, 2, "/", 1);
    } else if (unit >= 0 && unit < 0x80 && is_plain((unsigned char)unit)) { /* rule 1 */
        unsigned char c = (unsigned char)unit;
        replace(mending, 6, &c, 1);
    } else if (left > 1 && p[1] != 0 && strchr("\"\\bfnrt", p[1])) {
        mending->p += 2;
    } else if (unit >= 0) {
        mending->p += 6;
    } else {
        replace(mending, 1, "\\\\", 2);
        mending->changed = true;
    }
}

/* Writes bytes beyond ASCII. */
static void sequences(struct mending *mending)
{
    const unsigned char *p = mending->p;
    while (p < mending->end && *p >= 0x80)
        p++;
    size_t length = (size_t)(p - mending->p);
    write_kept(mending);
    size_t written = text_repair(mending->p, length, mending->to);
    mending->changed =
        mending->changed || written != length || memcmp(mending->to, mending->p, length) != 0;
    mending->to += written;
    mending->p = mending->kept = p;
}

/* Passes text that strings contain as it is. */
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
    mending->p = p;
}

/* Rule 3; false if the string does not end. */
static bool string(struct mending *mending)
{
    mending->p++;
    while (mending->p < mending->end) {
        unsigned char c = *mending->p;
        if (c == '"') {
            mending->p++;
            return true;
        }
        if (c == '\\') {
            escape(mending);
        } else if (c < 0x20) {
            static const char digits[] = "0123456789abcdef";
            const char escaped[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
            replace(mending, 1, escaped, sizeof escaped);
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
    mending->p++;
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
            mending->p++;
            if (open[depth - 1] == '{' && !mend_key(mending))
                return false;
            value = true;
        } else if (!value) {
            if (c != (open[depth - 1] == '{' ? '}' : ']'))
                return false;
            mending->p++;
            depth--;
        } else if (c == '{' || c == '[') {
            if (depth == MEND_DEEPEST)
                return false;
            open[depth++] = (char)c;
            mending->p++;
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
    struct mending mending = {from, from + length, from, to, false};
    if (!object(&mending))
        return MEND_IMPOSSIBLE;
    write_kept(&mending);
    *written = (size_t)(mending.to - to);
    return mending.changed ? MEND_MENDED : MEND_STRICT;
}
