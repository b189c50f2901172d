#include "xspace.h"

#include "base/memory.h"
#include "base/sort.h"
#include "text/ascii.h"

enum { SPACE_PLANE = 1, SPACE_HOST = 4 };
enum { PLANE_ID = 1, PLANE_NAME, PLANE_LINE, PLANE_EVENT_NAME, PLANE_STAT_NAME, PLANE_STAT };
enum {
    LINE_ID = 1,
    LINE_NAME,
    LINE_TIMESTAMP,
    LINE_EVENT,
    LINE_DISPLAY_ID = 10,
    LINE_DISPLAY_NAME
};
enum { ENTRY_KEY = 1, ENTRY_VALUE };
enum { STAT_NAME_ID = 1, STAT_NAME_NAME };

static bool starts(const struct xspace *space, struct kept_bytes span, const char *with)
{
    const char *text = xspace_text(space, span);
    return begins(text, text + span.length, with);
}

static bool is(const struct xspace *space, struct kept_bytes span, const char *text)
{
    return text_is(xspace_text(space, span), span.length, text);
}

/* Stops reading because of damage. Always returns false. */
static bool damage(struct xspace *space)
{
    space->damaged = true;
    protobuf_take_trouble(space->file, &space->trouble);
    return false;
}

/* Counts kept bytes (rule 5). */
static bool count_kept(struct xspace *space, size_t bytes)
{
    space->memory += bytes;
    if (space->memory <= MOST_KEPT)
        return true;
    space->damaged = true;
    return failure_at(&space->trouble, FAILURE_DAMAGE, space->path,
                      "more than 256 MiB of names before a field that begins",
                      protobuf_byte(space->file));
}

static bool keep(struct xspace *space, const void *bytes, size_t length, struct kept_bytes *span,
                 struct failure *failure)
{
    if (!count_kept(space, length))
        return false;
    if (!MEMORY_GROW(space->kept, space->kept_capacity, space->kept_length + length + 1))
        return failure_memory(failure);
    if (length > 0)
        memcpy(space->kept + space->kept_length, bytes, length);
    *span = (struct kept_bytes){space->kept_length, length};
    space->kept_length += length;
    return true;
}

/* Takes the bytes of the current field. False on failure and damage. An overlong field is empty,
** and counted as a problem. */
static bool take(struct xspace *space, struct protobuf_field *field, struct failure *failure)
{
    enum protobuf_step step = protobuf_take(space->file, field, failure);
    if (step == PROTOBUF_END) {
        problem_add(&space->problems, PROBLEM_TOO_LONG, protobuf_byte(space->file));
        field->value = 0;
        field->at = (const unsigned char *)"";
    }
    return step == PROTOBUF_FIELD || step == PROTOBUF_END ||
           (step == PROTOBUF_DAMAGED && damage(space));
}

static bool take_text(struct xspace *space, struct protobuf_field *field, struct kept_bytes *span,
                      struct failure *failure)
{
    return take(space, field, failure) &&
           keep(space, field->at, (size_t)field->value, span, failure);
}

/* Advances to the next field. 1; 0 at the end of the message; -1 on failure and damage. */
static int next_field(struct xspace *space, struct protobuf_field *field, struct failure *failure)
{
    switch (protobuf_step(space->file, field, failure)) {
    case PROTOBUF_FIELD:
        return 1;
    case PROTOBUF_END:
        return 0;
    case PROTOBUF_DAMAGED:
        damage(space);
        return -1;
    case PROTOBUF_FAILED:
        break;
    }
    return -1;
}

static bool read_line(struct xspace *space, struct xplane *plane, struct failure *failure)
{
    struct xline line = {.tid = 0};
    struct protobuf_field field;
    uint64_t id = 0, shown = 0;
    struct kept_bytes shown_name = {0, 0};
    int result;
    while ((result = next_field(space, &field, failure)) > 0) {
        bool number = field.type == PROTOBUF_VARINT, text = field.type == PROTOBUF_BYTES;
        if (field.number == LINE_ID && number)
            id = field.value;
        else if (field.number == LINE_TIMESTAMP && number)
            line.timestamp = protobuf_signed(&field);
        else if (field.number == LINE_DISPLAY_ID && number)
            shown = field.value;
        else if (field.number == LINE_NAME && text &&
                 !take_text(space, &field, &line.name, failure))
            return false;
        else if (field.number == LINE_DISPLAY_NAME && text &&
                 !take_text(space, &field, &shown_name, failure))
            return false;
    }
    if (result < 0 || !count_kept(space, sizeof line))
        return false;
    line.tid = (uint32_t)(shown != 0 ? shown : id);
    if (shown_name.length > 0)
        line.name = shown_name;
    if (!MEMORY_GROW(plane->lines, plane->line_capacity, plane->line_count + 1))
        return failure_memory(failure);
    plane->lines[plane->line_count++] = line;
    return true;
}

