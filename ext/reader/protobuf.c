#include "protobuf.h"

enum { GROUPS = 64 };

const unsigned char *protobuf_long_varint(const unsigned char *at, const unsigned char *end,
                                          uint64_t *value, bool *cut)
{
    enum { LAST_SHIFT = 63 };
    uint64_t read = 0;
    *cut = false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (end - at >= PROTOBUF_VARINT_LONGEST)
        return protobuf_ten(at, value);
#endif
    for (unsigned shift = 0; shift <= LAST_SHIFT; shift += 7) {
        if (at == end) {
            *cut = true;
            return NULL;
        }
        unsigned char byte = *at++;
        read |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if (shift == LAST_SHIFT && byte > 1)
                return NULL;
            *value = read;
            return at;
        }
    }
    return NULL;
}

static bool broken(struct protobuf *message)
{
    message->broken = true;
    message->at = message->end;
    return false;
}

/* Reads a field of any type. For a group, reads only the key. */
static bool read_field(struct protobuf *message, struct protobuf_field *field)
{
    enum { MOST = (1 << 29) - 1 };
    const unsigned char *at = message->at, *end = message->end;
    uint64_t key;
    bool cut;
    at = protobuf_varint(at, end, &key, &cut);
    if (!at || key >> 3 < 1 || key >> 3 > MOST)
        return broken(message);
    *field = (struct protobuf_field){.number = (uint32_t)(key >> 3),
                                     .type = (enum protobuf_type)(key & 7)};
    if (field->type == PROTOBUF_VARINT || field->type == PROTOBUF_BYTES) {
        at = protobuf_varint(at, end, &field->value, &cut);
        if (!at || (field->type == PROTOBUF_BYTES && field->value > (uint64_t)(end - at)))
            return broken(message);
        field->at = at;
        at += field->type == PROTOBUF_BYTES ? field->value : 0;
    } else if (field->type == PROTOBUF_FIXED64 || field->type == PROTOBUF_FIXED32) {
        size_t size = field->type == PROTOBUF_FIXED64 ? 8 : 4;
        if ((size_t)(end - at) < size)
            return broken(message);
        for (size_t i = 0; i < size; i++)
            field->value |= (uint64_t)at[i] << 8 * i;
        at += size;
    } else if (field->type > PROTOBUF_FIXED32) {
        return broken(message);
    }
    message->at = at;
    return true;
}

bool protobuf_other(struct protobuf *message, struct protobuf_field *field)
{
    uint32_t groups[GROUPS];
    size_t depth = 0;
    while (message->at < message->end) {
        if (!read_field(message, field))
            return false;
        if (field->type == PROTOBUF_GROUP) {
            if (depth == GROUPS)
                return broken(message);
            groups[depth++] = field->number;
        } else if (field->type == PROTOBUF_GROUP_END) {
            if (depth == 0 || groups[--depth] != field->number)
                return broken(message);
        } else if (depth == 0) {
            return true;
        }
    }
    return depth > 0 ? broken(message) : false;
}

bool protobuf_repeated(const struct protobuf_field *field, enum protobuf_type type,
                       struct protobuf *packed, uint64_t *value)
{
    bool cut;
    if (field->type == type && !packed->at) {
        *value = field->value;
        packed->at = packed->end = (const unsigned char *)"";
        return true;
    }
    if (field->type != PROTOBUF_BYTES)
        return false;
    if (!packed->at)
        *packed = protobuf_inner(field);
    size_t size = type == PROTOBUF_FIXED64 ? 8 : 4, left = (size_t)(packed->end - packed->at);
    if (type == PROTOBUF_VARINT) {
        const unsigned char *at = protobuf_varint(packed->at, packed->end, value, &cut);
        packed->at = at ? at : packed->end;
        return at;
    }
    if (left < size)
        return false;
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)packed->at[i] << 8 * i;
    packed->at += size;
    return true;
}
