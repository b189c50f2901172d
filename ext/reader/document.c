#include "document.h"

#include <string.h>

#include "base/memory.h"
#include "excerpt.h"
#include "lesson.h"
#include "memo.h"
#include "resync.h"
#include "separator.h"
#include "source/foreign.h"

enum { CHUNK = 256 * 1024, LONGEST_VALUE = 16 * 1024 * 1024, MOST_READ_TWICE = 256 * 1024 * 1024 };

enum state { STATE_START, STATE_KEYS, STATE_EVENTS, STATE_AFTER, STATE_END };

struct document {
    const char *path;   /* borrowed */
    const bool *wanted; /* borrowed */
    struct memo *memo;  /* owned; NULL before the first event, unless a kept one was taken */
    struct memo **kept; /* borrowed, or NULL */
    bool no_memo;       /* event_read() reads every event */
    struct excerpt in;
    struct separator separator;

    enum state state;
    bool array_form, events_seen, nodes_seen; /* a list of events or nodes has begun */
    bool comma;       /* the previous token is a comma */
    bool first;       /* nothing of the current list or object has been read */
    int64_t events, skipped;
    int64_t endless;    /* offset (from 1) of the first event without an end; 0: none */
    int64_t read_twice; /* bytes read a second time to resume after bad bytes */
    struct metadata metadata;
    struct problems problems;
    enum document_outcome outcome;
    struct failure trouble;
};

struct document *document_open(const char *path, const struct document_options *options,
                               struct failure *failure)
{
    struct document *document = memory_zeroed(1, sizeof *document);
    if (!document) {
        failure_memory(failure);
        return NULL;
    }
    document->path = path;
    document->wanted = options->wanted;
    document->no_memo = options->no_memo;
    document->kept = options->kept;
    document->memo = memo_take(options->kept, options->wanted);
    document->metadata.rank = -1;
    document->in.stopper = options->stopper;
    document->in.chunk = options->chunk ? options->chunk : CHUNK;
    document->in.longest = LONGEST_VALUE;
    document->in.source = source_open(path, options->by_zlib, failure);
    if (!document->in.source) {
        document_close(document);
        return NULL;
    }
    source_read_ahead(document->in.source, options->idle);
    return document;
}

void document_close(struct document *document)
{
    if (!document)
        return;
    excerpt_clear(&document->in);
    memo_keep(document->kept, document->memo, document->wanted);
    memory_free(document->metadata.text);
    failure_clear(&document->trouble);
    memory_free(document);
}

enum document_outcome document_outcome(const struct document *document)
{
    return document->outcome;
}

void document_take_trouble(struct document *document, struct failure *failure)
{
    failure_move(failure, &document->trouble);
}

const struct identity *document_identity(const struct document *document)
{
    return source_identity(document->in.source);
}

int64_t document_read_to(const struct document *document)
{
    return document->in.origin + (int64_t)document->in.end;
}

bool document_unchanged(const struct document *document, struct failure *failure)
{
    return source_unchanged(document->in.source, failure);
}

bool document_unsure(const struct document *document)
{
    return document->outcome != DOCUMENT_WHOLE && source_unsure(document->in.source);
}

struct metadata *document_metadata(struct document *document)
{
    return &document->metadata;
}

struct problems *document_problems(struct document *document)
{
    return &document->problems;
}

int64_t document_events(const struct document *document)
{
    return document->events;
}

int64_t document_skipped(const struct document *document)
{
    return document->skipped;
}

int64_t document_bytes(const struct document *document)
{
    return document->in.origin + (int64_t)document->in.at;
}

double document_part(const struct document *document)
{
    double size = (double)source_identity(document->in.source)->size;
    double position = (double)source_position(document->in.source);
    return position / size * (double)document_bytes(document) / (double)document_read_to(document);
}

/* Stops: the document is not a trace (rule 5). */
static int not_trace(struct document *document, const char *what, int64_t byte)
{
    document->state = STATE_END;
    document->outcome = DOCUMENT_NOT_TRACE;
    failure_at(&document->trouble, FAILURE_NOT_TRACE, document->path, what, byte);
    return 0;
}

