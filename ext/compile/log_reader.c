#include "log_reader.h"

#include <string.h>

#include "base/memory.h"
#include "text/ascii.h"
#include "text/md5.h"
#include "text/number.h"
#include "text/strict_json.h"
#include "log_time.h"

enum { CHUNK = 256 * 1024 };

bool log_open(struct log_reader *reader, const char *path, const struct stopper *stopper,
              struct failure *failure)
{
    memset(reader, 0, sizeof *reader);
    reader->in.stopper = *stopper;
    reader->in.chunk = CHUNK;
    reader->in.longest = LOG_PAYLOAD_LONGEST;
    reader->in.source = source_open(path, false, failure);
    return reader->in.source != NULL;
}

void log_close(struct log_reader *reader)
{
    excerpt_clear(&reader->in);
    memory_free(reader->text.bytes);
    memory_free(reader->payload.bytes);
    memset(reader, 0, sizeof *reader);
}

/* Goes past what is in memory of a line that is too long, to its end. */
static enum more skip_line(struct excerpt *in, struct failure *failure)
{
    for (;;) {
        const unsigned char *stop = memchr(in->bytes + in->at, '\n', in->end - in->at);
        in->at = stop ? (size_t)(stop - in->bytes) : in->end;
        enum more more = stop ? MORE_YES : excerpt_read(in, in->at, failure);
        if (stop || more != MORE_YES)
            return more;
    }
}

/* Finds the next line; LOG_END: there is none. */
static enum log_read peek_line(struct log_reader *reader, struct failure *failure)
{
    struct excerpt *in = &reader->in;
    struct log_line *line = &reader->line;
    size_t seen = 0;
    const unsigned char *stop = NULL;
    enum more more = MORE_YES;
    if (reader->peeked)
        return LOG_RECORD;
    while (!stop && more == MORE_YES) {
        size_t rest = in->end - in->at;
        stop = rest > seen ? memchr(in->bytes + in->at + seen, '\n', rest - seen) : NULL;
        seen = rest;
        more = stop ? MORE_YES : excerpt_read(in, in->at, failure);
    }
    if (more == MORE_FAILED)
        return LOG_FAILED;
    if (more == MORE_END && in->end == in->at)
        return LOG_END;
    *line = (struct log_line){.p = in->bytes + in->at, .too_long = more == MORE_TOO_LONG};
    line->first = *line->p;
    if (more == MORE_TOO_LONG)
        more = skip_line(in, failure);
    if (more == MORE_FAILED)
        return LOG_FAILED;
    line->length = stop ? (size_t)(stop - line->p) : line->too_long ? 0 : in->end - in->at;
    in->at += line->length + (more == MORE_YES); /* the LF */
    reader->lines += more == MORE_YES || in->damage.code == FAILURE_NONE;
    reader->problems[LOG_LAST_LINE] += more == MORE_END && in->damage.code == FAILURE_NONE;
    bool returns = line->length > 0 && line->p[line->length - 1] == '\r';
    reader->returns = reader->lines == 1 ? returns : reader->returns;
    line->length -= returns && reader->returns;
    line->first = line->length > 0 || line->too_long ? line->first : LOG_BLANK;
    reader->peeked = true;
    return LOG_RECORD;
}

static bool append(struct log_bytes *to, const void *bytes, size_t length,
                   struct failure *failure)
{
    if (!MEMORY_GROW(to->bytes, to->capacity, to->length + length + SCAN_PADDING))
        return failure_memory(failure);
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
    memset(to->bytes + to->length, 0, SCAN_PADDING);
    return true;
}

/* A number of `count` digits. */
static int digits(const unsigned char *p, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++)
        number = number * 10 + (p[i] - '0');
    return number;
}

/* Whether a text has the shape of another one, in which 0 stands for a digit. */
static bool has_shape(const unsigned char *p, const char *shape)
{
    for (; *shape; p++, shape++)
        if (*shape == '0' ? !is_digit(*p) : *p != (unsigned char)*shape)
            return false;
    return true;
}

