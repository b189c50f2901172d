#include "xplane_rows.h"

#include "base/memory.h"
#include "base/wide.h"
#include "file/roles.h"
#include "loading/loading.h"
#include "file/xla.h"
#include "profilers/profiler.h"
#include "text/ascii.h"
#include "xplane_args.h"
#include "xstats.h"

enum { HOST_PID = 701, FIRST_DEVICE_PID = 1 }; /* pids in XLA's JSON */

/* State that is needed only while rows are read. */
struct xplane_reading {
    struct loading *loading;
    struct trace_file *file;
    struct failure *failure;
    struct xspace space;
    struct place place; /* of the last row */
    uint32_t number;
};

/* Finds the id of a text as a name. False if out of memory. */
static bool intern(struct xplane_reading *reading, const char *text, size_t length, uint32_t *id)
{
    return file_intern(reading->file, text, length, id, reading->failure);
}

/* Converts ps, in 128 bits, to ns, rounding half to even (T1); NUMBER_NONE on overflow. */
static int64_t nanoseconds(wide_time ps)
{
    enum { PS = 1000 };
    wide_time ns = ps / PS;
    int rest = (int)(ps % PS), twice = 2 * (rest < 0 ? -rest : rest);
    if (twice > PS || (twice == PS && ns % 2 != 0))
        ns += ps < 0 ? -1 : 1;
    return ns > INT64_MIN && ns <= INT64_MAX ? (int64_t)ns : NUMBER_NONE;
}

/* Names a process or a thread (T9). */
static bool name_track(struct xplane_reading *reading, const struct track *track, uint32_t *number)
{
    if (!tracks_number(&reading->file->tracks, track, number))
        return failure_memory(reading->failure);
    struct track *kept = &reading->file->tracks.items[*number];
    if (kept->process == PROCESS_OTHER)
        kept->process = track->process;
    kept->threads |= track->threads;
    return true;
}

/* Makes and names the tracks of a plane's lines. */
static bool name_plane(struct xplane_reading *reading, struct xplane *plane)
{
    const struct xspace *space = &reading->space;
    const char *name = xspace_text(space, plane->name);
    int64_t pid = HOST_PID;
    uint32_t number;
    if (plane->role == PLANE_DEVICE && __builtin_add_overflow(plane->id, FIRST_DEVICE_PID, &pid))
        pid = plane->id;
    struct track process = {.pid = {IDENTIFIER_INTEGER, pid},
                            .tid = {IDENTIFIER_PROCESS, 0},
                            .process = (unsigned char)process_name_of(name, plane->name.length)};
    if (!name_track(reading, &process, &number))
        return false;
    for (size_t i = 0; i < plane->line_count; i++) {
        struct xline *line = &plane->lines[i];
        struct track thread = {.pid = process.pid, .tid = {IDENTIFIER_INTEGER, line->tid}};
        thread.threads = thread_name_of(xspace_text(space, line->name), line->name.length);
        if (!name_track(reading, &thread, &line->track))
            return false;
    }
    return true;
}

/* Does so for all planes with events that become rows, in order. */
static bool name_planes(struct xplane_reading *reading)
{
    for (enum plane_role role = PLANE_HOST; role <= PLANE_DEVICE; role++)
        for (size_t i = 0; i < reading->space.plane_count; i++)
            if (reading->space.planes[i].role == role &&
                !name_plane(reading, &reading->space.planes[i]))
                return false;
    return true;
}

static bool find_place(struct xplane_reading *reading, uint32_t track, int64_t stream)
{
    const struct place *last = &reading->place;
    if (last->phase == 'X' && last->stream == stream && last->track == track)
        return true;
    reading->place = (struct place){stream, track, NAME_NONE, 'X'};
    return places_number(&reading->file->columns.places, &reading->place, &reading->number) ||
           failure_memory(reading->failure);
}

static const struct row_stats nothing = {NUMBER_NONE, NUMBER_NONE, NUMBER_NONE, 0, 0, 0};

/* Keeps the name id of a text stat, plus 1. */
static bool take_text(struct xplane_reading *reading, const struct xstat *stat, uint32_t *to)
{
    uint32_t id;
    if (!stat->text)
        return true;
    if (!intern(reading, stat->text, stat->length, &id))
        return false;
    *to = id + 1;
    return true;
}

