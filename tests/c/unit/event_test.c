/*
** event.h, and what it and its callers pick out of an object with scan.h.
*/
#include "unit.h"

#include "reader/event.h"

static bool wanted[256];
static unsigned char held[2000]; /* the text, with its padding */
static struct event event;
static struct problems problems;

/* Reads an event whose brace is the first byte: how many bytes it has, 0 if the
** text ends in it, or minus the byte that cannot be JSON, from 1. */
static int read_event(const char *text)
{
    struct scan scan = {held + strlen(text), NULL};
    unit_trying("%s", text);
    memset(held, 0, sizeof held);
    memcpy(held, text, strlen(text));
    memset(&event, 0xa5, sizeof event);
    memset(&problems, 0, sizeof problems);
    event.byte = 1;
    const unsigned char *stop = event_read(&scan, held + 1, wanted, &event, &problems);
    return stop ? (int)(stop - held) : scan.bad ? -(int)(scan.bad - held + 1) : 0;
}

static void read_whole(const char *text)
{
    CHECK_INT(read_event(text), strlen(text));
}

static void check_field(enum event_field field, const char *expected)
{
    const struct token *token = &event.field[field];
    CHECK_INT(token->kind != TOKEN_NONE, expected != NULL);
    if (expected && token->kind != TOKEN_NONE)
        CHECK_BYTES(token->at, token->length, expected, strlen(expected));
}

static void want_all(bool all)
{
    memset(wanted, all, sizeof wanted);
}

TEST(fields)
{
    want_all(true);
    read_whole("{ \"ph\" : \"X\" , \"cat\":\"kernel\",\"name\":\"n\",\"pid\":0,\"tid\":\"t\",\n"
               "\"ts\":1.5,\"dur\":\"2\",\"args\":{\"x\":{\"stream\":1},\"stream\":7,"
               "\"correlation\":8},\"id\":5}");
    CHECK_INT(event.phase, 'X');
    CHECK(!event.passed_over);
    check_field(EVENT_NAME, "n");
    check_field(EVENT_CAT, "kernel");
    check_field(EVENT_PID, "0");
    check_field(EVENT_TID, "t");
    check_field(EVENT_TS, "1.5");
    check_field(EVENT_DUR, "2");
    check_field(EVENT_STREAM, "7");
    check_field(EVENT_CORRELATION, "8");
    check_field(EVENT_ARGS, "{\"x\":{\"stream\":1},\"stream\":7,\"correlation\":8}");
    CHECK_INT(event.field[EVENT_TS].kind, TOKEN_BARE);
    CHECK_INT(event.field[EVENT_DUR].kind, TOKEN_TEXT);
    CHECK_INT(event.field[EVENT_ARGS].kind, TOKEN_NESTED);
    read_whole("{}");
    CHECK_INT(event.phase, 0);
    for (int i = 0; i < EVENT_FIELDS; i++)
        check_field((enum event_field)i, NULL);
}

static const struct {
    const char *key;
    enum event_field field;
} keys[] = {{"name", EVENT_NAME}, {"cat", EVENT_CAT}, {"pid", EVENT_PID},  {"tid", EVENT_TID},
            {"ts", EVENT_TS},     {"dur", EVENT_DUR}, {"args", EVENT_ARGS}};
enum { KEYS = sizeof keys / sizeof *keys };

/* The field of every key, and of none that is nearly one. */
TEST(keys_by_their_letters)
{
    char text[100];
    want_all(true);
    for (int k = 0; k < KEYS; k++) {
        size_t length = strlen(keys[k].key);
        snprintf(text, sizeof text, "{\"%s\":1}", keys[k].key);
        read_whole(text);
        check_field(keys[k].field, "1");
        for (size_t i = 0; i < length; i++) { /* one letter written as an escape */
            snprintf(text, sizeof text, "{\"%.*s\\u%04x%s\":1}", (int)i, keys[k].key,
                     (unsigned)keys[k].key[i], keys[k].key + i + 1);
            read_whole(text);
            check_field(keys[k].field, "1");
        }
        for (size_t i = 0; i <= length; i++)
            for (int more = 0; more < 3; more++) { /* one too many, another, one too few */
                snprintf(text, sizeof text, "{\"%.*s%s%s\":1}", (int)i, keys[k].key,
                         more < 2 ? "q" : "", keys[k].key + i + (more > 0 && i < length));
                if (more > 0 && i == length)
                    continue;
                read_whole(text);
                for (int field = 0; field < EVENT_FIELDS; field++)
                    check_field((enum event_field)field, NULL);
            }
    }
}

TEST(first_of_a_key_counts)
{
    want_all(true);
    read_whole("{\"name\":\"a\",\"n\\u0061me\":\"b\",\"ph\":\"X\",\"ph\":\"B\"}");
    check_field(EVENT_NAME, "a");
    CHECK_INT(event.phase, 'X');
    CHECK_INT(problems.count[PROBLEM_DUPLICATE_KEY], 1);
    read_whole("{\"args\":{\"stream\":1},\"args\":{\"stream\":2,\"correlation\":3}}");
    check_field(EVENT_STREAM, "1");
    check_field(EVENT_CORRELATION, NULL);
    read_whole("{\"args\":null,\"args\":{\"stream\":2}}");
    check_field(EVENT_ARGS, "null");
    check_field(EVENT_STREAM, NULL);
    read_whole("{\"id\":1,\"id\":2}"); /* nobody reads it */
    CHECK_INT(problems.count[PROBLEM_DUPLICATE_KEY], 0);
}

