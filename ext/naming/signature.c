#include "signature.h"

#include <limits.h>

#include "text/ascii.h"

static const char anonymous[] = "(anonymous namespace)";

static bool is_bracket(char c)
{
    static const bool brackets[UCHAR_MAX + 1] = {
        ['<'] = true, ['>'] = true, ['('] = true, [')'] = true};
    return brackets[(unsigned char)c];
}

bool signature_is_operator(const char *start, const char *end)
{
    static const char word[] = "operator";
    size_t length = sizeof word - 1;
    return ends(start, end, word) &&
           ((size_t)(end - start) == length || !is_word(end[-(ptrdiff_t)length - 1]));
}

/* The length of the rest of an operator's name at the bracket `p` (rule 2), in bytes. */
static size_t operator_length(const char *start, const char *p, const char *end)
{
    static const char *const operators[] = {"()", "<=>", "<<=", ">>=", "<<",
                                            ">>", "<=",  ">=",  "<",   ">"};
    if (*p == '>' && p > start && p[-1] == '-')
        return signature_is_operator(start, p - 1);
    if (!signature_is_operator(start, p))
        return 0;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (begins(p, end, operators[i]))
            return strlen(operators[i]);
    return 0;
}

/* Closes the innermost bracket of a kind, and those inside it. When more than 64 brackets are
** open, the outermost are forgotten; the text they enclose is still left out. */
static void close_bracket(struct signature *open, bool angle)
{
    for (int i = 0; i < open->depth && i < 64; i++)
        if ((open->angles >> i & 1) == angle) {
            open->angles = i < 63 ? open->angles >> (i + 1) : 0;
            open->depth -= i + 1;
            open->closed = open->closed || (open->depth == 0 && !angle);
            return;
        }
}

/* Handles the bracket at `next`. */
static void take_bracket(struct signature *signature)
{
    char c = *signature->next++;
    if (c == '<' || c == '(') {
        signature->angles = signature->angles << 1 | (c == '<');
        signature->depth++;
        return;
    }
    bool arrow = c == '>' && signature->next - signature->start > 1 && signature->next[-2] == '-';
    bool greater = c == '>' && signature->depth > 0 && !(signature->angles & 1);
    if (!arrow && !greater)
        close_bracket(signature, c == '>');
}

bool signature_next(struct signature *signature, struct signature_piece *piece)
{
    const char *from = signature->next, *end = signature->end;
    for (;;) {
        const char *p = signature->next;
        while (p < end && !is_bracket(*p))
            p++;
        signature->next = p;
        if (p == end)
            break;
        size_t kept = operator_length(signature->start, p, end);
        bool outside = signature->depth == 0;
        if (kept > 0) {
            signature->next += kept;
            continue;
        }
        if (outside && p == from && begins(p, end, anonymous)) {
            signature->next += sizeof anonymous - 1;
            *piece = (struct signature_piece){p, sizeof anonymous - 1, true};
            return true;
        }
        if (outside && signature->closed && *p == '>' && p > from && p[-1] == '-') {
            signature->next = end; /* rule 4 */
            *piece = (struct signature_piece){from, (size_t)(p - 1 - from), false};
            return p - 1 > from;
        }
        if (outside && p > from) {
            *piece = (struct signature_piece){from, (size_t)(p - from), false};
            return true;
        }
        take_bracket(signature);
        if (signature->depth == 0)
            from = signature->next;
    }
    if (signature->depth > 0 || from == end)
        return false;
    *piece = (struct signature_piece){from, (size_t)(end - from), false};
    return true;
}