/* Stops: the file is of another kind, which the error names. */
static int foreign(struct document *document, const char *what)
{
    document->state = STATE_END;
    document->outcome = DOCUMENT_NOT_TRACE;
    failure_set(&document->trouble, FAILURE_NOT_TRACE, "'%s' is %s", document->path, what);
    document->trouble.what = what;
    return 0;
}

/* Stops: the document is truncated (rule 4). */
static int ended_early(struct document *document)
{
    if (document->nodes_seen > document->events_seen)
        return foreign(document, "an Execution Trace: execution_trace() reads it");
    document->state = STATE_END;
    document->outcome = DOCUMENT_DAMAGED;
    if (document->in.damage.code != FAILURE_NONE)
        failure_move(&document->trouble, &document->in.damage);
    else
        failure_at(&document->trouble, FAILURE_DAMAGE, document->path, "the document is truncated",
                   excerpt_byte(&document->in, document->in.end));
    return 0;
}

/* Stops at the end of the document. */
static int ended(struct document *document)
{
    document->state = STATE_END;
    document->in.at = document->in.end;
    if (document->in.damage.code != FAILURE_NONE || document->nodes_seen > document->events_seen)
        return ended_early(document);
    if (document->array_form && document->events > 0 && document->skipped == document->events)
        return not_trace(document, "not a trace: its array has no events", 0);
    if (!document->events_seen)
        return not_trace(document, "not a trace: it has no list traceEvents", 0);
    if (document->endless > 0) {
        document->outcome = DOCUMENT_DAMAGED;
        failure_at(&document->trouble, FAILURE_DAMAGE, document->path, "unclosed event",
                   document->endless);
    }
    if (source_trailing(document->in.source))
        problem_add(&document->problems, PROBLEM_GZIP_TRAILING, 0);
    return 0;
}

/* Reads one unit, such as an element, starting at `p`. See scan.h for the result. */
typedef const unsigned char *reader(struct document *document, struct scan *scan,
                                    const unsigned char *p, void *to);

enum read { READ_DONE, READ_BAD, READ_TOO_LONG, READ_END, READ_FAILED };

/* Reads one unit at `at`, and sets `*start` to the index of its first byte. READ_DONE: `at` is the
** byte after the unit. READ_BAD: `at` is the byte that is not JSON. READ_TOO_LONG (to be held) and
** READ_END (of the document, within the unit): `at` is `*start`. */
static enum read read_whole(struct document *document, reader *read, void *to, size_t *start,
                            struct failure *failure)
{
    for (;;) {
        *start = document->in.at;
        struct scan scan = {document->in.bytes + document->in.end, NULL};
        const unsigned char *stop = read(document, &scan, document->in.bytes + document->in.at, to);
        if (stop || scan.bad) {
            document->in.at = (size_t)((stop ? stop : scan.bad) - document->in.bytes);
            return stop ? READ_DONE : READ_BAD;
        }
        bool last = document->in.last; /* read again once set: see read_other() */
        enum more more = excerpt_read(&document->in, document->in.at, failure);
        *start = document->in.at;
        if (more == MORE_TOO_LONG)
            return READ_TOO_LONG;
        if (more == MORE_END && last)
            return READ_END;
        if (more == MORE_FAILED)
            return READ_FAILED;
    }
}

/* The states. Each function below returns 1 for an event, 0 to continue, -1 on failure. */

/* Finds the kind of a file whose first byte cannot begin a trace. */
static int not_json(struct document *document, struct failure *failure)
{
    struct excerpt *in = &document->in;
    while (excerpt_byte(in, in->at) == 1 && in->end < FOREIGN_BYTES && !in->last)
        if (excerpt_read(in, 0, failure) == MORE_FAILED)
            return -1;
    const char *kind = excerpt_byte(in, in->at) == 1 ? foreign_kind(in->bytes, in->end) : NULL;
    if (kind)
        return foreign(document, kind);
    bool utf16 = in->origin == 0 && in->end >= 2 &&
                 (memcmp(in->bytes, "\xff\xfe", 2) == 0 || memcmp(in->bytes, "\xfe\xff", 2) == 0 ||
                  in->bytes[0] == 0 || in->bytes[1] == 0);
    return not_trace(document, utf16 ? "not UTF-8 but UTF-16 or binary" : "not JSON",
                     excerpt_byte(in, in->at));
}