/* Reads a map entry: its key, and the message that is its value. */
static int64_t read_entry(const struct protobuf_field *field, struct protobuf *value)
{
    struct protobuf entry = protobuf_inner(field);
    struct protobuf_field part;
    int64_t key = 0;
    *value = protobuf_message("", 0);
    while (protobuf_next(&entry, &part))
        if (part.number == ENTRY_KEY && part.type == PROTOBUF_VARINT)
            key = protobuf_signed(&part);
        else if (part.number == ENTRY_VALUE && part.type == PROTOBUF_BYTES)
            *value = protobuf_inner(&part);
    return key;
}

static enum stat_use use_of(const char *name, size_t length)
{
    return text_is(name, length, "correlation_id")       ? STAT_CORRELATION
           : text_is(name, length, "Stream Id")          ? STAT_STREAM
           : text_is(name, length, "step_name")          ? STAT_STEP_NAME
           : text_is(name, length, "step_num")           ? STAT_STEP_NUMBER
           : text_is(name, length, "hlo_op")             ? STAT_HLO_OP
           : text_is(name, length, "hlo_module")         ? STAT_HLO_MODULE
           : text_is(name, length, "profile_start_time") ? STAT_PROFILE_START
                                                         : STAT_OTHER;
}

static bool read_stat_name(struct xspace *space, struct xplane *plane,
                           const struct protobuf_field *entry, struct failure *failure)
{
    struct protobuf message;
    struct protobuf_field field, name = {.at = (const unsigned char *)""};
    struct stat_name stat = {.id = read_entry(entry, &message)};
    while (protobuf_next(&message, &field))
        if (field.number == STAT_NAME_NAME && field.type == PROTOBUF_BYTES)
            name = field;
    stat.use = use_of((const char *)name.at, (size_t)name.value);
    if (!keep(space, name.at, (size_t)name.value, &stat.name, failure) ||
        !count_kept(space, sizeof stat))
        return false;
    if (!MEMORY_GROW(plane->stat_names, plane->stat_name_capacity, plane->stat_name_count + 1))
        return failure_memory(failure);
    plane->stat_names[plane->stat_name_count++] = stat;
    return true;
}

static bool read_event_name(struct xspace *space, struct xplane *plane,
                            const struct protobuf_field *entry, struct failure *failure)
{
    struct protobuf message;
    struct event_name event = {.id = read_entry(entry, &message)};
    if (!keep(space, message.at, (size_t)(message.end - message.at), &event.message, failure) ||
        !count_kept(space, sizeof event))
        return false;
    if (!MEMORY_GROW(plane->event_names, plane->event_name_capacity, plane->event_name_count + 1))
        return failure_memory(failure);
    plane->event_names[plane->event_name_count++] = event;
    return true;
}

/* Keeps the message of a plane's stat with the start of the profile. */
static bool read_plane_stat(struct xspace *space, struct xplane *plane,
                            const struct protobuf_field *stat, struct failure *failure)
{
    struct kept_bytes span;
    if (!keep(space, stat->at, (size_t)stat->value, &span, failure) ||
        !count_kept(space, sizeof span))
        return false;
    if (!MEMORY_GROW(plane->stats, plane->stat_capacity, plane->stat_count + 1))
        return failure_memory(failure);
    plane->stats[plane->stat_count++] = span;
    return true;
}

/* Whether planes with this name are not needed. */
static bool is_unused(const struct xspace *space, struct kept_bytes name)
{
    return name.length > 0 && !is(space, name, "/host:CPU") && !starts(space, name, "/device:") &&
           !is(space, name, XSPACE_TASK);
}

static bool read_plane_field(struct xspace *space, struct xplane *plane,
                             struct protobuf_field *field, struct failure *failure)
{
    if (field->number == PLANE_ID && field->type == PROTOBUF_VARINT)
        plane->id = protobuf_signed(field);
    if (field->type != PROTOBUF_BYTES)
        return true;
    if (field->number == PLANE_NAME && plane->name.length == 0)
        return take_text(space, field, &plane->name, failure);
    if (is_unused(space, plane->name))
        return true;
    switch (field->number) {
    case PLANE_LINE:
        protobuf_enter(space->file, field);
        return read_line(space, plane, failure);
    case PLANE_EVENT_NAME:
        return take(space, field, failure) && read_event_name(space, plane, field, failure);
    case PLANE_STAT_NAME:
        return take(space, field, failure) && read_stat_name(space, plane, field, failure);
    case PLANE_STAT:
        return !is(space, plane->name, XSPACE_TASK) ||
               (take(space, field, failure) && read_plane_stat(space, plane, field, failure));
    default:
        return true;
    }
}