static bool take_stat(struct xplane_reading *reading, const struct xstat *stat,
                      struct row_stats *stats)
{
    switch (stat->key ? stat->key->use : STAT_OTHER) {
    case STAT_CORRELATION:
        stats->correlation = xstat_integer(stat);
        break;
    case STAT_STREAM:
        stats->stream = xstat_integer(stat);
        break;
    case STAT_STEP_NUMBER:
        stats->step_number = xstat_integer(stat);
        break;
    case STAT_STEP_NAME:
        return take_text(reading, stat, &stats->step);
    case STAT_HLO_OP:
        return take_text(reading, stat, &stats->op);
    case STAT_HLO_MODULE:
        return take_text(reading, stat, &stats->module);
    case STAT_PROFILE_START:
    case STAT_OTHER:
        break;
    }
    return true;
}

/* Reads the name of an event; once for all events with that name. */
static bool read_name(struct xplane_reading *reading, const struct xevent *event,
                      struct event_name *name)
{
    const struct xspace *space = &reading->space;
    struct protobuf message =
        protobuf_message(xspace_text(space, name->message), name->message.length);
    struct protobuf stats_message = message;
    struct row_stats stats = nothing;
    struct xstat stat;
    uint32_t id;
    if (name->read)
        return true;
    const struct xsaid said = xname_read(&message);
    if (!intern(reading, said.text, said.length, &id))
        return false;
    while (xstat_of_name(event, &stats_message, &stat))
        if (!take_stat(reading, &stat, &stats))
            return false;
    if (message.broken)
        problem_add(&reading->file->problems, PROBLEM_PROTOBUF, 0);
    name->name = id + 1;
    name->said = stats;
    name->read = true;
    return true;
}

static bool skip(struct xplane_reading *reading, enum problem problem, int64_t byte)
{
    problem_add(&reading->file->problems, problem, byte);
    reading->file->skipped++;
    return true;
}

static bool add_row(struct xplane_reading *reading, const struct xevent *event,
                    const struct xsaid *said, const struct row_stats *stats, uint32_t name)
{
    struct trace_file *file = reading->file;
    size_t count = file->columns.count;
    int64_t ts = nanoseconds((wide_time)event->line->timestamp * 1000 + said->offset);
    int64_t dur = nanoseconds(said->duration);
    if (ts == NUMBER_NONE)
        problem_add(&file->problems, PROBLEM_TIME, event->byte);
    else
        dur = loading_duration(file, ts, dur, event->byte);
    if (!find_place(reading, event->line->track, stats->stream))
        return false;
    if (count == file->columns.capacity &&
        !loading_reserve(reading->loading,
                         1.02 * (double)(count + 1) / protobuf_part(reading->space.file)))
        return false;
    return loading_add(reading->loading, &(struct new_row){.ts = ts,
                                                           .dur = dur,
                                                           .correlation = stats->correlation,
                                                           .name = name,
                                                           .place = reading->number,
                                                           .event = event->event,
                                                           .byte = event->byte,
                                                           .phase = 'X'}) &&
           xla_add(file, stats->op - 1, stats->module - 1, stats->step_number, reading->failure);
}

static bool take_event(struct xplane_reading *reading, const struct xevent *event)
{
    struct protobuf message = event->message, stats_message = event->message;
    struct row_stats stats = nothing;
    struct xstat stat;
    uint32_t name = NAME_NONE;
    if (event->too_long)
        return skip(reading, PROBLEM_TOO_LONG, event->byte);
    const struct xsaid said = xevent_read(&message);
    if (message.broken)
        return skip(reading, PROBLEM_PROTOBUF, event->byte);
    if (said.occurrences)
        return true;
    struct event_name *known = plane_event_name(event->plane, said.name);
    if (known) {
        if (!read_name(reading, event, known))
            return false;
        stats = known->said;
        name = known->name - 1;
    }
    while (xstat_of_event(event, &stats_message, &stat))
        if (!take_stat(reading, &stat, &stats))
            return false;
    return add_row(reading, event, &said, &stats, stats.step > 0 ? stats.step - 1 : name);
}

