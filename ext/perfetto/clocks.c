#include "clocks.h"

#include "base/memory.h"
#include "text/number.h"

enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY };
enum { CLOCK_ID = 1, CLOCK_TIME, CLOCK_INCREMENTAL, CLOCK_UNIT };

static bool is_of_sequence(uint32_t id)
{
    return id >= CLOCKS_OF_SEQUENCE && id < CLOCKS_GLOBAL;
}

static struct perfetto_clock *find(struct perfetto_clocks *clocks, uint32_t id)
{
    for (size_t i = 0; i < clocks->count; i++)
        if (clocks->items[i].id == id)
            return &clocks->items[i];
    return NULL;
}

/* The trace's time when a clock reads `shown`; NUMBER_NONE beyond 64 bits. */
static int64_t time_at(const struct perfetto_clock *clock, int64_t shown)
{
    int64_t ns;
    return __builtin_sub_overflow(shown, clock->shown, &ns) ||
                   __builtin_mul_overflow(ns, clock->unit, &ns) ||
                   __builtin_add_overflow(ns, clock->ns, &ns)
               ? NUMBER_NONE
               : ns;
}

static struct perfetto_clock read_clock(struct protobuf message)
{
    struct perfetto_clock clock = {.unit = 1};
    struct protobuf_field field;
    while (protobuf_next(&message, &field))
        if (field.type != PROTOBUF_VARINT)
            continue;
        else if (field.number == CLOCK_ID)
            clock.id = (uint32_t)field.value;
        else if (field.number == CLOCK_TIME)
            clock.shown = protobuf_signed(&field);
        else if (field.number == CLOCK_INCREMENTAL)
            clock.incremental = field.value != 0;
        else if (field.number == CLOCK_UNIT && field.value != 0)
            clock.unit = protobuf_signed(&field);
    return clock;
}

/* Keeps a clock; after CLOCKS_KEPT, only updates known ones. False if out of memory. */
static bool keep(struct perfetto_clocks *clocks, const struct perfetto_clock *clock)
{
    struct perfetto_clock *to = find(clocks, clock->id);
    if (!to && clocks->count < CLOCKS_KEPT) {
        size_t size = (clocks->count + 1) * sizeof *clocks->items; /* most need just one */
        if (!memory_assign(&clocks->items, memory_resize(clocks->items, size)))
            return false;
        to = &clocks->items[clocks->count++];
    }
    if (to)
        *to = *clock;
    return true;
}

/* Reads a snapshot, and the id of its primary clock. */
static bool read_snapshot(struct protobuf snapshot, struct perfetto_clocks *shown,
                          uint32_t *primary)
{
    struct protobuf_field field;
    *primary = CLOCK_BOOTTIME_ID;
    while (protobuf_next(&snapshot, &field))
        if (field.number == SNAPSHOT_PRIMARY && field.type == PROTOBUF_VARINT) {
            *primary = (uint32_t)field.value;
        } else if (field.number == SNAPSHOT_CLOCK && field.type == PROTOBUF_BYTES) {
            struct perfetto_clock read = read_clock(protobuf_inner(&field));
            if (read.id != 0 && !keep(shown, &read))
                return false;
        }
    return true;
}

/* The trace's time at a snapshot; NUMBER_NONE if unknown. */
static int64_t time_of_snapshot(struct trace_clock *clock, struct perfetto_clocks *shown)
{
    int64_t now = NUMBER_NONE;
    struct perfetto_clock *of_trace = find(shown, clock->primary);
    if (of_trace && !__builtin_mul_overflow(of_trace->shown, of_trace->unit, &now))
        of_trace->incremental = false;
    for (size_t i = 0; i < shown->count && now == NUMBER_NONE; i++) { /* by another clock */
        const struct perfetto_clock *known = find(&clock->all, shown->items[i].id);
        if (known)
            now = time_at(known, shown->items[i].shown);
    }
    return now;
}

/* Keeps the clocks of a snapshot taken at a time. */
static bool keep_all(struct trace_clock *clock, struct perfetto_clocks *own,
                     struct perfetto_clocks *shown, int64_t now)
{
    for (size_t i = 0; i < shown->count; i++) {
        struct perfetto_clock *each = &shown->items[i];
        int64_t base;
        each->ns = now;
        if (!keep(is_of_sequence(each->id) ? own : &clock->all, each))
            return false;
        if (each->id == CLOCK_REALTIME_ID && !clock->has_base &&
            !__builtin_mul_overflow(each->shown, each->unit, &base) &&
            !__builtin_sub_overflow(base, now, &base)) {
            clock->has_base = true;
            clock->base = base;
        }
    }
    return true;
}

bool clocks_take(struct trace_clock *clock, struct perfetto_clocks *own, struct protobuf snapshot)
{
    struct perfetto_clocks shown = {.count = 0};
    uint32_t primary;
    bool done = read_snapshot(snapshot, &shown, &primary);
    if (done && clock->primary == 0)
        clock->primary = primary;
    int64_t now = done ? time_of_snapshot(clock, &shown) : NUMBER_NONE;
    done = done && (now == NUMBER_NONE || keep_all(clock, own, &shown, now));
    clocks_clear(&shown);
    return done;
}

int64_t clocks_time(struct trace_clock *clock, struct perfetto_clocks *own, uint32_t id,
                    uint64_t shown)
{
    uint32_t primary = clock->primary ? clock->primary : CLOCK_BOOTTIME_ID;
    if (shown > INT64_MAX)
        return NUMBER_NONE;
    if (id == 0 || id == primary)
        return (int64_t)shown;
    struct perfetto_clock *of = find(is_of_sequence(id) ? own : &clock->all, id);
    if (!of)
        return NUMBER_NONE;
    if (!of->incremental)
        return time_at(of, (int64_t)shown);
    int64_t sum, ns;
    if (__builtin_add_overflow(of->shown, (int64_t)shown, &sum))
        return NUMBER_NONE;
    ns = time_at(of, sum);
    if (ns != NUMBER_NONE) {
        of->shown = sum;
        of->ns = ns;
    }
    return ns;
}

void clocks_clear(struct perfetto_clocks *clocks)
{
    memory_free(clocks->items);
    *clocks = (struct perfetto_clocks){.items = NULL};
}
