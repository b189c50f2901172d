/*
** State for reading a database of Nsight Systems (rules N).
*/
#ifndef TRACEDIFF_NSYS_H
#define TRACEDIFF_NSYS_H

#include "ranges.h"

/* Kinds of tables, in the order of events (N1). */
enum nsys_table {
    NSYS_NVTX,
    NSYS_RUNTIME,
    NSYS_KERNEL,
    NSYS_MEMCPY,
    NSYS_MEMSET,
    NSYS_GRAPH,
    NSYS_SYNC,
    NSYS_TABLES
};

/* Columns for rows (also used for args), followed by columns for args only. */
enum { NVTX_START, NVTX_END, NVTX_TYPE, NVTX_TEXT, NVTX_TEXT_ID, NVTX_THREAD, NVTX_DOMAIN };
enum { CALL_START, CALL_END, CALL_CLASS, CALL_NAME, CALL_THREAD, CALL_CORRELATION, CALL_RESULT };
enum {
    WORK_START,
    WORK_END,
    WORK_DEVICE,
    WORK_STREAM,
    WORK_CONTEXT,
    WORK_CORRELATION,
    WORK_PROCESS,
    WORK_OWN, /* the first column of the specific table */
    KERNEL_DEMANGLED = WORK_OWN,
    KERNEL_SHORT,
    KERNEL_MANGLED,
    KERNEL_REGISTERS,
    KERNEL_STATIC,
    KERNEL_DYNAMIC,
    KERNEL_GRID, /* x, y, z */
    KERNEL_BLOCK = KERNEL_GRID + 3,
    KERNEL_NODE = KERNEL_BLOCK + 3,
    MEMCPY_KIND = WORK_OWN,
    MEMCPY_FROM,
    MEMCPY_TO,
    MEMCPY_BYTES,
    MEMCPY_NODE,
    MEMSET_BYTES = WORK_OWN,
    MEMSET_NODE,
    GRAPH_ID = WORK_OWN,
    GRAPH_EXEC,
    SYNC_TYPE = WORK_OWN
};

enum { NVTX_MARK = 34, NVTX_THREAD_NAME = 39, NVTX_PUSH = 59, NVTX_RANGE = 60, NVTX_DOMAINS = 75 };

struct nsys {
    struct nsys_part {
        int64_t process, device, rank; /* device: the lowest */
    } * parts;                         /* in the order of N4 */
    size_t part_count, part_capacity;
    size_t part;  /* the part being read */
    int64_t only; /* process of rows without one (N3) */
    bool only_known, only_seen, only_several;
    bool based;   /* `base` is known, so rows can be read even if parts were damaged */
    int64_t base; /* ns; NUMBER_NONE without one */
    struct nsys_context {
        int64_t context, device;
    } * contexts; /* of the part's work (N11) */
    size_t context_count, context_capacity;
    struct nsys_domain {
        int64_t process, id;
        char *name;
        size_t length;
    } * domains;
    size_t domain_count, domain_capacity;
    int word; /* that marks steps (N10); NVTX_NO_WORD: none */

    /* used only while rows are read */
    struct string_table strings;
    struct ranges ranges;
    uint32_t cats[8]; /* by enum nsys_cat: id of the name + 1; 0: not added yet */
};

/* Finds the parts and their ranks (N4, N5), and the base (N6). */
bool nsys_look(struct database_read *read);

/* The table with a name; or the one with the highest version `_V` after it. */
struct readonly_table *nsys_table(const struct readonly *readonly, const char *name);

/* Finds the process of a row from a column with a globalTid or globalPid (N3). */
bool nsys_process(struct database_read *read, const struct table_scan *scan, int column,
                  int64_t *process);

/* The text of a range: its own, or else the string with its id. */
bool nsys_text(struct database_read *read, const struct table_scan *scan,
               const unsigned char **text, size_t *length);

const char *nsys_sync_name(int64_t type);

bool nsys_args(struct database_read *read, const struct trace_file *file, size_t row, int kind,
               const struct table_scan *scan, sqlite3_str *json);

#endif
