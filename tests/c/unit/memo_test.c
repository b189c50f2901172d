/*
** memo.h: whatever a memo has seen, it reads an event as event_read() does, or not at all.
*/
#include "unit.h"

#include "reader/lesson.h"

enum { ROOM = 8192 };

static bool wanted[256];
static unsigned char held[ROOM + SCAN_PADDING];
static size_t length;

static void add(const char *text)
{
    size_t more = strlen(text);
    if (length + more <= ROOM) {
        memcpy(held + length, text, more);
        length += more;
    }
}

static const char *one_of(const char *const *texts, size_t count)
{
    return texts[unit_random((uint32_t)count)];
}

#define ONE_OF(...)                            \
    one_of((const char *const[]){__VA_ARGS__}, \
           sizeof(const char *const[]){__VA_ARGS__} / sizeof(const char *))

static void add_number(void)
{
    char text[40];
    if (unit_random(5) == 0) /* as long as a time in ns, or longer than any number */
        for (size_t i = unit_random(9) + 16 * unit_random(3); i > 0; i--)
            add(ONE_OF("7", "7", "1", "."));
    snprintf(text, sizeof text, ONE_OF("%d", "%d", "%d", "-%d", "%d.5", "%d.125", "%de3", "00%d"),
             (int)unit_random(unit_random(3) ? 10 : 100000));
    add(text);
}

static void add_string(void)
{
    add(ONE_OF("\"a\"", "\"\"", "\"stream 7\"", "\"x12y3\"", "\"{[1\"", "\"a\\\"b\"", "\"\\u0031\"",
               "\"\xc3\xa9\"", "\"7\"", "\"void f<int, 4>(float*)\"", "\"line 1, column 22]\""));
}

static void add_value(int depth)
{
    size_t kind = unit_random(depth > 2 ? 4 : 7);
    if (kind < 2) {
        add_number();
    } else if (kind == 2) {
        add_string();
    } else if (kind == 3) {
        add(ONE_OF("null", "true", "[]", "{}", "[[], [], []]", "[[64, 3], []]"));
    } else {
        bool object = kind == 4;
        add(object ? "{" : "[");
        for (size_t i = unit_random(4); i > 0; i--) {
            if (object)
                add(ONE_OF("\"stream\": ", "\"correlation\":", "\"x1\": ", "\"s\" : "));
            add_value(depth + 1);
            add(i > 1 ? ONE_OF(", ", ",", ",\n  ") : "");
        }
        add(object ? "}" : "]");
    }
}

static void add_args(void)
{
    add(ONE_OF("{", "{ ", "{\n  "));
    for (size_t i = unit_random(6); i > 0; i--) {
        add(ONE_OF("\"External id\": ", "\"stream\": ", "\"correlation\": ", "\"Input Dims\": ",
                   "\"grid\": ", "\"bytes 2\": ", "\"strea\\u006d\": ", "\"c\":"));
        if (unit_random(2))
            add_number();
        else
            add_value(1);
        add(i > 1 ? ONE_OF(", ", ",", ",\n  ") : ONE_OF("", "", "\n"));
    }
    add("}");
}

static void add_key(const char *key)
{
    char text[40];
    snprintf(text, sizeof text, ONE_OF("\"%s\": ", "\"%s\": ", "\"%s\":", "\n  \"%s\" : "), key);
    add(text);
}

/* An event after its first brace. Events of one seed differ in little else than digits, and of
** few seeds in this and that: so a memo meets what it knows, and what it nearly knows. */
static void make_event(void)
{
    static const char *const keys[] = {"ph", "cat", "name", "pid", "tid",
                                       "ts", "dur", "args", "id",  "\\u0070id"};
    length = 0;
    size_t first = unit_random(4) ? 0 : unit_random(8);
    for (size_t i = 0; i < 8; i++) {
        const char *key = keys[unit_random(40) ? (first + i) % 8 : unit_random(10)];
        if (unit_random(15) == 0)
            continue;
        add_key(key);
        if (strcmp(key, "ph") == 0)
            add(ONE_OF("\"X\"", "\"X\"", "\"X\"", "\"s\"", "\"1\"", "\"XX\"", "5",
                       "\"\\u0058\""));
        else if (strcmp(key, "args") == 0 && unit_random(20))
            add_args();
        else if (strcmp(key, "name") == 0 && unit_random(20))
            add(ONE_OF("\"aten::add\"", "\"k<4>\"", "\"\"", "\"1\"", "\"a\\\"5\"", "\"\xc3\xa9 2\"",
                       "\"ProfilerStep#12\""));
        else if (unit_random(10))
            add_number();
        else
            add_value(0);
        if (i < 7 || unit_random(60) == 0)
            add(ONE_OF(", ", ", ", ",", ",\n "));
    }
    add(ONE_OF("}", "}", "}", " }", "\n}"));
    if (unit_random(8) == 0 && length > 0)
        held[unit_random((uint32_t)length)] = (unsigned char)"\"\\{}[],:5 a"[unit_random(11)];
    add(ONE_OF(",", "]", "\n, {", "7", "\""));
}

