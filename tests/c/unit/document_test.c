/*
** document.h: what is read of a file, whatever the size of its chunks, plain and
** as gzip. The cases carry the numbers of its rules.
*/
#include "unit.h"

#include "reader/document.h"
#include "reader/memo.h"

enum { ROOM = 16 * 1024, HELD = 16 * 1024 * 1024 /* the longest value */ };

/* What a file said. */
struct reading {
    char log[ROOM];       /* all of it, to be compared */
    size_t length;        /* of the log */
    size_t events_logged; /* of it, that is about events */
    char names[1000];     /* of the events, a space between them */
    struct problems problems;
    enum document_outcome outcome;
    enum failure_code trouble;
    char message[300];
    struct metadata metadata;
    char metadata_text[2000];
    int64_t events, skipped, bytes;
};

__attribute__((format(printf, 2, 3))) static void say(struct reading *reading, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof reading->log - reading->length;
    int length = vsnprintf(reading->log + reading->length, room, format, arguments);
    va_end(arguments);
    reading->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void say_event(struct reading *reading, struct event *event)
{
    const struct token *name = &event->field[EVENT_NAME];
    event_complete(event);
    say(reading, "event %d phase %d byte %d", (int)event->position, event->phase, (int)event->byte);
    for (int i = 0; i < EVENT_FIELDS; i++)
        if (event->field[i].kind != TOKEN_NONE)
            say(reading, " %d %d <%.*s>", i, event->field[i].kind, (int)event->field[i].length,
                (const char *)event->field[i].at);
    say(reading, "\n");
    if (name->kind == TOKEN_TEXT && strlen(reading->names) + name->length + 2 < 1000) {
        strcat(reading->names, reading->names[0] ? " " : "");
        strncat(reading->names, (const char *)name->at, name->length);
    }
}

/* Reads a file to its end. */
static void read_file(const char *path, size_t chunk, struct reading *reading)
{
    static bool wanted[256];
    struct failure failure = {.code = FAILURE_NONE}, trouble = {.code = FAILURE_NONE};
    struct document_options options = {.wanted = wanted, .chunk = chunk};
    struct event event;
    memset(wanted, true, sizeof wanted);
    memset(reading, 0, sizeof *reading);
    struct document *document = document_open(path, &options, &failure);
    if (!CHECK(document != NULL))
        return;
    if (CHECK(document_begin(document, &failure)))
        while (document_next(document, &event, &failure) > 0)
            say_event(reading, &event);
    CHECK_INT(failure.code, FAILURE_NONE);
    reading->events_logged = reading->length;
    reading->outcome = document_outcome(document);
    document_take_trouble(document, &trouble);
    reading->trouble = trouble.code;
    snprintf(reading->message, sizeof reading->message, "%s", trouble.text ? trouble.text : "");
    failure_clear(&trouble);
    failure_clear(&failure);
    reading->problems = *document_problems(document);
    reading->metadata = *document_metadata(document);
    snprintf(reading->metadata_text, sizeof reading->metadata_text, "%s",
             reading->metadata.text ? reading->metadata.text : "");
    reading->metadata.text = NULL;
    reading->events = document_events(document);
    reading->skipped = document_skipped(document);
    reading->bytes = document_bytes(document);
    document_close(document);
    say(reading, "outcome %d trouble %d %s\n", reading->outcome, reading->trouble,
        reading->message);
    say(reading, "events %d skipped %d bytes %d rank %d base %d %s\n", (int)reading->events,
        (int)reading->skipped, (int)reading->bytes, (int)reading->metadata.rank,
        (int)reading->metadata.base, reading->metadata_text);
    for (int i = 0; i < PROBLEM_COUNT; i++)
        if (reading->problems.count[i] > 0)
            say(reading, "%s: %d, %d\n", problem_text((enum problem)i),
                (int)reading->problems.count[i], (int)reading->problems.first_byte[i]);
}

static const size_t chunks[] = {1, 2, 3, 7, 63, 64, 65, 256, 0};
enum { CHUNKS = sizeof chunks / sizeof *chunks };

/* Reads a text in all ways there are, or in a series in some, each time in others; they must
** agree. */
static bool read_text(const char *text, size_t length, struct reading *reading)
{
    static struct reading other;
    static int texts;
    int every = unit_series(3, 1), first = texts++ % every;
    unit_trying("%.380s", text);
    read_file(unit_file(text, length), 0, reading);
    for (int gzip = 0; gzip < 2; gzip++) {
        const char *path = gzip ? unit_gzip_file(text, length, "wb") : unit_file(text, length);
        for (int i = first; i < CHUNKS; i += every) {
            read_file(path, chunks[i], &other);
            if (!CHECK_TEXT(other.log, reading->log))
                return CHECK_INT(chunks[i], -1);
        }
    }
    return true;
}

static struct reading got;

/* The names of the events, how the document ends, and how many elements of the
** list were passed over. */
static void check(const char *text, const char *names, enum document_outcome outcome, int skipped)
{
    read_text(text, strlen(text), &got);
    unit_trying("%.380s", text);
    CHECK_TEXT(got.names, names);
    CHECK_INT(got.outcome, outcome);
    CHECK_INT(got.skipped, skipped);
    CHECK_INT(got.trouble, outcome == DOCUMENT_WHOLE     ? FAILURE_NONE
                           : outcome == DOCUMENT_DAMAGED ? FAILURE_DAMAGE
                                                         : FAILURE_NOT_TRACE);
}

static void check_problem(enum problem problem, int count, int first_byte)
{
    unit_trying("%s", problem_text(problem));
    CHECK_INT(got.problems.count[problem], count);
    CHECK_INT(got.problems.first_byte[problem], first_byte);
}

static int64_t problems_of(const struct reading *reading)
{
    int64_t count = 0;
    for (int i = 0; i < PROBLEM_COUNT; i++)
        count += reading->problems.count[i];
    return count;
}

#define EVENT(name) \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"ts\":1,\"args\":{\"name\":{\"ph\":[{}]}}}"
#define BROKEN "{\"ph\":\"X\",\"name\":\"a\"b\",\"args\":{\"name\":1,\"x\":{\"ph\":2}}}"

static const char whole[] =
    "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3},\n"
    " \"traceEvents\": [\n"
    "  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a, \\\"b\\\" {\", \"pid\": 0, \"tid\": \"s "
    "7\",\n"
    "   \"ts\": 12.345, \"dur\": 1e2, \"args\": {\"stream\": 7, \"x\": [1, {}], \"correlation\": "
    "9}},\n"
    "  " EVENT("second") ",\n"
                         "  {\"name\":\"third\",\"\\u0070h\":\"i\",\"s\":\"t\"}, {}\n"
                         " ], \"baseTimeNanoseconds\": 17180000, \"traceName\": \"t\\u00e9\"\n}\n";

TEST(whole_document)
{
    CHECK(read_text(whole, strlen(whole), &got));
    CHECK_INT(got.outcome, DOCUMENT_WHOLE);
    CHECK_INT(got.events, 4);
    CHECK_INT(problems_of(&got), 0);
    CHECK_INT(got.bytes, strlen(whole));
    CHECK_INT(got.metadata.rank, 3);
    CHECK(got.metadata.has_base);
    CHECK_INT(got.metadata.base, 17180000);
    CHECK_TEXT(got.metadata_text,
               "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\": \"nccl\", \"rank\": 3},"
               "\"baseTimeNanoseconds\":17180000,\"traceName\":\"t\\u00e9\"}");
    char expected[100];
    snprintf(expected, sizeof expected, "event 3 phase 0 byte %d\n",
             (int)(strstr(whole, "{}\n") - whole) + 1);
    CHECK(strstr(got.log, expected) != NULL);
}

TEST(forms_of_a_document)
{
    check("{\"traceEvents\":[]}", "", DOCUMENT_WHOLE, 0);
    check("[]", "", DOCUMENT_WHOLE, 0);
    check(" [ " EVENT("a") " , " EVENT("b") " ] ", "a b", DOCUMENT_WHOLE, 0);
    check("[" EVENT("a") "," EVENT("b"), "a b", DOCUMENT_WHOLE, 0); /* no bracket needed */
    check("[" EVENT("a") ",", "a", DOCUMENT_WHOLE, 0);
    check("[" EVENT("a") "," EVENT("b") ",\n]", "a b", DOCUMENT_WHOLE, 0);
    CHECK_INT(problems_of(&got), 0);
    check("{\"trace\\u0045vents\":[" EVENT("a") "]}", "a", DOCUMENT_WHOLE, 0);
    check("{\"traceEvents\":[" EVENT("a") "],\"traceEvents\":[" EVENT("b") "]}", "a",
          DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_DUPLICATE_KEY, 1, 19 + (int)strlen(EVENT("a")));
    check("{\"distributedInfo\":{\"rank\":1},\"distributedInfo\":{\"rank\":2},\"traceEvents\":[]}",
          "", DOCUMENT_WHOLE, 0);
    CHECK_INT(got.metadata.rank, 1); /* T17 */
    check("{\"x\":{\"traceEvents\":[{}],\"rank\":1},\"traceEvents\":[" EVENT("a") "]}", "a",
          DOCUMENT_WHOLE, 0);
    CHECK_INT(got.metadata.rank, -1);
    check("{\"traceEvents\":[{\"name\":\"a\",\"name\":\"b\"}]}", "a", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_DUPLICATE_KEY, 1, 17);
}

TEST(rule_1_damaged_events)
{
    check("{\"traceEvents\":[" EVENT("a") "," BROKEN "," EVENT("c") "]}", "a c", DOCUMENT_WHOLE, 1);
    check_problem(PROBLEM_EVENT_SKIPPED, 1,
                  17 + (int)strlen(EVENT("a") ",") + (int)(strstr(BROKEN, "b\",") - BROKEN));
    CHECK_INT(problems_of(&got), 1);
    CHECK(strstr(got.log, "event 2 phase") != NULL); /* it keeps its place */
    check("[" BROKEN "," EVENT("b") "]", "b", DOCUMENT_WHOLE, 1);
    check("[" EVENT("a") "," BROKEN "]", "a", DOCUMENT_WHOLE, 1);
    check("{\"traceEvents\":[" BROKEN "]}", "", DOCUMENT_WHOLE, 1);
    check("{\"traceEvents\":[" EVENT("a") "," BROKEN "],\"traceName\":\"n\"}", "a", DOCUMENT_WHOLE,
          1);
    CHECK_TEXT(got.metadata_text, "{\"traceName\":\"n\"}");
    check("[" BROKEN "," BROKEN "," EVENT("c") "," BROKEN "," EVENT("e") "]", "c e", DOCUMENT_WHOLE,
          3);
    check("[" EVENT("a") ",{\"ph\":\"X\",\"name\":" EVENT("c") "," EVENT("d") "]", "a d",
          DOCUMENT_WHOLE, 1);
    check("[" EVENT("a") ",{\"ph\":\"X\",\"na\n" EVENT("c") "," EVENT("d") "]", "a c d",
          DOCUMENT_WHOLE, 1);
    check("[{\"name\" \"x\"}," EVENT("b") "]", "b", DOCUMENT_WHOLE, 1);
    check("[{\"name\":\"x\",,\"ph\":\"X\"}," EVENT("b") "]", "b", DOCUMENT_WHOLE, 1);
}

/* Known by its first bytes, however few come at once. */
TEST(first_bytes)
{
    check("\xef\xbb\xbf[" EVENT("a") "]", "a", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_BYTE_ORDER_MARK, 1, 1);
    read_text("\xff\xfe[\0]\0", 6, &got);
    CHECK_INT(got.outcome, DOCUMENT_NOT_TRACE);
    CHECK(strstr(got.message, "UTF-16") != NULL);
}

TEST(rule_2_tolerated)
{
    check("[" EVENT("a") EVENT("b") "]", "a b", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_COMMA, 1, 2 + (int)strlen(EVENT("a")));
    check("[," EVENT("a") ",," EVENT("b") "]", "a b", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_COMMA, 2, 2);
    check("[{\"name\":\"a\",}]", "a", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_COMMA, 1, 2);
    check("{\"a\":1 \"traceEvents\":[]}", "", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_COMMA, 1, 8);
    check("{\"traceEvents\":[],}", "", DOCUMENT_WHOLE, 0);
    check("[1,\"x\",[" EVENT("n") "],null," EVENT("a") "]", "a", DOCUMENT_WHOLE, 4);
    check_problem(PROBLEM_NOT_OBJECT, 4, 2);
    check("[" EVENT("a") "] x " EVENT("b"), "a", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_TRAILING, 1, 4 + (int)strlen(EVENT("a")));
    check("{\"traceEvents\":[" EVENT("a") "]}}", "a", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_TRAILING, 1, 19 + (int)strlen(EVENT("a")));
    check("{\"a\":1,\"b\":@@, \"traceEvents\":[" EVENT("a") "],\"b\":\"c\"d\",\"traceName\":1}",
          "a", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_METADATA_SKIPPED, 2, 12);
    CHECK_TEXT(got.metadata_text, "{\"a\":1,\"b\":\"c\",\"traceName\":1}");
}

TEST(rule_2_first_value_damaged)
{
    check("{\"a\":@@, \"traceEvents\":[" EVENT("a") "]}", "a", DOCUMENT_WHOLE, 0);
    check_problem(PROBLEM_METADATA_SKIPPED, 1, 6);
}

/* Ten bytes more than are held with a chunk, in an event, beside them, and at the top. */
TEST(rule_3_long_values)
{
    static const char *const before[] = {"[{\"name\":\"", "[\"", "{\"a\":\"x",
                                         "{\"traceEvents\":[{\"a\":["};
    static const char *const after[] = {"\"}," EVENT("b") "]", "\"," EVENT("b") "]",
                                        "\",\"traceEvents\":[" EVENT("b") "]}",
                                        "]}," EVENT("b") "]}"};
    enum { CHUNK = 8 * 1024 * 1024 };
    char *text = malloc(HELD + CHUNK + 1000);
    for (size_t i = 0; text && i < sizeof before / sizeof *before; i++) {
        size_t length = strlen(before[i]);
        memcpy(text, before[i], length);
        memset(text + length, ' ', HELD + CHUNK + 10);
        length += HELD + CHUNK + 10;
        memcpy(text + length, after[i], strlen(after[i]));
        unit_trying("%s", before[i]);
        read_file(unit_file(text, length + strlen(after[i])), CHUNK, &got);
        CHECK_INT(got.outcome, DOCUMENT_WHOLE);
        CHECK_TEXT(got.names, "b");
        CHECK_INT(got.skipped, i != 2);
        CHECK_INT(got.problems.count[PROBLEM_TOO_LONG], 1);
        CHECK_INT(problems_of(&got), 1);
    }
    free(text);
}

TEST(rule_4_ends_too_early)
{
    check("{", "", DOCUMENT_DAMAGED, 0);
    check("{\"traceEvents\":[" EVENT("a") "]", "a", DOCUMENT_DAMAGED, 0);
    check("{\"traceEvents\":[" EVENT("a") ",", "a", DOCUMENT_DAMAGED, 0);
    check("{\"traceEvents\":[" EVENT("a") ",{\"ph\":\"X\"", "a", DOCUMENT_DAMAGED, 0);
    check("[" EVENT("a") ",{\"ph\":\"X\"", "a", DOCUMENT_DAMAGED, 0);
    check("[" EVENT("a") ",12", "a", DOCUMENT_DAMAGED, 0);
    check("{\"traceEvents\":[" EVENT("a") "," BROKEN, "a", DOCUMENT_DAMAGED, 1);
}

TEST(rule_5_no_trace)
{
    check("", "", DOCUMENT_NOT_TRACE, 0);
    check(" \n", "", DOCUMENT_NOT_TRACE, 0);
    check("x", "", DOCUMENT_NOT_TRACE, 0);
    check("12", "", DOCUMENT_NOT_TRACE, 0);
    check("{}", "", DOCUMENT_NOT_TRACE, 0);
    check("{\"a\":[{}]}", "", DOCUMENT_NOT_TRACE, 0);
    check("{\"traceEvents\":{}}", "", DOCUMENT_NOT_TRACE, 0);
    check("[1,2]", "", DOCUMENT_NOT_TRACE, 2);
    check("{x", "", DOCUMENT_NOT_TRACE, 0);
    CHECK(strstr(got.message, "': not JSON at byte 2") != NULL);
}

/* What is left when the file ends at any byte: the events are those of the whole
** document, up to some. */
static void check_prefix(const struct reading *all, enum document_outcome outcome)
{
    CHECK(got.events_logged <= all->events_logged);
    CHECK(memcmp(got.log, all->log, got.events_logged) == 0);
    CHECK_INT(got.outcome, outcome);
    CHECK_INT(got.skipped, 0);
    CHECK_INT(problems_of(&got), 0);
}

TEST(truncated_anywhere)
{
    static struct reading all;
    size_t length = strlen(whole) - 1; /* the brace is the last */
    read_text(whole, length, &all);
    for (size_t cut = 0; cut <= length; cut++) {
        read_text(whole, cut, &got);
        unit_trying("%d bytes", (int)cut);
        check_prefix(&all, cut == 0        ? DOCUMENT_NOT_TRACE
                           : cut == length ? DOCUMENT_WHOLE
                                           : DOCUMENT_DAMAGED);
    }
    CHECK_INT(got.events_logged, all.events_logged);
}

/* The events before a cut are given, the check sums at the end count too. */
TEST(truncated_gzip_anywhere)
{
    static struct reading all;
    static unsigned char zipped[4000];
    read_file(unit_gzip_file(whole, strlen(whole), "wb"), 0, &all);
    size_t length = unit_file_bytes(zipped, sizeof zipped), every = (size_t)unit_series(3, 1);
    for (size_t cut = 0; cut <= length; cut++)
        for (size_t i = cut % every; i < CHUNKS; i += every) {
            unit_trying("%d bytes of %d, chunk %d", (int)cut, (int)length, (int)chunks[i]);
            read_file(unit_file(zipped, cut), chunks[i], &got);
            check_prefix(&all, cut < 2         ? DOCUMENT_NOT_TRACE
                               : cut == length ? DOCUMENT_WHOLE
                                               : DOCUMENT_DAMAGED);
            if (cut + 8 >= length)
                CHECK_INT(got.events_logged, all.events_logged);
        }
}

/* However a document is damaged, the chunks say nothing about what is read. */
TEST(random_damage)
{
    static const char *const pieces[] = {"\"", "{", "}", "[", "]", ",", ":", "\\", "x", "\n", "@"};
    static char text[2000];
    for (int i = 0; i < unit_series(300, 1500); i++) {
        size_t length = strlen(whole);
        strcpy(text, whole);
        for (uint32_t times = 1 + unit_random(4); times > 0; times--) {
            size_t at = unit_random((uint32_t)length);
            size_t gone = unit_random(3) ? unit_random(2) : unit_random(60);
            gone = gone < length - at ? gone : length - at;
            memmove(text + at, text + at + gone, length - at - gone + 1);
            length -= gone;
            if (unit_random(3)) {
                memmove(text + at + 1, text + at, length - at + 1);
                text[at] = *pieces[unit_random(sizeof pieces / sizeof *pieces)];
                length++;
            }
        }
        if (!read_text(text, length, &got))
            return;
    }
}

static bool stop_at_once(void *argument)
{
    return ++*(int *)argument > 0;
}

TEST(failures)
{
    static const bool wanted[256];
    struct failure failure = {.code = FAILURE_NONE};
    int asked = 0;
    struct document_options options = {.wanted = wanted,
                                       .stopper = {.stop = stop_at_once, .argument = &asked}};
    CHECK(!document_open("/nowhere/at all", &options, &failure));
    CHECK_INT(failure.code, FAILURE_READ);
    CHECK_TEXT(failure.text, "cannot read '/nowhere/at all': No such file or directory");
    failure_clear(&failure);
    CHECK(!document_open("/dev/null", &options, &failure));
    CHECK_TEXT(failure.text, "cannot read '/dev/null': not a regular file");
    failure_clear(&failure);
    CHECK(!document_open("/", &options, &failure));
    CHECK_TEXT(failure.text, "cannot read '/': Is a directory");
    failure_clear(&failure);
    struct document *document = document_open(unit_file(whole, strlen(whole)), &options, &failure);
    CHECK(!document_begin(document, &failure));
    CHECK_INT(failure.code, FAILURE_INTERRUPTED);
    CHECK_INT(asked, 1);
    failure_clear(&failure);
    document_close(document);
}

/* What is read of a large file, with a thread that reads ahead if `idle` is 1. */
static uint64_t digest(const char *path, int processors)
{
    static bool wanted[256];
    struct failure failure = {.code = FAILURE_NONE};
    atomic_int idle = processors;
    struct document_options options = {.wanted = wanted, .idle = &idle};
    struct event event;
    uint64_t digest = 0;
    memset(wanted, true, sizeof wanted);
    struct document *document = document_open(path, &options, &failure);
    while (document_next(document, &event, &failure) > 0) {
        event_complete(&event);
        const struct token *args = &event.field[EVENT_ARGS];
        digest = digest * 31 + (uint64_t)event.byte * 7 + (uint64_t)event.position;
        for (size_t i = 0; i < args->length; i++)
            digest = digest * 31 + args->at[i];
    }
    CHECK_INT(failure.code, FAILURE_NONE);
    digest = digest * 31 + (uint64_t)document_bytes(document);
    digest = digest * 31 + document_outcome(document);
    document_close(document);
    CHECK_INT(idle, processors);
    return digest;
}

/* Events of all lengths lie across the ends of the buffers that a thread fills and lends. */
TEST(large_files_with_a_thread)
{
    static const size_t lengths[] = {10, 200, 1000, 65000, 66000, 262000, 263000, 700000};
    enum { SIZE = 3 * 1024 * 1024 };
    static char text[SIZE + 1024 * 1024];
    for (int round = 0; round < unit_series(2, 4); round++) {
        size_t length = (size_t)sprintf(text, "[");
        while (length < SIZE) {
            size_t args = lengths[unit_random(unit_random(50) ? 3 : 8)] + unit_random(3000);
            length +=
                (size_t)sprintf(text + length, "%s{\"ph\":\"X\",\"name\":\"a\",\"args\":{\"x\":\"",
                                length > 1 ? "," : "");
            for (size_t i = 0; i < args; i++)
                text[length++] = (char)('A' + unit_random(26));
            length += (size_t)sprintf(text + length, "\"}}");
        }
        text[length++] = ']';
        unit_trying("round %d", round);
        const char *path = unit_gzip_file(text, length, "wb1");
        static unsigned char zipped[SIZE];
        size_t size = unit_file_bytes(zipped, sizeof zipped);
        if (round % 2) /* the data is truncated */
            path = unit_file(zipped, size - 1 - unit_random((uint32_t)size / 2));
        uint64_t alone = digest(path, 0);
        CHECK(digest(path, 1) == alone);
    }
}