/* Reads the prefix of a record: `V0102 03:04:05.678901 PID PATH:LINE] `. NULL if it is none, else
** the byte after it. */
static const unsigned char *read_prefix(const struct log_line *line, struct log_record *record)
{
    static const char shape[] = "0000 00:00:00.000000 ";
    enum { LEAST = 1 + sizeof shape, NS = 1000, MOST_DIGITS = 18 };
    const unsigned char *p = line->p, *end = p + line->length, *from;
    if (line->length < LEAST || !memchr("VIWEC", *p, 5) || !has_shape(p + 1, shape))
        return NULL;
    int month = digits(p + 1, 2), day = digits(p + 3, 2);
    int64_t seconds = digits(p + 6, 2) * 3600 + digits(p + 9, 2) * 60 + digits(p + 12, 2);
    if (!log_time_local(month, day, seconds, digits(p + 15, 6) * (int64_t)NS, &record->local))
        return NULL;
    for (p += sizeof shape; p < end && *p == ' '; p++)
        ;
    record->pid = 0;
    for (from = p; p < end && is_digit(*p) && p - from < MOST_DIGITS; p++)
        record->pid = record->pid * 10 + (*p - '0');
    if (p == from || p == end || *p != ' ')
        return NULL;
    while (p < end && *p != ':')
        p++;
    for (from = ++p; p < end && is_digit(*p); p++)
        ;
    return p > from && end - p >= 2 && p[0] == ']' && p[1] == ' ' ? p + 2 : NULL;
}

/* The members of an envelope: its kind is the first other one. */
static bool read_envelope(const struct log_bytes *text, struct log_record *record)
{
    static const char *const keys[LOG_MEMBERS] = {
        "rank",    "compiled_autograd_id", "frame_id",   "frame_compile_id",
        "attempt", "stack",                "has_payload", "subgraph_name"};
    struct scan scan = {text->bytes + text->length, NULL};
    const unsigned char *p = scan_space(text->bytes);
    memset(record->members, 0, sizeof record->members);
    record->kind = record->value = (struct token){.kind = TOKEN_NONE};
    if (!json_is_strict(text->bytes, text->length) || *p != '{')
        return false;
    for (p = scan_space(p + 1); *p == '"';) {
        struct token key, value, *to = NULL;
        p = scan_value(&scan, p, &key);
        p = p ? scan_value(&scan, scan_space(scan_space(p) + 1), &value) : NULL;
        if (!p)
            return false;
        size_t i = 0;
        while (i < LOG_MEMBERS && !scan_equal(&key, keys[i]))
            i++;
        if (i < LOG_MEMBERS) {
            to = &record->members[i];
        } else if (record->kind.kind == TOKEN_NONE) {
            record->kind = key;
            to = &record->value;
        }
        if (to)
            *to = value;
        p = scan_space(p);
        p = *p == ',' ? scan_space(p + 1) : p;
    }
    return true;
}

/* Reads the lines of a payload, as far as it is wanted and not too long. */
static enum log_read read_payload(struct log_reader *reader, bool wanted, bool *too_long,
                                  int64_t *lines, struct failure *failure)
{
    struct log_bytes *payload = &reader->payload;
    const struct log_line *line = &reader->line;
    payload->length = 0;
    *lines = 0;
    *too_long = false;
    if (!append(payload, "", 0, failure))
        return LOG_FAILED;
    for (;;) {
        enum log_read read = peek_line(reader, failure);
        if (read != LOG_RECORD || (line->first != '\t' && line->first != LOG_BLANK))
            return read;
        reader->peeked = false;
        if (line->first == LOG_BLANK)
            continue;
        *too_long = *too_long || line->too_long ||
                    payload->length + line->length > LOG_PAYLOAD_LONGEST;
        if (wanted && !*too_long &&
            ((*lines > 0 && !append(payload, "\n", 1, failure)) ||
             !append(payload, line->p + 1, line->length - 1, failure)))
            return LOG_FAILED;
        ++*lines;
    }
}

