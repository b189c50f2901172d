#include "packets.h"

#include "base/hash.h"
#include "base/memory.h"

enum { TRACE_PACKET = 1, MOST_SEQUENCES = 1 << 20 };

/* Fields of a packet. */
enum {
    OF_CLOCK_SNAPSHOT = 6,
    OF_TIMESTAMP = 8,
    OF_SEQUENCE = 10,
    OF_TRACK_EVENT = 11,
    OF_INTERNED = 12,
    OF_FLAGS = 13,
    OF_CLEARED = 41, /* no longer written */
    OF_DROPPED = 42,
    OF_THREAD = 44,
    OF_COMPRESSED = 50,
    OF_COUNTERS = 52,
    OF_RENDER_STAGE = 53,
    OF_CLOCK = 58,
    OF_DEFAULTS = 59,
    OF_TRACK = 60,
    OF_COMPRESSED_ZSTD = 133
};

enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

/* The fields of a packet other than its content. */
struct envelope {
    uint64_t timestamp;
    uint32_t sequence, clock;
    unsigned flags;
    bool has_timestamp, has_clock, dropped, compressed;
    bool has_state; /* one of the next three fields exists */
    struct protobuf interned, defaults, snapshot;
};

bool packets_open(struct packets *packets, const char *path, const struct protobuf_options *options,
                  struct failure *failure)
{
    *packets = (struct packets){.path = path};
    packets->file = protobuf_open(path, options, failure);
    return packets->file;
}

void packets_close(struct packets *packets)
{
    protobuf_close(packets->file);
    interned_free(&packets->interned);
    for (size_t i = 0; i < packets->sequence_count; i++)
        clocks_clear(&packets->sequences[i].clocks);
    clocks_clear(&packets->clock.all);
    memory_free(packets->sequences);
    table_clear(&packets->sequence_table);
    failure_clear(&packets->trouble);
    *packets = (struct packets){.path = NULL};
}

static uint64_t hash_of_id(uint32_t id)
{
    return hash_with(hash_key(), id);
}

static uint64_t hash_of_sequence(const void *packets, uint32_t i)
{
    return hash_of_id(((const struct packets *)packets)->sequences[i].id);
}

struct wanted_sequence {
    const struct packets *packets;
    uint32_t id;
};

static bool is_sequence(const void *wanted, uint32_t i)
{
    const struct wanted_sequence *of = wanted;
    return of->packets->sequences[i].id == of->id;
}

/* Finds the sequence of a packet, and adds new sequences. */
static bool find_sequence(struct packets *packets, uint32_t id, uint32_t *index,
                          struct failure *failure)
{
    struct wanted_sequence wanted = {packets, id};
    if (packets->last < packets->sequence_count && packets->sequences[packets->last].id == id) {
        *index = packets->last;
        return true;
    }
    if (!MEMORY_GROW(packets->sequences, packets->sequence_capacity, packets->sequence_count + 1) ||
        !table_reserve(&packets->sequence_table, packets->sequence_count, hash_of_sequence,
                       packets))
        return failure_memory(failure);
    uint32_t *slot = table_slot(&packets->sequence_table, hash_of_id(id), is_sequence, &wanted);
    if (!*slot) {
        if (packets->sequence_count == MOST_SEQUENCES)
            return failure_set(failure, FAILURE_DAMAGE, "more than 1,048,576 sequences");
        packets->sequences[packets->sequence_count++] =
            (struct packet_sequence){.id = id, .lost = true};
        *slot = (uint32_t)packets->sequence_count;
    }
    *index = packets->last = *slot - 1;
    return true;
}

/* Takes the content of a packet. */
static void take_content(struct packet *packet, enum packet_kind kind,
                         const struct protobuf_field *field)
{
    packet->kind = kind;
    packet->message = protobuf_inner(field);
}

/* Takes a field about the packet's sequence. */
static void take_part(struct envelope *envelope, struct protobuf *part,
                      const struct protobuf_field *field)
{
    envelope->has_state = true;
    *part = protobuf_inner(field);
}

