/*
** A fuzz target for the layers below SQLite: one document, read in several ways
** that must agree, and its columns, which must make sense.
**
** An input is four bytes of options and then the document:
**   1. whose events are wanted (two bits), gzip members (two bits), and whether
**      a failing allocation is followed by more (one bit)
**   2. the size of the small chunks
**   3. which allocation fails
**   4. where the document is cut, and what is written over a byte of it
*/
#include "fuzz.h" /* first: it says what the system's headers are to declare */

#include <sqlite3.h>

#include "columns.h"
#include "derived.h"
#include "reader/memo.h"
#include "text/mend.h"

/* One reading, event by event. */

struct reading {
    struct text events, rest; /* rest: problems, metadata and how it ended */
    int64_t elements, skipped;
    struct problems problems;
    enum document_outcome outcome;
    bool metadata_whole;
    bool spans;     /* an event is an X, B or E */
    char *metadata; /* NULL if there is none */
};

/* Names that a memo was told of. They are kept to the end, so that it may read them. */
static struct {
    char text[64 * 1024];
    size_t used;
} told;

/* A name that the memo knows has to be the name; another one is told to it, while there is room. */
static void check_name(const struct event *event)
{
    const struct token *name = &event->field[EVENT_NAME];
    const struct known_name *known = event->known_name;
    if (known) {
        MUST(name->kind == TOKEN_TEXT && name->length == known->length);
        MUST(memcmp(name->at, told.text + known->number, name->length) == 0);
    } else if (event->new_name && name->length <= sizeof told.text - told.used) {
        memcpy(told.text + told.used, name->at, name->length);
        event_keep_name(event, told.text + told.used, (uint32_t)told.used);
        told.used += name->length;
    }
}

static void put_event(struct text *text, struct event *event)
{
    event_complete(event);
    check_name(event);
    put_number(text, event->position);
    put_number(text, event->byte);
    MUST(!event->passed_over);
    put_number(text, event->phase);
    for (int i = 0; i < EVENT_FIELDS; i++) {
        put_number(text, event->field[i].kind);
        if (event->field[i].kind != TOKEN_NONE)
            put_array(text, event->field[i].at, event->field[i].length, 1);
    }
}

static void finish_reading(struct reading *reading, struct document *document)
{
    struct metadata *metadata = document_metadata(document);
    struct failure trouble = {0};
    reading->elements = document_events(document);
    reading->skipped = document_skipped(document);
    reading->problems = *document_problems(document);
    reading->outcome = document_outcome(document);
    reading->metadata_whole = !metadata->left_out;
    reading->metadata = metadata->text ? strdup(metadata->text) : NULL;
    MUST(reading->skipped <= reading->elements);
    document_take_trouble(document, &trouble);
    put(&reading->rest, &reading->problems, sizeof reading->problems);
    put_number(&reading->rest, reading->outcome);
    put_number(&reading->rest, trouble.code);
    put_array(&reading->rest, trouble.text, trouble.text ? strlen(trouble.text) : 0, 1);
    put_array(&reading->rest, metadata->text, metadata->length, 1);
    put_number(&reading->rest, metadata->rank);
    put_number(&reading->rest, metadata->base);
    put_number(&reading->rest, metadata->has_base << 1 | metadata->left_out);
    put_number(&reading->rest, reading->elements);
    put_number(&reading->rest, reading->skipped);
    put_number(&reading->rest, document_bytes(document));
    failure_clear(&trouble);
}

static void forget(struct reading *reading);

static bool no_memo;         /* events are read by event_read() alone */
static struct memo **learnt; /* what one reading has learnt is known to the next; or NULL */

static struct reading read_by(bool by_zlib, const bool *wanted, size_t chunk, bool *unsure)
{
    struct reading reading = {0};
    struct failure failure = {0};
    struct document_options options = {
        .wanted = wanted, .chunk = chunk, .by_zlib = by_zlib, .no_memo = no_memo, .kept = learnt};
    struct document *document = document_open(path, &options, &failure);
    struct event event;
    int result = -1;
    told.used = 0; /* the memo knows no names */
    while (document && (result = document_next(document, &event, &failure)) > 0) {
        reading.spans = reading.spans || event.phase == 'X' || event.phase == 'B' ||
                        event.phase == 'E';
        put_event(&reading.events, &event);
    }
    MUST((result == 0) == (failure.code == FAILURE_NONE));
    MUST(failure.code == FAILURE_NONE || (failure.code == FAILURE_MEMORY && fail_at > 0));
    *unsure = result == 0 && document_unsure(document);
    if (result == 0 && fail_at == 0)
        finish_reading(&reading, document);
    document_close(document);
    failure_clear(&failure);
    MUST(live == (learnt && *learnt));
    return reading;
}

