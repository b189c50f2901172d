/*
** Turns GPU stages and counters into rows (U11).
*/
#include "gpu_event.h"
#include "perfetto_reading.h"
#include "text/ascii.h"

/* The fields read from a stage event. */
struct stage_reading {
    struct perfetto_row row;
    uint64_t id;
    struct event_key key; /* the stream comes from the extra data */
    bool is_old;          /* its names are by position and may be in the event itself */
};

/* Forms of event keys in this file. */
enum { STAGES = 1 << 10, OLD_STAGES = 1 << 11, COUNTERS = 1 << 12 };

/* Keeps the names from an old event's own specifications. */
static bool take_specifications(struct perfetto_reading *reading, const struct packet *packet,
                                struct protobuf message)
{
    enum { QUEUE = 2, STAGE = 3 };
    struct interned *interned = &reading->packets.interned;
    struct interned_key key = {.sequence = packet->sequence};
    struct protobuf_field field;
    uint64_t counts[2] = {0, 0};
    uint32_t id;
    while (protobuf_next(&message, &field)) {
        if ((field.number != QUEUE && field.number != STAGE) || field.type != PROTOBUF_BYTES)
            continue;
        struct extra_field description = extra_read(protobuf_inner(&field));
        key.kind = field.number == QUEUE ? INTERNED_OLD_QUEUE : INTERNED_OLD_STAGE;
        key.iid = counts[field.number == STAGE]++;
        if (description.name && (!interned_text(interned, description.name, description.name_length,
                                                &id, reading->failure) ||
                                 !interned_put(interned, &key, id, 0, reading->failure)))
            return false;
    }
    return true;
}

/* Skips extra data with other names. */
static inline void pass_extra(struct protobuf *message, struct named named)
{
    enum { KEY = STAGE_EXTRA << 3 | PROTOBUF_BYTES, NAME_KEY = 1 << 3 | PROTOBUF_BYTES };
    pass_named(message, KEY, NAME_KEY, named);
}

/* Notes a number among extra data. */
static void note_extra(struct stage_reading *stage, const struct protobuf_field *field)
{
    struct extra_field extra = extra_read(protobuf_inner(field));
    int64_t value;
    if (!extra.name || !extra.value)
        return;
    bool correlation = text_is(extra.name, extra.name_length, "correlation");
    if ((!correlation && !text_is(extra.name, extra.name_length, "stream id")) ||
        !number_integer(extra.value, extra.length, &value))
        return;
    if (correlation)
        stage->row.correlation = value;
    else
        stage->key.stream = value;
}

/* Notes the fields at the start of PyTorch's stages. */
static inline void note_head(struct stage_reading *stage, struct protobuf *message)
{
    uint64_t value;
    protobuf_number(message, STAGE_EVENT_ID << 3, &stage->id);
    if (protobuf_number(message, STAGE_DURATION << 3, &value))
        stage->row.dur = value <= INT64_MAX ? (int64_t)value : NUMBER_NONE;
    if (protobuf_number(message, STAGE_GPU << 3, &value))
        stage->key.gpu = (int32_t)(uint32_t)value;
    protobuf_number(message, STAGE_QUEUE << 3, &stage->key.track);
    protobuf_number(message, STAGE_STAGE << 3, &stage->key.cat);
}

/* Notes a field of a stage event. */
static inline bool note_field(struct perfetto_reading *reading, struct stage_reading *stage,
                              const struct protobuf_field *field)
{
    if (field->type == PROTOBUF_BYTES) {
        if (field->number == STAGE_EXTRA)
            note_extra(stage, field);
        stage->is_old = stage->is_old || field->number == STAGE_SPECIFICATIONS;
        return field->number != STAGE_NAME ||
               reading_name(reading, field->at, (size_t)field->value, &stage->row.name);
    }
    if (field->type != PROTOBUF_VARINT)
        return true;
    switch (field->number) {
    case STAGE_QUEUE:
        stage->key.track = field->value;
        break;
    case STAGE_STAGE:
        stage->key.cat = field->value;
        break;
    case STAGE_KERNEL:
        stage->key.kernel = field->value;
        break;
    case STAGE_NAME_IID:
        stage->key.name = field->value;
        break;
    case STAGE_DURATION:
        stage->row.dur = field->value <= INT64_MAX ? (int64_t)field->value : NUMBER_NONE;
        break;
    case STAGE_GPU:
        stage->key.gpu = (int32_t)(uint32_t)field->value;
        break;
    case STAGE_EVENT_ID:
        stage->id = field->value;
        break;
    case STAGE_OLD_QUEUE:
    case STAGE_OLD_STAGE:
        stage->is_old = true;
        break;
    default:
        break;
    }
    return true;
}