static void read_bytes(struct envelope *envelope, struct packet *packet,
                       const struct protobuf_field *field)
{
    switch (field->number) {
    case OF_TRACK_EVENT:
        take_content(packet, PACKET_TRACK_EVENT, field);
        break;
    case OF_TRACK:
        take_content(packet, PACKET_TRACK, field);
        break;
    case OF_THREAD:
        take_content(packet, PACKET_THREAD, field);
        break;
    case OF_RENDER_STAGE:
        take_content(packet, PACKET_RENDER_STAGE, field);
        break;
    case OF_COUNTERS:
        take_content(packet, PACKET_COUNTERS, field);
        break;
    case OF_INTERNED:
        take_part(envelope, &envelope->interned, field);
        break;
    case OF_DEFAULTS:
        take_part(envelope, &envelope->defaults, field);
        break;
    case OF_CLOCK_SNAPSHOT:
        take_part(envelope, &envelope->snapshot, field);
        break;
    case OF_COMPRESSED:
    case OF_COMPRESSED_ZSTD:
        envelope->compressed = true;
        break;
    default:
        break;
    }
}

static void read_number(struct envelope *envelope, const struct protobuf_field *field)
{
    switch (field->number) {
    case OF_TIMESTAMP:
        envelope->timestamp = field->value;
        envelope->has_timestamp = true;
        break;
    case OF_SEQUENCE:
        envelope->sequence = (uint32_t)field->value;
        break;
    case OF_FLAGS:
        envelope->flags |= (unsigned)field->value;
        break;
    case OF_CLEARED:
        envelope->flags |= field->value ? FLAG_CLEARED : 0;
        break;
    case OF_DROPPED:
        envelope->dropped = field->value != 0;
        break;
    case OF_CLOCK:
        envelope->clock = (uint32_t)field->value;
        envelope->has_clock = true;
        break;
    default:
        break;
    }
}

/* Members of InternedData, and the location of their texts. */
static const struct {
    uint32_t field;
    enum interned_kind kind;
    uint32_t text, second; /* the first existing one of these two fields */
} interned_fields[] = {{1, INTERNED_CATEGORY, 2, 2},     {2, INTERNED_EVENT_NAME, 2, 2},
                       {3, INTERNED_ARG_NAME, 2, 2},     {29, INTERNED_ARG_TEXT, 2, 2},
                       {24, INTERNED_STAGE, 2, 2},       {1000, INTERNED_KERNEL, 3, 2},
                       {1001, INTERNED_LAUNCH_ARG, 2, 2}};

enum { INTERNED_COUNTERS_FIELD = 47 };

/* Keeps an entry with a number and a text. */
static bool take_text(struct packets *packets, uint32_t sequence, size_t which,
                      struct protobuf entry, struct failure *failure)
{
    struct interned_key key = {.sequence = sequence, .kind = interned_fields[which].kind};
    struct protobuf_field field, text = {.at = NULL};
    uint32_t id;
    while (protobuf_next(&entry, &field))
        if (field.number == 1 && field.type == PROTOBUF_VARINT)
            key.iid = field.value;
        else if (field.type == PROTOBUF_BYTES &&
                 (field.number == interned_fields[which].text ||
                  (field.number == interned_fields[which].second && !text.at)))
            text = field;
    return !text.at ||
           (interned_text(&packets->interned, text.at, (size_t)text.value, &id, failure) &&
            interned_put(&packets->interned, &key, id, 0, failure));
}

/* Keeps the names of a descriptor's counters. */
static bool take_counter(struct packets *packets, struct interned_key key, struct protobuf spec,
                         struct failure *failure)
{
    struct protobuf_field field;
    uint32_t id = NAME_NONE;
    while (protobuf_next(&spec, &field))
        if (field.number == 1 && field.type == PROTOBUF_VARINT)
            key.part = (uint32_t)field.value;
        else if (field.number == 2 && field.type == PROTOBUF_BYTES &&
                 !interned_text(&packets->interned, field.at, (size_t)field.value, &id, failure))
            return false;
    return interned_put(&packets->interned, &key, id, 0, failure);
}

static bool take_counters(struct packets *packets, struct interned_key key,
                          struct protobuf descriptor, struct failure *failure)
{
    struct protobuf_field field;
    bool done = true;
    key.kind = INTERNED_COUNTER;
    while (done && protobuf_next(&descriptor, &field))
        if (field.number == 1 && field.type == PROTOBUF_BYTES)
            done = take_counter(packets, key, protobuf_inner(&field), failure);
    return done;
}