static int stat_name_order(const void *a, const void *b)
{
    const struct stat_name *x = a, *y = b;
    return COMPARE(x->id, y->id);
}

static int event_name_order(const void *a, const void *b)
{
    const struct event_name *x = a, *y = b;
    return COMPARE(x->id, y->id);
}

static void free_plane(struct xplane *plane)
{
    memory_free(plane->lines);
    memory_free(plane->stat_names);
    memory_free(plane->event_names);
    memory_free(plane->stats);
}

/* Reads a plane that was entered. */
static bool read_plane(struct xspace *space, struct failure *failure)
{
    const struct stopper *stopper = &space->options.stopper;
    struct xplane plane = {.id = 0};
    struct protobuf_field field;
    int result;
    while ((result = next_field(space, &field, failure)) > 0)
        if (!read_plane_field(space, &plane, &field, failure))
            break;
    bool done = result == 0 &&
                sort_items(plane.stat_names, plane.stat_name_count, sizeof *plane.stat_names,
                           stat_name_order, stopper, failure) &&
                sort_items(plane.event_names, plane.event_name_count, sizeof *plane.event_names,
                           event_name_order, stopper, failure) &&
                count_kept(space, sizeof plane);
    if (done && !MEMORY_GROW(space->planes, space->plane_capacity, space->plane_count + 1))
        done = failure_memory(failure);
    if (!done) {
        free_plane(&plane);
        return false;
    }
    space->planes[space->plane_count++] = plane;
    return true;
}

/* Finds the planes whose events are read (rule 2). */
static void find_roles(struct xspace *space)
{
    static const char *const devices[] = {"/device:GPU:", "/device:TPU:", "/device:CUSTOM:"};
    const char *device = NULL;
    for (size_t d = 0; !device && d < sizeof devices / sizeof *devices; d++)
        for (size_t i = 0; i < space->plane_count; i++)
            if (starts(space, space->planes[i].name, devices[d]))
                device = devices[d];
    for (size_t i = 0; i < space->plane_count; i++) {
        struct xplane *plane = &space->planes[i];
        if (is(space, plane->name, "/host:CPU"))
            plane->role = PLANE_HOST;
        else if (device && starts(space, plane->name, device))
            plane->role = PLANE_DEVICE;
    }
}

/* Opens the file at its beginning. */
static bool open_file(struct xspace *space, struct failure *failure)
{
    struct identity identity = {.size = -1};
    if (space->file)
        identity = *protobuf_identity(space->file);
    protobuf_close(space->file);
    space->file = protobuf_open(space->path, &space->options, failure);
    if (!space->file)
        return false;
    return identity.size < 0 || source_same(&identity, protobuf_identity(space->file)) ||
           failure_set(failure, FAILURE_READ,
                       "'%s' has changed while it was read: run the query again", space->path);
}

bool xspace_open(struct xspace *space, const char *path, const struct protobuf_options *options,
                 struct failure *failure)
{
    struct protobuf_field field;
    int result;
    *space = (struct xspace){.path = path, .options = *options};
    if (!open_file(space, failure))
        return false;
    space->options.stopper.read = NULL; /* only the first pass reports progress */
    bool done = true;
    while (done && (result = next_field(space, &field, failure)) > 0)
        if (field.number == SPACE_PLANE && field.type == PROTOBUF_BYTES) {
            protobuf_enter(space->file, &field);
            done = read_plane(space, failure);
        } else if (field.number == SPACE_HOST && field.type == PROTOBUF_BYTES &&
                   space->host.length == 0) {
            done = take_text(space, &field, &space->host, failure);
        }
    space->unsure = protobuf_unsure(space->file);
    find_roles(space);
    space->role = PLANE_HOST;
    return failure->code == FAILURE_NONE && open_file(space, failure);
}

void xspace_close(struct xspace *space)
{
    protobuf_close(space->file);
    for (size_t i = 0; i < space->plane_count; i++)
        free_plane(&space->planes[i]);
    memory_free(space->planes);
    memory_free(space->kept);
    failure_clear(&space->trouble);
    *space = (struct xspace){.path = NULL};
}

