/*
** Counts and durations of events, by name or by all keys. Diffs are computed from them.
*/
#ifndef TRACEDIFF_SUMMARY_H
#define TRACEDIFF_SUMMARY_H

#include "trace/step_choice.h"
#include "base/wide.h"

enum { SEEN_ON_HOST = 1, SEEN_ON_DEVICE = 2 }; /* bits */

struct summary_row {
    int64_t rank;
    int64_t iteration; /* NUMBER_NONE: in no step */
    uint32_t cat;      /* id in summary.names, or NAME_NONE */
    uint32_t name;
    unsigned seen; /* bits: SEEN_ON_HOST, SEEN_ON_DEVICE */
    int64_t counts;
    wide_time total;  /* ns */
    wide_time self;   /* ns: self time within `total` (T5), if requested */
    int64_t min, max; /* ns */
};

enum grouping {
    BY_NAME, /* rank, iteration and cat are meaningless; `seen` may have both bits */
    BY_EVERYTHING
};

struct summary {
    struct names names;
    struct summary_row *rows; /* BY_NAME: row i belongs to name i */
    size_t count, capacity;
};

struct summary_request {
    const struct trace *trace;
    const struct step_choice *choice;
    enum device_type device_type;
    enum grouping grouping;
    bool self; /* compute self time */
};

/* Sums up the chosen steps of a trace's chosen files. Includes only events that count (row_counts)
** and match the device type. */
bool summary_make(struct summary *summary, const struct summary_request *request,
                  const struct stopper *stopper, struct failure *failure);

/* Sorts the rows by rank, iteration (no step first), device (CPU first), category and name. */
bool summary_sort(struct summary *summary, const struct stopper *stopper, struct failure *failure);

/* Joins rows of a BY_NAME summary that `rename` (a function of short_name.h) gives one name. */
bool summary_rename(struct summary *summary,
                    size_t (*rename)(const char *name, size_t length, char *to),
                    const struct stopper *stopper, struct failure *failure);

void summary_clear(struct summary *summary);

#endif
