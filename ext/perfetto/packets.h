/*
** Perfetto's packets, one at a time, in the order of the file (U1 to U3).
**
** 1. A trace is packets one after the other. Packets of several sequences are interleaved; what
**    a sequence has said before, its state, belongs to each (interned.h, clocks.h).
** 2. A packet that needs a state which its sequence has lost, or never had, is skipped and counted.
** 3. A packet that is broken within, or longer than 16 MiB, is skipped and counted. A file that
**    ends within a packet is damaged there.
** 4. Kinds of packets that are not known are passed over.
*/
#ifndef TRACEDIFF_PACKETS_H
#define TRACEDIFF_PACKETS_H

#include "clocks.h"
#include "interned.h"
#include "text/number.h"
#include "text/problems.h"

enum packet_kind {
    PACKET_OTHER,
    PACKET_TRACK_EVENT,
    PACKET_TRACK,  /* the description of a track */
    PACKET_THREAD, /* the same of the thread of a sequence; no longer written */
    PACKET_RENDER_STAGE,
    PACKET_COUNTERS /* of a GPU */
};

struct packet_sequence {
    uint32_t id;
    bool lost; /* its state is not known */
    bool has_track;
    uint64_t track;    /* of events that do not say theirs */
    uint32_t clock;    /* the same; 0: the trace's */
    int64_t reference; /* ns: what times within events of old writers count from */
    bool has_thread;   /* PACKET_THREAD was there */
    int64_t pid, tid;  /* of that */
    bool goes_back;    /* slices.h */
    struct perfetto_clocks clocks;
};

struct packet {
    enum packet_kind kind;
    struct protobuf message; /* its content; valid until the next one */
    int64_t ts;              /* ns by the trace's clock; NUMBER_NONE */
    int64_t event;           /* number of its first event (events_of_packet) */
    int64_t byte;            /* of the file, from 1 */
    uint32_t sequence;       /* index */
};

struct packets {
    const char *path; /* borrowed */
    struct protobuf_file *file;
    struct interned interned;
    struct trace_clock clock;
    struct packet_sequence *sequences;
    size_t sequence_count, sequence_capacity;
    struct table sequence_table;
    uint32_t last;                       /* index of the sequence of the packet before */
    const struct packet_sequence *plain; /* that sequence, if its state is that of most; or NULL */
    unsigned char head[7]; /* what a packet of `plain` had after the lower 28 bits of its time: */
    bool has_head;         /* the rest of that and the number of the sequence */
    uint64_t high;         /* the time without these bits */
    struct problems problems;
    int64_t events, skipped; /* so far */
    bool damaged;
    struct failure trouble;
};

/* False on failure; packets_close() is needed in any case. */
bool packets_open(struct packets *packets, const char *path, const struct protobuf_options *options,
                  struct failure *failure);

void packets_close(struct packets *packets);

/* Gives the next packet. 1; 0 at the end, which may be damage; -1 on failure. */
int packets_next(struct packets *packets, struct packet *packet, struct failure *failure);

/* Whether a failure is only that there is too much to keep of a packet, at a byte: the file then
** counts as damaged at this byte, and the failure is cleared. */
bool packets_too_many(struct packets *packets, int64_t byte, struct failure *failure);

/* Keeps the names of counters that a packet of a sequence has itself, as descriptor 0. */
bool packets_take_counters(struct packets *packets, uint32_t sequence, struct protobuf descriptor,
                           struct failure *failure);

/* Whether the first bytes of a file, as many as are at hand, are those of packets. */
bool packets_are(const unsigned char *bytes, size_t length);

#endif
