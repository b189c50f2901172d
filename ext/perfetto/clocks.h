/*
** The clocks of a trace. Times of packets are brought to one clock, and that to ns since 1970 (U4).
**
** 1. The clock of the trace is the primary one of its first snapshot, else that of the time since
**    boot. A snapshot says what clocks show at one instant.
** 2. Another clock goes on from what its latest snapshot said. A packet of a clock that no
**    snapshot has said anything of has no time.
** 3. Clocks 64 to 127 are of one sequence. Those that are incremental show the time since the
**    packet before.
** 4. The time of day is that of the first snapshot that has it.
*/
#ifndef TRACEDIFF_CLOCKS_H
#define TRACEDIFF_CLOCKS_H

#include "reader/protobuf.h"

enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6, CLOCKS_OF_SEQUENCE = 64, CLOCKS_GLOBAL = 128 };

struct perfetto_clock {
    uint32_t id;
    bool incremental;
    int64_t shown; /* by the snapshot, as written; of an incremental clock, the sum up to now */
    int64_t ns;    /* by the trace's clock, at the snapshot or at the packet before */
    int64_t unit;  /* ns */
};

/* Clocks of a sequence, or of all. A zeroed struct has none: nearly all sequences do not have their
** own. */
enum { CLOCKS_KEPT = 16 };
struct perfetto_clocks {
    struct perfetto_clock *items; /* owned */
    size_t count;
};

/* A zeroed struct is that of a file whose first packet comes. */
struct trace_clock {
    uint32_t primary; /* 0: not known yet */
    struct perfetto_clocks all;
    bool has_base;
    int64_t base; /* ns since 1970 at 0 of the trace's clock */
};

/* Takes a snapshot. `own` are the clocks of the packet's sequence. False if out of memory. */
bool clocks_take(struct trace_clock *clock, struct perfetto_clocks *own, struct protobuf snapshot);

/* The time of a packet, ns by the trace's clock; NUMBER_NONE if it is not known. It is to be asked
** once for each packet of a sequence, in their order. */
int64_t clocks_time(struct trace_clock *clock, struct perfetto_clocks *own, uint32_t id,
                    uint64_t shown);

void clocks_clear(struct perfetto_clocks *clocks);

#endif
