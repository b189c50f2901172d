/*
** scan.h against a walker that goes byte by byte. Every text lies so that the
** SCAN_PADDING zeros behind it are the last bytes before a page that cannot be
** read.
*/
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "unit.h"

#include <sys/mman.h>

#include "text/scan.h"

enum { NOWHERE = -1, ROOM = 4096, PAGE = 4096 };

/* The bytes at the end of the page, zeros behind them. */
static const unsigned char *guarded(const void *bytes, size_t length)
{
    static unsigned char *pages;
    if (!pages) {
        pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED || mprotect(pages + 2 * PAGE, PAGE, PROT_NONE) != 0) {
            perror("guard page");
            exit(2);
        }
    }
    unsigned char *to = pages + 2 * PAGE - SCAN_PADDING - length;
    memcpy(to, bytes, length);
    memset(to + length, 0, SCAN_PADDING);
    return to;
}

/* The slow walker: indices into a text, NOWHERE for NULL. */
struct walk {
    const unsigned char *text;
    int end, bad;
};

struct slow_wanted {
    const char *key;
    struct token value;
};

static int slow_stop(struct walk *walk, int i)
{
    walk->bad = i < walk->end ? i : NOWHERE;
    return NOWHERE;
}

static unsigned char slow_at(const struct walk *walk, int i)
{
    return i < walk->end ? walk->text[i] : 0;
}

static int slow_space(const struct walk *walk, int i)
{
    while (i < walk->end && strchr(" \t\r\n", walk->text[i]) && walk->text[i])
        i++;
    return i;
}

static int slow_string(const struct walk *walk, int i, enum token_kind *kind)
{
    for (; i < walk->end && walk->text[i] != '"'; i++) {
        unsigned char c = walk->text[i];
        if (c == '\\' || c < 0x20 || c >= 0x80)
            *kind = TOKEN_ODD_TEXT;
        i += c == '\\';
    }
    return i < walk->end ? i : NOWHERE;
}

static int slow_value(struct walk *walk, int i, struct token *token);

/* Whether the string from `i` to the quote `stop` says `key`, some of it perhaps as \uXXXX. */
static bool slow_says(const struct walk *walk, int i, int stop, const char *key)
{
    for (; *key && i < stop; key++) {
        char escape[7] = "", hex[5] = "";
        if (walk->text[i] == '\\' && i + 6 <= stop)
            memcpy(escape, walk->text + i, 6);
        if (sscanf(escape, "\\u%4[0-9a-fA-F]", hex) == 1 && strlen(hex) == 4 &&
            strtol(hex, NULL, 16) == *key)
            i += 6;
        else if (walk->text[i++] != (unsigned char)*key)
            return false;
    }
    return !*key && i == stop;
}

/* If the key of one of the wanted members begins at the quote `i`. */
static void slow_take(const struct walk *walk, int i, struct slow_wanted *wanted)
{
    enum token_kind unused;
    int stop = slow_string(walk, i + 1, &unused);
    for (; stop != NOWHERE && wanted->key; wanted++) {
        struct walk inner = *walk;
        int colon = slow_space(walk, stop + 1);
        if (wanted->value.kind == TOKEN_NONE && slow_says(walk, i + 1, stop, wanted->key) &&
            slow_at(walk, colon) == ':' &&
            slow_value(&inner, slow_space(walk, colon + 1), &wanted->value) == NOWHERE)
            wanted->value.kind = TOKEN_NONE;
    }
}

/* A backslash escapes the quote behind it, wherever it stands. A byte like a letter
** behind a string gives away an unescaped quote. */
static int slow_nested(struct walk *walk, int i, char close, struct slow_wanted *wanted)
{
    bool string = false, escaped = false, after = false;
    int depth = 1;
    for (; i < walk->end; i++) {
        unsigned char c = walk->text[i];
        bool quote = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        if (after && (c & 0x40) && !strchr("{}[]", c))
            return slow_stop(walk, i);
        after = quote && string;
        if (quote && !string && depth == 1 && wanted)
            slow_take(walk, i, wanted);
        if (quote)
            string = !string;
        else if (!string && (c == '{' || c == '['))
            depth++;
        else if (!string && (c == '}' || c == ']') && --depth == 0)
            return c == close ? i + 1 : slow_stop(walk, i);
    }
    return NOWHERE;
}