/* Rule 1: the category of a stage, from its name id. */
static bool category_of_stage(struct perfetto_reading *reading, uint32_t stage, uint32_t *cat)
{
    static const struct {
        const char *stage, *cat;
    } known[] = {{"Memcpy", "gpu_memcpy"},
                 {"Memset", "gpu_memset"},
                 {"Annotation", "gpu_user_annotation"},
                 {"EventRecord", "graph_event_node"},
                 {"HostNode", "graph_host_node"}};
    const char *found = "kernel";
    const struct name *name = stage == NAME_NONE ? NULL : &reading->file->names.items[stage];
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (text_is(name->text, name->length, known[i].stage))
            found = known[i].cat;
    return reading_name(reading, found, strlen(found), cat);
}

/* The lane and stream of a queue, from its name id. */
static bool lane_of(struct perfetto_reading *reading, int64_t gpu, uint32_t queue, uint32_t *index,
                    int64_t *stream)
{
    const struct name *names = reading->file->names.items;
    if (!lanes_number(&reading->lanes, LANE_QUEUE, (uint64_t)gpu, queue, index))
        return failure_memory(reading->failure);
    struct lane *lane = &reading->lanes.items[*index];
    if (lane->name == NAME_NONE && queue != NAME_NONE) {
        lane->name = queue;
        lane->stream = lane_stream(names[queue].text, names[queue].length);
    }
    if (lane->stream != NUMBER_NONE)
        *stream = lane->stream;
    return true;
}

/* Advances to the next extra datum that may name a process group. */
static bool next_extra(const struct perfetto_reading *reading, const struct packet *packet,
                       struct protobuf *message, struct arg_text *arg)
{
    struct protobuf_field field;
    (void)reading, (void)packet;
    for (;;) {
        pass_extra(message, named_of_groups);
        if (!protobuf_next(message, &field))
            return false;
        if (field.number != STAGE_EXTRA || field.type != PROTOBUF_BYTES)
            continue;
        struct extra_field extra = extra_read(protobuf_inner(&field));
        *arg = (struct arg_text){extra.name, extra.value, extra.name_length, extra.length};
        if (extra.name)
            return true;
    }
}

/* Takes the names in an old event itself, and the names of its queue and stage. */
static bool take_own_names(struct perfetto_reading *reading, const struct packet *packet,
                           uint32_t *queue, uint32_t *stage)
{
    struct protobuf message = packet->message;
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.number == STAGE_SPECIFICATIONS && field.type == PROTOBUF_BYTES &&
            !take_specifications(reading, packet, protobuf_inner(&field)))
            return false;
    message = packet->message;
    while (protobuf_next(&message, &field)) {
        bool is_queue = field.number == STAGE_OLD_QUEUE;
        if ((is_queue || field.number == STAGE_OLD_STAGE) && field.type == PROTOBUF_VARINT &&
            !reading_interned(reading, packet, is_queue ? INTERNED_OLD_QUEUE : INTERNED_OLD_STAGE,
                              field.value, is_queue ? queue : stage))
            return false;
    }
    return true;
}

/* Finds the kind of a stage. */
static bool tell_kind(struct perfetto_reading *reading, const struct packet *packet,
                      struct event_kind *kind)
{
    bool old = kind->key.form == OLD_STAGES;
    const struct event_key *key = &kind->key;
    uint32_t queue, stage, kernel, cat;
    int64_t stream = key->stream;
    if (!reading_kind_text(reading, packet, kind, INTERNED_STAGE, key->track, &queue) ||
        !reading_kind_text(reading, packet, kind, INTERNED_STAGE, key->cat, &stage) ||
        !reading_kind_text(reading, packet, kind, INTERNED_KERNEL, key->kernel, &kernel) ||
        !reading_kind_text(reading, packet, kind, INTERNED_EVENT_NAME, key->name, &kind->name) ||
        (old && !take_own_names(reading, packet, &queue, &stage)))
        return false;
    if (old)
        kind->version = 0;
    if (kind->name == NAME_NONE)
        kind->name = kernel != NAME_NONE ? kernel : stage;
    return category_of_stage(reading, stage, &cat) &&
           lane_of(reading, key->gpu, queue, &kind->lane, &stream) &&
           reading_place(reading, kind, cat, stream, 'X');
}

