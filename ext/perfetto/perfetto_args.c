#include "perfetto_args.h"

#include "base/memory.h"
#include "gpu_event.h"
#include "json_text.h"
#include "lanes.h"
#include "text/ascii.h"
#include "text/mend.h"

enum {
    DEEPEST = 64, /* nesting limit of values */
    MOST_TEXT = 16 << 20 /* limit in bytes for args; values may repeat one long text many times */
};

struct perfetto_args {
    const struct trace_file *file; /* borrowed */
    struct packets packets;
    struct packet packet; /* the latest packet */
    struct json_text json;
};

void *perfetto_args_begin(const struct trace_file *file, const struct stopper *stopper,
                          struct failure *failure)
{
    struct perfetto_args *args = memory_zeroed(1, sizeof *args);
    struct protobuf_options options = {.stopper = *stopper, .by_zlib = file->by_zlib};
    if (!args) {
        failure_memory(failure);
        return NULL;
    }
    args->file = file;
    options.stopper.read = NULL; /* progress was reported the first time */
    if (packets_open(&args->packets, file->path, &options, failure) &&
        file_same(file, protobuf_identity(args->packets.file), failure))
        return args;
    perfetto_args_end(args);
    return NULL;
}

void perfetto_args_end(void *begun)
{
    struct perfetto_args *args = begun;
    if (!args)
        return;
    packets_close(&args->packets);
    memory_free(args->json.bytes);
    memory_free(args);
}

static void put_value(struct perfetto_args *args, const struct packet *packet,
                      struct protobuf annotation, int depth);

/* Writes the entries of an object or the items of an array from annotations. */
static void put_several(struct perfetto_args *args, const struct packet *packet,
                        struct protobuf message, uint32_t number, int depth)
{
    struct json_text *json = &args->json;
    struct protobuf_field field;
    json_put(json, number == VALUE_ENTRIES ? "{" : "[", 1);
    while (protobuf_next(&message, &field)) {
        if (field.number != number || field.type != PROTOBUF_BYTES)
            continue;
        struct protobuf inner = protobuf_inner(&field);
        if (number == VALUE_ENTRIES) {
            struct annotation_field entry = annotation_read(&args->packets, packet, inner);
            json_key(json, entry.name, entry.name ? entry.length : 0);
        } else {
            json_comma(json);
        }
        put_value(args, packet, inner, depth + 1);
    }
    json_put(json, number == VALUE_ENTRIES ? "}" : "]", 1);
}

/* Writes a value in the nested form of older writers. */
static void put_nested(struct json_text *json, struct protobuf message, int depth)
{
    enum { TYPE = 1, KEYS, VALUES, ITEMS, SIGNED, DOUBLE, BOOL, TEXT };
    enum { DICTIONARY = 1, ARRAY };
    struct protobuf keys = message, values = message;
    struct protobuf_field field, key = {.at = NULL}, value = {.number = 0};
    uint64_t type = 0;
    while (protobuf_next(&message, &field))
        if (field.number == TYPE && field.type == PROTOBUF_VARINT)
            type = field.value;
        else if (field.number >= SIGNED && field.number <= TEXT)
            value = field;
    if (type == DICTIONARY || type == ARRAY) {
        json_put(json, type == ARRAY ? "[" : "{", 1);
        while (depth < DEEPEST && protobuf_next(&values, &field)) {
            if (field.number != (type == ARRAY ? ITEMS : VALUES) || field.type != PROTOBUF_BYTES)
                continue;
            if (type == ARRAY) {
                json_comma(json);
            } else {
                bool there = false;
                while (!there && protobuf_next(&keys, &key))
                    there = key.number == KEYS && key.type == PROTOBUF_BYTES;
                json_key(json, key.at, there ? (size_t)key.value : 0);
            }
            put_nested(json, protobuf_inner(&field), depth + 1);
        }
        json_put(json, type == ARRAY ? "]" : "}", 1);
    } else if (value.number == SIGNED && value.type == PROTOBUF_VARINT) {
        json_signed(json, protobuf_signed(&value));
    } else if (value.number == DOUBLE && value.type == PROTOBUF_FIXED64) {
        json_double(json, protobuf_double(&value));
    } else if (value.number == BOOL && value.type == PROTOBUF_VARINT) {
        json_word(json, value.value ? "true" : "false");
    } else if (value.number == TEXT && value.type == PROTOBUF_BYTES) {
        json_quoted(json, value.at, (size_t)value.value);
    } else {
        json_word(json, "null");
    }
}

