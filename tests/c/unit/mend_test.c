/*
** mend.h: what becomes of args. The cases carry the numbers of its rules.
*/
#include "unit.h"

#include "text/mend.h"

#define REPLACED "\xef\xbf\xbd" /* U+FFFD */

static bool check(const char *from, size_t length, const char *expected,
                  enum mended expected_mended)
{
    static unsigned char to[MEND_ROOM * 4096 + 1];
    size_t written = 0;
    to[MEND_ROOM * length] = 0x5a;
    enum mended mended = mend_json((const unsigned char *)from, length, to, &written);
    bool held = CHECK_INT(mended, expected_mended) && CHECK_INT(to[MEND_ROOM * length], 0x5a);
    return held &&
           (mended == MEND_IMPOSSIBLE || CHECK_BYTES(to, written, expected, strlen(expected)));
}

#define STAYS(text) (unit_trying("%s", #text), check(text, sizeof text - 1, text, MEND_STRICT))
#define BECOMES(from, to) (unit_trying("%s", #from), check(from, sizeof from - 1, to, MEND_MENDED))
#define SAYS(from, to) (unit_trying("%s", #from), check(from, sizeof from - 1, to, MEND_STRICT))
#define LOST(text) (unit_trying("%s", #text), check(text, sizeof text - 1, "", MEND_IMPOSSIBLE))

TEST(rule_1_an_object_stays)
{
    STAYS("{}");
    STAYS("{ \"a\" : [ ] , \"b\":{ }\t,\r\n\"c\":[[],{}]}");
    STAYS("{\"a\":[0,-0,10,1.5,-1e9,1E+9,1.25e-9,1e999],\"b\":true,\"c\":[false,null]}");
    STAYS("{\"\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u00e9\\uD800\\u0000\"}");
    STAYS("{\"a\":\"\x7f\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80\"}");
    STAYS("{\"a\":1,\"a\":2}");
    SAYS("{\"GB\\/s\":\"\\\\/\\/\"}", "{\"GB/s\":\"\\\\//\"}");
    SAYS("{\"str\\u0065am\":\"\\u0020\\u007E\\u0022\\u005c\\u001f\\u0080\"}",
         "{\"stream\":\" ~\\u0022\\u005c\\u001f\\u0080\"}");
    STAYS("{\"a\":\"\\\\u0041\\u005cu0041\"}");
}

TEST(rule_1_depth)
{
    static char text[2 * MEND_DEEPEST + 8];
    for (int depth = MEND_DEEPEST - 1; depth <= MEND_DEEPEST; depth++) {
        size_t length = 0; /* the object is a level, too */
        length += (size_t)sprintf(text, "{\"a\":");
        memset(text + length, '[', (size_t)depth);
        memset(text + length + depth, ']', (size_t)depth);
        strcpy(text + length + 2 * (size_t)depth, "}");
        length += 2 * (size_t)depth + 1;
        check(text, length, text, depth < MEND_DEEPEST ? MEND_STRICT : MEND_IMPOSSIBLE);
    }
}

TEST(rule_2_bare_words)
{
    static const char *const words[] = {
        "inf",  "-inf", "nan",   "NaN",   "Infinity", "N/A",  "01", "-01", "0x1F",
        "None", "True", "nul",   "truex", "-",        "+1",   ".5", "1.",  "1e",
        "1e+",  "1.e5", "1.5.5", "x",     "\xc3\xa9", "\xff", "--1"};
    char from[64];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        unit_trying("%s", words[i]);
        sprintf(from, "{\"a\":%s, \"b\":[%s]}", words[i], words[i]);
        check(from, strlen(from), "{\"a\":null, \"b\":[null]}", MEND_MENDED);
    }
}

TEST(rule_3_strings)
{
    BECOMES("{\"a\n\":\"\t\x1f\"}", "{\"a\\u000a\":\"\\u0009\\u001f\"}");
    BECOMES("{\"\\d\":\"C:\\dir\\u12\\\"\"}", "{\"\\\\d\":\"C:\\\\dir\\\\u12\\\"\"}");
    BECOMES("{\"a\":\"\\u12g4\\\"\"}", "{\"a\":\"\\\\u12g4\\\"\"}");
    BECOMES("{\"\xff\":\"\xe2\x82x\xf0\x9f\x98\"}",
            "{\"" REPLACED "\":\"" REPLACED "x" REPLACED "\"}");
}

TEST(rule_4_lost)
{
    LOST("");
    LOST("1");
    LOST("[]");
    LOST("\"a\"");
    LOST("null");
    LOST("{");
    LOST("}");
    LOST(" {}");
    LOST("{} ");
    LOST("{}{}");
    LOST("{\"a\"}");
    LOST("{\"a\":}");
    LOST("{\"a\":1,}");
    LOST("{,\"a\":1}");
    LOST("{\"a\":1 \"b\":2}");
    LOST("{\"a\":1,,\"b\":2}");
    LOST("{\"a\"::1}");
    LOST("{\"a\":[1,]}");
    LOST("{\"a\":[,]}");
    LOST("{\"a\":[1 2]}");
    LOST("{\"a\":[1:2]}");
    LOST("{\"a\":[1}]");
    LOST("{a:1}");
    LOST("{\"a\":\"b}");
    LOST("{\"a\":\"b\\\"}");
    LOST("{\"a\":1\x01}");
    LOST("{\"a\":\x01}");
    LOST("{\"a\":1}x");
}

TEST(cut_anywhere)
{
    static const char text[] = "{\"a\":[1.5e-3,nan,\"\\u00e9\\\\x\"],\"b\":{\"c\":true}}";
    for (size_t length = 0; length + 1 < sizeof text - 1; length++) {
        unit_trying("%d bytes", (int)length);
        char *exact = malloc(length + 1); /* so that a sanitizer sees what lies behind it */
        memcpy(exact, text, length);
        check(exact, length, "", MEND_IMPOSSIBLE);
        free(exact);
    }
}