bool take_render_stage(struct perfetto_reading *reading, const struct packet *packet)
{
    const struct named named = {1u << (sizeof "correlation" - 1) | 1u << (sizeof "stream id" - 1),
                                'c', 's'};
    struct stage_reading stage;
    struct perfetto_row *row = &stage.row;
    struct protobuf message = packet->message;
    struct protobuf_field field;
    stage.row = (struct perfetto_row){.name = NAME_NONE,
                                      .ts = packet->ts,
                                      .dur = NUMBER_NONE,
                                      .correlation = NUMBER_NONE,
                                      .event = packet->event,
                                      .phase = 'X'};
    stage.key = (struct event_key){.stream = NUMBER_NONE, .sequence = packet->sequence};
    stage.id = 0;
    stage.is_old = false;
    note_head(&stage, &message);
    while (protobuf_next(&message, &field)) {
        if (!note_field(reading, &stage, &field))
            return false;
        if (field.type == PROTOBUF_BYTES)
            pass_extra(&message, named);
    }
    stage.key.form = stage.is_old ? OLD_STAGES : STAGES;
    struct event_kind *kind = reading_kind(reading, &stage.key);
    if (!kind->known && !tell_kind(reading, packet, kind))
        return false;
    if (row->name == NAME_NONE)
        row->name = kind->name;
    if (row->ts == NUMBER_NONE)
        problem_add(&reading->file->problems, PROBLEM_TIME, packet->byte);
    if (row->dur == NUMBER_NONE)
        problem_add(&reading->file->problems, PROBLEM_NO_DURATION, packet->byte);
    else
        row->dur = loading_duration(reading->file, row->ts, row->dur, packet->byte);
    return reading_add(reading, row, kind) &&
           reading_group(reading, packet, kind->category, next_extra) &&
           (row->correlation > 0 || stage.id == 0 || kind->category == CATEGORY_GPU_ANNOTATION ||
            reading_bond(reading, stage.id, BOND_SUBMISSION));
}

/* Finds the kind of a counter. */
static bool tell_counter(struct perfetto_reading *reading, struct interned_key named,
                         struct event_kind *kind)
{
    const struct interned *interned = &reading->packets.interned;
    const struct interned_item *counter, *descriptor;
    int64_t gpu = kind->key.gpu;
    named.kind = INTERNED_COUNTER;
    counter = interned_find(interned, &named);
    named.kind = INTERNED_DESCRIPTOR_GPU;
    named.part = 0;
    descriptor = interned_find(interned, &named);
    if (gpu < 0)
        gpu = descriptor ? descriptor->value : 0;
    if (counter && counter->text != NAME_NONE) {
        const struct name *name = &interned->texts.items[counter->text];
        if (!reading_name(reading, name->text, name->length, &kind->name))
            return false;
    }
    return (lanes_number(&reading->lanes, LANE_COUNTERS, (uint64_t)gpu, 0, &kind->lane) ||
            failure_memory(reading->failure)) &&
           reading_place(reading, kind, NAME_NONE, NUMBER_NONE, 'C');
}

bool take_gpu_counters(struct perfetto_reading *reading, const struct packet *packet)
{
    enum { DESCRIPTOR = 1, COUNTER, GPU, DESCRIPTOR_IID };
    struct packets *packets = &reading->packets;
    struct interned_key named = {.sequence = packet->sequence};
    struct perfetto_row row = {.ts = packet->ts,
                               .dur = NUMBER_NONE,
                               .correlation = NUMBER_NONE,
                               .event = packet->event,
                               .phase = 'C'};
    struct protobuf message = packet->message;
    struct protobuf_field field;
    int64_t gpu = -1;
    while (protobuf_next(&message, &field))
        if (field.number == DESCRIPTOR_IID && field.type == PROTOBUF_VARINT)
            named.iid = field.value;
        else if (field.number == GPU && field.type == PROTOBUF_VARINT)
            gpu = (int32_t)(uint32_t)field.value;
        else if (field.number == DESCRIPTOR && field.type == PROTOBUF_BYTES &&
                 !packets_take_counters(packets, packet->sequence, protobuf_inner(&field),
                                        reading->failure))
            return false;
    if (!reading->file->phases['C'])
        return true;
    message = packet->message;
    while (protobuf_next(&message, &field)) {
        if (field.number != COUNTER || field.type != PROTOBUF_BYTES)
            continue;
        named.part = counter_read(protobuf_inner(&field)).id;
        const struct event_key key = {.track = named.iid,
                                      .name = named.part,
                                      .gpu = gpu,
                                      .sequence = packet->sequence,
                                      .form = COUNTERS};
        struct event_kind *kind = reading_kind(reading, &key);
        if (!kind->known && !tell_counter(reading, named, kind))
            return false;
        row.name = kind->name;
        if (!reading_add(reading, &row, kind))
            return false;
        row.event++;
    }
    return true;
}
