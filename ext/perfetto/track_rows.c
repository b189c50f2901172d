/*
** Turns track events and track descriptions into rows.
*/
#include "perfetto_reading.h"
#include "text/ascii.h"
#include "track_event.h"

/* The fields read from a track event in one pass. */
struct event_reading {
    const unsigned char *name, *cat; /* texts; NULL: missing */
    size_t name_length, cat_length;
    uint64_t type, track, name_iid, cat_iid; /* 0: missing */
    int64_t dur, correlation, stream;        /* NUMBER_NONE */
    unsigned char legacy;                    /* phase from old writers; or 0 */
    bool has_track;
    bool many;    /* it has several categories */
    bool is_sync; /* a synchronization record of CUPTI */
    bool has_flows, has_submission;
    bool is_old; /* its time may be in the event itself */
};

/* Skips annotations with other names. */
static inline void pass_annotations(struct protobuf *message, struct named named)
{
    enum { KEY = EVENT_ANNOTATION << 3 | PROTOBUF_BYTES, NAME_KEY = 10 << 3 | PROTOBUF_BYTES };
    pass_named(message, KEY, NAME_KEY, named);
}

/* Notes an annotation that becomes a column of the row. */
static void note_annotation(struct perfetto_reading *reading, const struct packet *packet,
                            struct event_reading *event, const struct protobuf_field *field)
{
    struct annotation_field annotation =
        annotation_read(&reading->packets, packet, protobuf_inner(field));
    const unsigned char *name = annotation.name;
    if (!name)
        return;
    if (text_is(name, annotation.length, "correlation"))
        event->correlation = annotation_integer(&annotation.value);
    else if (text_is(name, annotation.length, "stream"))
        event->stream = annotation_integer(&annotation.value);
    else if (text_is(name, annotation.length, "cuda_sync_kind"))
        event->is_sync = true;
}

/* Notes a category, or the first of several (possibly packed) ones. */
static void note_category(struct event_reading *event, const struct protobuf_field *field)
{
    struct protobuf packed = {.at = NULL};
    if (event->cat_iid != 0 || event->cat) {
        event->many = true;
    } else if (field->number == EVENT_CATEGORY) {
        event->cat = field->at;
        event->cat_length = (size_t)field->value;
    } else {
        protobuf_repeated(field, PROTOBUF_VARINT, &packed, &event->cat_iid);
        event->many = packed.at < packed.end;
    }
}

static void note_legacy(struct event_reading *event, struct legacy_event legacy)
{
    event->legacy = legacy.phase;
    event->dur = legacy.duration;
    if (event->name_iid == 0)
        event->name_iid = legacy.name_iid;
}

/* Notes a field of a track event. */
static inline void note_field(struct perfetto_reading *reading, const struct packet *packet,
                              struct event_reading *event, const struct protobuf_field *field)
{
    bool number = field->type == PROTOBUF_VARINT, bytes = field->type == PROTOBUF_BYTES;
    switch (field->number) {
    case EVENT_TYPE:
        event->type = number ? field->value : 0;
        break;
    case EVENT_TRACK:
        event->track = field->value;
        event->has_track = number;
        break;
    case EVENT_NAME_IID:
        event->name_iid = number ? field->value : 0;
        break;
    case EVENT_NAME_TEXT:
        if (bytes) {
            event->name = field->at;
            event->name_length = (size_t)field->value;
        }
        break;
    case EVENT_CATEGORY_IID:
    case EVENT_CATEGORY:
        if (bytes || field->number == EVENT_CATEGORY_IID)
            note_category(event, field);
        break;
    case EVENT_ANNOTATION:
        if (bytes)
            note_annotation(reading, packet, event, field);
        break;
    case EVENT_LEGACY:
        if (bytes)
            note_legacy(event, legacy_read(protobuf_inner(field)));
        break;
    case EVENT_DELTA_US:
    case EVENT_ABSOLUTE_US:
        event->is_old = true;
        break;
    case EVENT_FLOW:
    case EVENT_FLOW_END:
    case EVENT_OLD_FLOW:
    case EVENT_OLD_FLOW_END:
        event->has_flows = true;
        break;
    case EVENT_SUBMISSION:
        event->has_submission = true;
        break;
    default:
        break;
    }
}

