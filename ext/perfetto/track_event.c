#include "track_event.h"

const struct name *packet_text(const struct packets *packets, const struct packet *packet,
                               enum interned_kind kind, uint64_t iid)
{
    struct interned_key key = {.iid = iid, .sequence = packet->sequence, .kind = kind};
    const struct interned_item *item = interned_find(&packets->interned, &key);
    return item && item->text != NAME_NONE ? &packets->interned.texts.items[item->text] : NULL;
}

static bool is_value(uint32_t number)
{
    return (number >= VALUE_BOOL && number <= VALUE_JSON) || number == VALUE_ENTRIES ||
           number == VALUE_ITEMS || number == VALUE_TEXT_IID;
}

struct annotation_field annotation_read(const struct packets *packets, const struct packet *packet,
                                        struct protobuf message)
{
    enum { NAME_IID = 1, NAME = 10 };
    struct annotation_field annotation = {.value = {.number = 0}};
    struct protobuf_field field;
    protobuf_bytes(&message, NAME << 3 | PROTOBUF_BYTES, &annotation.name, &annotation.length);
    while (protobuf_next(&message, &field)) {
        if (field.number == NAME && field.type == PROTOBUF_BYTES) {
            annotation.name = field.at;
            annotation.length = (size_t)field.value;
        } else if (field.number == NAME_IID && field.type == PROTOBUF_VARINT) {
            const struct name *name = packet_text(packets, packet, INTERNED_ARG_NAME, field.value);
            if (name) {
                annotation.name = (const unsigned char *)name->text;
                annotation.length = name->length;
            }
        } else if (annotation.value.number == 0 && is_value(field.number)) {
            annotation.value = field;
            if (annotation.name && field.number != VALUE_ENTRIES && field.number != VALUE_ITEMS)
                break;
        }
    }
    return annotation;
}

const char *annotation_text(const struct packets *packets, const struct packet *packet,
                            const struct protobuf_field *value, size_t *length)
{
    if (value->number == VALUE_TEXT && value->type == PROTOBUF_BYTES) {
        *length = (size_t)value->value;
        return (const char *)value->at;
    }
    if (value->number != VALUE_TEXT_IID || value->type != PROTOBUF_VARINT)
        return NULL;
    const struct name *text = packet_text(packets, packet, INTERNED_ARG_TEXT, value->value);
    *length = text ? text->length : 0;
    return text ? text->text : NULL;
}

int64_t annotation_integer(const struct protobuf_field *value)
{
    if (value->type == PROTOBUF_VARINT &&
        (value->number == VALUE_SIGNED ||
         (value->number == VALUE_UNSIGNED && value->value <= INT64_MAX)))
        return protobuf_signed(value);
    return NUMBER_NONE;
}

struct legacy_event legacy_read(struct protobuf message)
{
    enum { NAME_IID = 1, PHASE, DURATION_US };
    struct legacy_event legacy = {.duration = NUMBER_NONE};
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.type != PROTOBUF_VARINT)
            continue;
        else if (field.number == NAME_IID)
            legacy.name_iid = field.value;
        else if (field.number == PHASE && field.value < 0x7f)
            legacy.phase = (unsigned char)field.value;
        else if (field.number == DURATION_US &&
                 __builtin_mul_overflow(protobuf_signed(&field), 1000, &legacy.duration))
            legacy.duration = NUMBER_NONE;
    return legacy;
}

unsigned char track_event_phase(uint64_t type, unsigned char legacy)
{
    static const unsigned char phases[] = {[TYPE_SLICE_BEGIN] = 'X',
                                           [TYPE_SLICE_END] = 'E',
                                           [TYPE_INSTANT] = 'i',
                                           [TYPE_COUNTER] = 'C'};
    if (type > 0)
        return type < sizeof phases ? phases[type] : 0;
    if (legacy == 'B')
        return 'X';
    return legacy == 'I' || legacy == 'R' ? 'i' : legacy;
}
