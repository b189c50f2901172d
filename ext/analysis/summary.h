/*
** Counts and durations of events, by name or by more: what diffs are made of.
*/
#ifndef TRACEDIFF_SUMMARY_H
#define TRACEDIFF_SUMMARY_H

#include "../trace/trace.h"
#include "../trace/wide.h"

enum { SEEN_ON_HOST = 1, SEEN_ON_DEVICE = 2 }; /* bits */

struct summary_row {
    int64_t rank;
    int64_t iteration; /* NUMBER_NONE: in no step */
    uint32_t cat;      /* of summary.names, or NAME_NONE */
    uint32_t name;
    unsigned seen; /* where its events ran */
    int64_t counts;
    wide_time total;  /* ns */
    wide_time self;   /* ns: of it, own time (T5), if that was asked for */
    int64_t min, max; /* ns */
};

enum grouping {
    BY_NAME, /* rank, iteration and cat of a row mean nothing, and it may be seen on both */
    BY_EVERYTHING
};

struct summary {
    struct names names;
    struct summary_row *rows; /* BY_NAME: row i is of name i */
    size_t count, capacity;
};

struct summary_request {
    const struct trace *trace;
    const struct step_choice *choice;
    enum device_type device_type;
    enum grouping grouping;
    bool self; /* whether own times are asked for */
};

/* Sums up the chosen steps of the chosen files of a trace. Only events that
** count (row_counts), of the kind of device asked for. */
bool summary_make(struct summary *summary, const struct summary_request *request,
                  const struct stopper *stopper, struct failure *failure);

/* Puts the rows in the order of rank, iteration (no step first), device (CPU
** first), category and name. */
bool summary_sort(struct summary *summary, const struct stopper *stopper, struct failure *failure);

/* Puts together the rows of a summary BY_NAME whose names are the same after
** `rename`, which is one of short_name.h. */
bool summary_rename(struct summary *summary,
                    size_t (*rename)(const char *name, size_t length, char *to),
                    const struct stopper *stopper, struct failure *failure);

void summary_clear(struct summary *summary);

#endif