static int as_learnt, in_all, named;

/* Names that the memo was told of; the number of one is where it begins. */
static struct {
    char text[256 * 1024];
    size_t used;
} told;

/* A name that the memo knows is the name; another one is told to it. */
static void check_name(const struct event *event)
{
    const struct token *name = &event->field[EVENT_NAME];
    const struct known_name *known = event->known_name;
    if (known) {
        named++;
        CHECK(name->kind == TOKEN_TEXT && name->length == known->length &&
              memcmp(name->at, told.text + known->number, name->length) == 0);
    } else if (event->new_name && name->length <= sizeof told.text - told.used) {
        memcpy(told.text + told.used, name->at, name->length);
        event_keep_name(event, told.text + told.used, (uint32_t)told.used);
        told.used += name->length;
    }
}

/* The event is read by both ways; then the memo learns it if it did not know it. */
static void check(struct memo *memo, size_t end)
{
    struct scan scan = {held + end, NULL};
    struct problems problems = {0};
    struct event plain = {.byte = 1}, event = {.byte = 1};
    unsigned char kept = held[end];
    unsigned char text[SCAN_PADDING];
    memcpy(text, held + end, sizeof text);
    memset(held + end, 0, sizeof text);
    const unsigned char *stop = event_read(&scan, held, wanted, &plain, &problems);
    const unsigned char *found = memo_read(memo, held + end, held, &event);
    in_all++;
    unit_trying("%.*s", (int)end, (const char *)held);
    if (found) {
        as_learnt++;
        event_complete(&event);
        CHECK(found == stop);
        CHECK_INT(event.phase, plain.phase);
        CHECK_INT(event.passed_over, plain.passed_over);
        CHECK_INT(event.flawed, plain.flawed);
        for (int i = 0; i < EVENT_FIELDS && !plain.passed_over; i++) {
            CHECK_INT(event.field[i].kind, plain.field[i].kind);
            if (plain.field[i].kind == TOKEN_NONE)
                continue;
            CHECK(event.field[i].at == plain.field[i].at);
            CHECK_INT(event.field[i].length, plain.field[i].length);
        }
        if (!plain.passed_over)
            check_name(&event);
    }
    if (stop && !found)
        memo_learn(memo, held, stop, &plain);
    memcpy(held + end, text, sizeof text);
    CHECK_INT(held[end], kept);
}

static struct memo *started(void)
{
    struct memo *memo = memo_new();
    told.used = 0;
    memset(wanted, true, sizeof wanted);
    wanted['s'] = false;
    CHECK(memo != NULL);
    return memo;
}

/* Removes a digit from the event of `whole` bytes, or adds some. Returns how many it has then. */
static uint32_t change_number(uint32_t whole)
{
    size_t more = unit_random(2) ? unit_random(40) : 0, at = unit_random(whole);
    while (at < whole && !(held[at] >= '0' && held[at] <= '9'))
        at++;
    if (at == whole || whole + more > ROOM)
        return whole;
    memmove(held + at + more, held + at + (more == 0), whole - at - (more == 0));
    memset(held + at, '4', more);
    return whole + (uint32_t)more - (more == 0);
}

/* One of some events, with other digits, now and then more or less of them, another phase or
** another byte, and cut now and then. */
static void check_variant(struct memo *memo, const unsigned char *form, uint32_t whole)
{
    memcpy(held, form, whole);
    if (whole > 0 && unit_random(3) == 0)
        whole = change_number(whole);
    for (size_t at = 0; at < whole; at++)
        if (held[at] >= '0' && held[at] <= '9' && unit_random(2))
            held[at] = (unsigned char)('0' + unit_random(10));
    bool unwanted = unit_random(4) == 0; /* then its phase is not asked for */
    for (size_t at = 0; unwanted && at < whole; at++)
        if (held[at] == 'X')
            held[at] = 's';
    if (whole > 0 && unit_random(3) == 0)
        held[unit_random(whole)] = (unsigned char)"\"\\{}[],:5 ax."[unit_random(13)];
    check(memo, unit_random(7) ? whole : unit_random(whole + 1));
}

/* Another document is read with the memo, now and then one of which other phases are wanted. */
static struct memo *handed_on(struct memo *memo)
{
    struct memo *kept = NULL;
    memo_keep(&kept, memo, wanted);
    memset(told.text, '?', told.used); /* the names of the document before are gone */
    told.used = 0;
    if (unit_random(20) == 0)
        wanted['s'] = !wanted['s'];
    memo = memo_take(&kept, wanted);
    CHECK(memo != NULL && !kept);
    return memo;
}