/* Notes the fields at the start of most events, in PyTorch's order. */
static inline void note_head(struct event_reading *event, struct protobuf *message)
{
    protobuf_number(message, EVENT_TYPE << 3, &event->type);
    event->has_track = protobuf_number(message, EVENT_TRACK << 3, &event->track);
    protobuf_number(message, EVENT_NAME_IID << 3, &event->name_iid);
    protobuf_number(message, EVENT_CATEGORY_IID << 3, &event->cat_iid);
}

/* The time inside events of old writers (ns). */
static int64_t old_time(struct packet_sequence *sequence, struct protobuf message)
{
    struct protobuf_field field;
    int64_t ns;
    while (protobuf_next(&message, &field)) {
        bool delta = field.number == EVENT_DELTA_US;
        if ((!delta && field.number != EVENT_ABSOLUTE_US) || field.type != PROTOBUF_VARINT ||
            __builtin_mul_overflow(protobuf_signed(&field), 1000, &ns) ||
            (delta && __builtin_add_overflow(ns, sequence->reference, &ns)))
            continue;
        if (delta)
            sequence->reference = ns;
        return ns;
    }
    return NUMBER_NONE;
}

/* The lane of a track event; track 0 stands for its sequence. */
static bool lane_of(struct perfetto_reading *reading, const struct packet *packet, uint64_t track,
                    uint32_t *lane)
{
    struct kept_lane *kept = &reading->tracks[track % LANES_KEPT];
    if (kept->index != 0 && kept->track == track && track != 0) {
        *lane = kept->index - 1;
        return true;
    }
    if (!(track != 0 ? lanes_number(&reading->lanes, LANE_TRACK, track, 0, lane)
                     : lanes_number(&reading->lanes, LANE_SEQUENCE, packet->sequence, 0, lane)))
        return failure_memory(reading->failure);
    *kept = (struct kept_lane){track, *lane + 1};
    return true;
}

/* Keeps the flows of an event, and its submission unless a correlation links it (`known`). */
static bool take_bonds(struct perfetto_reading *reading, struct protobuf message, bool known)
{
    struct protobuf_field field, inner;
    while (protobuf_next(&message, &field)) {
        bool old = field.number == EVENT_OLD_FLOW || field.number == EVENT_OLD_FLOW_END;
        struct protobuf packed = {.at = NULL};
        uint64_t id;
        if (old || field.number == EVENT_FLOW || field.number == EVENT_FLOW_END) {
            while (
                protobuf_repeated(&field, old ? PROTOBUF_VARINT : PROTOBUF_FIXED64, &packed, &id))
                if (!reading_bond(reading, id, BOND_FLOW))
                    return false;
        } else if (field.number == EVENT_SUBMISSION && field.type == PROTOBUF_BYTES && !known) {
            struct protobuf submission = protobuf_inner(&field);
            while (protobuf_next(&submission, &inner)) {
                packed = (struct protobuf){.at = NULL};
                while (inner.number == 1 &&
                       protobuf_repeated(&inner, PROTOBUF_VARINT, &packed, &id))
                    if (!reading_bond(reading, id, BOND_SUBMISSION))
                        return false;
            }
        }
    }
    return true;
}

/* Advances to the next annotation with a name. Never skips a name in the set. */
static bool next_annotation(const struct perfetto_reading *reading, const struct packet *packet,
                            struct protobuf *message, struct named named,
                            struct annotation_field *annotation)
{
    struct protobuf_field field;
    for (;;) {
        pass_annotations(message, named);
        if (!protobuf_next(message, &field))
            return false;
        if (field.number != EVENT_ANNOTATION || field.type != PROTOBUF_BYTES)
            continue;
        *annotation = annotation_read(&reading->packets, packet, protobuf_inner(&field));
        if (annotation->name)
            return true;
    }
}

