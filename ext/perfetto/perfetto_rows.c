#include "perfetto_rows.h"

#include "base/memory.h"
#include "perfetto_args.h"
#include "perfetto_reading.h"

static bool take_packet(struct perfetto_reading *reading, const struct packet *packet)
{
    switch (packet->kind) {
    case PACKET_TRACK_EVENT:
        return take_track_event(reading, packet);
    case PACKET_TRACK:
    case PACKET_THREAD:
        return take_track(reading, packet);
    case PACKET_RENDER_STAGE:
        return take_render_stage(reading, packet);
    case PACKET_COUNTERS:
        return take_gpu_counters(reading, packet);
    case PACKET_OTHER:
        break;
    }
    return true;
}

/* Takes the facts about the whole file. */
static bool take_file(struct perfetto_reading *reading)
{
    static const char metadata[] = "{\"producer\":\"perfetto\"}";
    struct packets *packets = &reading->packets;
    struct trace_file *file = reading->file;
    for (int i = 0; i < PROBLEM_COUNT; i++)
        if (packets->problems.count[i] > 0) {
            file->problems.first_byte[i] = file->problems.count[i] > 0
                                               ? file->problems.first_byte[i]
                                               : packets->problems.first_byte[i];
            file->problems.count[i] += packets->problems.count[i];
        }
    if (protobuf_trailing(packets->file) > 0)
        problem_add(&file->problems, PROBLEM_GZIP_TRAILING, protobuf_trailing(packets->file));
    file->events = packets->events;
    file->skipped = packets->skipped;
    file->has_base = packets->clock.has_base;
    file->base = packets->clock.base;
    file->outcome = packets->damaged ? DOCUMENT_DAMAGED : DOCUMENT_WHOLE;
    failure_move(&file->trouble, &packets->trouble);
    reading->loading->unsure = packets->damaged && protobuf_unsure(packets->file);
    file->metadata = memory_allocate(sizeof metadata);
    if (!file->metadata)
        return failure_memory(reading->failure);
    memcpy(file->metadata, metadata, sizeof metadata);
    file->metadata_length = sizeof metadata - 1;
    return true;
}

/* Names counters after their tracks. A track's name may follow its counters. */
static bool name_counters(struct perfetto_reading *reading)
{
    struct columns *columns = &reading->file->columns;
    if (!reading->counters)
        return true;
    for (size_t row = 0; row < columns->count; row++) {
        const struct place *place = row_place(columns, row);
        const struct lane *lane = &reading->lanes.items[place->track];
        if (!stopper_goes_on(reading->loading->stopper, row, reading->failure))
            return false;
        if (place->phase == 'C' && lane->kind == LANE_TRACK)
            columns->name[row] = lane->name;
    }
    return true;
}

static bool read_packets(struct perfetto_reading *reading)
{
    struct packet packet;
    int result;
    while ((result = packets_next(&reading->packets, &packet, reading->failure)) > 0)
        if (!take_packet(reading, &packet) &&
            !packets_too_many(&reading->packets, packet.byte, reading->failure))
            return false;
    return result == 0 && slices_finish(&reading->slices, reading->loading, &reading->packets) &&
           name_counters(reading) &&
           lanes_resolve(&reading->lanes, &reading->packets, reading->file, reading->failure) &&
           take_file(reading) && protobuf_unchanged(reading->packets.file, reading->failure);
}

static bool read_trace(struct loading *loadings, size_t count)
{
    struct loading *loading = &loadings[0]; /* files of packets have one part */
    struct trace_file *file = loading->file;
    struct perfetto_reading *reading = memory_zeroed(1, sizeof *reading);
    struct protobuf_options options = {
        .stopper = *loading->stopper, .by_zlib = file->by_zlib, .idle = loading->idle};
    (void)count;
    if (!reading)
        return failure_memory(loading->failure);
    reading->loading = loading;
    reading->file = file;
    reading->failure = loading->failure;
    bool done = packets_open(&reading->packets, file->path, &options, loading->failure);
    if (done) {
        file->identity = *protobuf_identity(reading->packets.file);
        file->rank_known = true;
        file->json_size = NUMBER_NONE;
        done = !loading->whole || read_packets(reading);
    }
    packets_close(&reading->packets);
    lanes_clear(&reading->lanes);
    slices_clear(&reading->slices);
    group_names_clear(&reading->group_names);
    memory_free(reading->joined.text);
    memory_free(reading->names);
    memory_free(reading);
    return done;
}

static bool look(const char *path, bool json, bool *is, struct failure *failure)
{
    enum { MOST = 1024 };
    unsigned char bytes[MOST];
    size_t length;
    (void)json;
    *is = source_head(path, bytes, MOST, &length, failure) && packets_are(bytes, length);
    return failure->code == FAILURE_NONE;
}

const struct row_source perfetto_rows = {.look = look,
                                         .read = read_trace,
                                         .begin = perfetto_args_begin,
                                         .next = perfetto_args_next,
                                         .end = perfetto_args_end};
