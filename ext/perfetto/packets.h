/*
** Reads Perfetto's packets one by one, in the order of the file (U1 to U3).
**
** 1. A trace is a series of packets. Packets of several sequences are interleaved. Each sequence
**    has a state, made of its earlier packets (interned.h, clocks.h).
** 2. A packet is skipped and counted if it needs a state that its sequence has lost or never had.
** 3. A packet that is malformed or longer than 16 MiB is skipped and counted. A file that ends
**    within a packet is damaged there.
** 4. Unknown kinds of packets are ignored.
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
    PACKET_TRACK,  /* a track's description */
    PACKET_THREAD, /* description of a sequence's thread; no longer written */
    PACKET_RENDER_STAGE,
    PACKET_COUNTERS /* of a GPU */
};

struct packet_sequence {
    uint32_t id;
    bool lost; /* its state is unknown */
    bool has_track;
    uint64_t track;    /* default track of events */
    uint32_t clock;    /* default clock; 0: the trace's */
    int64_t reference; /* ns: origin of times inside events of old writers */
    bool has_thread;   /* a PACKET_THREAD was read */
    int64_t pid, tid;  /* from PACKET_THREAD */
    bool goes_back;    /* of slices.h */
    struct perfetto_clocks clocks;
};

struct packet {
    enum packet_kind kind;
    struct protobuf message; /* content, valid until the next packet */
    int64_t ts;              /* ns by the trace's clock; NUMBER_NONE */
    int64_t event;           /* number of its first event (events_of_packet) */
    int64_t byte;            /* offset in the file, from 1 */
    uint32_t sequence;       /* index of its sequence */
};

struct packets {
    const char *path; /* borrowed */
    struct protobuf_file *file;
    struct interned interned;
    struct trace_clock clock;
    struct packet_sequence *sequences;
    size_t sequence_count, sequence_capacity;
    struct table sequence_table;
    uint32_t last;                       /* index of the previous packet's sequence */
    const struct packet_sequence *plain; /* that sequence, if its state is the usual one; or NULL */
    unsigned char head[7]; /* bytes after the lower 28 bits of the time in a packet of `plain`: */
    bool has_head;         /* the rest of the time and the number of the sequence */
    uint64_t high;         /* the time without its lower 28 bits */
    struct problems problems;
    int64_t events, skipped; /* counts so far */
    bool damaged;
    struct failure trouble;
};

/* Opens a file. False on failure; packets_close() is needed in any case. */
bool packets_open(struct packets *packets, const char *path, const struct protobuf_options *options,
                  struct failure *failure);

void packets_close(struct packets *packets);

/* Gives the next packet. 1; 0 at the end, which may be damage; -1 on failure. */
int packets_next(struct packets *packets, struct packet *packet, struct failure *failure);

/* Whether a failure means only that a packet has too much to keep. The file then counts as damaged
** at this byte, and the failure is cleared. */
bool packets_too_many(struct packets *packets, int64_t byte, struct failure *failure);

/* Keeps the counter names inside a packet as descriptor 0 of its sequence. */
bool packets_take_counters(struct packets *packets, uint32_t sequence, struct protobuf descriptor,
                           struct failure *failure);

/* Whether the available first bytes of a file look like packets. */
bool packets_are(const unsigned char *bytes, size_t length);

#endif
