/*
** State for turning a file of packets into rows.
*/
#ifndef TRACEDIFF_PERFETTO_READING_H
#define TRACEDIFF_PERFETTO_READING_H

#include "base/hash.h"
#include "lanes.h"
#include "loading/groups.h"
#include "slices.h"

enum { KINDS_KEPT = 2048, LANES_KEPT = 64 };

/* Limits for lists of categories that are joined by commas. */
enum { MOST_JOINED = 64 << 10 /* bytes */, MOST_ALL_JOINED = 64 << 20 /* of different lists */ };
struct joined {
    char *text;
    size_t length, capacity;
    size_t all;     /* bytes of different joined lists */
    size_t unasked; /* bytes since the last call of the stopper */
};

/* The fields of a packet that determine an event's lane, category and name: numbers of tracks and
** of interned texts. 0: missing. */
struct event_key {
    uint64_t track;        /* or the queue of a stage */
    uint64_t cat;          /* or the stage */
    uint64_t name, kernel; /* `kernel` only for stages */
    int64_t gpu, stream;
    uint32_t sequence;
    uint32_t form; /* distinguishes events that are decoded differently */
};

/* The results for all events with one key. */
struct event_kind {
    struct event_key key;
    uint64_t version; /* version of the sequence's texts plus 1; 0: never reuse */
    bool known;       /* the fields below are valid */
    uint32_t lane;
    uint32_t name;  /* id of a name of the file; NAME_NONE */
    uint32_t place; /* set if the phase is wanted */
    enum category category;
};

struct perfetto_reading {
    struct loading *loading;
    struct trace_file *file;
    struct failure *failure;
    struct packets packets;
    struct lanes lanes;
    struct slices slices;
    struct group_names group_names;
    struct joined joined;
    bool counters; /* some counter rows take the names of their tracks */
    uint32_t *names; /* by interned text id: name id in the file plus 1; 0: unknown */
    size_t name_count;
    struct event_kind kinds[KINDS_KEPT]; /* the latest kinds */
    struct kept_lane {                   /* the latest tracks */
        uint64_t track;
        uint32_t index; /* index plus 1; 0: none */
    } tracks[LANES_KEPT];
};

/* The fields of an event. Missing integers are NUMBER_NONE, a missing name NAME_NONE. */
struct perfetto_row {
    uint32_t name;
    int64_t ts, dur, correlation, event;
    unsigned char phase;
};

/* Finds the name id of a text in the file. Invalid UTF-8 is repaired. */
bool reading_name(struct perfetto_reading *reading, const void *text, size_t length, uint32_t *id);

/* Finds the name id of `joined`. False also if the lists exceed MOST_ALL_JOINED. */
bool reading_joined(struct perfetto_reading *reading, uint32_t *id);

/* Finds the name id of an interned text. An undefined one gives NAME_NONE and is a problem. */
bool reading_interned(struct perfetto_reading *reading, const struct packet *packet,
                      enum interned_kind kind, uint64_t iid, uint32_t *id);

/* The kind of events with a key, valid until the next call. If it is not `known`, the caller sets
** the lane and name, and then calls reading_place() for the rest. */
static inline struct event_kind *reading_kind(struct perfetto_reading *reading,
                                              const struct event_key *key)
{
    const uint64_t version = interned_version(&reading->packets.interned, key->sequence) + 1;
    const uint64_t hash =
        hash_mixed(key->name ^ key->kernel << 20 ^ key->track << 40 ^ (uint64_t)key->stream << 52,
                   HASH_ODD ^ key->cat);
    struct event_kind *kind = &reading->kinds[hash % KINDS_KEPT];
    if (kind->version != version || kind->key.name != key->name || kind->key.track != key->track ||
        kind->key.cat != key->cat || kind->key.stream != key->stream ||
        kind->key.kernel != key->kernel || kind->key.gpu != key->gpu ||
        kind->key.sequence != key->sequence || kind->key.form != key->form)
        *kind = (struct event_kind){.key = *key, .version = version, .name = NAME_NONE};
    return kind;
}

/* Like reading_interned(), for a field of the key; number 0 means no text. */
bool reading_kind_text(struct perfetto_reading *reading, const struct packet *packet,
                       struct event_kind *kind, enum interned_kind which, uint64_t iid,
                       uint32_t *id);

/* Completes a kind of events. `cat` is NAME_NONE without a category. */
bool reading_place(struct perfetto_reading *reading, struct event_kind *kind, uint32_t cat,
                   int64_t stream, unsigned char phase);

/* Adds a row. Its phase must be wanted and its kind known. */
bool reading_add(struct perfetto_reading *reading, const struct perfetto_row *row,
                 const struct event_kind *kind);

/* An arg of an event: its name, and its text, or NULL for other values. */
struct arg_text {
    const void *name, *text;
    size_t name_length, length;
};

/* Keeps the process group of the last row, if its args name one. `next` iterates over the relevant
** args of its packet, and returns false after the last. */
bool reading_group(struct perfetto_reading *reading, const struct packet *packet,
                   enum category category,
                   bool (*next)(const struct perfetto_reading *reading, const struct packet *packet,
                                struct protobuf *message, struct arg_text *arg));

/* Keeps a number through which a row launches device work or is launched. */
bool reading_bond(struct perfetto_reading *reading, uint64_t id, enum bond_kind kind);

/* These add the rows of a packet. */
bool take_track_event(struct perfetto_reading *reading, const struct packet *packet);
bool take_track(struct perfetto_reading *reading, const struct packet *packet);
bool take_render_stage(struct perfetto_reading *reading, const struct packet *packet);
bool take_gpu_counters(struct perfetto_reading *reading, const struct packet *packet);

#endif
