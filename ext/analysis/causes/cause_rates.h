/*
** What a cause of communication is made of: more calls, more bytes, another bandwidth, or less of
** it hidden (W9).
*/
#ifndef TRACEDIFF_CAUSE_RATES_H
#define TRACEDIFF_CAUSE_RATES_H

#include "causes.h"

/* The collectives of one kernel in one process group of a side, in all steps. Texts are ids in
** cause_rates.names, or NAME_NONE. */
struct collective_rate {
    int side;
    uint32_t group, ranks, name, algorithm, protocol;
    int64_t channels;          /* 0: not known, or several */
    double calls, ns, bytes;   /* bytes: no number if they are not known */
    double bus;                /* the load of a link by the bytes of a rank */
    bool with_waits;
};

struct cause_rates {
    struct names names;
    struct collective_rate *items;
    size_t count, capacity;
    double steps[2]; /* of a side, by which sums are divided */
    bool read;
};

/* Of a cause, by side: per step, of the rank whose transfers tell most of it. */
struct cause_split {
    double calls[2], ns[2], bytes[2], gbs[2]; /* bus bandwidth */
    double by_calls, by_bytes, by_bandwidth, by_overlap; /* ns; they add up to the difference */
    uint32_t algorithm[2], protocol[2];
    int64_t channels[2];
    bool with_waits;
};

/* Whether a rank takes part. */
bool collective_rate_has(const struct cause_rates *rates, const struct collective_rate *rate,
                         long rank);

/* Splits a cause. False: it is no communication of one kernel, or a side has none of it. */
bool cause_split_find(struct cause_split *split, const struct causes *causes,
                      const struct cause *cause, const struct cause_rates *rates);

/* Whether most of a cause is that less or more of it is hidden (W9.3). */
bool cause_split_is_overlap(const struct cause_split *split);

/* Whether there is communication that makes 1 % of all that changed. */
bool cause_rates_wanted(const struct causes *causes);

void cause_rates_clear(struct cause_rates *rates);

#endif