/* Keeps a descriptor of counters, and its GPU. */
static bool take_descriptor(struct packets *packets, uint32_t sequence, struct protobuf entry,
                            struct failure *failure)
{
    struct interned_key key = {.sequence = sequence, .kind = INTERNED_DESCRIPTOR_GPU};
    struct protobuf_field field;
    struct protobuf descriptor = {.at = NULL};
    int32_t gpu = 0;
    while (protobuf_next(&entry, &field))
        if (field.number == 1 && field.type == PROTOBUF_VARINT)
            key.iid = field.value;
        else if (field.number == 2 && field.type == PROTOBUF_BYTES)
            descriptor = protobuf_inner(&field);
        else if (field.number == 3 && field.type == PROTOBUF_VARINT)
            gpu = (int32_t)(uint32_t)field.value;
    return interned_put(&packets->interned, &key, NAME_NONE, gpu, failure) &&
           take_counters(packets, key, descriptor, failure);
}

bool packets_take_counters(struct packets *packets, uint32_t sequence, struct protobuf descriptor,
                           struct failure *failure)
{
    return take_counters(packets, (struct interned_key){.sequence = sequence}, descriptor, failure);
}

static bool take_interned(struct packets *packets, uint32_t sequence, struct protobuf data,
                          struct failure *failure)
{
    enum { COUNT = sizeof interned_fields / sizeof *interned_fields };
    struct protobuf_field field;
    bool done = true;
    while (done && protobuf_next(&data, &field)) {
        size_t which = 0;
        if (field.type != PROTOBUF_BYTES)
            continue;
        while (which < COUNT && interned_fields[which].field != field.number)
            which++;
        if (which < COUNT)
            done = take_text(packets, sequence, which, protobuf_inner(&field), failure);
        else if (field.number == INTERNED_COUNTERS_FIELD)
            done = take_descriptor(packets, sequence, protobuf_inner(&field), failure);
    }
    return done;
}

static void take_defaults(struct packet_sequence *sequence, struct protobuf defaults)
{
    struct protobuf_field field, inner;
    sequence->clock = 0;
    sequence->has_track = false;
    while (protobuf_next(&defaults, &field))
        if (field.number == OF_CLOCK && field.type == PROTOBUF_VARINT) {
            sequence->clock = (uint32_t)field.value;
        } else if (field.number == OF_TRACK_EVENT && field.type == PROTOBUF_BYTES) {
            struct protobuf events = protobuf_inner(&field);
            while (protobuf_next(&events, &inner))
                if (inner.number == 11 && inner.type == PROTOBUF_VARINT) {
                    sequence->track = inner.value;
                    sequence->has_track = true;
                }
        }
}

/* Updates the state of a packet's sequence. */
static bool take_state(struct packets *packets, const struct envelope *envelope, uint32_t index,
                       struct failure *failure)
{
    struct packet_sequence *sequence = &packets->sequences[index];
    if (envelope->dropped) {
        sequence->lost = true;
        problem_add(&packets->problems, PROBLEM_PACKETS_LOST, protobuf_byte(packets->file));
    }
    if (envelope->flags & FLAG_CLEARED) {
        sequence->lost = false;
        sequence->clock = 0;
        sequence->has_track = false;
        if (!interned_clear_state(&packets->interned, index, failure))
            return false;
    }
    if (envelope->defaults.at)
        take_defaults(sequence, envelope->defaults);
    if (envelope->snapshot.at &&
        !clocks_take(&packets->clock, &sequence->clocks, envelope->snapshot))
        return failure_memory(failure);
    return !envelope->interned.at || take_interned(packets, index, envelope->interned, failure);
}

/* Parses the top-level fields of a packet; false if the message is broken. */
static bool read_envelope(struct protobuf message, struct envelope *envelope, struct packet *packet)
{
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.type == PROTOBUF_BYTES)
            read_bytes(envelope, packet, &field);
        else if (field.type == PROTOBUF_VARINT)
            read_number(envelope, &field);
    return !message.broken;
}

/* The number of events in a packet: one per counter. */
static int64_t events_of_packet(const struct packet *packet)
{
    struct protobuf message = packet->message;
    struct protobuf_field field;
    int64_t counters = 0;
    if (packet->kind != PACKET_COUNTERS)
        return 1;
    while (protobuf_next(&message, &field))
        counters += field.number == 2 && field.type == PROTOBUF_BYTES;
    return counters > 0 ? counters : 1;
}

