/*
** Stages of a GPU's work, and its counters, as rows.
*/
#include "gpu_event.h"
#include "perfetto_reading.h"
#include "text/ascii.h"

/* What is read of the event of a stage. */
struct stage_reading {
    struct perfetto_row row;
    uint64_t id;
    int64_t gpu;
    uint32_t queue, stage, kernel; /* ids of names */
    int64_t stream;                /* as extra data say it */
    bool is_old;                   /* its names are by position, and may be in it */
};

/* Keeps the names that an old event itself specifies. */
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

/* Passes over extra data that rows do not have, by the lengths of their names. */
static const unsigned char *pass_extra(const struct protobuf *message)
{
    enum { KEY = STAGE_EXTRA << 3 | PROTOBUF_BYTES, NAME_KEY = 1 << 3 | PROTOBUF_BYTES };
    const uint32_t lengths = 1u << (sizeof "correlation" - 1) | 1u << (sizeof "stream id" - 1);
    return pass_named(message->at, message->end, KEY, NAME_KEY, lengths);
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
        !number_integer((const unsigned char *)extra.value, extra.length, &value))
        return;
    if (correlation)
        stage->row.correlation = value;
    else
        stage->stream = value;
}

/* Notes a field of the event of a stage. */
static bool note_field(struct perfetto_reading *reading, const struct packet *packet,
                       struct stage_reading *stage, const struct protobuf_field *field)
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
        return reading_interned(reading, packet, INTERNED_STAGE, field->value, &stage->queue);
    case STAGE_STAGE:
        return reading_interned(reading, packet, INTERNED_STAGE, field->value, &stage->stage);
    case STAGE_KERNEL:
        return reading_interned(reading, packet, INTERNED_KERNEL, field->value, &stage->kernel);
    case STAGE_NAME_IID:
        return reading_interned(reading, packet, INTERNED_EVENT_NAME, field->value,
                                &stage->row.name);
    case STAGE_DURATION:
        stage->row.dur = field->value <= INT64_MAX ? (int64_t)field->value : NUMBER_NONE;
        break;
    case STAGE_GPU:
        stage->gpu = (int32_t)(uint32_t)field->value;
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

/* Rule 1. */
static bool category_of_stage(struct perfetto_reading *reading, struct stage_reading *stage)
{
    static const struct {
        const char *stage, *cat;
    } known[] = {{"Memcpy", "gpu_memcpy"},
                 {"Memset", "gpu_memset"},
                 {"Annotation", "gpu_user_annotation"},
                 {"EventRecord", "graph_event_node"},
                 {"HostNode", "graph_host_node"}};
    const char *cat = "kernel";
    const struct name *name =
        stage->stage == NAME_NONE ? NULL : &reading->file->names.items[stage->stage];
    if (reading->has_stage && reading->stage == stage->stage) {
        stage->row.cat = reading->stage_cat;
        return true;
    }
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (text_is(name->text, name->length, known[i].stage))
            cat = known[i].cat;
    if (!reading_name(reading, cat, strlen(cat), &stage->row.cat))
        return false;
    reading->has_stage = true;
    reading->stage = stage->stage;
    reading->stage_cat = stage->row.cat;
    return true;
}

/* The lane of a queue. */
static bool lane_of(struct perfetto_reading *reading, struct stage_reading *stage)
{
    const struct name *names = reading->file->names.items;
    if (!lanes_number(&reading->lanes, LANE_QUEUE, (uint64_t)stage->gpu, stage->queue,
                      &stage->row.lane))
        return failure_memory(reading->failure);
    struct lane *lane = &reading->lanes.items[stage->row.lane];
    if (lane->name == NAME_NONE && stage->queue != NAME_NONE) {
        lane->name = stage->queue;
        lane->stream = lane_stream(names[stage->queue].text, names[stage->queue].length);
    }
    stage->row.stream = lane->stream != NUMBER_NONE ? lane->stream : stage->stream;
    return true;
}

/* Keeps the process group of the last row, if extra data tell one. */
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
        if (field.number != STAGE_EXTRA || field.type != PROTOBUF_BYTES)
            continue;
        struct extra_field extra = extra_read(protobuf_inner(&field));
        for (int key = 0; extra.name && extra.value && key < GROUP_KEYS; key++)
            if (values[key] == NAME_NONE &&
                text_is(extra.name, extra.name_length, group_keys[key]) &&
                !text_is(extra.value, extra.length, "null") &&
                !reading_name(reading, extra.value, extra.length, &values[key]))
                return false;
    }
    return groups_add(file, row, category, values, reading->failure);
}

