/*
** Reads rocprofv3's JSON: records one by one, in file order, and the tables they refer to (rules
** R10 to R14).
*/
#ifndef TRACEDIFF_ROCPROF_RECORD_H
#define TRACEDIFF_ROCPROF_RECORD_H

#include "base/names.h"
#include "profilers/id_table.h"
#include "reader/json_walk.h"

enum record_kind { RECORD_CALL, RECORD_DISPATCH, RECORD_COPY, RECORD_OTHER };

/* Strings for a kind of records: ids of `texts`. */
struct record_strings {
    uint32_t category;
    uint32_t *operations;
    size_t count, capacity;
};

struct rocprof {
    const struct stopper *stopper; /* borrowed */
    struct json_walk walk;
    struct names texts;
    struct record_strings *kinds;
    size_t kind_count, kind_capacity;
    struct id_table agents;  /* by handle: index, is a GPU */
    struct id_table kernels; /* by id: text */
    struct id_table markers; /* by correlation: text */
    int64_t pid;             /* NUMBER_NONE */
    uint32_t host;           /* text, or NAME_NONE */
    enum record_kind kind;   /* of the current array */
    int place;               /* nesting level of the reader in the document */
    int64_t event;           /* number of the next record */
    bool has_records;        /* the first record was reached */
    int64_t late, late_byte; /* number of members after records that need them; first byte */
    unsigned char *room;     /* for decoded texts */
    size_t room_capacity;
};

struct rocprof_record {
    enum record_kind kind;
    int64_t event, byte;
    int64_t kernel, operation, of_kind; /* of_kind: index into `kinds` */
    int64_t start, end, thread, correlation, stream, queue, device, bytes;
    int64_t grid[3], block[3]; /* work items */
};

bool rocprof_open(struct rocprof *rocprof, const char *path, bool by_zlib,
                  const struct stopper *stopper, struct failure *failure);

/* Gives the next record. 1; 0 at the end, or at damage (walk.damaged); -1 on failure. */
int rocprof_next(struct rocprof *rocprof, struct rocprof_record *record, struct failure *failure);

void rocprof_close(struct rocprof *rocprof);

/* The text of an operation, or of a category; NULL if unknown. */
const struct name *rocprof_operation(const struct rocprof *rocprof,
                                     const struct rocprof_record *record);
const struct name *rocprof_category(const struct rocprof *rocprof,
                                    const struct rocprof_record *record);

/* The text for a key in `kernels` or `markers`; NULL if unknown. */
const struct name *rocprof_text(const struct rocprof *rocprof, const struct id_table *of,
                                int64_t id);

#endif
