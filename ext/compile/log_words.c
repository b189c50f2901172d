#include "log_words.h"

#include <string.h>

#include "naming/python_path.h"
#include "text/ascii.h"

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct log_words trimmed(struct log_words words)
{
    while (words.p < words.end && is_space(*words.p))
        words.p++;
    while (words.end > words.p && is_space(words.end[-1]))
        words.end--;
    return words;
}

bool next_words(struct log_words *text, struct log_words *line)
{
    if (text->p >= text->end)
        return false;
    const char *stop = memchr(text->p, '\n', (size_t)(text->end - text->p));
    *line = (struct log_words){text->p, stop ? stop : text->end};
    text->p = stop ? stop + 1 : text->end;
    return true;
}

/* Where a word begins in a text; NULL: nowhere. */
static const char *find(struct log_words text, const char *word)
{
    size_t length = strlen(word);
    for (; (size_t)(text.end - text.p) >= length; text.p++) {
        text.p = memchr(text.p, *word, (size_t)(text.end - text.p) - length + 1);
        if (!text.p)
            return NULL;
        if (memcmp(text.p, word, length) == 0)
            return text.p;
    }
    return NULL;
}

static void write_words(struct writer *to, struct log_words words)
{
    write_bytes(to, words.p, (size_t)(words.end - words.p));
}

void write_squeezed(struct writer *to, struct log_words words)
{
    words = trimmed(words);
    for (const char *p = words.p; p < words.end; p++)
        if (!is_space(*p))
            write_bytes(to, p, 1);
        else if (!is_space(p[-1]))
            write_string(to, " ");
}

void write_place(struct writer *to, struct log_words path, int64_t line, struct log_words name)
{
    path.p = path_brief(path.p, path.end);
    for (; path.p < path.end; path.p++)
        write_bytes(to, is_separator(*path.p) ? "/" : path.p, 1);
    write_string(to, ":");
    write_integer(to, line);
    if (name.p < name.end)
        write_string(to, " ");
    write_words(to, name);
}

/* The number after the last colon of a text, which ends before that then; -1: there is none. */
static int64_t take_line(struct log_words *text)
{
    enum { MOST_DIGITS = 9 };
    const char *p = text->end;
    int64_t line = 0;
    while (p > text->p && is_digit(p[-1]))
        p--;
    if (p == text->end || text->end - p > MOST_DIGITS || p == text->p || p[-1] != ':')
        return -1;
    for (const char *digit = p; digit < text->end; digit++)
        line = line * 10 + (*digit - '0');
    text->end = p - 1;
    return line;
}

/* Writes the place of `FILE:LINE in NAME`, if a text ends with it. */
static void write_at(struct log_words text, struct writer *place)
{
    const char *in = NULL, *next;
    for (struct log_words rest = text; (next = find(rest, " in ")) != NULL; rest.p = next + 1)
        in = next;
    if (!in)
        return;
    struct log_words path = trimmed((struct log_words){text.p, in});
    struct log_words name = trimmed((struct log_words){in + strlen(" in "), text.end});
    int64_t line = take_line(&path);
    for (const char *p = path.p; p < path.end; p++)
        path.p = *p == ' ' ? p + 1 : path.p;
    if (line >= 0 && name.p < name.end && !memchr(name.p, ' ', (size_t)(name.end - name.p)))
        write_place(place, path, line, name);
}

void write_guard(struct log_words line, struct writer *guard, struct writer *place)
{
    struct log_words rest = line;
    const char *note = find(line, "  # ");
    write_words(guard, trimmed((struct log_words){line.p, note ? note : line.end}));
    for (const char *next = note; next && place; next = find(rest, "# "))
        rest.p = next + strlen("# ");
    if (note && place)
        write_at(rest, place);
}

/* Goes past the id of an object, `, 140296414507728`, before a bracket, and what follows that. */
static const char *past_id(const char *p, const char *end)
{
    enum { LEAST_DIGITS = 9 };
    const char *from;
    if (!begins(p, end, ", "))
        return p;
    for (from = p += 2; p < end && is_digit(*p); p++)
        ;
    if (p - from < LEAST_DIGITS || p == end || *p != ')')
        return from - 2;
    return p;
}

/* Writes a guard without `L['']`, ids of objects, and the type after these. */
static void write_short(struct log_words guard, struct writer *to)
{
    const char *end = guard.end;
    bool local = false;
    for (const char *p = guard.p; p < end; p++) {
        const char *past = past_id(p, end);
        if (past > p) {
            write_string(to, ")");
            p = begins(past, end, "), type=<") ? end : past;
        } else if (begins(p, end, "L['")) {
            local = true;
            p += strlen("L['") - 1;
        } else if (local && begins(p, end, "']")) {
            local = false;
            p++;
        } else {
            write_bytes(to, p, 1);
        }
    }
}