/* Writes a JSON value unchanged if it is strict JSON, otherwise as a string. */
static void put_json(struct json_text *json, const unsigned char *text, size_t length)
{
    struct json_text whole = {.bytes = NULL}; /* mend_json() needs an object around the value */
    size_t written = 0;
    if (json->full)
        return;
    json_word(&whole, "{\"\":");
    size_t head = whole.length;
    json_put(&whole, (const char *)text, length);
    json_put(&whole, "}", 1);
    unsigned char *mended = memory_allocate(whole.length * MEND_ROOM + 1);
    json->failed = json->failed || whole.failed || !mended;
    if (!json->failed) {
        if (mend_json((const unsigned char *)whole.bytes, whole.length, mended, &written) ==
            MEND_STRICT)
            json_put(json, (const char *)mended + head, written - head - 1);
        else
            json_quoted(json, text, length);
    }
    memory_free(mended);
    memory_free(whole.bytes);
}

/* Writes the value of an annotation. A missing value is an empty array, like in PyTorch's JSON. */
static void put_value(struct perfetto_args *args, const struct packet *packet,
                      struct protobuf annotation, int depth)
{
    struct json_text *json = &args->json;
    const struct protobuf_field value = annotation_read(&args->packets, packet, annotation).value;
    bool bytes = value.type == PROTOBUF_BYTES;
    size_t length;
    const char *text = annotation_text(&args->packets, packet, &value, &length);
    if (depth >= DEEPEST)
        json_word(json, "null");
    else if (value.number == 0)
        json_word(json, "[]");
    else if ((value.number == VALUE_ENTRIES || value.number == VALUE_ITEMS) && bytes)
        put_several(args, packet, annotation, value.number, depth);
    else if (value.number == VALUE_OLD_NESTED && bytes)
        put_nested(json, protobuf_inner(&value), depth);
    else if (value.number == VALUE_JSON && bytes)
        put_json(json, value.at, (size_t)value.value);
    else if (text)
        json_quoted(json, text, length);
    else if (value.number == VALUE_DOUBLE && value.type == PROTOBUF_FIXED64)
        json_double(json, protobuf_double(&value));
    else if (value.type != PROTOBUF_VARINT || value.number == VALUE_TEXT_IID)
        json_word(json, "null");
    else if (value.number == VALUE_BOOL)
        json_word(json, value.value ? "true" : "false");
    else if (value.number == VALUE_SIGNED)
        json_signed(json, protobuf_signed(&value));
    else
        json_unsigned(json, value.value);
}

/* Writes the value of a counter. It has no name, like in PyTorch's JSON. */
static void put_counter(struct json_text *json, const struct protobuf_field *value)
{
    json_key(json, "", 0);
    if (value->type == PROTOBUF_FIXED64)
        json_double(json, protobuf_double(value));
    else
        json_signed(json, protobuf_signed(value));
}

static void put_track_event(struct perfetto_args *args, const struct packet *packet)
{
    struct protobuf message = packet->message;
    struct protobuf_field field;
    while (protobuf_next(&message, &field)) {
        struct protobuf annotation = protobuf_inner(&field);
        if (field.number == EVENT_COUNTER || field.number == EVENT_COUNTER_DOUBLE)
            put_counter(&args->json, &field);
        if (field.number != EVENT_ANNOTATION || field.type != PROTOBUF_BYTES)
            continue;
        struct annotation_field read = annotation_read(&args->packets, packet, annotation);
        json_key(&args->json, read.name, read.name ? read.length : 0);
        put_value(args, packet, annotation, 0);
    }
}

