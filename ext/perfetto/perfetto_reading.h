/*
** A file of packets that becomes rows.
*/
#ifndef TRACEDIFF_PERFETTO_READING_H
#define TRACEDIFF_PERFETTO_READING_H

#include "lanes.h"
#include "loading/groups.h"
#include "slices.h"

enum { PLACES_KEPT = 256, TEXTS_KEPT = 1024, LANES_KEPT = 64 };

struct perfetto_reading {
    struct loading *loading;
    struct trace_file *file;
    struct failure *failure;
    struct packets packets;
    struct lanes lanes;
    struct slices slices;
    struct group_names group_names;
    bool has_stage; /* the stage met last, and its category */
    uint32_t stage, stage_cat;
    uint32_t *names; /* by id of an interned text: id of the name of the file, plus 1; or 0 */
    size_t name_count;
    struct kept_text { /* interned texts met last */
        struct interned_key key;
        uint64_t version; /* of `interned`, plus 1; 0: none */
        uint32_t id;
    } texts[TEXTS_KEPT];
    struct kept_lane { /* tracks met last */
        uint64_t track;
        uint32_t index; /* plus 1; 0: none */
    } tracks[LANES_KEPT];
    struct kept_place { /* those met last */
        struct place place;
        uint32_t number; /* plus 1; 0: none */
        enum category category;
    } places[PLACES_KEPT];
};

/* What is said of an event. Integers are NUMBER_NONE, ids NAME_NONE, if it is not said. */
struct perfetto_row {
    uint32_t lane, cat, name;
    int64_t ts, dur, correlation, stream, event;
    unsigned char phase;
};

/* The id of a text as a name of the file. What is not UTF-8 is repaired. */
bool reading_name(struct perfetto_reading *reading, const void *text, size_t length, uint32_t *id);

/* The id of an interned text. One that was not given is NAME_NONE, and a problem. */
bool reading_interned(struct perfetto_reading *reading, const struct packet *packet,
                      enum interned_kind kind, uint64_t iid, uint32_t *id);

/* Adds a row, if its phase is wanted; `*added` tells. `*category` is that of its cat. */
bool reading_add(struct perfetto_reading *reading, const struct perfetto_row *row, bool *added,
                 enum category *category);

/* Keeps that a row launches, or is launched as, what a number stands for. */
bool reading_bond(struct perfetto_reading *reading, uint64_t id, enum bond_kind kind);

/* Each adds the rows of a packet. */
bool take_track_event(struct perfetto_reading *reading, const struct packet *packet);
bool take_track(struct perfetto_reading *reading, const struct packet *packet);
bool take_render_stage(struct perfetto_reading *reading, const struct packet *packet);
bool take_gpu_counters(struct perfetto_reading *reading, const struct packet *packet);

#endif