/* Advances to the next annotation that may name a process group. */
static bool next_of_group(const struct perfetto_reading *reading, const struct packet *packet,
                          struct protobuf *message, struct arg_text *arg)
{
    struct annotation_field annotation;
    if (!next_annotation(reading, packet, message, named_of_groups, &annotation))
        return false;
    *arg = (struct arg_text){.name = annotation.name, .name_length = annotation.length};
    arg->text = annotation_text(&reading->packets, packet, &annotation.value, &arg->length);
    return true;
}

/* Keeps the External id of the last row, if it is an annotation with such an id. */
static bool take_external(struct perfetto_reading *reading, const struct packet *packet,
                          enum category category)
{
    const struct named named = {1u << (sizeof "External id" - 1), 'E', 'E'};
    struct loading *loading = reading->loading;
    struct protobuf message = packet->message;
    struct annotation_field annotation;
    if (category != CATEGORY_USER_ANNOTATION && category != CATEGORY_GPU_ANNOTATION)
        return true;
    while (next_annotation(reading, packet, &message, named, &annotation)) {
        int64_t id = annotation_integer(&annotation.value);
        if (id == NUMBER_NONE || !text_is(annotation.name, annotation.length, "External id"))
            continue;
        if (!MEMORY_GROW(loading->externals, loading->external_capacity,
                         loading->external_count + 1))
            return failure_memory(reading->failure);
        loading->externals[loading->external_count++] =
            (struct external){id, (uint32_t)(reading->file->columns.count - 1)};
        break;
    }
    return true;
}

/* Appends a category to the joined list. Overlong categories are left out and counted. */
static bool join(struct perfetto_reading *reading, const struct packet *packet, const void *text,
                 size_t length)
{
    struct joined *joined = &reading->joined;
    if (length + 1 > MOST_JOINED - joined->length) {
        problem_add(&reading->file->problems, PROBLEM_CATEGORIES, packet->byte);
        return true;
    }
    if (!MEMORY_GROW(joined->text, joined->capacity, joined->length + length + 1))
        return failure_memory(reading->failure);
    if (joined->length > 0)
        joined->text[joined->length++] = ',';
    if (length > 0)
        memcpy(joined->text + joined->length, text, length);
    joined->length += length;
    return true;
}

/* Joins several categories with commas. */
static bool join_categories(struct perfetto_reading *reading, const struct packet *packet,
                            uint32_t *cat)
{
    struct protobuf message = packet->message;
    struct protobuf_field field;
    uint64_t iid;
    reading->joined.length = 0;
    while (protobuf_next(&message, &field)) {
        struct protobuf packed = {.at = NULL};
        if (field.number == EVENT_CATEGORY && field.type == PROTOBUF_BYTES &&
            !join(reading, packet, field.at, (size_t)field.value))
            return false;
        while (field.number == EVENT_CATEGORY_IID &&
               protobuf_repeated(&field, PROTOBUF_VARINT, &packed, &iid)) {
            const struct name *name =
                packet_text(&reading->packets, packet, INTERNED_CATEGORY, iid);
            if (!name)
                problem_add(&reading->file->problems, PROBLEM_INTERNED, packet->byte);
            else if (!join(reading, packet, name->text, name->length))
                return false;
        }
    }
    return reading->joined.length == 0 || reading_joined(reading, cat);
}

/* Forms of event keys, combined with the phase. */
enum { SYNC = 1 << 8, OWN_CATEGORY = 1 << 9 };

/* Finds the kind of an event: its lane, its category, and the name from the sequence's texts. */
static bool tell_kind(struct perfetto_reading *reading, const struct packet *packet,
                      const struct event_reading *event, unsigned char phase,
                      struct event_kind *kind)
{
    uint32_t cat = NAME_NONE;
    const struct event_key *key = &kind->key;
    bool done = true;
    if (key->form & OWN_CATEGORY)
        kind->version = 0;
    if (event->many)
        done = join_categories(reading, packet, &cat);
    else if (event->cat)
        done = reading_name(reading, event->cat, event->cat_length, &cat);
    else if (key->form & SYNC)
        done = reading_name(reading, "cuda_sync", strlen("cuda_sync"), &cat);
    else
        done = reading_kind_text(reading, packet, kind, INTERNED_CATEGORY, key->cat, &cat);
    return done && lane_of(reading, packet, key->track, &kind->lane) &&
           reading_kind_text(reading, packet, kind, INTERNED_EVENT_NAME, key->name, &kind->name) &&
           reading_place(reading, kind, cat, key->stream, phase);
}