/* What a guard is about: the name in `tensor 'x' ...`, the first argument of a check, or the
** name that it begins with. */
static struct log_words argument_of_guard(struct log_words guard)
{
    struct log_words name = guard;
    if (begins(guard.p, guard.end, "tensor '")) {
        name.p += strlen("tensor '");
        const char *stop = find(name, "' ");
        name.end = stop ? stop : name.p;
    } else if (begins(guard.p, guard.end, "___check_") && find(guard, "(")) {
        name.p = find(guard, "(") + 1;
        for (name.end = name.p; name.end < guard.end && *name.end != ',' && *name.end != ')';)
            name.end++;
    } else {
        for (name.end = name.p; name.end < guard.end && (is_word(*name.end) || *name.end == '.' ||
                                                         *name.end == '[' || *name.end == ']');)
            name.end++;
    }
    return trimmed(name);
}

static struct log_words words_written(const struct writer *text)
{
    static const char none[] = "";
    return text->bytes ? (struct log_words){text->bytes, text->bytes + text->length}
                       : (struct log_words){none, none};
}

void write_reason(struct log_words line, struct writer *guard, struct writer *argument,
                  struct writer *place)
{
    struct writer whole = {0};
    const char *p = line.p;
    while (p < line.end && (is_digit(*p) || *p == '/' || *p == '!'))
        p++;
    if (p > line.p && begins(p, line.end, ": "))
        line.p = p + 2;
    write_guard(line, &whole, place);
    write_short(words_written(&whole), guard);
    guard->failed = guard->failed || whole.failed;
    writer_clear(&whole);
    write_words(argument, argument_of_guard(words_written(guard)));
}

/* A line of a traceback: `  File "PATH", line N, in NAME`. */
static bool write_frame(struct log_words line, struct writer *to)
{
    const char *quote, *in;
    line = trimmed(line);
    if (!begins(line.p, line.end, "File \"") || !(quote = find(line, "\", line ")))
        return false;
    struct log_words path = {line.p + strlen("File \""), quote};
    struct log_words rest = {quote + strlen("\", line "), line.end}, name = {rest.end, rest.end};
    int64_t number = 0;
    if ((in = find(rest, ", in ")) != NULL)
        name.p = in + strlen(", in ");
    for (; rest.p < rest.end && is_digit(*rest.p) && number < INT32_MAX; rest.p++)
        number = number * 10 + (*rest.p - '0');
    write_place(to, path, number, name);
    return true;
}

/* The frames of a traceback, the last one first. */
static void write_stack(struct log_words text, struct writer *stack)
{
    struct log_words line;
    for (; next_words(&text, &line) && trimmed(line).p < trimmed(line).end;) {
        struct writer frame = {0};
        if (write_frame(line, &frame)) {
            write_string(&frame, stack->length > 0 ? " < " : "");
            write_bytes(&frame, stack->bytes, stack->length);
            writer_clear(stack);
            *stack = frame;
        } else {
            writer_clear(&frame);
        }
    }
}

void write_break(struct log_words text, struct writer *place, struct writer *reason,
                 struct writer *explanation, struct writer *stack)
{
    static const char at[] = "Graph break in user code at ", says[] = "Explanation: ";
    static const char trace[] = "User code traceback:", why[] = "Reason: ";
    struct log_words all = text, line;
    const char *user = find(text, trace), *found;
    if (user)
        write_stack((struct log_words){user + sizeof trace, text.end}, stack);
    all.end = user ? user : text.end;
    bool wanted = false;
    while (next_words(&all, &line)) {
        if (begins(line.p, line.end, at)) {
            struct log_words path = trimmed((struct log_words){line.p + strlen(at), line.end});
            int64_t number = take_line(&path);
            if (number >= 0)
                write_place(place, path, number, (struct log_words){line.end, line.end});
            continue;
        }
        if (reason->length == 0 && !wanted && (found = find(line, why)) != NULL) {
            wanted = true;
            line.p = found + strlen(why);
        }
        struct log_words said = trimmed(line);
        if (wanted && reason->length == 0 && said.p < said.end && said.end[-1] != ':')
            write_squeezed(reason, said);
        else if (explanation->length == 0 && begins(said.p, said.end, says))
            write_squeezed(explanation, (struct log_words){said.p + strlen(says), said.end});
    }
}