/* Whether the payload has the MD5 that the envelope says. */
static bool is_written(const struct log_reader *reader, const struct token *has)
{
    static const char figures[] = "0123456789abcdef";
    unsigned char digest[MD5_SIZE];
    if (has->kind != TOKEN_TEXT || has->length != MD5_DIGITS)
        return false;
    md5(reader->payload.bytes, reader->payload.length, digest);
    for (size_t i = 0; i < MD5_SIZE; i++)
        if (has->at[2 * i] != figures[digest[i] >> 4] ||
            has->at[2 * i + 1] != figures[digest[i] & 0xf])
            return false;
    return true;
}

/* Reads what follows the line of a record, and counts what is wrong with it. */
static enum log_read take_payload(struct log_reader *reader, struct log_record *record,
                                  struct failure *failure)
{
    const struct token *has = &record->members[LOG_HAS_PAYLOAD];
    bool wanted = has->kind != TOKEN_NONE && !(has->kind == TOKEN_BARE && *has->at == 'n');
    bool too_long;
    int64_t lines;
    if (read_payload(reader, wanted, &too_long, &lines, failure) == LOG_FAILED)
        return LOG_FAILED;
    if (wanted && too_long)
        reader->of_payload[LOG_PAYLOAD_TOO_LONG]++;
    else if (wanted && lines == 0)
        reader->of_payload[LOG_PAYLOAD_MISSING]++;
    else if (wanted && !is_written(reader, has))
        reader->of_payload[LOG_PAYLOAD_CHANGED]++;
    else if (!wanted && lines > 0)
        reader->of_payload[LOG_PAYLOAD_ALONE]++;
    record->has_payload = wanted && lines > 0 && !too_long;
    record->damaged = wanted && reader->of_payload[LOG_PAYLOAD_CHANGED] > 0;
    record->payload = reader->payload.bytes;
    record->payload_length = record->has_payload ? reader->payload.length : 0;
    return LOG_RECORD;
}

enum log_read log_next(struct log_reader *reader, struct log_record *record,
                       struct failure *failure)
{
    const struct log_line *line = &reader->line;
    bool unused;
    int64_t lines;
    memset(reader->of_payload, 0, sizeof reader->of_payload);
    for (;;) {
        /* lines with a TAB after one that is no record are part of that */
        bool first = reader->lines == 0;
        enum log_read read = read_payload(reader, false, &unused, &lines, failure);
        reader->problems[LOG_PAYLOAD_ALONE] += first && lines > 0;
        if (read == LOG_END && reader->in.damage.code != FAILURE_NONE)
            reader->problems[LOG_CUT_OFF] = 1;
        if (read != LOG_RECORD)
            return read;
        reader->peeked = false;
        const unsigned char *json = line->too_long ? NULL : read_prefix(line, record);
        record->line = reader->lines;
        reader->text.length = 0;
        if (!json)
            reader->problems[LOG_NOT_RECORD]++;
        else if (!append(&reader->text, json, (size_t)(line->p + line->length - json), failure))
            return LOG_FAILED;
        else if (!read_envelope(&reader->text, record))
            reader->problems[LOG_NOT_JSON]++;
        else
            break;
    }
    reader->records++;
    return take_payload(reader, record, failure);
}

const char *log_problem_text(enum log_problem problem)
{
    static const char *const texts[LOG_PROBLEMS] = {
        [LOG_BEGIN_WITHOUT_END] = "begin without an end",
        [LOG_END_WITHOUT_BEGIN] = "end without a begin",
        [LOG_EVENT] = "event cannot be read",
        [LOG_CUT_OFF] = "file is cut off",
        [LOG_LAST_LINE] = "last line is not ended",
        [LOG_NOT_RECORD] = "line is not a record",
        [LOG_PAYLOAD_MISSING] = "payload is missing",
        [LOG_PAYLOAD_CHANGED] = "payload is not what was written",
        [LOG_PAYLOAD_TOO_LONG] = "payload is too long",
        [LOG_PAYLOAD_ALONE] = "payload without a record",
        [LOG_RANKS] = "ranks differ",
        [LOG_NOT_JSON] = "record is not JSON"};
    return texts[problem];
}
