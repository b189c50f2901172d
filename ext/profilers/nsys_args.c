#include "nsys.h"

const char *nsys_sync_name(int64_t type)
{
    static const char *const names[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                        "Stream Sync", "Context Sync"};
    return names[type >= 1 && type <= 4 ? type : 0];
}

/* Writes the domain of a range: its name, or else its number (N7). */
static bool write_domain(struct database_read *read, const struct table_scan *scan,
                         sqlite3_str *json)
{
    const struct nsys *known = read->known;
    int64_t domain = scan_integer(scan, NVTX_DOMAIN), process;
    if (domain == 0 || domain == NUMBER_NONE)
        return true;
    if (!nsys_process(read, scan, NVTX_THREAD, &process))
        return false;
    for (size_t i = 0; i < known->domain_count; i++)
        if (known->domains[i].process == process && known->domains[i].id == domain)
            return args_text(json, "domain", (const unsigned char *)known->domains[i].name,
                             known->domains[i].length, read->failure);
    args_integer(json, "domain", domain);
    return true;
}

static bool range_args(struct database_read *read, const struct table_scan *scan, sqlite3_str *json)
{
    const struct nsys *known = read->known;
    struct nvtx_text parts;
    const unsigned char *text, *name;
    size_t length;
    int64_t number;
    if (!nsys_text(read, scan, &text, &length))
        return false;
    if (!text)
        return write_domain(read, scan, json);
    nvtx_read(text, length, &parts);
    if (!ranges_args(&parts, json, read->failure) || !write_domain(read, scan, json))
        return false;
    bool step = scan_integer(scan, NVTX_TYPE) != NVTX_MARK && known->word != NVTX_NO_WORD &&
                nvtx_step(text, parts.name_length, &number) == known->word;
    bool whole = step || nvtx_marker(text, length, &name) > 0;
    return !whole || args_text(json, "nvtx", text, length, read->failure);
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t total;
    if (a == NUMBER_NONE || b == NUMBER_NONE)
        return a == NUMBER_NONE ? b : a;
    return __builtin_add_overflow(a, b, &total) ? NUMBER_NONE : total;
}

/* Writes x, y and z from three columns. */
static void write_three(sqlite3_str *json, const char *key, const struct table_scan *scan,
                        int column)
{
    args_three(json, key, scan_integer(scan, column), scan_integer(scan, column + 1),
               scan_integer(scan, column + 2));
}

bool nsys_args(struct database_read *read, const struct trace_file *file, size_t row, int kind,
               const struct table_scan *scan, sqlite3_str *json)
{
    const struct place *place = row_place(&file->columns, row);
    const struct identifier *pid = &file->tracks.items[place->track].pid;
    int64_t dur = file->columns.dur[row];
    if (kind == NSYS_NVTX)
        return range_args(read, scan, json);
    if (kind == NSYS_RUNTIME) {
        int64_t result = scan_integer(scan, CALL_RESULT);
        args_integer(json, "correlation", scan_integer(scan, CALL_CORRELATION));
        args_integer(json, "return value", result == 0 ? NUMBER_NONE : result);
        return true;
    }
    if (kind == NSYS_SYNC) {
        const char *name = nsys_sync_name(scan_integer(scan, SYNC_TYPE));
        args_word(json, "cuda_sync_kind", name);
    }
    args_integer(json, "device", pid->kind == IDENTIFIER_INTEGER ? pid->value : NUMBER_NONE);
    args_integer(json, "context", scan_integer(scan, WORK_CONTEXT));
    args_integer(json, "stream", place->stream);
    args_integer(json, "correlation", scan_integer(scan, WORK_CORRELATION));
    if (kind == NSYS_KERNEL) {
        args_integer(json, "registers per thread", scan_integer(scan, KERNEL_REGISTERS));
        args_integer(json, "shared memory",
                     sum(scan_integer(scan, KERNEL_STATIC), scan_integer(scan, KERNEL_DYNAMIC)));
        write_three(json, "grid", scan, KERNEL_GRID);
        write_three(json, "block", scan, KERNEL_BLOCK);
        args_integer(json, "graph node id", scan_integer(scan, KERNEL_NODE));
    } else if (kind == NSYS_MEMCPY || kind == NSYS_MEMSET) {
        int64_t bytes = scan_integer(scan, kind == NSYS_MEMCPY ? MEMCPY_BYTES : MEMSET_BYTES);
        args_integer(json, "bytes", bytes);
        args_bandwidth(json, bytes, dur);
        args_integer(json, "graph node id",
                     scan_integer(scan, kind == NSYS_MEMCPY ? MEMCPY_NODE : MEMSET_NODE));
    } else if (kind == NSYS_GRAPH) {
        args_integer(json, "graph id", scan_integer(scan, GRAPH_ID));
        args_integer(json, "graph exec id", scan_integer(scan, GRAPH_EXEC));
    }
    return true;
}
