/*
** Reads a log of TORCH_TRACE record by record (CL2): a line with a prefix and a JSON object, and
** the lines after it that begin with a TAB, which are its payload. One record is in memory.
*/
#ifndef TRACEDIFF_LOG_READER_H
#define TRACEDIFF_LOG_READER_H

#include "reader/excerpt.h"
#include "text/scan.h"

/* Problems that are counted, in the order of their names. */
enum log_problem {
    LOG_BEGIN_WITHOUT_END,
    LOG_END_WITHOUT_BEGIN,
    LOG_EVENT,
    LOG_CUT_OFF,
    LOG_LAST_LINE,
    LOG_NOT_RECORD,
    LOG_PAYLOAD_MISSING,
    LOG_PAYLOAD_CHANGED,
    LOG_PAYLOAD_TOO_LONG,
    LOG_PAYLOAD_ALONE,
    LOG_RANKS,
    LOG_NOT_JSON,
    LOG_PROBLEMS
};

enum { LOG_PAYLOAD_LONGEST = 64 << 20 };

/* What an envelope has beside its kind. */
enum log_member {
    LOG_RANK,
    LOG_AUTOGRAD,
    LOG_FRAME,
    LOG_COMPILE,
    LOG_ATTEMPT,
    LOG_STACK,
    LOG_HAS_PAYLOAD,
    LOG_SUBGRAPH,
    LOG_MEMBERS
};

struct log_record {
    int64_t line;  /* from 1 */
    int64_t local; /* ns of the local time since the beginning of its year, as if that were 2000 */
    int64_t pid;
    struct token kind, value;
    struct token members[LOG_MEMBERS];
    const unsigned char *payload; /* without TABs, a NUL after it */
    size_t payload_length;
    bool has_payload, damaged; /* damaged: the payload is not what was written */
};

struct log_bytes {
    unsigned char *bytes;
    size_t length, capacity;
};

enum { LOG_BLANK = -1 };

/* A line, without its end; it is in the excerpt. */
struct log_line {
    const unsigned char *p;
    size_t length;
    int first;     /* byte; LOG_BLANK if the line is empty */
    bool too_long; /* it has none of its bytes but `first` */
};

struct log_reader {
    struct excerpt in;
    int64_t lines, records;
    int64_t problems[LOG_PROBLEMS];      /* of lines, of no process that is known */
    int64_t of_payload[LOG_PROBLEMS];    /* of the payload of the record that was read last */
    struct log_line line; /* the line that is read next, if `peeked` */
    bool peeked, returns; /* returns: lines end in CR */
    struct log_bytes text, payload;
};

enum log_read { LOG_RECORD, LOG_END, LOG_FAILED };

/* False on failure. */
bool log_open(struct log_reader *reader, const char *path, const struct stopper *stopper,
              struct failure *failure);

/* The next record, valid until the next call. */
enum log_read log_next(struct log_reader *reader, struct log_record *record,
                       struct failure *failure);

void log_close(struct log_reader *reader);

const char *log_problem_text(enum log_problem problem);

#endif