/* Extra data with integer values, and Kineto's names for them in args. */
static const struct {
    const char *name, *key;
} integers[] = {{"device id", "device"},
                {"context id", "context"},
                {"stream id", "stream"},
                {"correlation", "correlation"},
                {"priority", "priority"},
                {"queued", "queued"},
                {"channel", "channel"},
                {"channel_type", "channel_type"},
                {"graph id", "graph id"},
                {"graph node id", "graph node id"},
                {"bytes", "bytes"},
                {"value", "value"},
                {"memory kind", "memory kind"},
                {"In msg nelems", "In msg nelems"},
                {"Out msg nelems", "Out msg nelems"},
                {"Group size", "Group size"},
                {"Rank", "Rank"},
                {"Src Rank", "Src Rank"},
                {"Dst Rank", "Dst Rank"},
                {"Seq", "Seq"}};

/* Writes extra data. `stream` comes from the queue; NUMBER_NONE if unknown. */
static void put_extra(struct json_text *json, const struct extra_field *extra, int64_t stream)
{
    const char *key = NULL;
    int64_t value;
    for (size_t i = 0; i < sizeof integers / sizeof *integers && !key; i++)
        if (text_is(extra->name, extra->name_length, integers[i].name))
            key = integers[i].key;
    if (!key || !number_integer(extra->value, extra->length, &value)) {
        json_key(json, extra->name, extra->name_length);
        json_quoted(json, extra->value, extra->length);
        return;
    }
    if (text_is(key, strlen(key), "stream") && stream != NUMBER_NONE && stream != value) {
        json_key(json, key, strlen(key)); /* graph work, displayed on another stream */
        json_signed(json, stream);
        key = "original_stream";
    }
    json_key(json, key, strlen(key));
    json_signed(json, value);
}

/* Writes the three dimensions of a grid or a block. */
static void put_three(struct json_text *json, const char *key, struct protobuf message)
{
    enum { DIMENSIONS = 3 };
    uint64_t values[DIMENSIONS] = {0, 0, 0};
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.type == PROTOBUF_VARINT && field.number <= DIMENSIONS)
            values[field.number - 1] = (uint32_t)field.value;
    json_key(json, key, strlen(key));
    json_put(json, "[", 1);
    for (int i = 0; i < DIMENSIONS; i++) {
        json_comma(json);
        json_unsigned(json, values[i]);
    }
    json_put(json, "]", 1);
}

/* Writes an arg of a launch. */
static void put_launch_arg(struct perfetto_args *args, const struct packet *packet,
                           struct protobuf message)
{
    enum { NAME_IID = 1, NAME, SIGNED, UNSIGNED, DOUBLE, TEXT, TEXT_IID };
    struct json_text *json = &args->json;
    struct protobuf_field field, value = {.number = 0};
    const char *name = NULL;
    size_t length = 0;
    while (protobuf_next(&message, &field)) {
        const struct name *interned =
            field.number == NAME_IID && field.type == PROTOBUF_VARINT
                ? packet_text(&args->packets, packet, INTERNED_LAUNCH_ARG, field.value)
                : NULL;
        if (interned || (field.number == NAME && field.type == PROTOBUF_BYTES)) {
            name = interned ? interned->text : (const char *)field.at;
            length = interned ? interned->length : (size_t)field.value;
        } else if (field.number >= SIGNED && field.number <= TEXT) {
            value = field;
        }
    }
    if (!name || value.number == 0)
        return;
    if (text_is(name, length, "registers_per_thread"))
        json_key(json, "registers per thread", strlen("registers per thread"));
    else
        json_key(json, name, length);
    if (value.type == PROTOBUF_FIXED64)
        json_double(json, protobuf_double(&value));
    else if (value.type == PROTOBUF_BYTES)
        json_quoted(json, value.at, (size_t)value.value);
    else if (value.number == SIGNED)
        json_signed(json, protobuf_signed(&value));
    else
        json_unsigned(json, value.value);
}

