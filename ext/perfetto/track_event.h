/*
** Fields of Perfetto's track events and their annotations (U8).
*/
#ifndef TRACEDIFF_TRACK_EVENT_H
#define TRACEDIFF_TRACK_EVENT_H

#include "packets.h"

enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END, TYPE_INSTANT, TYPE_COUNTER };

/* Fields of a track event. */
enum {
    EVENT_DELTA_US = 1,
    EVENT_CATEGORY_IID = 3,
    EVENT_ANNOTATION = 4,
    EVENT_LEGACY = 6,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_ABSOLUTE_US = 16,
    EVENT_CATEGORY = 22,
    EVENT_NAME_TEXT = 23,
    EVENT_COUNTER = 30,
    EVENT_OLD_FLOW = 36,
    EVENT_OLD_FLOW_END = 42,
    EVENT_COUNTER_DOUBLE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    EVENT_SUBMISSION = 3000 /* identifies the GPU work that a call submitted; PyTorch's own */
};

/* An annotation: its name, and the field with its value. */
struct annotation_field {
    const unsigned char *name; /* NULL: missing */
    size_t length;
    struct protobuf_field value; /* the first value; number 0: missing */
};

/* Value fields of an annotation. */
enum {
    VALUE_BOOL = 2,
    VALUE_UNSIGNED,
    VALUE_SIGNED,
    VALUE_DOUBLE,
    VALUE_TEXT,
    VALUE_POINTER,
    VALUE_OLD_NESTED,
    VALUE_JSON,
    VALUE_ENTRIES = 11,
    VALUE_ITEMS = 12,
    VALUE_TEXT_IID = 17
};

/* Reads an annotation. Its name may be an interned text of the packet's sequence. */
struct annotation_field annotation_read(const struct packets *packets, const struct packet *packet,
                                        struct protobuf message);

/* A fast test for a set of names: a bit for each length, and their first two letters. */
struct named {
    uint32_t lengths;
    unsigned char first, second;
};

/* The set for group_keys. */
static const struct named named_of_groups = {
    1u << (sizeof "Process Group Ranks" - 1) | 1u << (sizeof "Process Group Name" - 1) |
        1u << (sizeof "Process Group Description" - 1) | 1u << (sizeof "Collective name" - 1),
    'P', 'C'};

/* Skips consecutive messages that begin with other names. `key` is the first byte of such a
** message, `name_key` the first byte of the name. The caller continues where this stops. */
static inline void pass_named(struct protobuf *message, unsigned char key, unsigned char name_key,
                              struct named named)
{
    enum { HEAD = 5, SHORT = 0x80 /* set if a length takes several bytes */, LENGTHS = 32 };
    const unsigned char *at = message->at, *end = message->end;
    const unsigned char ones[4] = {0xff, SHORT, 0xff, 0xff & ~(LENGTHS - 1)},
                        is[4] = {key, 0, name_key, 0};
    uint32_t head, mask, wanted;
    memcpy(&mask, ones, sizeof mask);
    memcpy(&wanted, is, sizeof wanted);
    while (end - at >= HEAD) {
        memcpy(&head, at, sizeof head);
        if ((head & mask) != wanted || at[1] > end - at - 2 ||
            ((named.lengths >> at[3] & 1) && (at[4] == named.first || at[4] == named.second)))
            break;
        at += 2 + at[1];
    }
    message->at = at;
}

/* The text of a value; NULL for other values. */
const char *annotation_text(const struct packets *packets, const struct packet *packet,
                            const struct protobuf_field *value, size_t *length);

/* The integer of a value; NUMBER_NONE for other values. */
int64_t annotation_integer(const struct protobuf_field *value);

/* The text of an interned item; NULL if undefined. */
const struct name *packet_text(const struct packets *packets, const struct packet *packet,
                               enum interned_kind kind, uint64_t iid);

/* The legacy part of an event. */
struct legacy_event {
    unsigned char phase; /* of the Trace Event Format; 0: missing */
    uint64_t name_iid;
    int64_t duration; /* ns; NUMBER_NONE */
};

struct legacy_event legacy_read(struct protobuf message);

/* The phase of an event: 'X' for the begin of a slice, 'E' for its end; 0 for unknown types. */
unsigned char track_event_phase(uint64_t type, unsigned char legacy);

#endif
