/*
** The composition of a communication cause: calls, bytes, bandwidth and overlap (W9).
*/
#ifndef TRACEDIFF_CAUSE_RATES_H
#define TRACEDIFF_CAUSE_RATES_H

#include "causes.h"

/* The collectives of one kernel in one process group of a side, over all steps. Texts are ids in
** cause_rates.names, or NAME_NONE. */
struct collective_rate {
    int side;
    uint32_t group, ranks, name, algorithm, protocol;
    int64_t channels;          /* 0: unknown, or several */
    double calls, ns, bytes;   /* bytes: NAN if unknown */
    double bus;                /* bytes on a link per byte of a rank */
    bool with_waits;
};

struct cause_rates {
    struct names names;
    struct collective_rate *items;
    size_t count, capacity;
    double steps[2]; /* by side: steps to divide sums by */
    bool read;
};

/* The split of a cause. Arrays are by side and values per step, on the rank whose transfers explain
** the cause best. */
struct cause_split {
    double calls[2], ns[2], bytes[2], gbs[2]; /* bus bandwidth */
    double by_calls, by_bytes, by_bandwidth, by_overlap; /* ns; their sum is the difference */
    uint32_t algorithm[2], protocol[2];
    int64_t channels[2];
    bool with_waits;
};

/* Whether a rank belongs to the group. */
bool collective_rate_has(const struct cause_rates *rates, const struct collective_rate *rate,
                         long rank);

/* Splits a cause. False if it is not communication of one kernel, or if a side has none of it. */
bool cause_split_find(struct cause_split *split, const struct causes *causes,
                      const struct cause *cause, const struct cause_rates *rates);

/* Whether a change of overlap explains most of a cause (W9.3). */
bool cause_split_is_overlap(const struct cause_split *split);

/* Whether a communication cause has at least 1 % of all changes. */
bool cause_rates_wanted(const struct causes *causes);

void cause_rates_clear(struct cause_rates *rates);

#endif