/* After the last event of the host, restarts for the devices. 1: continue; 0 at the end; -1. */
static int begin_role(struct xspace *space, struct failure *failure)
{
    if (space->role == PLANE_DEVICE)
        return 0;
    space->role = PLANE_DEVICE;
    space->plane = 0;
    return open_file(space, failure) ? 1 : -1;
}

/* Handles a field on the way to an event. 1: an event; 0: something else; -1 on failure. */
static int meet(struct xspace *space, struct protobuf_field *field, struct xevent *event,
                struct failure *failure)
{
    if (field->type != PROTOBUF_BYTES)
        return 0;
    if (space->depth == 0) {
        if (field->number == SPACE_PLANE && space->planes[space->plane++].role == space->role) {
            protobuf_enter(space->file, field);
            space->depth = 1;
            space->line = 0;
        }
        return 0;
    }
    struct xplane *plane = &space->planes[space->plane - 1];
    if (space->depth == 1) {
        if (field->number == PLANE_LINE && space->line < plane->line_count) {
            protobuf_enter(space->file, field);
            space->depth = 2;
            space->line++;
        }
        return 0;
    }
    if (field->number != LINE_EVENT)
        return 0;
    enum protobuf_step step = protobuf_take(space->file, field, failure);
    if (step != PROTOBUF_FIELD && step != PROTOBUF_END)
        return step == PROTOBUF_DAMAGED ? 0 : -1;
    *event = (struct xevent){.space = space,
                             .plane = plane,
                             .line = &plane->lines[space->line - 1],
                             .event = space->event++,
                             .byte = protobuf_byte(space->file),
                             .too_long = step == PROTOBUF_END};
    if (!event->too_long)
        event->message = protobuf_inner(field);
    return 1;
}

int xspace_next(struct xspace *space, struct xevent *event, struct failure *failure)
{
    struct protobuf_field field;
    for (;;) {
        enum protobuf_step step = PROTOBUF_END;
        if (space->depth > 0 || space->plane < space->plane_count)
            step = protobuf_step(space->file, &field, failure);
        if (step == PROTOBUF_FAILED)
            return -1;
        if (step == PROTOBUF_FIELD) {
            int result = meet(space, &field, event, failure);
            if (result != 0)
                return result;
        } else if (step == PROTOBUF_END && space->depth > 0) {
            space->depth--;
        } else { /* damage follows the complete planes, unless the file has changed */
            int result = step == PROTOBUF_DAMAGED ? 0 : begin_role(space, failure);
            if (result <= 0)
                return result;
        }
    }
}

struct stat_name *plane_stat_name(const struct xplane *plane, int64_t id)
{
    struct stat_name *names = plane->stat_names;
    size_t end = 0;
    LOWER_BOUND(end, plane->stat_name_count, names[end].id <= id);
    return end > 0 && names[end - 1].id == id ? &names[end - 1] : NULL;
}

struct event_name *plane_event_name(const struct xplane *plane, int64_t id)
{
    struct event_name *names = plane->event_names;
    size_t end = 0;
    LOWER_BOUND(end, plane->event_name_count, names[end].id <= id);
    return end > 0 && names[end - 1].id == id ? &names[end - 1] : NULL;
}

/* Whether a plane has a known name. Only its first bytes may be available. */
static bool is_named_plane(struct protobuf plane)
{
    static const char *const names[] = {"/host:", "/device:", XSPACE_TASK};
    struct protobuf_field field;
    while (protobuf_next(&plane, &field)) {
        if (field.number != PLANE_NAME || field.type != PROTOBUF_BYTES)
            continue;
        const char *name = (const char *)field.at;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (begins(name, name + field.value, names[i]))
                return true;
        return false;
    }
    return false;
}

bool xspace_is(const unsigned char *bytes, size_t length)
{
    const unsigned char *at = bytes, *end = bytes + length;
    bool cut;
    while (at < end && *at % 8 == PROTOBUF_BYTES && *at / 8 >= SPACE_PLANE &&
           *at / 8 <= SPACE_HOST) {
        bool plane = *at / 8 == SPACE_PLANE;
        uint64_t size;
        at = protobuf_varint(at + 1, end, &size, &cut);
        if (!at)
            return false;
        uint64_t left = (uint64_t)(end - at);
        if (plane && is_named_plane(protobuf_message(at, (size_t)(size < left ? size : left))))
            return true;
        if (size >= left)
            return false;
        at += size;
    }
    return false;
}