/* Adds the row of an event and the data that belongs to it. */
static bool add_event(struct perfetto_reading *reading, const struct packet *packet,
                      const struct event_reading *event, struct perfetto_row *row)
{
    struct event_key key = {.track = event->track,
                            .name = event->name_iid,
                            .stream = event->stream,
                            .sequence = packet->sequence,
                            .form = row->phase};
    if (row->phase == 'C' || event->name)
        key.name = 0;
    if (event->cat || event->many)
        key.form |= OWN_CATEGORY; /* this kind is not reused */
    else if (event->cat_iid != 0)
        key.cat = event->cat_iid;
    else if (event->is_sync)
        key.form |= SYNC;
    struct event_kind *kind = reading_kind(reading, &key);
    if (!kind->known && !tell_kind(reading, packet, event, row->phase, kind))
        return false;
    row->name = kind->name;
    if (row->phase == 'C') { /* at the end it is named after its track */
        row->name = NAME_NONE;
        reading->counters = true;
    } else if (event->name && !reading_name(reading, event->name, event->name_length, &row->name)) {
        return false;
    }
    if (!reading->file->phases[row->phase])
        return true;
    if (!reading_add(reading, row, kind))
        return false;
    if (row->phase != 'X')
        return true;
    if (!take_external(reading, packet, kind->category) ||
        !reading_group(reading, packet, kind->category, next_of_group) ||
        ((event->has_flows || (event->has_submission && row->correlation <= 0)) &&
         !take_bonds(reading, packet->message, row->correlation > 0)))
        return false;
    return event->legacy == 'X' || slices_begin(&reading->slices, kind->lane, reading->loading,
                                                &reading->packets, packet, row->ts);
}

/* Takes any event other than a plain slice end. */
static bool take_event(struct perfetto_reading *reading, const struct packet *packet)
{
    const struct named named = {1u << (sizeof "stream" - 1) | 1u << (sizeof "correlation" - 1) |
                                    1u << (sizeof "cuda_sync_kind" - 1),
                                's', 'c'};
    struct packet_sequence *sequence = &reading->packets.sequences[packet->sequence];
    struct protobuf message = packet->message;
    struct protobuf_field field;
    struct event_reading event = {
        .dur = NUMBER_NONE, .correlation = NUMBER_NONE, .stream = NUMBER_NONE};
    uint32_t lane;
    note_head(&event, &message);
    pass_annotations(&message, named);
    while (protobuf_next(&message, &field)) {
        note_field(reading, packet, &event, &field);
        pass_annotations(&message, named);
    }
    struct perfetto_row row = {.name = NAME_NONE,
                               .ts = packet->ts,
                               .dur = NUMBER_NONE,
                               .correlation = event.correlation,
                               .event = packet->event,
                               .phase = track_event_phase(event.type, event.legacy)};
    if (row.phase == 0)
        return true;
    if (!event.has_track)
        event.track = sequence->has_track ? sequence->track : 0;
    if (row.ts == NUMBER_NONE && event.is_old)
        row.ts = old_time(sequence, packet->message);
    if (row.ts == NUMBER_NONE && (row.phase == 'X' || row.phase == 'E'))
        problem_add(&reading->file->problems, PROBLEM_TIME, packet->byte);
    if (row.phase == 'E')
        return lane_of(reading, packet, event.track, &lane) &&
               slices_end(&reading->slices, lane, reading->loading, &reading->packets, packet,
                          row.ts);
    if (event.legacy == 'X' && event.dur != NUMBER_NONE)
        row.dur = loading_duration(reading->file, row.ts, event.dur, packet->byte);
    return add_event(reading, packet, &event, &row);
}

