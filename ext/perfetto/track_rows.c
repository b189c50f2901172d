/*
** Track events and descriptions of tracks as rows.
*/
#include "perfetto_reading.h"
#include "text/ascii.h"
#include "track_event.h"

/* What is read of a track event in one pass over its fields. */
struct event_reading {
    struct perfetto_row row;
    struct legacy_event legacy;
    uint64_t type, track, name_iid, cat_iid; /* 0: it does not say */
    struct protobuf_field name, cat;         /* texts; number 0: none */
    bool has_track;
    bool many;    /* there are several categories */
    bool is_sync; /* CUPTI's record of a synchronization */
    bool has_flows, has_submission;
    bool is_old; /* its time may be in it */
};

/* Passes over annotations that rows do not have, by the lengths of their names. */
static const unsigned char *pass_annotations(const struct protobuf *message)
{
    enum { KEY = EVENT_ANNOTATION << 3 | PROTOBUF_BYTES, NAME_KEY = 10 << 3 | PROTOBUF_BYTES };
    const uint32_t lengths = 1u << (sizeof "stream" - 1) | 1u << (sizeof "correlation" - 1) |
                             1u << (sizeof "cuda_sync_kind" - 1);
    return pass_named(message->at, message->end, KEY, NAME_KEY, lengths);
}

/* Notes what an annotation says that rows have. */
static void note_annotation(struct perfetto_reading *reading, const struct packet *packet,
                            struct event_reading *event, const struct protobuf_field *field)
{
    struct annotation_field annotation =
        annotation_read(&reading->packets, packet, protobuf_inner(field));
    const char *name = (const char *)annotation.name;
    if (!name)
        return;
    if (text_is(name, annotation.length, "correlation"))
        event->row.correlation = annotation_integer(&annotation.value);
    else if (text_is(name, annotation.length, "stream"))
        event->row.stream = annotation_integer(&annotation.value);
    else if (text_is(name, annotation.length, "cuda_sync_kind"))
        event->is_sync = true;
}