/* Takes the names that an old event has itself, and those of its queue and stage. */
static bool take_own_names(struct perfetto_reading *reading, const struct packet *packet,
                           struct stage_reading *stage)
{
    struct protobuf message = packet->message;
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.number == STAGE_SPECIFICATIONS && field.type == PROTOBUF_BYTES &&
            !take_specifications(reading, packet, protobuf_inner(&field)))
            return false;
    message = packet->message;
    while (protobuf_next(&message, &field)) {
        bool queue = field.number == STAGE_OLD_QUEUE;
        if ((queue || field.number == STAGE_OLD_STAGE) && field.type == PROTOBUF_VARINT &&
            !reading_interned(reading, packet, queue ? INTERNED_OLD_QUEUE : INTERNED_OLD_STAGE,
                              field.value, queue ? &stage->queue : &stage->stage))
            return false;
    }
    return true;
}

bool take_render_stage(struct perfetto_reading *reading, const struct packet *packet)
{
    struct stage_reading stage = {.row = {.cat = NAME_NONE,
                                          .name = NAME_NONE,
                                          .ts = packet->ts,
                                          .dur = NUMBER_NONE,
                                          .correlation = NUMBER_NONE,
                                          .stream = NUMBER_NONE,
                                          .event = packet->event,
                                          .phase = 'X'},
                                  .queue = NAME_NONE,
                                  .stage = NAME_NONE,
                                  .kernel = NAME_NONE,
                                  .stream = NUMBER_NONE};
    struct protobuf message = packet->message;
    struct protobuf_field field;
    enum category category;
    bool added;
    while (protobuf_next(&message, &field)) {
        if (!note_field(reading, packet, &stage, &field))
            return false;
        message.at = pass_extra(&message);
    }
    if (stage.is_old && !take_own_names(reading, packet, &stage))
        return false;
    if (stage.row.name == NAME_NONE)
        stage.row.name = stage.kernel != NAME_NONE ? stage.kernel : stage.stage;
    if (stage.row.ts == NUMBER_NONE)
        problem_add(&reading->file->problems, PROBLEM_TIME, packet->byte);
    if (stage.row.dur == NUMBER_NONE)
        problem_add(&reading->file->problems, PROBLEM_NO_DURATION, packet->byte);
    else
        stage.row.dur = loading_duration(reading->file, stage.row.ts, stage.row.dur, packet->byte);
    return category_of_stage(reading, &stage) && lane_of(reading, &stage) &&
           reading_add(reading, &stage.row, &added, &category) &&
           take_group(reading, packet, category) &&
           (stage.row.correlation > 0 || stage.id == 0 || category == CATEGORY_GPU_ANNOTATION ||
            reading_bond(reading, stage.id, BOND_SUBMISSION));
}

bool take_gpu_counters(struct perfetto_reading *reading, const struct packet *packet)
{
    enum { DESCRIPTOR = 1, COUNTER, GPU, DESCRIPTOR_IID };
    struct packets *packets = &reading->packets;
    struct interned_key key = {.sequence = packet->sequence};
    struct perfetto_row row = {.cat = NAME_NONE,
                               .ts = packet->ts,
                               .dur = NUMBER_NONE,
                               .correlation = NUMBER_NONE,
                               .stream = NUMBER_NONE,
                               .event = packet->event,
                               .phase = 'C'};
    struct protobuf message = packet->message;
    struct protobuf_field field;
    enum category category;
    int64_t gpu = -1;
    bool added;
    while (protobuf_next(&message, &field))
        if (field.number == DESCRIPTOR_IID && field.type == PROTOBUF_VARINT)
            key.iid = field.value;
        else if (field.number == GPU && field.type == PROTOBUF_VARINT)
            gpu = (int32_t)(uint32_t)field.value;
        else if (field.number == DESCRIPTOR && field.type == PROTOBUF_BYTES &&
                 !packets_take_counters(packets, packet->sequence, protobuf_inner(&field),
                                        reading->failure))
            return false;
    if (!reading->file->phases['C'])
        return true;
    key.kind = INTERNED_DESCRIPTOR_GPU;
    const struct interned_item *descriptor = interned_find(&packets->interned, &key);
    if (gpu < 0)
        gpu = descriptor ? descriptor->value : 0;
    if (!lanes_number(&reading->lanes, LANE_COUNTERS, (uint64_t)gpu, 0, &row.lane))
        return failure_memory(reading->failure);
    key.kind = INTERNED_COUNTER;
    message = packet->message;
    while (protobuf_next(&message, &field)) {
        if (field.number != COUNTER || field.type != PROTOBUF_BYTES)
            continue;
        key.part = counter_read(protobuf_inner(&field)).id;
        const struct interned_item *item = interned_find(&packets->interned, &key);
        row.name = NAME_NONE;
        if (item && item->text != NAME_NONE) {
            const struct name *name = &packets->interned.texts.items[item->text];
            if (!reading_name(reading, name->text, name->length, &row.name))
                return false;
        }
        if (!reading_add(reading, &row, &added, &category))
            return false;
        row.event++;
    }
    return true;
}