static int start(struct document *document, struct failure *failure)
{
    int c = excerpt_peek(&document->in, failure);
    if (c == EXCERPT_FAILED)
        return -1;
    while (document->in.end < 3 && !document->in.last)
        if (excerpt_read(&document->in, 0, failure) == MORE_FAILED)
            return -1;
    if (document->in.origin == 0 && document->in.at == 0 && document->in.end >= 3 &&
        memcmp(document->in.bytes, "\xef\xbb\xbf", 3) == 0) {
        problem_add(&document->problems, PROBLEM_BYTE_ORDER_MARK, 1);
        document->in.at = 3;
        return 0;
    }
    document->first = true;
    if (c == '{') {
        document->state = STATE_KEYS;
    } else if (c == '[') {
        document->state = STATE_EVENTS;
        document->array_form = true;
        document->events_seen = true;
    } else if (c == EXCERPT_END && document->in.damage.code != FAILURE_NONE) {
        return ended_early(document);
    } else if (c == EXCERPT_END) {
        return not_trace(document, "empty", 0);
    } else {
        return not_json(document, failure);
    }
    document->in.at++;
    return 0;
}

struct entry {
    struct token key, value;
    bool events; /* the key is traceEvents, and its list begins here */
};

/* Reads a top-level key and its value, or up to the first byte inside the list of events. */
static const unsigned char *read_entry(struct document *document, struct scan *scan,
                                       const unsigned char *p, void *to)
{
    struct entry *entry = to;
    entry->events = false;
    if (*p != '"')
        return scan_stop(scan, p);
    p = scan_value(scan, p, &entry->key);
    if (!p || *(p = scan_space(p)) != ':')
        return p ? scan_stop(scan, p) : NULL;
    p = scan_space(p + 1);
    if (*p == '[' && !document->events_seen && scan_equal(&entry->key, "traceEvents")) {
        entry->events = true;
        return p + 1;
    }
    document->nodes_seen = document->nodes_seen || (*p == '[' && scan_equal(&entry->key, "nodes"));
    return scan_value(scan, p, &entry->value);
}

/* Resumes the list of events if an event follows its bracket: 1; otherwise 0, -1 on failure. */
static int reopen(struct document *document, struct failure *failure)
{
    int c = excerpt_peek(&document->in, failure);
    if (c == EXCERPT_FAILED)
        return -1;
    bool event = false;
    if (c != '{' || !document->events_seen)
        return 0;
    if (!resync_is_event(&document->in, &event, failure))
        return -1;
    if (event) {
        problem_add(&document->problems, PROBLEM_LIST_CLOSED,
                    excerpt_byte(&document->in, document->in.at));
        document->state = STATE_EVENTS;
        document->comma = true;
    }
    return event;
}

/* Handles an invalid byte among the top-level keys. */
static int bad_entry(struct document *document, size_t start, struct failure *failure)
{
    int64_t byte = excerpt_byte(&document->in, document->in.at);
    if (document->first && document->in.at == start)
        return not_trace(document, "not JSON", byte);
    problem_add(&document->problems, PROBLEM_METADATA_SKIPPED, byte);
    skipped_events_add(&document->problems.skipped, document->in.bytes + start,
                       document->in.at - start);
    if (!resync_keys(&document->in, &document->problems.skipped, failure))
        return -1;
    document->comma = true;
    return document->in.at < document->in.end ? 0 : ended(document);
}

