#include "xplane_args.h"

#include "base/memory.h"
#include "perfetto/json_text.h"
#include "profilers/profiler.h"
#include "xstats.h"

enum { MOST_TEXT = 16 << 20 /* bytes of args; stats may repeat one long text */ };

struct xplane_args {
    const struct trace_file *file; /* borrowed */
    struct xspace space;
    char *text;
    size_t text_capacity;
    struct xstat *stats; /* of the event */
    size_t count, capacity;
};

void *xplane_args_begin(const struct trace_file *file, const struct stopper *stopper,
                        struct failure *failure)
{
    struct xplane_args *args = memory_zeroed(1, sizeof *args);
    struct protobuf_options options = {.stopper = *stopper, .by_zlib = file->by_zlib};
    if (!args) {
        failure_memory(failure);
        return NULL;
    }
    args->file = file;
    options.stopper.read = NULL; /* progress was reported the first time */
    if (xspace_open(&args->space, file->path, &options, failure) &&
        file_same(file, protobuf_identity(args->space.file), failure))
        return args;
    xplane_args_end(args);
    return NULL;
}

void xplane_args_end(void *begun)
{
    struct xplane_args *args = begun;
    if (!args)
        return;
    xspace_close(&args->space);
    memory_free(args->text);
    memory_free(args->stats);
    memory_free(args);
}

/* Adds a stat, or replaces the one with the same key. */
static bool add(struct xplane_args *args, const struct xstat *stat, struct failure *failure)
{
    if (!stat->key || stat->type == STAT_NOTHING || stat->type == STAT_BYTES ||
        (stat->type == STAT_REFERENCE && !stat->text))
        return true;
    size_t place = stat->key->place;
    if (place < args->count && args->stats[place].key == stat->key) {
        args->stats[place] = *stat;
        return true;
    }
    if (!MEMORY_GROW(args->stats, args->capacity, args->count + 1))
        return failure_memory(failure);
    stat->key->place = args->count;
    args->stats[args->count++] = *stat;
    return true;
}

static bool put_double(sqlite3_str *json, double value, struct failure *failure)
{
    struct json_text text = {0}; /* SQLite's own digits may denote another number */
    json_double(&text, value);
    bool done = !text.failed || failure_memory(failure);
    if (done)
        sqlite3_str_append(json, text.bytes, (int)text.length);
    memory_free(text.bytes);
    return done;
}

static bool put(struct xplane_args *args, const struct xstat *stat, sqlite3_str *json,
                struct failure *failure)
{
    struct kept_bytes key = stat->key->name;
    if (sqlite3_str_length(json) > 0)
        sqlite3_str_appendchar(json, 1, ',');
    if (!args_quoted(json, (const unsigned char *)xspace_text(&args->space, key), key.length,
                     failure))
        return false;
    sqlite3_str_appendchar(json, 1, ':');
    if (stat->text)
        return args_quoted(json, (const unsigned char *)stat->text, stat->length, failure);
    if (stat->type == STAT_DOUBLE)
        return put_double(json, protobuf_double(&stat->value), failure);
    if (stat->type == STAT_UNSIGNED)
        sqlite3_str_appendf(json, "%llu", (unsigned long long)stat->value.value);
    else
        sqlite3_str_appendf(json, "%lld", (long long)protobuf_signed(&stat->value));
    return true;
}

/* Collects the stats of an event name. */
static bool collect_name(struct xplane_args *args, const struct xevent *event,
                         const struct event_name *name, struct failure *failure)
{
    struct protobuf message =
        protobuf_message(xspace_text(&args->space, name->message), name->message.length);
    struct xstat stat;
    while (xstat_of_name(event, &message, &stat))
        if (!add(args, &stat, failure))
            return false;
    return true;
}

/* Does the same for the first event of the name, and cuts the name's message to these stats. */
static bool collect_first(struct xplane_args *args, const struct xevent *event,
                          struct event_name *name, struct failure *failure)
{
    if (!collect_name(args, event, name, failure))
        return false;
    unsigned char *kept = memory_allocate(name->message.length + 1), *to = kept;
    if (!kept)
        return failure_memory(failure);
    for (size_t i = 0; i < args->count; i++)
        to = xstat_write_of_name(to, &args->stats[i]);
    name->message.length = (size_t)(to - kept);
    if (args->count > 0)
        memcpy(args->space.kept + name->message.at, kept, name->message.length);
    name->read = true;
    memory_free(kept);
    args->count = 0;
    return collect_name(args, event, name, failure); /* stats point into the message */
}

/* Collects the stats of an event: the stats of its name, then its own. */
static bool collect(struct xplane_args *args, const struct xevent *event, struct failure *failure)
{
    struct protobuf message = event->message;
    struct xstat stat;
    args->count = 0;
    if (event->too_long)
        return true;
    const struct xsaid said = xevent_read(&message);
    struct event_name *name = plane_event_name(event->plane, said.name);
    if (name && !(name->read ? collect_name(args, event, name, failure)
                             : collect_first(args, event, name, failure)))
        return false;
    message = event->message;
    while (xstat_of_event(event, &message, &stat))
        if (!add(args, &stat, failure))
            return false;
    return true;
}

/* Writes the stats as an object. */
static bool put_all(struct xplane_args *args, struct token *text, struct failure *failure)
{
    sqlite3_str *json = sqlite3_str_new(NULL);
    bool done = true;
    for (size_t i = 0; done && i < args->count && sqlite3_str_length(json) <= MOST_TEXT; i++)
        done = put(args, &args->stats[i], json, failure);
    size_t length = (size_t)sqlite3_str_length(json);
    bool there = length > 0 && length <= MOST_TEXT;
    if (done && (sqlite3_str_errcode(json) != SQLITE_OK ||
                 !MEMORY_GROW(args->text, args->text_capacity, length + 2 + SCAN_PADDING)))
        done = failure_memory(failure);
    *text = (struct token){.kind = TOKEN_NONE};
    if (done && there) {
        args->text[0] = '{';
        memcpy(args->text + 1, sqlite3_str_value(json), length);
        args->text[length + 1] = '}';
        memset(args->text + length + 2, 0, SCAN_PADDING);
        *text = (struct token){(const unsigned char *)args->text, length + 2, TOKEN_NESTED};
    }
    sqlite3_free(sqlite3_str_finish(json));
    return done;
}

bool xplane_args_next(void *begun, int64_t wanted, struct token *text, struct failure *failure)
{
    struct xplane_args *args = begun;
    struct xevent event = {.event = -1};
    while (event.event < wanted) {
        int result = xspace_next(&args->space, &event, failure);
        if (result <= 0)
            return result < 0 ? false : file_changed(args->file, failure);
    }
    if (event.event > wanted)
        return file_changed(args->file, failure);
    return collect(args, &event, failure) && put_all(args, text, failure);
}