/* Takes the start of the profile, ns since 1970, from the stats of a plane. */
static void take_base(struct xplane_reading *reading, const struct xplane *plane)
{
    struct trace_file *file = reading->file;
    const struct xspace *space = &reading->space;
    for (size_t i = 0; i < plane->stat_count; i++) {
        struct xstat stat = xstat_read(
            space, plane,
            protobuf_message(xspace_text(space, plane->stats[i]), plane->stats[i].length));
        int64_t start =
            stat.key && stat.key->use == STAT_PROFILE_START ? xstat_integer(&stat) : NUMBER_NONE;
        if (start == NUMBER_NONE)
            continue;
        file->base = start;
        file->has_base = true;
    }
}

static bool write_metadata(struct xplane_reading *reading)
{
    struct kept_bytes host = reading->space.host;
    const char *name = xspace_text(&reading->space, host);
    return args_metadata(reading->file, "XLA", host.length > 0 ? name : NULL, host.length,
                         NUMBER_NONE, reading->failure);
}

/* Takes the facts about the whole file. */
static bool take_file(struct xplane_reading *reading)
{
    struct xspace *space = &reading->space;
    struct trace_file *file = reading->file;
    for (int i = 0; i < PROBLEM_COUNT; i++)
        if (space->problems.count[i] > 0) {
            problem_add(&file->problems, (enum problem)i, space->problems.first_byte[i]);
            file->problems.count[i] += space->problems.count[i] - 1;
        }
    if (protobuf_trailing(space->file) > 0)
        problem_add(&file->problems, PROBLEM_GZIP_TRAILING, protobuf_trailing(space->file));
    for (size_t i = 0; i < space->plane_count; i++)
        take_base(reading, &space->planes[i]);
    file->events = space->event;
    file->outcome = space->damaged ? DOCUMENT_DAMAGED : DOCUMENT_WHOLE;
    failure_move(&file->trouble, &space->trouble);
    reading->loading->unsure = space->damaged && space->unsure;
    return write_metadata(reading);
}

static bool read_events(struct xplane_reading *reading)
{
    struct xevent event;
    int result;
    if (!name_planes(reading))
        return false;
    while ((result = xspace_next(&reading->space, &event, reading->failure)) > 0)
        if (!take_event(reading, &event))
            return false;
    return result == 0 && take_file(reading) &&
           protobuf_unchanged(reading->space.file, reading->failure);
}

static bool read_profile(struct loading *loadings, size_t count)
{
    struct loading *loading = &loadings[0]; /* files of this format have one part */
    struct trace_file *file = loading->file;
    struct protobuf_options options = {
        .stopper = *loading->stopper, .by_zlib = file->by_zlib, .idle = loading->idle};
    struct xplane_reading *reading = memory_zeroed(1, sizeof *reading);
    (void)count;
    if (!reading)
        return failure_memory(loading->failure);
    *reading =
        (struct xplane_reading){.loading = loading, .file = file, .failure = loading->failure};
    bool done = false;
    file->rank_known = true; /* the file has no rank */
    if (!loading->whole) {
        done = source_identify(file->path, &file->identity, loading->failure);
    } else if (xspace_open(&reading->space, file->path, &options, loading->failure)) {
        file->identity = *protobuf_identity(reading->space.file);
        file->json_size = NUMBER_NONE;
        done = read_events(reading);
    }
    xspace_close(&reading->space);
    memory_free(reading);
    return done;
}

/* Whether a path may be a profile: its name does not suggest JSON, or ends with .pb.gz. */
static bool may_be(const char *path, bool json)
{
    const char *end = path + strlen(path);
    return !json || ends(path, end, ".pb.gz");
}

static bool look(const char *path, bool json, bool *is, struct failure *failure)
{
    enum { MOST = 4096 };
    unsigned char bytes[MOST];
    size_t length;
    *is = may_be(path, json) && source_head(path, bytes, MOST, &length, failure) &&
          xspace_is(bytes, length);
    return failure->code == FAILURE_NONE;
}

const struct row_source xplane_rows = {.look = look,
                                       .read = read_profile,
                                       .begin = xplane_args_begin,
                                       .next = xplane_args_next,
                                       .end = xplane_args_end};