/* Notes a category, or the first of some. */
static void note_category(struct event_reading *event, const struct protobuf_field *field)
{
    struct protobuf packed = {.at = NULL};
    if (event->cat_iid != 0 || event->cat.number != 0)
        event->many = true;
    else if (field->number == EVENT_CATEGORY)
        event->cat = *field;
    else
        protobuf_repeated(field, PROTOBUF_VARINT, &packed, &event->cat_iid);
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
        if (bytes)
            event->name = *field;
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
            event->legacy = legacy_read(protobuf_inner(field));
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

/* The time of events of old writers, which is in them (ns). */
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

/* The lane of a track event. `track` is 0 if it does not say it. */
static bool lane_of(struct perfetto_reading *reading, const struct packet *packet, bool has_track,
                    uint64_t track, uint32_t *lane)
{
    const struct packet_sequence *sequence = &reading->packets.sequences[packet->sequence];
    if (!has_track)
        track = sequence->has_track ? sequence->track : 0;
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

/* Keeps what links an event: flows, and what it has submitted, unless that is `known` by a
** correlation. */
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

/* Keeps the process group of the last row, if it tells one. */
static bool take_group(struct perfetto_reading *reading, const struct packet *packet,
                       enum category category)
{
    struct trace_file *file = reading->file;
    size_t row = file->columns.count - 1;
    uint32_t values[GROUP_KEYS] = {NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE};
    struct protobuf message = packet->message;
    struct protobuf_field field;
    if (!groups_may(&reading->group_names, file, row, category, reading->failure))
        return reading->failure->code == FAILURE_NONE;
    while (protobuf_next(&message, &field)) {
        size_t length;
        if (field.number != EVENT_ANNOTATION || field.type != PROTOBUF_BYTES)
            continue;
        struct annotation_field annotation =
            annotation_read(&reading->packets, packet, protobuf_inner(&field));
        const char *text = annotation_text(&reading->packets, packet, &annotation.value, &length);
        for (int key = 0; text && annotation.name && key < GROUP_KEYS; key++)
            if (values[key] == NAME_NONE &&
                text_is((const char *)annotation.name, annotation.length, group_keys[key]) &&
                !text_is(text, length, "null") &&
                !reading_name(reading, text, length, &values[key]))
                return false;
    }
    return groups_add(file, row, category, values, reading->failure);
}

/* Keeps the External id of the last row, if it is an annotation that has one. */
static bool take_external(struct perfetto_reading *reading, const struct packet *packet,
                          enum category category)
{
    struct loading *loading = reading->loading;
    struct protobuf message = packet->message;
    struct protobuf_field field;
    if (category != CATEGORY_USER_ANNOTATION && category != CATEGORY_GPU_ANNOTATION)
        return true;
    while (protobuf_next(&message, &field)) {
        if (field.number != EVENT_ANNOTATION || field.type != PROTOBUF_BYTES)
            continue;
        struct annotation_field annotation =
            annotation_read(&reading->packets, packet, protobuf_inner(&field));
        int64_t id = annotation_integer(&annotation.value);
        if (!annotation.name || id == NUMBER_NONE ||
            !text_is((const char *)annotation.name, annotation.length, "External id"))
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

/* Joins several categories by commas. */
static bool join_categories(struct perfetto_reading *reading, const struct packet *packet,
                            uint32_t *cat)
{
    char joined[256];
    size_t length = 0;
    struct protobuf message = packet->message;
    struct protobuf_field field;
    while (protobuf_next(&message, &field)) {
        struct protobuf packed = {.at = NULL};
        uint64_t iid;
        bool text = field.number == EVENT_CATEGORY && field.type == PROTOBUF_BYTES;
        if (!text && (field.number != EVENT_CATEGORY_IID ||
                      !protobuf_repeated(&field, PROTOBUF_VARINT, &packed, &iid)))
            continue;
        const struct name *name =
            text ? NULL : packet_text(&reading->packets, packet, INTERNED_CATEGORY, iid);
        const void *from = text ? (const void *)field.at : name ? name->text : NULL;
        size_t count = text ? (size_t)field.value : name ? name->length : 0;
        if (!from || count + 1 > sizeof joined - length)
            continue;
        if (length > 0)
            joined[length++] = ',';
        memcpy(joined + length, from, count);
        length += count;
    }
    return length == 0 || reading_name(reading, joined, length, cat);
}

/* Finds the name and the category of an event. */
static bool find_names(struct perfetto_reading *reading, const struct packet *packet,
                       struct event_reading *event)
{
    struct perfetto_row *row = &event->row;
    uint64_t name = event->name_iid ? event->name_iid : event->legacy.name_iid;
    bool done = true;
    if (row->phase == 'C') /* it has the name of its track */
        row->name = reading->lanes.items[row->lane].name;
    else if (event->name.number != 0)
        done = reading_name(reading, event->name.at, (size_t)event->name.value, &row->name);
    else if (name != 0)
        done = reading_interned(reading, packet, INTERNED_EVENT_NAME, name, &row->name);
    if (!done)
        return false;
    if (event->many)
        return join_categories(reading, packet, &row->cat);
    if (event->cat.number != 0)
        return reading_name(reading, event->cat.at, (size_t)event->cat.value, &row->cat);
    if (event->cat_iid != 0)
        return reading_interned(reading, packet, INTERNED_CATEGORY, event->cat_iid, &row->cat);
    return !event->is_sync || reading_name(reading, "cuda_sync", strlen("cuda_sync"), &row->cat);
}

/* Adds the row of an event, and what is known of it besides. */
static bool add_event(struct perfetto_reading *reading, const struct packet *packet,
                      struct event_reading *event)
{
    struct perfetto_row *row = &event->row;
    enum category category;
    bool added;
    if (!find_names(reading, packet, event) || !reading_add(reading, row, &added, &category))
        return false;
    if (!added || row->phase != 'X')
        return true;
    if (!take_external(reading, packet, category) || !take_group(reading, packet, category) ||
        ((event->has_flows || (event->has_submission && row->correlation <= 0)) &&
         !take_bonds(reading, packet->message, row->correlation > 0)))
        return false;
    return event->legacy.phase == 'X' || slices_begin(&reading->slices, row->lane, reading->loading,
                                                      &reading->packets, packet, row->ts);
}

/* Takes an event that is just the end of a slice and its track; `*is` tells. */
static bool take_plain_end(struct perfetto_reading *reading, const struct packet *packet, bool *is)
{
    enum { TYPE_KEY = EVENT_TYPE << 3, TRACK_KEY = EVENT_TRACK << 3 };
    const unsigned char *at = packet->message.at, *end = packet->message.end;
    uint64_t track;
    uint32_t lane;
    bool cut;
    *is = end - at > 3 && at[0] == TYPE_KEY && at[1] == TYPE_SLICE_END && at[2] == TRACK_KEY &&
          protobuf_varint(at + 3, end, &track, &cut) == end && packet->ts != NUMBER_NONE;
    return !*is || (lane_of(reading, packet, true, track, &lane) &&
                    slices_end(&reading->slices, lane, reading->loading, &reading->packets, packet,
                               packet->ts));
}

bool take_track_event(struct perfetto_reading *reading, const struct packet *packet)
{
    struct packet_sequence *sequence = &reading->packets.sequences[packet->sequence];
    bool is_end;
    if (!take_plain_end(reading, packet, &is_end))
        return false;
    if (is_end)
        return true;
    struct protobuf message = packet->message;
    struct protobuf_field field;
    struct event_reading event = {.row = {.cat = NAME_NONE,
                                          .name = NAME_NONE,
                                          .ts = packet->ts,
                                          .dur = NUMBER_NONE,
                                          .correlation = NUMBER_NONE,
                                          .stream = NUMBER_NONE,
                                          .event = packet->event},
                                  .legacy = {.duration = NUMBER_NONE}};
    while (protobuf_next(&message, &field)) {
        note_field(reading, packet, &event, &field);
        message.at = pass_annotations(&message);
    }
    struct perfetto_row *row = &event.row;
    row->phase = track_event_phase(event.type, &event.legacy);
    if (row->phase == 0)
        return true;
    if (row->ts == NUMBER_NONE && event.is_old)
        row->ts = old_time(sequence, packet->message);
    if (row->ts == NUMBER_NONE && (row->phase == 'X' || row->phase == 'E'))
        problem_add(&reading->file->problems, PROBLEM_TIME, packet->byte);
    if (!lane_of(reading, packet, event.has_track, event.track, &row->lane))
        return false;
    if (row->phase == 'E')
        return slices_end(&reading->slices, row->lane, reading->loading, &reading->packets, packet,
                          row->ts);
    if (event.legacy.phase == 'X' && event.legacy.duration != NUMBER_NONE)
        row->dur = loading_duration(reading->file, row->ts, event.legacy.duration, packet->byte);
    return add_event(reading, packet, &event);
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