/* As file.c reads: a file that is not whole is read again by zlib. */
static struct reading read_events(const bool *wanted, size_t chunk)
{
    bool unsure;
    struct reading reading = read_by(false, wanted, chunk, &unsure);
    if (!unsure)
        return reading;
    forget(&reading);
    return read_by(true, wanted, chunk, &unsure);
}

static void forget(struct reading *reading)
{
    free(reading->events.bytes);
    free(reading->rest.bytes);
    free(reading->metadata);
}

/* Reads the file and compares: all must be the same. */
static void read_again(const bool *wanted, size_t chunk, const struct reading *first)
{
    struct reading reading = read_events(wanted, chunk);
    MUST(same(&first->events, &reading.events));
    MUST(same(&first->rest, &reading.rest));
    forget(&reading);
}

/* The same for a file that has been cut: what came before that must be the same,
** but for what was guessed of an event that has no end. `unfinished`: it is known
** not to be closed. */
static void read_cut(const bool *wanted, size_t chunk, const struct reading *first, bool unfinished)
{
    struct reading reading = read_events(wanted, chunk);
    if (reading.problems.count[PROBLEM_EVENT_SKIPPED] == 0)
        MUST(starts_with(&first->events, &reading.events));
    MUST(!unfinished || reading.outcome != DOCUMENT_WHOLE);
    forget(&reading);
}