TEST(phases)
{
    want_all(true);
    read_whole("{\"ph\":\"XY\"}");
    CHECK_INT(event.phase, 0);
    read_whole("{\"ph\":\"\"}");
    CHECK_INT(event.phase, 0);
    read_whole("{\"ph\":5}");
    CHECK_INT(event.phase, 0);
    read_whole("{\"ph\":\"\\u0058\"}");
    CHECK_INT(event.phase, 'X');
    read_whole("{\"ph\":\"\\\\\"}");
    CHECK_INT(event.phase, '\\');
    read_whole("{\"ph\":\"\\u0058\\u0058\"}");
    CHECK_INT(event.phase, 0);
    read_whole("{\"ph\":\"\\u0000\"}");
    CHECK_INT(event.phase, 0);
    read_whole("{\"ph\":\"\xc3\xa9\"}");
    CHECK_INT(event.phase, 0);
    want_all(false);
    wanted['X'] = true;
    read_whole("{\"name\":\"a\",\"ph\":\"\\u0069\",\"args\":{\"stream\":[1,{}]},\"ts\":1}");
    CHECK_INT(event.phase, 'i');
    CHECK(event.passed_over);
    read_whole("{\"name\":\"a\",\"ph\":\"i\",\"args\":{\"stream\":[1,{}]},\"ts\":1}");
    CHECK_INT(event.phase, 'i');
    CHECK(event.passed_over);
    read_whole("{\"name\":\"a\",\"ph\":\"X\",\"ts\":1}");
    CHECK(!event.passed_over);
    check_field(EVENT_TS, "1");
}

TEST(what_is_no_json)
{
    static const struct {
        const char *text;
        int result;
    } cases[] = {{"{,}", -2},
                 {"{a:1}", -2},
                 {"{\"a\"}", -5},
                 {"{\"a\" 1}", -6},
                 {"{\"a\":}", -6},
                 {"{\"a\":1 \"b\":2}", -8},
                 {"{\"a\":1;}", -7},
                 {"{\"a\":1]", -7},
                 {"{\"name\":\"a\"b\"}", -12},
                 {"{\"a\":1,,}", -8},
                 {"{1:1}", -2},
                 {"{\"a\":@}", -6},
                 {"{\"args\":{\"x\":\"a\"b\"}}", -17}};
    want_all(true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_INT(read_event(cases[i].text), cases[i].result);
    read_whole("{\"a\":1,}"); /* many writers leave this there */
    CHECK_INT(problems.count[PROBLEM_COMMA], 1);
}

TEST(ends_too_early)
{
    static const char text[] =
        "{ \"ph\" : \"X\", \"name\":\"n\",\"args\":{\"stream\":7},\"ts\":1.5 }";
    char part[100];
    want_all(true);
    for (size_t length = 1; length < strlen(text); length++) {
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        CHECK_INT(read_event(part), 0);
        for (int i = 0; i < PROBLEM_COUNT; i++)
            CHECK_INT(problems.count[i], 0);
    }
    read_whole(text);
}

static void check_member(const char *text, const char *key, const char *expected)
{
    memset(held, '"', sizeof held); /* what follows an object is no padding */
    memcpy(held, text, strlen(text));
    struct token object = {held, strlen(text), TOKEN_NESTED}, value = {NULL, 0, TOKEN_NONE};
    unit_trying("%s of %s", key, text);
    if (CHECK_INT(scan_member(&object, key, &value), expected != NULL) && expected)
        CHECK_BYTES(value.at, value.length, expected, strlen(expected));
}

TEST(members)
{
    check_member("{\"rank\":3}", "rank", "3");
    check_member("{ \"a\" : { \"rank\" : 1 } , \"rank\" : \"x\" }", "rank", "x");
    check_member("{\"rank\":1,\"rank\":2}", "rank", "1");
    check_member("{\"rank\\u0073\":1,\"r\\u0061nk\":2,\"rank\":3}", "rank", "2");
    check_member("{\"a\":[1,\"b\",{}],\"rank\":[2]}", "rank", "[2]");
    check_member("{\"a\":{\"rank\":1}}", "rank", NULL);
    check_member("{}", "rank", NULL);
    check_member("{\"a\":1}", "rank", NULL);
    check_member("{\"a\" 1,\"rank\":2}", "rank", NULL);
    check_member("{\"a\":1 \"rank\":2}", "rank", NULL);
    check_member("{a:1}", "a", NULL);
}

TEST(equal_text)
{
    struct token token = {(const unsigned char *)"rank", 4, TOKEN_TEXT};
    CHECK(scan_equal(&token, "rank"));
    CHECK(!scan_equal(&token, "ran"));
    CHECK(!scan_equal(&token, "ranks"));
    struct token odd = {(const unsigned char *)"\\u0072an\\u006B", 14, TOKEN_ODD_TEXT};
    CHECK(scan_equal(&odd, "rank"));
    CHECK(!scan_equal(&odd, "ran"));
    CHECK(!scan_equal(&odd, "ranks"));
    odd.length--; /* an escape that is none is as it is written */
    CHECK(!scan_equal(&odd, "rank"));
    token.kind = TOKEN_BARE;
    CHECK(!scan_equal(&token, "rank"));
}