bool take_track_event(struct perfetto_reading *reading, const struct packet *packet)
{
    enum { TYPE_KEY = EVENT_TYPE << 3, TRACK_KEY = EVENT_TRACK << 3 };
    const unsigned char *at = packet->message.at, *end = packet->message.end;
    uint64_t track;
    uint32_t lane;
    bool cut;
    if (end - at <= 3 || at[0] != TYPE_KEY || at[1] != TYPE_SLICE_END || at[2] != TRACK_KEY ||
        protobuf_varint(at + 3, end, &track, &cut) != end || packet->ts == NUMBER_NONE)
        return take_event(reading, packet);
    return lane_of(reading, packet, track, &lane) &&
           slices_end(&reading->slices, lane, reading->loading, &reading->packets, packet,
                      packet->ts);
}

/* Reads the description of a thread or a process. */
static bool read_owner(struct perfetto_reading *reading, struct lane *lane, struct protobuf message,
                       bool thread)
{
    enum { PID = 1, TID = 2, THREAD_NAME = 5, PROCESS_NAME = 6 };
    struct protobuf_field field;
    lane->has_thread = lane->has_thread || thread;
    lane->has_process = lane->has_process || !thread;
    while (protobuf_next(&message, &field))
        if (field.number == PID && field.type == PROTOBUF_VARINT)
            lane->pid = (int32_t)(uint32_t)field.value;
        else if (thread && field.number == TID && field.type == PROTOBUF_VARINT)
            lane->tid = protobuf_signed(&field);
        else if (field.type == PROTOBUF_BYTES &&
                 field.number == (thread ? THREAD_NAME : PROCESS_NAME) &&
                 !reading_name(reading, field.at, (size_t)field.value,
                               thread ? &lane->name : &lane->process))
            return false;
    return true;
}

bool take_track(struct perfetto_reading *reading, const struct packet *packet)
{
    enum {
        UUID = 1,
        NAME,
        PROCESS,
        THREAD,
        PARENT,
        COUNTER = 8,
        STATIC_NAME = 10,
        ATRACE_NAME = 13
    };
    struct protobuf message = packet->message;
    struct protobuf_field field;
    uint64_t uuid = 0;
    uint32_t index;
    if (packet->kind == PACKET_THREAD) {
        struct packet_sequence *sequence = &reading->packets.sequences[packet->sequence];
        struct lane lane = {.name = NAME_NONE, .process = NAME_NONE};
        enum { REFERENCE_US = 6 };
        if (!read_owner(reading, &lane, message, true))
            return false;
        sequence->has_thread = true;
        sequence->pid = lane.pid;
        sequence->tid = lane.tid;
        while (protobuf_next(&message, &field))
            if (field.number == REFERENCE_US && field.type == PROTOBUF_VARINT &&
                __builtin_mul_overflow(protobuf_signed(&field), 1000, &sequence->reference))
                sequence->reference = 0;
        return true;
    }
    while (protobuf_next(&message, &field))
        if (field.number == UUID && field.type == PROTOBUF_VARINT)
            uuid = field.value;
    if (!lanes_number(&reading->lanes, LANE_TRACK, uuid, 0, &index))
        return failure_memory(reading->failure);
    struct lane *lane = &reading->lanes.items[index];
    message = packet->message;
    while (protobuf_next(&message, &field)) {
        bool bytes = field.type == PROTOBUF_BYTES, done = true;
        if (field.number == PARENT && field.type == PROTOBUF_VARINT)
            lane->parent = field.value;
        else if (bytes && (field.number == THREAD || field.number == PROCESS))
            done = read_owner(reading, lane, protobuf_inner(&field), field.number == THREAD);
        else if (bytes && field.number == COUNTER)
            lane->is_counter = true;
        else if (bytes && (field.number == NAME || field.number == STATIC_NAME ||
                           field.number == ATRACE_NAME))
            done = reading_name(reading, field.at, (size_t)field.value, &lane->name);
        if (!done)
            return false;
    }
    return true;
}