/* One answer of SQLite's JSON functions about a text; -1: NULL. */
static int64_t ask(const char *query, const void *text, size_t length)
{
    static sqlite3 *db;
    sqlite3_stmt *statement;
    MUST(db || sqlite3_open(":memory:", &db) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK);
    sqlite3_bind_text(statement, 1, text, (int)length, SQLITE_STATIC);
    int64_t answer = -1;
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

/* What SQLite takes for JSON is read without complaint, and counted alike. Whether
** it is an object. */
static bool check_strict(const unsigned char *bytes, size_t length, const struct reading *reading)
{
    static const enum problem none[] = {PROBLEM_EVENT_SKIPPED, PROBLEM_COMMA,
                                        PROBLEM_BYTE_ORDER_MARK, PROBLEM_METADATA_SKIPPED,
                                        PROBLEM_TRAILING};
    if (length == 0 || memchr(bytes, 0, length) || ask("SELECT json_valid(?)", bytes, length) != 1)
        return false;
    bool array = ask("SELECT json_type(?) = 'array'", bytes, length) == 1;
    const char *list =
        "SELECT value FROM json_each(?1) WHERE key = 'traceEvents' AND type = 'array' LIMIT 1";
    char counts[400], others[400];
    snprintf(counts, sizeof counts, "SELECT json_array_length((%s))", array ? "?1" : list);
    snprintf(others, sizeof others, "SELECT count(*) FROM json_each((%s)) WHERE type <> 'object'",
             array ? "?1" : list);
    int64_t count = ask(counts, bytes, length), other = ask(others, bytes, length);
    bool trace = array ? count == 0 || other < count : count >= 0;
    MUST(reading->outcome == (trace ? DOCUMENT_WHOLE : DOCUMENT_NOT_TRACE));
    MUST(count < 0 || reading->elements == count);
    MUST(count < 0 || reading->problems.count[PROBLEM_NOT_OBJECT] == other);
    MUST(reading->skipped == reading->problems.count[PROBLEM_NOT_OBJECT]);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        MUST(reading->problems.count[none[i]] == 0);
    if (reading->metadata && strlen(reading->metadata) > 0)
        MUST(ask("SELECT json_valid(?)", reading->metadata, strlen(reading->metadata)) == 1);
    return !array;
}

/* The document as if it were args: what comes out is JSON to SQLite, and is mended to
** itself; and what is JSON to SQLite comes out as it is, but for bytes that are not
** UTF-8, and for escapes of slashes and \uXXXX. */
static void check_mending(const unsigned char *bytes, size_t length)
{
    unsigned char *to = malloc(length * MEND_ROOM + 1), *again;
    size_t written = 0, rewritten = 0;
    enum mended mended = mend_json(bytes, length, to, &written);
    bool object = !memchr(bytes, 0, length) && length > 0 && bytes[0] == '{' &&
                  bytes[length - 1] == '}' && ask("SELECT json_valid(?)", bytes, length) == 1;
    MUST(written <= length * MEND_ROOM);
    if (object && is_utf8((const char *)bytes, length) && length < MEND_DEEPEST)
        MUST(mended == MEND_STRICT);
    bool undone = false;
    for (size_t i = 1; i < length; i++)
        undone = undone || (bytes[i - 1] == '\\' && (bytes[i] == '/' || bytes[i] == 'u'));
    if (mended == MEND_STRICT && !undone)
        MUST(written == length && memcmp(to, bytes, length) == 0);
    if (mended != MEND_IMPOSSIBLE) {
        MUST(is_utf8((const char *)to, written) && !memchr(to, 0, written));
        MUST(ask("SELECT json_valid(?)", to, written) == 1);
        again = malloc(written * MEND_ROOM + 1);
        MUST(mend_json(to, written, again, &rewritten) == MEND_STRICT && rewritten == written);
        free(again);
    }
    free(to);
}

/* Loads the file; `text` becomes its columns. */
static void load(const bool *phases, const struct reading *reading, struct text *text)
{
    struct failure failure = {0};
    struct stopper stopper = {.stop = NULL};
    const struct load_options options = {.phases = phases};
    struct trace_file *head = file_peek(path, &options, &stopper, &failure);
    struct trace_file *trace = file_load(path, &options, &stopper, &failure);
    MUST((head && trace) == (failure.code == FAILURE_NONE));
    MUST((head && trace) || (failure.code == FAILURE_MEMORY && fail_at > 0));
    if (trace && fail_at == 0) {
        /* of the same phases: others are crossed with less care, and a document without X, B and E
        ** is read again (T3.5) */
        if (reading && reading->spans)
            MUST(trace->events == reading->elements && trace->outcome == reading->outcome);
        MUST(!head->rank_known || head->rank == trace->rank);
        check_file(trace);
        put_file(text, trace);
    }
    if (trace)
        derive(trace);
    file_release(head);
    file_release(trace);
    failure_clear(&failure);
    MUST(live == 0);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size < 4)
        return 0;
    const unsigned char *document = data + 4;
    size_t length = size - 4, chunk = (size_t)data[1] + 4, members = (data[0] >> 2 & 3) + 1;
    bool wanted[256] = {['X'] = true, ['B'] = true, ['E'] = true, ['M'] = true}, gzip;
    for (int i = 1; i < 256; i++)
        wanted[i] = (data[0] & 3) == 1 || ((data[0] & 3) != 2 && wanted[i]);

    write_file(document, length);
    struct reading first = read_events(wanted, 0), damaged;
    read_again(wanted, chunk, &first);
    struct memo *memo = NULL;
    learnt = &memo;
    read_again(wanted, 0, &first);
    read_again(wanted, chunk, &first);
    learnt = NULL;
    memo_free(memo);
    no_memo = true;
    read_again(wanted, 0, &first);
    no_memo = false;
    bool object = check_strict(document, length, &first);
    check_mending(document, length);

    struct text once = {0}, twice = {0};
    const bool *phases = (data[0] & 3) == 0 ? NULL : wanted;
    load(phases, (data[0] & 3) == 2 ? NULL : &first, &once);
    load(phases, NULL, &twice);
    MUST(same(&once, &twice));
    free(once.bytes);
    free(twice.bytes);

    fail_on = data[0] >> 4 & 1;
    asked = 0;
    fail_at = data[2] + 1;
    load(phases, NULL, NULL);
    asked = 0;
    damaged = read_events(wanted, chunk);
    forget(&damaged);
    fail_at = 0;

    gzip = length >= 2 && document[0] == 0x1f && document[1] == 0x8b;
    struct text packed = compressed(document, length, members);
    size_t cut = length * data[3] / 256, packed_cut = packed.length * data[3] / 256;
    /* what is cut must not become another document than it was */
    bool comparable = !gzip && first.problems.count[PROBLEM_EVENT_SKIPPED] == 0 &&
                      first.problems.count[PROBLEM_METADATA_SKIPPED] == 0;
    write_file(document, cut);
    if (comparable)
        read_cut(wanted, chunk, &first, object && memchr(document + cut, '}', length - cut));
    if (!gzip) {
        write_file(packed.bytes, packed.length);
        read_again(wanted, 0, &first);
        read_again(wanted, chunk, &first);
    }
    if (comparable && packed_cut > 2) {
        write_file(packed.bytes, packed_cut);
        read_cut(wanted, 0, &first, false);
    }
    /* one byte is another: no crash */
    packed.bytes[packed_cut] ^= data[2] ? data[2] : 0xff;
    write_file(packed.bytes, packed.length);
    damaged = read_events(wanted, chunk);
    forget(&damaged);

    free(packed.bytes);
    forget(&first);
    return 0;
}
