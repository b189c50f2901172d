/*
** The clocks of a trace. Packet times are converted to the trace's clock, and from there to ns
** since 1970 (U4).
**
** 1. The trace's clock is the primary clock of its first snapshot, or else the time since boot. A
**    snapshot gives the readings of clocks at one instant.
** 2. Any other clock continues from its reading in the latest snapshot. A packet has no time if its
**    clock was in no snapshot so far.
** 3. Clocks 64 to 127 belong to one sequence. Incremental ones give the time since the previous
**    packet.
** 4. The time of day comes from the first snapshot that has it.
*/
#ifndef TRACEDIFF_CLOCKS_H
#define TRACEDIFF_CLOCKS_H

#include "reader/protobuf.h"

enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6, CLOCKS_OF_SEQUENCE = 64, CLOCKS_GLOBAL = 128 };

struct perfetto_clock {
    uint32_t id;
    bool incremental;
    int64_t shown; /* reading in the snapshot; for an incremental clock, the sum so far */
    int64_t ns;    /* the trace's time at the snapshot or at the previous packet */
    int64_t unit;  /* ns */
};

/* Clocks of a sequence or of the whole trace. A zeroed struct is empty, like most sequences. */
enum { CLOCKS_KEPT = 16 };
struct perfetto_clocks {
    struct perfetto_clock *items; /* owned */
    size_t count;
};

/* A zeroed struct is ready for the first packet of a file. */
struct trace_clock {
    uint32_t primary; /* 0: not known yet */
    struct perfetto_clocks all;
    bool has_base;
    int64_t base; /* ns since 1970 when the trace's clock is 0 */
};

/* Takes a snapshot. `own` are the clocks of the packet's sequence. False if out of memory. */
bool clocks_take(struct trace_clock *clock, struct perfetto_clocks *own, struct protobuf snapshot);

/* Converts the time of a packet to ns of the trace's clock; NUMBER_NONE if unknown. Call it exactly
** once for each packet of a sequence, in order. */
int64_t clocks_time(struct trace_clock *clock, struct perfetto_clocks *own, uint32_t id,
                    uint64_t shown);

void clocks_clear(struct perfetto_clocks *clocks);

#endif
