/*
** Problems of a file that did not stop the reading of the rest (T14). Each kind is counted, and
** the first byte where it was seen is kept: counted from 1 in the decompressed document, 0 where
** a byte would tell nothing.
*/
#ifndef TRACEDIFF_PROBLEMS_H
#define TRACEDIFF_PROBLEMS_H

#include <stddef.h>
#include <stdint.h>

enum problem {
    PROBLEM_EVENT_SKIPPED,
    PROBLEM_NOT_OBJECT,
    PROBLEM_TOO_LONG,
    PROBLEM_COMMA,
    PROBLEM_LIST_CLOSED,
    PROBLEM_NO_PHASE,
    PROBLEM_TIME,
    PROBLEM_END,
    PROBLEM_NO_DURATION,
    PROBLEM_NEGATIVE_DURATION,
    PROBLEM_NO_NAME,
    PROBLEM_END_WITHOUT_BEGIN,
    PROBLEM_BEGIN_WITHOUT_END,
    PROBLEM_UTF8,
    PROBLEM_ESCAPE,
    PROBLEM_CONTROL,
    PROBLEM_DUPLICATE_KEY,
    PROBLEM_BYTE_ORDER_MARK,
    PROBLEM_METADATA,
    PROBLEM_METADATA_SKIPPED,
    PROBLEM_TRAILING,
    PROBLEM_GZIP_TRAILING,
    PROBLEM_BACKLOG,
    PROBLEM_NO_LAUNCH,
    PROBLEM_NOT_TIMED, /* this and the next two: of databases */
    PROBLEM_OTHER_PROCESS,
    PROBLEM_UNTRIED,
    PROBLEM_KEY_ORDER, /* of rocprofv3's JSON */
    PROBLEM_PROTOBUF, /* of profiles of XLA */
    PROBLEM_PACKET, /* this and the next five: of Perfetto's packets */
    PROBLEM_STATE_LOST,
    PROBLEM_PACKETS_LOST,
    PROBLEM_PACKETS_PACKED,
    PROBLEM_INTERNED,
    PROBLEM_CATEGORIES,
    PROBLEM_ARGS_MENDED, /* the two about args are known only once the args have been read */
    PROBLEM_ARGS_LEFT_OUT,
    PROBLEM_COUNT
};

/* Events in bytes that are skipped, by their keys `"ph"` (I9). */
struct skipped_events {
    int64_t count;
    int64_t elements; /* of the list, that were skipped for them */
    unsigned char matched; /* bytes of the key, 4 up to its colon */
};

static inline void skipped_events_take(struct skipped_events *skipped, unsigned char byte)
{
    if (skipped->matched < 4) {
        skipped->matched = byte == "\"ph\""[skipped->matched] ? skipped->matched + 1 : byte == '"';
    } else if (byte > ' ') {
        skipped->count += byte == ':';
        skipped->matched = byte == '"';
    }
}

static inline void skipped_events_add(struct skipped_events *skipped, const unsigned char *bytes,
                                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        skipped_events_take(skipped, bytes[i]);
}

struct problems {
    int64_t count[PROBLEM_COUNT];
    int64_t first_byte[PROBLEM_COUNT];
    struct skipped_events skipped; /* of a document */
};

/* Counts a problem, seen at a byte. */
void problem_add(struct problems *problems, enum problem problem, int64_t byte)
    __attribute__((cold));

/* The name of a kind in trace_files.problems. */
const char *problem_text(enum problem problem);

#endif