static int slow_value(struct walk *walk, int i, struct token *token)
{
    unsigned char c = slow_at(walk, i);
    int stop = i;
    *token = (struct token){walk->text + i, 0, TOKEN_BARE};
    if (c == '"') {
        token->at++;
        token->kind = TOKEN_TEXT;
        stop = slow_string(walk, i + 1, &token->kind);
        token->length = stop == NOWHERE ? 0 : (size_t)(stop - i - 1);
        return stop == NOWHERE ? NOWHERE : stop + 1;
    }
    if (c == '{' || c == '[') {
        token->kind = TOKEN_NESTED;
        stop = slow_nested(walk, i + 1, c == '{' ? '}' : ']', NULL);
    } else {
        static const char bare[] = "0123456789+-./_abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        while (stop < walk->end && walk->text[stop] && strchr(bare, walk->text[stop]))
            stop++;
        if (stop == i || stop == walk->end)
            return slow_stop(walk, stop);
    }
    token->length = stop == NOWHERE ? 0 : (size_t)(stop - i);
    return stop;
}

static bool check_token(const struct token *token, const struct token *slow)
{
    return CHECK_INT(token->kind, slow->kind) &&
           (slow->kind == TOKEN_NONE ||
            (CHECK_INT(token->at - slow->at, 0) && CHECK_INT(token->length, slow->length)));
}

/* Both walkers have stopped at the same byte, for the same reason. */
static bool check_stop(const unsigned char *text, const struct scan *scan,
                       const unsigned char *stop, const struct walk *walk, int slow)
{
    return CHECK_INT(stop ? stop - text : NOWHERE, slow) &&
           CHECK_INT(scan->bad ? scan->bad - text : NOWHERE, walk->bad);
}

static bool check_string(const void *bytes, size_t length)
{
    const unsigned char *text = guarded(bytes, length);
    struct scan scan = {text + length, NULL};
    struct walk walk = {text, (int)length, NOWHERE};
    enum token_kind kind = TOKEN_TEXT, slow_kind = TOKEN_TEXT;
    const unsigned char *stop = scan_string(&scan, text, &kind);
    int slow = slow_string(&walk, 0, &slow_kind);
    return check_stop(text, &scan, stop, &walk, slow) && (!stop || CHECK_INT(kind, slow_kind));
}

static bool check_value(const void *bytes, size_t length)
{
    const unsigned char *text = guarded(bytes, length);
    struct scan scan = {text + length, NULL};
    struct walk walk = {text, (int)length, NOWHERE};
    struct token token = {NULL, 0, TOKEN_NONE}, slow_token;
    const unsigned char *stop = scan_value(&scan, text, &token);
    int slow = slow_value(&walk, 0, &slow_token);
    return check_stop(text, &scan, stop, &walk, slow) &&
           (!stop || check_token(&token, &slow_token));
}

/* The text begins inside of a bracket that `close` closes. */
static bool check_nested(const void *bytes, size_t length, char close, bool keys)
{
    const unsigned char *text = guarded(bytes, length);
    struct scan scan = {text + length, NULL};
    struct walk walk = {text, (int)length, NOWHERE};
    struct wanted wanted[] = {{.key = "stream", .length = 6}, {.key = "correlation", .length = 11}};
    struct slow_wanted slow_wanted[] = {{.key = "stream"}, {.key = "correlation"}, {.key = NULL}};
    const unsigned char *stop =
        scan_nested(&scan, text, (unsigned char)close, wanted, keys ? 2 : 0);
    int slow = slow_nested(&walk, 0, close, keys ? slow_wanted : NULL);
    bool held = check_stop(text, &scan, stop, &walk, slow);
    for (int i = 0; stop && i < 2; i++)
        held = check_token(&wanted[i].value, &slow_wanted[i].value) && held;
    return held;
}

/* Texts that look like JSON, mostly. */
static char made[ROOM];
static size_t made_length;

static void put(const char *text)
{
    size_t length = strlen(text);
    memcpy(made + made_length, text, length);
    made_length += length;
}

#define PUT_ONE_OF(list) put(list[unit_random(sizeof list / sizeof *list)])

