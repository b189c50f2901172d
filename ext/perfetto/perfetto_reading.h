/*
** A file of packets that becomes rows.
*/
#ifndef TRACEDIFF_PERFETTO_READING_H
#define TRACEDIFF_PERFETTO_READING_H

#include "base/hash.h"
#include "lanes.h"
#include "loading/groups.h"
#include "slices.h"

enum { KINDS_KEPT = 2048, LANES_KEPT = 64 };

/* Several categories of an event, joined by commas. */
enum { MOST_JOINED = 64 << 10 /* bytes */, MOST_ALL_JOINED = 64 << 20 /* of different ones */ };
struct joined {
    char *text;
    size_t length, capacity;
    size_t all;     /* bytes of different ones */
    size_t unasked; /* bytes since the stopper was asked */
};

/* What tells the lane, category and name of an event, as its packet has it: numbers of tracks and
** of interned texts, 0 where it does not say. */
struct event_key {
    uint64_t track;        /* or the queue of a stage */
    uint64_t cat;          /* or the stage */
    uint64_t name, kernel; /* the kernel is of a stage */
    int64_t gpu, stream;
    uint32_t sequence;
    uint32_t form; /* any number that tells events apart which are read in other ways */
};

/* Events of one key. */
struct event_kind {
    struct event_key key;
    uint64_t version; /* of the texts of the sequence, plus 1; 0: it is not to be found again */
    bool known;       /* what follows is */
    uint32_t lane;
    uint32_t name;  /* id of a name of the file; NAME_NONE */
    uint32_t place; /* if the phase is wanted */
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
    bool counters; /* there are rows of counters that have the names of their tracks */
    uint32_t *names; /* by id of an interned text: id of the name of the file, plus 1; or 0 */
    size_t name_count;
    struct event_kind kinds[KINDS_KEPT]; /* those met last */
    struct kept_lane {                   /* tracks met last */
        uint64_t track;
        uint32_t index; /* plus 1; 0: none */
    } tracks[LANES_KEPT];
};

/* What is said of an event. Integers are NUMBER_NONE, the name NAME_NONE, if it is not said. */
struct perfetto_row {
    uint32_t name;
    int64_t ts, dur, correlation, event;
    unsigned char phase;
};

/* The id of a text as a name of the file. What is not UTF-8 is repaired. */
bool reading_name(struct perfetto_reading *reading, const void *text, size_t length, uint32_t *id);

/* The id of `joined`, as a name of the file. False, too, if they are more than MOST_ALL_JOINED. */
bool reading_joined(struct perfetto_reading *reading, uint32_t *id);

/* The id of an interned text. One that was not given is NAME_NONE, and a problem. */
bool reading_interned(struct perfetto_reading *reading, const struct packet *packet,
                      enum interned_kind kind, uint64_t iid, uint32_t *id);

/* The kind of events of a key, valid until the next call. If it is not known, the caller is to say
** its lane and name, and then the rest by reading_place(). */
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

/* As reading_interned(), of what tells a kind; number 0 stands for no text. */
bool reading_kind_text(struct perfetto_reading *reading, const struct packet *packet,
                       struct event_kind *kind, enum interned_kind which, uint64_t iid,
                       uint32_t *id);

/* Completes a kind of events. `cat` is NAME_NONE if they have none. */
bool reading_place(struct perfetto_reading *reading, struct event_kind *kind, uint32_t cat,
                   int64_t stream, unsigned char phase);

/* Adds a row of a phase that is wanted, of a kind that is known. */
bool reading_add(struct perfetto_reading *reading, const struct perfetto_row *row,
                 const struct event_kind *kind);

/* An arg of an event: its name, and its value if that is a text, else NULL. */
struct arg_text {
    const void *name, *text;
    size_t name_length, length;
};

/* Keeps the process group of the last row, if its args tell one. `next` goes through those of its
** packet that may: false after the last one. */
bool reading_group(struct perfetto_reading *reading, const struct packet *packet,
                   enum category category,
                   bool (*next)(const struct perfetto_reading *reading, const struct packet *packet,
                                struct protobuf *message, struct arg_text *arg));

/* Keeps that a row launches, or is launched as, what a number stands for. */
bool reading_bond(struct perfetto_reading *reading, uint64_t id, enum bond_kind kind);

/* Each adds the rows of a packet. */
bool take_track_event(struct perfetto_reading *reading, const struct packet *packet);
bool take_track(struct perfetto_reading *reading, const struct packet *packet);
bool take_render_stage(struct perfetto_reading *reading, const struct packet *packet);
bool take_gpu_counters(struct perfetto_reading *reading, const struct packet *packet);

#endif