TEST(as_the_definition)
{
    enum { FORMS = 12 };
    static unsigned char form[FORMS][ROOM];
    uint32_t whole[FORMS];
    as_learnt = in_all = named = 0;
    for (int round = 0; round < 400; round++) {
        struct memo *memo = started();
        for (int i = 0; i < FORMS; i++) {
            make_event();
            whole[i] = (uint32_t)length;
            memcpy(form[i], held, length);
        }
        for (int i = 0; i < 500; i++) {
            uint32_t which = unit_random(round % 2 ? 1 : FORMS);
            check_variant(memo, form[which], whole[which]);
            if (unit_random(200) == 0)
                memo = handed_on(memo);
        }
        memo_free(memo);
    }
    CHECK(as_learnt > in_all / 10);
}

/* Whether the memo knows an event of a document, the first of which names the phase. */
static bool knows(struct memo *memo, const char *text)
{
    int before = as_learnt;
    length = 0;
    add(text);
    check(memo, length);
    return as_learnt > before;
}

/* What a memo knows of the documents before holds for the next one, but for the numbers of names,
** and unless other phases are wanted. */
TEST(kept_for_the_next_document)
{
    static const char event[] = "\"ph\": \"X\", \"name\": \"aten::add\", \"ts\": 1, \"dur\": 2}";
    static const char flow[] = "\"ph\": \"s\", \"ts\": 1}";
    struct memo *kept = NULL, *memo = started();
    as_learnt = in_all = named = 0;
    CHECK(!memo_take(NULL, wanted) && !memo_take(&kept, wanted));
    memo_keep(&kept, NULL, wanted);
    CHECK(!kept);
    CHECK(!knows(memo, event) && knows(memo, event) && knows(memo, event));
    CHECK(!knows(memo, flow) && knows(memo, flow));
    CHECK_INT(named, 1);

    memo_keep(&kept, memo, wanted);
    memo_keep(&kept, memo_new(), wanted); /* there is one already: it is freed */
    CHECK(kept == memo && memo_take(&kept, wanted) == memo && !kept);
    told.used = 0;
    CHECK(knows(memo, event) && knows(memo, flow));
    CHECK_INT(named, 1); /* the name was new */
    CHECK(knows(memo, event));
    CHECK_INT(named, 2);

    memo_keep(&kept, memo, wanted);
    wanted['s'] = true;
    CHECK(memo_take(&kept, wanted) == memo);
    CHECK(!knows(memo, flow) && knows(memo, flow));
    memo_keep(NULL, memo, wanted);
}

/* More forms than a memo has room for: it begins anew, and reads on as it should. */
TEST(without_room)
{
    struct memo *memo = started();
    char text[300];
    as_learnt = in_all = 0;
    for (int i = 0; i < 30000; i++) {
        length = 0;
        snprintf(text, sizeof text,
                 "\"ph\":\"X\",\"cat\":\"%c%c%c%c\",\"ts\":%d,\"args\":{\"k\":[%d,\"%c%c\"]}}",
                 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676 % 26, 'a' + (i & 1), i, i,
                 'a' + i % 7, 'a' + i % 25);
        add(text);
        check(memo, length);
        check(memo, length);
    }
    CHECK(as_learnt > 400);
    memo_free(memo);
}

/* Names of which many begin, or begin and end, as others do: beginnings of one text, in which a
** byte is another now and then. */
TEST(names)
{
    static const char text[] =
        "void at::native::vectorized_elementwise_kernel<4, at::native::F<float>, "
        "at::detail::Array<char*, 1> >(int, at::native::F<float>, at::detail::A)";
    struct memo *memo = started();
    char name[sizeof text];
    as_learnt = in_all = named = 0;
    for (int i = 0; i < 20000; i++) {
        size_t count = unit_random(3) ? unit_random(sizeof text) : 44 + unit_random(6);
        memcpy(name, text, count);
        name[count] = 0;
        if (count > 0 && unit_random(3) == 0)
            name[unit_random((uint32_t)count)] = "x?"[unit_random(2)];
        length = 0;
        add("\"ph\": \"X\", \"name\": \"");
        add(name);
        add("\", \"pid\": 1234567, \"tid\": 1234567,\n    \"ts\": 1, \"dur\": 2}");
        check(memo, length);
    }
    CHECK(as_learnt > in_all - in_all / 10);
    CHECK(named > as_learnt / 20);
    memo_free(memo);
}

/* Long names that differ late are known one beside the other. */
TEST(long_names)
{
    struct memo *memo = started();
    named = 0;
    for (int i = 0; i < 1000; i++) {
        length = 0;
        add("\"ph\": \"X\", \"name\": \"void at::native::vectorized_elementwise_kernel<4, "
            "at::native::");
        add(i % 2 ? "BinaryFunctor<float>" : "CUDAFunctor_add<float>");
        add(", at::detail::Array<char*, 3> >(int, at::detail::A)\", \"ts\": 1, \"dur\": 2}");
        check(memo, length);
    }
    CHECK(named > 900);
    memo_free(memo);
}