static int top_level(struct document *document, struct failure *failure)
{
    struct entry entry;
    size_t start;
    int c = excerpt_peek(&document->in, failure);
    if (c == EXCERPT_FAILED)
        return -1;
    if (c == EXCERPT_END)
        return ended_early(document);
    if (c == '}' || (c == ',' && !document->comma && !document->first)) {
        document->in.at++;
        document->comma = c == ',';
        if (c == '}')
            document->state = STATE_AFTER;
        return 0;
    }
    if (c == '{') {
        int reopened = reopen(document, failure);
        if (reopened != 0)
            return reopened < 0 ? -1 : 0;
    }
    if (c == '"' && !document->comma && !document->first)
        problem_add(&document->problems, PROBLEM_COMMA,
                    excerpt_byte(&document->in, document->in.at));
    switch (read_whole(document, read_entry, &entry, &start, failure)) {
    case READ_DONE:
        break;
    case READ_BAD:
        return bad_entry(document, start, failure);
    case READ_TOO_LONG:
        problem_add(&document->problems, PROBLEM_TOO_LONG, excerpt_byte(&document->in, start));
        document->comma = document->first = false;
        return resync_after_value(&document->in, &document->problems.skipped, failure) ? 0 : -1;
    case READ_END:
        return ended_early(document);
    default:
        return -1;
    }
    document->comma = document->first = false;
    if (entry.events) {
        document->events_seen = document->first = true;
        document->state = STATE_EVENTS;
        return 0;
    }
    if (scan_equal(&entry.key, "traceEvents")) {
        if (document->events_seen) {
            problem_add(&document->problems, PROBLEM_DUPLICATE_KEY,
                        excerpt_byte(&document->in, start));
            skipped_events_add(&document->problems.skipped, entry.value.at, entry.value.length);
        }
        return 0;
    }
    bool taken =
        metadata_take(&document->metadata, &entry.key, &entry.value, &document->problems, failure);
    return taken ? 0 : -1;
}

static __attribute__((noinline)) const unsigned char *read_unknown(struct document *document,
                                                                   struct scan *scan,
                                                                   const unsigned char *p,
                                                                   struct event *event)
{
    if (!document->memo && !document->no_memo) {
        document->memo = memo_new();
        document->no_memo = !document->memo;
    }
    const unsigned char *stop =
        event_read(scan, p + 1, document->wanted, event, &document->problems);
    if (document->memo && stop)
        memo_learn(document->memo, p + 1, stop, event);
    return stop;
}

static const unsigned char *read_object(struct document *document, struct scan *scan,
                                        const unsigned char *p, void *to)
{
    struct event *event = to;
    const unsigned char *stop = NULL;
    event->byte = excerpt_byte(&document->in, (size_t)(p - document->in.bytes));
    if (document->memo)
        stop = memo_read(document->memo, scan->end, p + 1, event);
    return stop ? stop : read_unknown(document, scan, p, event);
}

/* A fast path of element() for an event in memory. If false, nothing has changed. */
static inline bool next_object(struct document *document, struct event *event)
{
    struct excerpt *in = &document->in;
    if (document->state != STATE_EVENTS || document->comma || document->first)
        return false;
    struct scan scan = {in->bytes + in->end, NULL};
    const unsigned char *p = separator_cross(&document->separator, in->bytes + in->at);
    const unsigned char *stop = p ? read_object(document, &scan, p, event) : NULL;
    if (!stop)
        return false;
    in->at = (size_t)(stop - in->bytes);
    event->position = document->events++;
    return true;
}

/* Reads an element other than an object. Unless a comma or bracket follows, it is a stray byte. */
static const unsigned char *read_other(struct document *document, struct scan *scan,
                                       const unsigned char *p, void *to)
{
    p = scan_value(scan, p, to);
    if (!p)
        return NULL;
    p = scan_space(p);
    if (p >= scan->end)
        return document->in.last ? p : NULL;
    return *p == ',' || *p == ']' ? p : scan_stop(scan, p);
}

/* Handles the bracket that closes the list of events. */
static void close_events(struct document *document)
{
    document->in.at++;
    document->comma = document->first = false;
    document->state = document->array_form ? STATE_AFTER : STATE_KEYS;
}

/* Resumes after the bytes from `start` to `at`, which are invalid or have no end. Searches for the
** next event or, if `end_too`, for the end of the list. The search starts after `start` or, once
** MOST_READ_TWICE is used up, after `at`. `*found`: whether it succeeded. False on failure. */
static bool go_on(struct document *document, size_t start, bool end_too, bool *found,
                  struct failure *failure)
{
    struct excerpt *in = &document->in;
    if (!stopper_ask(&in->stopper, failure))
        return false;
    document->read_twice += (int64_t)(in->at - start);
    in->at = document->read_twice > MOST_READ_TWICE ? in->at : start;
    if (in->at < in->end)
        in->at++;
    document->comma = true;
    if (!resync_events(in, document->array_form, end_too, &document->problems.skipped, failure))
        return false;
    *found = in->at < in->end;
    return true;
}

