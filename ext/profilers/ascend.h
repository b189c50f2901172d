/*
** State for reading a database of torch_npu's profiler (H1 to H7).
*/
#ifndef TRACEDIFF_ASCEND_H
#define TRACEDIFF_ASCEND_H

#include "id_table.h"

/* Kinds of tables, in the order of events (H1). */
enum ascend_table {
    ASCEND_API,
    ASCEND_CANN,
    ASCEND_TASK,
    ASCEND_COLLECTIVE,
    ASCEND_STEP,
    ASCEND_TABLES
};

enum { ASCEND_CATS = 10 };

/* A call that was dequeued, or a call of CANN that may launch work (H6). */
struct ascend_span {
    int64_t thread, start, end; /* ns; start is NUMBER_NONE without a time */
    int64_t connection;         /* for calls of CANN */
    int64_t number;             /* in CONNECTION_IDS; for CANN, from the enclosing call */
    uint32_t order;             /* position in the file */
    bool of_cann, launch;
};

struct ascend {
    int64_t rank, device; /* -1, NUMBER_NONE: unknown */
    char *schema;         /* NULL: unknown */
    size_t schema_length;

    /* used only while rows are read */
    bool joined, paired, has_steps;
    struct string_table strings; /* also used for args */
    struct id_table numbers, kernels, correlations;
    struct ascend_span *spans;
    size_t span_count, span_capacity;
    int64_t pid, tid;           /* from the first operator */
    uint32_t cats[ASCEND_CATS]; /* id of a name, plus 1 */
};

/* Finds the number of each connection whose launch lies in a dequeued call. */
bool ascend_pair(struct database_read *read);

bool ascend_args(struct database_read *read, const struct trace_file *file, size_t row, int kind,
                 const struct table_scan *scan, sqlite3_str *json);

/* Columns for the args of PYTORCH_API. */
enum { API_ARGS_SEQUENCE, API_ARGS_FORWARD, API_ARGS_SHAPES, API_ARGS_TYPES };

#endif