static void put_launch(struct perfetto_args *args, const struct packet *packet,
                       struct protobuf message)
{
    enum { GRID = 1, BLOCK, ARG };
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.type != PROTOBUF_BYTES)
            continue;
        else if (field.number == ARG)
            put_launch_arg(args, packet, protobuf_inner(&field));
        else if (field.number == GRID || field.number == BLOCK)
            put_three(&args->json, field.number == GRID ? "grid" : "block", protobuf_inner(&field));
}

static void put_stage(struct perfetto_args *args, const struct packet *packet)
{
    struct protobuf message = packet->message;
    struct protobuf_field field;
    int64_t stream = NUMBER_NONE;
    while (protobuf_next(&message, &field))
        if (field.number == STAGE_QUEUE && field.type == PROTOBUF_VARINT) {
            const struct name *queue =
                packet_text(&args->packets, packet, INTERNED_STAGE, field.value);
            stream = queue ? lane_stream(queue->text, queue->length) : NUMBER_NONE;
        }
    message = packet->message;
    while (protobuf_next(&message, &field)) {
        if (field.type != PROTOBUF_BYTES)
            continue;
        struct extra_field extra = {.name = NULL};
        if (field.number == STAGE_EXTRA)
            extra = extra_read(protobuf_inner(&field));
        if (extra.name && extra.value)
            put_extra(&args->json, &extra, stream);
        else if (field.number == STAGE_LAUNCH)
            put_launch(args, packet, protobuf_inner(&field));
    }
}

/* Writes the args of counter number `index` in a packet. */
static void put_gpu_counter(struct perfetto_args *args, const struct packet *packet, int64_t index)
{
    enum { COUNTER = 2 };
    struct protobuf message = packet->message;
    struct protobuf_field field;
    while (protobuf_next(&message, &field)) {
        if (field.number != COUNTER || field.type != PROTOBUF_BYTES || index-- > 0)
            continue;
        struct counter_field counter = counter_read(protobuf_inner(&field));
        if (counter.value.number != 0)
            put_counter(&args->json, &counter.value);
        break;
    }
}

bool perfetto_args_next(void *begun, int64_t event, struct token *text, struct failure *failure)
{
    static const char padding[SCAN_PADDING];
    struct perfetto_args *args = begun;
    struct json_text *json = &args->json;
    const struct packet *packet = &args->packet;
    while (args->packets.events <= event) { /* a packet may hold several events */
        int result = packets_next(&args->packets, &args->packet, failure);
        if (result <= 0)
            return result < 0 ? false : file_changed(args->file, failure);
    }
    if (packet->event > event)
        return file_changed(args->file, failure);
    json->length = 0;
    json->most = MOST_TEXT;
    json->full = false;
    json_put(json, "{", 1);
    if (packet->kind == PACKET_TRACK_EVENT)
        put_track_event(args, packet);
    else if (packet->kind == PACKET_RENDER_STAGE)
        put_stage(args, packet);
    else if (packet->kind == PACKET_COUNTERS)
        put_gpu_counter(args, packet, event - packet->event);
    bool some = json->length > 1 && !json->full;
    json->most = 0;
    json->full = false;
    json_put(json, "}", 1);
    size_t length = json->length;
    json_put(json, padding, sizeof padding);
    if (json->failed)
        return failure_memory(failure);
    *text = (struct token){(const unsigned char *)json->bytes, some ? length : 0,
                           some ? TOKEN_NESTED : TOKEN_NONE};
    return true;
}