/* Counts a skipped element. */
static int pass_over(struct document *document, enum problem problem, int64_t byte)
{
    problem_add(&document->problems, problem, byte);
    document->events++;
    document->skipped++;
    return 0;
}

/* Reads an element of the list, or a comma between elements. */
static int element(struct document *document, struct event *event, struct failure *failure)
{
    struct excerpt *in = &document->in;
    struct token other;
    size_t start;
    bool found = false;
    int c = excerpt_peek(in, failure);
    if (c == EXCERPT_FAILED)
        return -1;
    if (c == EXCERPT_END)
        return document->array_form ? ended(document) : ended_early(document);
    if (c == ']') {
        close_events(document);
        return 0;
    }
    if (c == ',' ? document->comma || document->first : !document->comma && !document->first)
        problem_add(&document->problems, PROBLEM_COMMA, excerpt_byte(in, in->at));
    document->comma = c == ',';
    document->first = false;
    if (c == ',') {
        in->at++;
        return 0;
    }
    bool object = c == '{';
    enum read read = object ? read_whole(document, read_object, event, &start, failure)
                            : read_whole(document, read_other, &other, &start, failure);
    if (read == READ_DONE && object) {
        event->position = document->events++;
        return 1;
    }
    if (read == READ_DONE)
        return pass_over(document, PROBLEM_NOT_OBJECT, excerpt_byte(in, start));
    if (read == READ_FAILED)
        return -1;
    /* Without an end, the problem is at its first byte; another event may begin inside. */
    int64_t byte = excerpt_byte(in, read == READ_BAD ? in->at : start);
    if (read == READ_TOO_LONG && !object) {
        if (!resync_after_value(in, &document->problems.skipped, failure))
            return -1;
        return pass_over(document, PROBLEM_TOO_LONG, byte);
    }
    const struct skipped_events skipped = document->problems.skipped;
    if (read != READ_BAD)
        in->at = in->end;
    if (!go_on(document, start, read != READ_END, &found, failure))
        return -1;
    if (read == READ_END && !found) {
        document->problems.skipped = skipped; /* not skipped: it only has no end */
        return ended_early(document);
    }
    document->problems.skipped.elements++;
    if (read == READ_END && document->endless == 0)
        document->endless = byte;
    return pass_over(document, read == READ_TOO_LONG ? PROBLEM_TOO_LONG : PROBLEM_EVENT_SKIPPED,
                     byte);
}

/* Checks that only white space follows the document. */
static int after(struct document *document, struct failure *failure)
{
    int c = excerpt_peek(&document->in, failure);
    if (c == EXCERPT_FAILED)
        return -1;
    if (c == EXCERPT_END)
        return ended(document);
    int64_t byte = excerpt_byte(&document->in, document->in.at);
    if (c == ',' && document->events_seen && document->problems.count[PROBLEM_TRAILING] == 0) {
        document->in.at++;
        int reopened = reopen(document, failure);
        if (reopened != 0)
            return reopened < 0 ? -1 : 0;
    }
    if (document->problems.count[PROBLEM_TRAILING] == 0)
        problem_add(&document->problems, PROBLEM_TRAILING, byte);
    skipped_events_add(&document->problems.skipped, document->in.bytes + document->in.at,
                       document->in.end - document->in.at);
    document->in.at = document->in.end;
    return 0;
}

static int proceed(struct document *document, struct event *event, struct failure *failure)
{
    switch (document->state) {
    case STATE_START:
        return start(document, failure);
    case STATE_KEYS:
        return top_level(document, failure);
    case STATE_EVENTS:
        return element(document, event, failure);
    default:
        return after(document, failure);
    }
}

bool document_begin(struct document *document, struct failure *failure)
{
    while (document->state == STATE_START ||
           (document->state == STATE_KEYS && !document->events_seen))
        if (proceed(document, NULL, failure) < 0)
            return false;
    return true;
}

int document_next(struct document *document, struct event *event, struct failure *failure)
{
    while (document->state != STATE_END) {
        int result = next_object(document, event) ? 1 : proceed(document, event, failure);
        if (result < 0 || (result > 0 && !event->passed_over))
            return result;
    }
    return 0;
}
