#include "lanes.h"

#include <stdio.h>

#include "base/hash.h"
#include "file/roles.h"
#include "text/ascii.h"

static uint64_t hash_of(enum lane_kind kind, uint64_t a, uint32_t b)
{
    return hash_with(hash_with(hash_key(), (uint64_t)kind << 32 | b), a);
}

static uint64_t hash_of_lane(const void *lanes, uint32_t i)
{
    const struct lane *lane = &((const struct lanes *)lanes)->items[i];
    return hash_of(lane->kind, lane->a, lane->b);
}

struct wanted_lane {
    const struct lanes *lanes;
    enum lane_kind kind;
    uint64_t a;
    uint32_t b;
};

static bool is_lane(const void *wanted, uint32_t i)
{
    const struct wanted_lane *of = wanted;
    const struct lane *lane = &of->lanes->items[i];
    return lane->a == of->a && lane->b == of->b && lane->kind == of->kind;
}

bool lanes_number(struct lanes *lanes, enum lane_kind kind, uint64_t a, uint32_t b, uint32_t *index)
{
    struct wanted_lane wanted = {lanes, kind, a, b};
    if (!MEMORY_GROW(lanes->items, lanes->capacity, lanes->count + 1) ||
        !table_reserve(&lanes->table, lanes->count, hash_of_lane, lanes))
        return false;
    uint32_t *slot = table_slot(&lanes->table, hash_of(kind, a, b), is_lane, &wanted);
    if (!*slot) {
        lanes->items[lanes->count++] = (struct lane){.kind = kind,
                                                     .a = a,
                                                     .b = b,
                                                     .stream = NUMBER_NONE,
                                                     .name = NAME_NONE,
                                                     .process = NAME_NONE};
        *slot = (uint32_t)lanes->count;
    }
    *index = *slot - 1;
    return true;
}

int64_t lane_stream(const char *name, size_t length)
{
    int64_t number = 0;
    size_t i = 1;
    if (length < 3 || name[0] != '[')
        return NUMBER_NONE;
    for (; i < length && i < 12 && is_digit((unsigned char)name[i]); i++)
        number = 10 * number + (name[i] - '0');
    return i > 1 && i < length && name[i] == ']' ? number : NUMBER_NONE;
}

static struct identifier integer_of(int64_t value)
{
    return (struct identifier){IDENTIFIER_INTEGER, value};
}

/* The parent of a lane, or NULL. */
static const struct lane *parent_of(const struct lanes *lanes, const struct lane *lane)
{
    struct wanted_lane wanted = {lanes, LANE_TRACK, lane->parent, 0};
    uint32_t i = UINT32_MAX;
    if (lane->parent != 0)
        i = table_find(&lanes->table, hash_of(LANE_TRACK, lane->parent, 0), is_lane, &wanted);
    return i == UINT32_MAX ? NULL : &lanes->items[i];
}

/* Applies rule 1. */
static struct track track_of(const struct lanes *lanes, const struct lane *lane)
{
    enum { DEEPEST = 64 };
    struct track track = {.role = 0};
    const struct lane *of = lane;
    for (int depth = 0; of && depth < DEEPEST && !of->has_thread && !of->has_process; depth++)
        of = parent_of(lanes, of);
    if (of && (of->has_thread || of->has_process))
        track.pid = integer_of(of->pid);
    if (lane->has_thread)
        track.tid = integer_of(lane->tid);
    else if (lane->name != NAME_NONE && !lane->has_process)
        track.tid = (struct identifier){IDENTIFIER_TEXT, lane->name};
    else if (!lane->has_process)
        track.tid = integer_of((int64_t)(lane->a & INT64_MAX));
    return track;
}

/* Names a process and a thread (T9). */
static bool tell_names(const struct lane *lane, const struct track *track, struct trace_file *file)
{
    const struct name *names = file->names.items;
    uint32_t index;
    if (lane->process != NAME_NONE) {
        struct track process = {.pid = track->pid, .tid = {IDENTIFIER_PROCESS, 0}};
        const struct name *name = &names[lane->process];
        if (!tracks_number(&file->tracks, &process, &index))
            return false;
        if (file->tracks.items[index].process == PROCESS_OTHER)
            file->tracks.items[index].process =
                (unsigned char)process_name_of(name->text, name->length);
    }
    if (lane->has_thread && lane->name != NAME_NONE) {
        if (!tracks_number(&file->tracks, track, &index))
            return false;
        file->tracks.items[index].threads |=
            thread_name_of(names[lane->name].text, names[lane->name].length);
    }
    return true;
}

/* Finds the track of a lane that no packet describes. */
static bool own_track(const struct lane *lane, const struct packets *packets,
                      struct trace_file *file, struct track *track)
{
    char text[48];
    const struct packet_sequence *sequence;
    *track = (struct track){.role = 0};
    if (lane->kind == LANE_QUEUE) {
        track->pid = integer_of((int64_t)lane->a);
        if (lane->stream != NUMBER_NONE)
            track->tid = integer_of(lane->stream);
        else if (lane->name != NAME_NONE)
            track->tid = (struct identifier){IDENTIFIER_TEXT, lane->name};
    } else if (lane->kind == LANE_COUNTERS) {
        int length = snprintf(text, sizeof text, "GPU %lld Counters", (long long)lane->a);
        uint32_t id = names_intern(&file->names, text, (size_t)length);
        *track = (struct track){.pid = {IDENTIFIER_TEXT, id}};
        return id != NAME_NONE;
    } else {
        sequence = &packets->sequences[lane->a];
        if (sequence->has_thread) {
            track->pid = integer_of(sequence->pid);
            track->tid = integer_of(sequence->tid);
        } else {
            track->tid = integer_of(sequence->id);
        }
    }
    return true;
}

bool lanes_resolve(const struct lanes *lanes, const struct packets *packets,
                   struct trace_file *file, struct failure *failure)
{
    struct places *places = &file->columns.places;
    uint32_t *tracks = memory_items(lanes->count, sizeof *tracks);
    bool done = tracks;
    for (size_t i = 0; done && i < lanes->count; i++) {
        const struct lane *lane = &lanes->items[i];
        struct track track;
        if (lane->kind == LANE_TRACK)
            track = track_of(lanes, lane);
        else
            done = own_track(lane, packets, file, &track);
        done = done && tracks_number(&file->tracks, &track, &tracks[i]) &&
               tell_names(lane, &track, file);
    }
    for (size_t i = 0; done && i < places->count; i++)
        places->items[i].track = tracks[places->items[i].track];
    table_clear(&places->table); /* its keys are lanes */
    memory_free(tracks);
    return done || failure_memory(failure);
}

void lanes_clear(struct lanes *lanes)
{
    memory_free(lanes->items);
    table_clear(&lanes->table);
    *lanes = (struct lanes){.items = NULL};
}