static void put_string(void)
{
    static const char *const pieces[] = {"a",
                                         "s",
                                         "c",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         " ",
                                         "\\\"",
                                         "\\\\",
                                         "\n",
                                         "\\n",
                                         "\x7f",
                                         "\x80",
                                         "\xc3\xa9",
                                         "void",
                                         "0123456789abcdef"};
    put("\"");
    for (uint32_t i = unit_random(unit_random(3) ? 6 : 40); i > 0; i--)
        PUT_ONE_OF(pieces);
    put("\"");
}

static void put_value(int depth);

static void put_members(bool object, int depth)
{
    static const char *const spaces[] = {"", "", "", " ", "\n", "\t\r "};
    static const char *const keys[] = {
        "\"stream\"",  "\"correlation\"", "\"stream\"", "\"correlation\"", "\"s\"",   "\"c\"",
        "\"streams\"", "\"strea\"",       "\"name\"",   "\"\\u0073\"",     "\"cor\"", "\"\"",
        "\"\\u0073tream\"", "\"stre\\u0061\\u006d\"", "\"s\\tream\"", "\"s\\u0074reams\"",
        "\"correlatio\\u006E\"",
        "\"\\u0063\\u006f\\u0072\\u0072\\u0065\\u006c\\u0061\\u0074\\u0069\\u006f\\u006e\""};
    for (uint32_t i = unit_random(depth ? 4 : 7); i > 0; i--) {
        PUT_ONE_OF(spaces);
        if (object) {
            PUT_ONE_OF(keys);
            PUT_ONE_OF(spaces);
            put(":");
        }
        PUT_ONE_OF(spaces);
        put_value(depth + 1);
        PUT_ONE_OF(spaces);
        put(i > 1 ? "," : "");
    }
}

static void put_value(int depth)
{
    static const char *const bare[] = {"0", "-1.5e+3", "true", "null", "N/A", "inf", "123456789"};
    uint32_t kind = depth > 3 || made_length > 400 ? unit_random(4) : unit_random(8);
    if (kind < 2) {
        put_string();
    } else if (kind < 4) {
        PUT_ONE_OF(bare);
    } else {
        put(kind < 6 ? "{" : "[");
        put_members(kind < 6, depth);
        put(kind < 6 ? "}" : "]");
    }
}

/* An object, with this much white space after its brace. */
static void make_object(int spaces)
{
    made_length = 0;
    put("{");
    for (int i = 0; i < spaces; i++)
        put(" ");
    put_members(true, 0);
    put("}");
}

static void damage(void)
{
    for (uint32_t i = 1 + unit_random(3); i > 0; i--) {
        size_t at = unit_random((uint32_t)made_length);
        if (unit_random(2)) {
            memmove(made + at + 1, made + at, made_length - at);
            made_length++;
        }
        made[at] = "\"\"\\{}[],: sx\n\x80"[unit_random(15)];
    }
}

/* All of a text, and what is left of it when it ends at any byte. */
static bool check_every_end(void)
{
    for (size_t end = 0; end <= made_length; end++) {
        unit_trying("%.*s", (int)end, made);
        bool held = check_value(made, end) && (end < 1 || check_string(made + 1, end - 1));
        if (!held || (end > 0 && (!check_nested(made + 1, end - 1, '}', true) ||
                                  !check_nested(made + 1, end - 1, ']', false))))
            return false;
    }
    return true;
}

TEST(objects_at_every_alignment)
{
    for (int text = 0; text < 6; text++)
        for (int spaces = 0; spaces < 64; spaces++) {
            make_object(spaces);
            if (!check_every_end())
                return;
        }
}

TEST(damaged_objects)
{
    for (int text = 0; text < unit_series(100, 400); text++) {
        make_object((int)unit_random(130));
        damage();
        if (!check_every_end())
            return;
    }
}

TEST(strings)
{
    for (int text = 0; text < 400; text++) {
        made_length = 0;
        put_string();
        if (unit_random(2))
            damage();
        if (!check_every_end())
            return;
    }
}

/* No JSON at all, from inside of more brackets than one. */
TEST(random_bytes)
{
    static const char *const pieces[] = {"\"", "\"", "\\", "{",  "}",          "[", "]",
                                         ",",  ":",  " ",  "s",  "c",          "x", "1",
                                         "-",  "_",  "@",  "\n", "\"stream\":"};
    for (int text = 0; text < 20000; text++) {
        made_length = 0;
        for (uint32_t i = unit_random(200); i > 0; i--)
            PUT_ONE_OF(pieces);
        unit_trying("%.*s", (int)made_length, made);
        if (!check_nested(made, made_length, unit_random(2) ? '}' : ']', unit_random(2)) ||
            !check_value(made, made_length) || !check_string(made, made_length))
            return;
    }
}

