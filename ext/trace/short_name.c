#include "short_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool begins(const char *p, const char *end, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(end - p) >= length && memcmp(p, with, length) == 0;
}

static bool ends(const char *start, const char *p, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(p - start) >= length && memcmp(p - length, with, length) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hexadecimal(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The length of `(1743)` at `p`, if `: ` follows it; else 0. */
static size_t line_number(const char *p, const char *end)
{
    const char *digits = p + 1;
    while (digits < end && is_digit(*digits))
        digits++;
    return digits > p + 1 && begins(digits, end, "): ") ? (size_t)(digits + 1 - p) : 0;
}

/* Whether the whole name is that of a step. */
static bool is_step(const char *name, const char *end)
{
    const char *p = name + strlen("ProfilerStep");
    if (!begins(name, end, "ProfilerStep"))
        return false;
    p += p < end && *p == ' ';
    if (p == end || *p++ != '#' || p == end)
        return false;
    while (p < end && is_digit(*p))
        p++;
    return p == end;
}

size_t name_stable(const char *name, size_t length, char *to)
{
    static const char address[] = " at 0x";
    const char *p = name, *end = name + length;
    char *out = to;
    if (is_step(name, end)) /* rule 3 */
        end = name + strlen("ProfilerStep");
    while (p < end) {
        size_t number = *p == '(' ? line_number(p, end) : 0;
        if (number > 0) { /* rule 2 */
            p += number;
        } else if (*p == ' ' && begins(p, end, address)) { /* rule 1 */
            p += sizeof address - 1;
            while (p < end && is_hexadecimal(*p))
                p++;
        } else {
            *out++ = *p++;
        }
    }
    return (size_t)(out - to);
}

static bool is_python(const char *name, const char *end)
{
    for (const char *p = name; (p = memchr(p, '(', (size_t)(end - p))) != NULL; p++)
        if (line_number(p, end) > 0)
            return true;
    return false;
}

static const char anonymous[] = "(anonymous namespace)";

/* The brackets that are open, as bits: 1 for `<`, 0 for `(`, the innermost lowest. A
** name that nests deeper than 64 loses the outermost, and with it what it ends. */
struct brackets {
    uint64_t kinds;
    int depth;
};

/* Closes the innermost bracket of a kind, and those inside of it; false if there is
** none. */
static bool close_bracket(struct brackets *open, bool angle)
{
    for (int i = 0; i < open->depth && i < 64; i++)
        if ((open->kinds >> i & 1) == angle) {
            open->kinds = i < 63 ? open->kinds >> (i + 1) : 0;
            open->depth -= i + 1;
            return true;
        }
    return false;
}

/* How many bytes at `p`, behind `operator`, are the operator: `()`, `<`, `->` ... */
static size_t operator_length(const char *start, const char *p, const char *end)
{
    static const char *const operators[] = {"()", "<=>", "<<=", ">>=", "<<", ">>",
                                            "<=", ">=",  "->*", "->",  "<",  ">"};
    if (!ends(start, p, "operator"))
        return 0;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (begins(p, end, operators[i]))
            return strlen(operators[i]);
    return 0;
}

/* Rule 6. Returns the end of what is written. Where `(anonymous namespace)` stays,
** its space is written as a NUL, so that rule 8 does not take it for one. */
static char *drop_brackets(const char *name, const char *end, char *to)
{
    struct brackets open = {0, 0};
    char *out = to;
    for (const char *p = name; p < end; p++) {
        size_t keep = operator_length(name, p, end);
        if (keep == 0 && begins(p, end, anonymous))
            keep = sizeof anonymous - 1;
        if (keep > 0) {
            if (open.depth == 0) {
                memcpy(out, p, keep);
                if (keep == sizeof anonymous - 1)
                    out[strlen("(anonymous")] = 0;
                out += keep;
            }
            p += keep - 1;
        } else if (*p == '<' || *p == '(') {
            open.kinds = open.kinds << 1 | (*p == '<');
            open.depth++;
        } else if (*p == '>' || *p == ')') {
            /* `->` ends nothing, and neither does `>` right inside of parentheses */
            bool arrow = *p == '>' && p > name && p[-1] == '-';
            bool greater = *p == '>' && open.depth > 0 && !(open.kinds & 1);
            if (!arrow && !greater)
                close_bracket(&open, *p == '>');
        } else if (open.depth == 0) {
            *out++ = *p;
        }
    }
    return out;
}

/* Rule 7 at the end of a name. */
static char *drop_tail(char *name, char *end)
{
    for (;;) {
        char *before = end;
        while (end > name && end[-1] == ' ')
            end--;
        if (ends(name, end, " const"))
            end -= strlen(" const");
        if (end > name && end[-1] == ']') {
            char *p = end;
            while (p > name && !begins(p, end, " [clone "))
                p--;
            if (begins(p, end, " [clone "))
                end = p;
        }
        if (end == before)
            return end;
    }
}

/* Rules 6 to 8. */
static size_t short_signature(const char *name, const char *end, char *to)
{
    char *stop = drop_tail(to, drop_brackets(name, end, to)), *p = to;
    for (char *from = to; from < stop; from++) {
        if (begins(from, stop, " const::"))
            from += strlen(" const") - 1; /* rule 7 before `::` */
        else
            *p++ = *from;
    }
    stop = p;
    while (p > to && p[-1] != ' ')
        p--;
    size_t length = (size_t)(stop - p);
    memmove(to, p, length);
    for (size_t i = 0; i < length; i++)
        if (to[i] == 0)
            to[i] = ' ';
    return length;
}

/* The byte after a `: ` outside of brackets, or the beginning. */
static const char *after_prefix(const char *name, const char *end)
{
    int depth = 0;
    for (const char *p = name; p + 1 < end; p++) {
        depth += *p == '<' || *p == '(';
        depth -= (*p == '>' || *p == ')') && depth > 0;
        if (depth == 0 && p > name && p[0] == ':' && p[1] == ' ' && p[-1] != ':')
            return p + 2;
    }
    return name;
}

size_t name_short(const char *name, size_t length, char *to)
{
    static const char *const copies[] = {"Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma"};
    const char *end = name + length;
    bool whole = !memchr(name, '<', length) && !memchr(name, '(', length); /* rule 2 */
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        whole = whole || begins(name, end, copies[i]);                         /* rule 1 */
    whole = whole || (begins(name, end, "## ") && ends(name + 2, end, " ##")); /* rule 3 */
    if (whole) {
        memcpy(to, name, length);
        return length;
    }
    if (*name == '<' || is_python(name, end)) /* rule 4 */
        return name_stable(name, length, to);
    const char *rest = after_prefix(name, end); /* rule 5 */
    size_t prefix = (size_t)(rest - name);
    memcpy(to, name, prefix);
    size_t shortened = short_signature(rest, end, to + prefix);
    return shortened > 0 ? prefix + shortened : name_stable(name, length, to); /* rule 9 */
}
