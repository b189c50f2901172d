#include "xstats.h"

enum { EVENT_NAME_ID = 1, EVENT_OFFSET, EVENT_DURATION, EVENT_STAT, EVENT_OCCURRENCES };
enum { NAME_ID = 1, NAME_NAME, NAME_METADATA, NAME_SHOWN, NAME_STAT };
enum { STAT_KEY = 1 };

struct xstat xstat_read(const struct xspace *space, const struct xplane *plane,
                        struct protobuf message)
{
    struct xstat stat = {.message = message, .type = STAT_NOTHING};
    struct protobuf_field field;
    int64_t key = 0;
    while (protobuf_next(&message, &field)) {
        bool number = field.type == PROTOBUF_VARINT, bytes = field.type == PROTOBUF_BYTES;
        if (field.number == STAT_KEY && number) {
            key = protobuf_signed(&field);
        } else if ((field.number == STAT_DOUBLE && field.type == PROTOBUF_FIXED64) ||
                   ((field.number == STAT_UNSIGNED || field.number == STAT_SIGNED ||
                     field.number == STAT_REFERENCE) &&
                    number) ||
                   ((field.number == STAT_TEXT || field.number == STAT_BYTES) && bytes)) {
            stat.type = (enum stat_type)field.number;
            stat.value = field;
        }
    }
    stat.key = plane_stat_name(plane, key);
    if (stat.type == STAT_TEXT) {
        stat.text = (const char *)stat.value.at;
        stat.length = (size_t)stat.value.value;
    } else if (stat.type == STAT_REFERENCE) {
        const struct stat_name *name = plane_stat_name(plane, protobuf_signed(&stat.value));
        stat.text = name ? xspace_text(space, name->name) : NULL;
        stat.length = name ? name->name.length : 0;
    }
    return stat;
}

int64_t xstat_integer(const struct xstat *stat)
{
    int64_t value = NUMBER_NONE;
    if (stat->type == STAT_SIGNED ||
        (stat->type == STAT_UNSIGNED && stat->value.value <= INT64_MAX))
        return protobuf_signed(&stat->value);
    if (stat->text)
        number_integer((const unsigned char *)stat->text, stat->length, &value);
    return value;
}

struct xsaid xevent_read(struct protobuf *message)
{
    struct xsaid said = {.name = 0};
    struct protobuf_field field;
    while (protobuf_next(message, &field)) {
        if (field.type != PROTOBUF_VARINT)
            continue;
        switch (field.number) {
        case EVENT_NAME_ID:
            said.name = protobuf_signed(&field);
            break;
        case EVENT_OFFSET:
            said.offset = protobuf_signed(&field);
            said.occurrences = false;
            break;
        case EVENT_DURATION:
            said.duration = protobuf_signed(&field);
            break;
        case EVENT_OCCURRENCES: /* a oneof: the last field counts */
            said.occurrences = true;
            break;
        default:
            break;
        }
    }
    return said;
}

struct xsaid xname_read(struct protobuf *message)
{
    struct xsaid said = {.text = NULL};
    struct protobuf_field field, name = {.at = NULL}, shown = {.at = NULL};
    while (protobuf_next(message, &field))
        if (field.type == PROTOBUF_BYTES && field.number == NAME_NAME)
            name = field;
        else if (field.type == PROTOBUF_BYTES && field.number == NAME_SHOWN)
            shown = field;
    if (shown.value > 0)
        name = shown;
    said.text = name.at ? (const char *)name.at : "";
    said.length = (size_t)name.value;
    return said;
}

/* Advances to the next stat in a field with this number. */
static bool next_stat(const struct xevent *event, struct protobuf *message, uint32_t number,
                      struct xstat *stat)
{
    struct protobuf_field field;
    while (protobuf_next(message, &field))
        if (field.number == number && field.type == PROTOBUF_BYTES) {
            *stat = xstat_read(event->space, event->plane, protobuf_inner(&field));
            return true;
        }
    return false;
}

unsigned char *xstat_write_of_name(unsigned char *to, const struct xstat *stat)
{
    size_t length = (size_t)(stat->message.end - stat->message.at), rest = length;
    *to++ = NAME_STAT << 3 | PROTOBUF_BYTES;
    for (; rest >= 0x80; rest >>= 7)
        *to++ = (unsigned char)(rest | 0x80);
    *to++ = (unsigned char)rest;
    memcpy(to, stat->message.at, length);
    return to + length;
}

bool xstat_of_event(const struct xevent *event, struct protobuf *message, struct xstat *stat)
{
    return next_stat(event, message, EVENT_STAT, stat);
}

bool xstat_of_name(const struct xevent *event, struct protobuf *message, struct xstat *stat)
{
    return next_stat(event, message, NAME_STAT, stat);
}