/* Reads a time and the sequence `plain` at the start of a packet. Returns the byte after them; NULL
** if the packet starts differently. */
static inline const unsigned char *read_head(struct packets *packets, const unsigned char *at,
                                             const unsigned char *end, uint64_t *timestamp)
{
    enum { TIMESTAMP_KEY = OF_TIMESTAMP << 3, SEQUENCE_KEY = OF_SEQUENCE << 3, LOW = 4, BITS = 28 };
    const unsigned char *from = at;
    const bool goes_on = (at[1] & at[2] & at[3] & at[LOW]) >= 0x80; /* a long varint */
    uint64_t id;
    bool cut;
    if (*at != TIMESTAMP_KEY)
        return NULL;
    if (goes_on && packets->has_head &&
        memcmp(at + 1 + LOW, packets->head, sizeof packets->head) == 0) {
        *timestamp = packets->high | (uint64_t)(at[LOW] & 0x7f) << 21 |
                     (uint64_t)(at[3] & 0x7f) << 14 | (uint64_t)(at[2] & 0x7f) << 7 |
                     (at[1] & 0x7f);
        return at + 1 + LOW + sizeof packets->head;
    }
    if (!(at = protobuf_ten(at + 1, timestamp)) || *at != SEQUENCE_KEY ||
        !(at = protobuf_varint(at + 1, end, &id, &cut)) || id != packets->plain->id ||
        *timestamp > INT64_MAX)
        return NULL;
    packets->has_head = goes_on && at - from == 1 + LOW + sizeof packets->head;
    memcpy(packets->head, from + 1 + LOW, sizeof packets->head);
    packets->high = *timestamp >> BITS << BITS;
    return at;
}

/* Reads a packet in the most common form: only a time, the sequence `plain`, optional flags, and a
** track event, a stage or counters, in this order. False for any other packet. */
static inline __attribute__((always_inline)) bool
read_plain(struct packets *packets, const struct protobuf_field *field, struct packet *packet)
{
    enum {
        FLAGS_KEY = OF_FLAGS << 3,
        EVENT_KEY = OF_TRACK_EVENT << 3 | PROTOBUF_BYTES,
        STAGE_KEY = (OF_RENDER_STAGE & 15) << 3 | PROTOBUF_BYTES | 0x80,
        COUNTERS_KEY = (OF_COUNTERS & 15) << 3 | PROTOBUF_BYTES | 0x80,
        SECOND = OF_COUNTERS >> 4 /* second byte of both keys */
    };
    const unsigned char *at = field->at, *end = at + field->value;
    enum packet_kind kind;
    uint64_t timestamp, length;
    bool cut;
    if (!(at = read_head(packets, at, end, &timestamp)))
        return false;
    if (at[0] == FLAGS_KEY && at[1] == FLAG_NEEDS_STATE)
        at += 2;
    if (*at == EVENT_KEY)
        kind = PACKET_TRACK_EVENT;
    else if ((*at == STAGE_KEY || *at == COUNTERS_KEY) && at[1] == SECOND)
        kind = *at++ == STAGE_KEY ? PACKET_RENDER_STAGE : PACKET_COUNTERS;
    else
        return false;
    at = protobuf_varint(at + 1, end, &length, &cut);
    if (!at || at > end || length != (uint64_t)(end - at))
        return false;
    *packet = (struct packet){.kind = kind,
                              .message = protobuf_message(at, (size_t)length),
                              .ts = (int64_t)timestamp,
                              .event = packets->events,
                              .byte = protobuf_byte(packets->file),
                              .sequence = packets->last};
    packets->events += kind == PACKET_COUNTERS ? events_of_packet(packet) : 1;
    return true;
}

/* Reads a packet from memory. Returns 1; 0 for a skipped packet; -1 on failure. */
static __attribute__((noinline)) int read_packet(struct packets *packets,
                                                 const struct protobuf_field *field,
                                                 struct packet *packet, struct failure *failure)
{
    struct envelope envelope = {.flags = 0};
    *packet = (struct packet){
        .event = packets->events, .byte = protobuf_byte(packets->file), .ts = NUMBER_NONE};
    bool whole = read_envelope(protobuf_inner(field), &envelope, packet);
    packets->events += whole ? events_of_packet(packet) : 1;
    if (!whole) {
        problem_add(&packets->problems, PROBLEM_PACKET, packet->byte);
        packets->skipped++;
        return 0;
    }
    if (envelope.compressed)
        problem_add(&packets->problems, PROBLEM_PACKETS_PACKED, packet->byte);
    if (!find_sequence(packets, envelope.sequence, &packet->sequence, failure) ||
        ((envelope.has_state || envelope.dropped || (envelope.flags & FLAG_CLEARED)) &&
         !take_state(packets, &envelope, packet->sequence, failure)))
        return -1;
    struct packet_sequence *sequence = &packets->sequences[packet->sequence];
    if (envelope.has_timestamp)
        packet->ts =
            clocks_time(&packets->clock, &sequence->clocks,
                        envelope.has_clock ? envelope.clock : sequence->clock, envelope.timestamp);
    if (sequence->lost && (envelope.flags & FLAG_NEEDS_STATE)) {
        problem_add(&packets->problems, PROBLEM_STATE_LOST, packet->byte);
        packets->skipped++;
        return 0;
    }
    return 1;
}