/* What follows: cases by hand, each moved over the border of a block. */
static const char *moved(int by, const char *text)
{
    made_length = 0;
    while (by-- > 0)
        put(" ");
    put(text);
    made[made_length] = 0;
    unit_trying("%s", made);
    return made;
}

TEST(runs_of_backslashes)
{
    for (int by = 0; by < 130; by++)
        for (int run = 0; run < 70; run++) {
            char text[100] = "\"";
            memset(text + 1, '\\', (size_t)run);
            strcpy(text + 1 + run, run % 2 ? "\"}\"}" : "\"}");
            size_t length = strlen(moved(by, text));
            const unsigned char *p = guarded(made, length);
            struct scan scan = {p + length, NULL};
            if (!CHECK(scan_nested(&scan, p, '}', NULL, 0) == p + length) || !CHECK(!scan.bad))
                return;
        }
}

/* A quote that should have been escaped is seen by what follows it. */
TEST(unescaped_quotes)
{
    static const char follows[] = "abcxyzABCXYZ_\\\xc3";
    for (int by = 0; by < 130; by++)
        for (const char *c = follows; *c; c++) {
            const char text[] = {'"', 'a', '"', *c, '"', '}', 0};
            size_t length = strlen(moved(by, text));
            const unsigned char *p = guarded(made, length);
            struct scan scan = {p + length, NULL};
            CHECK(!scan_nested(&scan, p, '}', NULL, 0));
            if (!CHECK_INT(scan.bad ? scan.bad - p : NOWHERE, by + 3))
                return;
        }
}

static void check_stream(int by, const char *text, const char *expected)
{
    size_t length = strlen(moved(by, text));
    const unsigned char *p = guarded(made, length);
    struct scan scan = {p + length, NULL};
    struct wanted wanted[] = {{.key = "stream", .length = 6}, {.key = "correlation", .length = 11}};
    CHECK(scan_nested(&scan, p, '}', wanted, 2) == p + length);
    CHECK_INT(wanted[0].value.kind != TOKEN_NONE, expected != NULL);
    CHECK_INT(wanted[1].value.kind, TOKEN_NONE);
    if (expected && wanted[0].value.kind != TOKEN_NONE)
        CHECK_BYTES(wanted[0].value.at, wanted[0].value.length, expected, strlen(expected));
}

TEST(wanted_keys)
{
    for (int by = 0; by < 130; by++) {
        check_stream(by, "\"stream\":7}", "7");
        check_stream(by, "\"stream\" : \"7\" }", "7");
        check_stream(by, "\"stream\":{\"stream\":1}}", "{\"stream\":1}");
        check_stream(by, "\"stream\":7,\"stream\":8}", "7");
        check_stream(by, "\"a\":{\"stream\":1},\"stream\":2}", "2");
        check_stream(by, "\"a\":[\"stream\"],\"stream\":2}", "2");
        check_stream(by, "\"a\":\"stream\",\"stream\":2}", "2");
        check_stream(by, "\"a\":{\"stream\":1}}", NULL);
        check_stream(by, "\"a\":[{\"stream\":1}]}", NULL);
        check_stream(by, "\"a\":\"\\\"stream\\\":1\"}", NULL);
        check_stream(by, "\"a\":\"stream\"}", NULL);
        check_stream(by, "\"streams\":1,\"strea\":2,\"Stream\":3}", NULL);
        check_stream(by, "\"stream\"}", NULL);
        check_stream(by, "\"\\u0073tream\":7}", "7");
        check_stream(by, "\"strea\\u006D\" : \"\\u0037\"}", "\\u0037");
        check_stream(by, "\"a\":{\"\\u0073tream\":1},\"s\\u0074ream\":2,\"stream\":3}", "2");
        check_stream(by, "\"s\\u0074reams\":1,\"s\\u0074rea\":2,\"\\u0053tream\":3}", NULL);
        check_stream(by, "\"s\\tream\":4}", NULL);
    }
}
