#include "gpu_event.h"

struct extra_field extra_read(struct protobuf message)
{
    enum { NAME = 1, VALUE };
    struct extra_field extra = {.name = NULL};
    struct protobuf_field field;
    protobuf_bytes(&message, NAME << 3 | PROTOBUF_BYTES, &extra.name, &extra.name_length);
    protobuf_bytes(&message, VALUE << 3 | PROTOBUF_BYTES, &extra.value, &extra.length);
    while (protobuf_next(&message, &field))
        if (field.type != PROTOBUF_BYTES) {
            continue;
        } else if (field.number == NAME) {
            extra.name = field.at;
            extra.name_length = (size_t)field.value;
        } else if (field.number == VALUE) {
            extra.value = field.at;
            extra.length = (size_t)field.value;
        }
    return extra;
}

struct counter_field counter_read(struct protobuf message)
{
    enum { ID = 1, INTEGER, DOUBLE };
    struct counter_field counter = {.id = 0};
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.number == ID && field.type == PROTOBUF_VARINT)
            counter.id = (uint32_t)field.value;
        else if ((field.number == INTEGER && field.type == PROTOBUF_VARINT) ||
                 (field.number == DOUBLE && field.type == PROTOBUF_FIXED64))
            counter.value = field;
    return counter;
}