bool packets_too_many(struct packets *packets, int64_t byte, struct failure *failure)
{
    if (failure->code != FAILURE_DAMAGE)
        return false;
    failure_clear(failure);
    packets->damaged = true;
    packets->plain = NULL;
    failure_at(&packets->trouble, FAILURE_DAMAGE, packets->path,
               "too many sequences or interned texts", byte);
    return true;
}

/* Loads the next packet into memory. PROTOBUF_END at the end. */
static enum protobuf_step next_packet(struct packets *packets, struct protobuf_field *field,
                                      struct failure *failure)
{
    for (;;) {
        enum protobuf_step step = protobuf_step(packets->file, field, failure);
        if (step != PROTOBUF_FIELD)
            return step;
        if (field->number != TRACE_PACKET || field->type != PROTOBUF_BYTES)
            continue;
        step = protobuf_take(packets->file, field, failure);
        if (step != PROTOBUF_END)
            return step;
        problem_add(&packets->problems, PROBLEM_TOO_LONG, protobuf_byte(packets->file));
        packets->events++;
        packets->skipped++;
    }
}

/* Notes whether read_plain() can read packets of the latest sequence. */
static void note_plain(struct packets *packets)
{
    const struct packet_sequence *sequence =
        packets->last < packets->sequence_count ? &packets->sequences[packets->last] : NULL;
    packets->plain = sequence && sequence->clock == 0 && !sequence->lost ? sequence : NULL;
    packets->has_head = false;
}

/* Like packets_next(), for any form of packet. `taken`: `field` already holds the first one. */
static __attribute__((noinline)) int next_of_any(struct packets *packets,
                                                 struct protobuf_field *field, bool taken,
                                                 struct packet *packet, struct failure *failure)
{
    int result = 0;
    while (result == 0 && !packets->damaged) {
        enum protobuf_step step = taken ? PROTOBUF_FIELD : next_packet(packets, field, failure);
        taken = false;
        if (step == PROTOBUF_END || step == PROTOBUF_FAILED)
            return step == PROTOBUF_END ? 0 : -1;
        if (step == PROTOBUF_DAMAGED) {
            packets->damaged = true;
            protobuf_take_trouble(packets->file, &packets->trouble);
            break;
        }
        result = read_packet(packets, field, packet, failure);
        note_plain(packets);
        if (result < 0 && !packets_too_many(packets, packet->byte, failure))
            return -1;
    }
    return packets->damaged ? 0 : result;
}

int packets_next(struct packets *packets, struct packet *packet, struct failure *failure)
{
    enum { PACKET_KEY = TRACE_PACKET << 3 | PROTOBUF_BYTES };
    struct protobuf_field field;
    bool taken = protobuf_take_next(packets->file, PACKET_KEY, &field);
    if (taken && packets->plain && read_plain(packets, &field, packet))
        return 1;
    return next_of_any(packets, &field, taken, packet, failure);
}

/* Messages of similar formats, such as a profile of XLA, have only lower fields. */
bool packets_are(const unsigned char *bytes, size_t length)
{
    struct protobuf_field field;
    uint64_t size, key;
    bool cut, control = false;
    const unsigned char *end = bytes + length;
    if (length < 2 || bytes[0] != (TRACE_PACKET << 3 | PROTOBUF_BYTES))
        return false;
    const unsigned char *at = protobuf_varint(bytes + 1, end, &size, &cut);
    if (!at || size == 0)
        return false;
    bool whole = size <= (uint64_t)(end - at);
    struct protobuf packet = protobuf_message(at, whole ? (size_t)size : (size_t)(end - at));
    bool own = protobuf_varint(at, packet.end, &key, &cut) && key >> 3 >= OF_TIMESTAMP;
    for (; at < packet.end; at++) /* a JSON line may start with these bytes, but not continue so */
        control = control || (*at < ' ' && *at != '\n' && *at != '\r' && *at != '\t');
    while (protobuf_next(&packet, &field))
        own = own || field.number >= OF_TIMESTAMP;
    return control && own && !(whole && packet.broken);
}
