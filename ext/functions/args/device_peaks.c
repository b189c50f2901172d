#include "device_peaks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* In the order of the words for column `type`. */
enum peak_type { FLOAT64, FLOAT32, TF32, FLOAT16, BFLOAT16, FLOAT8, INT8, MEMORY, PEAK_TYPES };
static const char *const type_names[PEAK_TYPES] = {
    [FLOAT64] = "float64",   [FLOAT32] = "float32", [TF32] = "tf32", [FLOAT16] = "float16",
    [BFLOAT16] = "bfloat16", [FLOAT8] = "float8",   [INT8] = "int8", [MEMORY] = "memory"};

/* Peaks collected from the rows of statements. */
struct peaks {
    double by_type[PEAK_TYPES]; /* FLOPs or bytes per us; NAN: unknown */
    char *device;               /* allocated by SQLite; NULL: unknown */
};

/* Runs a statement with a text bound to ?1 and passes its rows to `take`. Returns a SQLite result
** code of the statement or of `take`. */
static int run(struct call *call, const char *sql, const char *text, size_t length,
               struct peaks *peaks, int (*take)(struct peaks *peaks, sqlite3_stmt *row))
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(call->connection->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text64(statement, 1, text, length, SQLITE_STATIC, SQLITE_UTF8);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        code = take(peaks, statement);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int take_device(struct peaks *peaks, sqlite3_stmt *row)
{
    if (sqlite3_column_type(row, 0) == SQLITE_NULL)
        return SQLITE_OK;
    const char *name = (const char *)sqlite3_column_text(row, 0);
    peaks->device = name ? sqlite3_mprintf("%s", name) : NULL;
    return peaks->device ? SQLITE_OK : SQLITE_NOMEM;
}

static int take_peak(struct peaks *peaks, sqlite3_stmt *row)
{
    if (sqlite3_column_type(row, 0) == SQLITE_NULL)
        return SQLITE_OK;
    const char *type = (const char *)sqlite3_column_text(row, 0);
    double peak = sqlite3_column_double(row, 1);
    for (int i = 0; type && i < PEAK_TYPES; i++)
        if (strcmp(type, type_names[i]) == 0)
            peaks->by_type[i] = peak > 0 ? peak * (i == MEMORY ? 1e3 : 1e6) : NAN;
    return type ? SQLITE_OK : SQLITE_NOMEM;
}

/* Finds the peaks of the devices of a file, which must all have one name. With metadata that are
** not JSON, they are unknown. */
static bool find_peaks(struct call *call, const struct trace_file *file, struct peaks *peaks)
{
    static const char device_sql[] = /* no json_each(), which a user's table can hide */
        "WITH RECURSIVE device(at, name) AS ("
        "SELECT 0, ?1 ->> '$.deviceProperties[0].name' UNION ALL"
        " SELECT at + 1, ?1 ->> ('$.deviceProperties[' || (at + 1) || '].name') FROM device"
        " WHERE at + 1 < json_array_length(?1, '$.deviceProperties'))"
        "SELECT CASE WHEN min(name) = max(name) AND count(name) = count(*) THEN min(name) END"
        " FROM device";
    static const char own_sql[] =
        "SELECT type, peak FROM temp.trace_device_peaks WHERE ?1 LIKE device";
    static const char sql[] = "SELECT type, peak FROM \"tracediff:trace_device_peaks\"(?1)";
    *peaks = (struct peaks){.device = NULL};
    for (int i = 0; i < PEAK_TYPES; i++)
        peaks->by_type[i] = NAN;
    int code = file->metadata ? run(call, device_sql, file->metadata, file->metadata_length, peaks,
                                    take_device)
                              : SQLITE_OK;
    if (!peaks->device)
        return (code != SQLITE_NOMEM && code != SQLITE_INTERRUPT) || call_check(call, code, "");
    size_t length = strlen(peaks->device);
    code = run(call, own_sql, peaks->device, length, peaks, take_peak);
    if (code == SQLITE_ERROR) /* the user has no such table with these columns */
        code = run(call, sql, peaks->device, length, peaks, take_peak);
    sqlite3_free(peaks->device);
    return call_check(call, code, "trace_device_peaks: ");
}

/* Returns the type of the first input that has one, in a list in the format of PyTorch's profiler;
** PEAK_TYPES: none. */
static enum peak_type type_of(const struct name *types)
{
    static const struct {
        const char *text;
        enum peak_type type;
    } known[] = {{"\"float\"", FLOAT32},        {"\"double\"", FLOAT64},
                 {"\"c10::Half\"", FLOAT16},    {"\"c10::BFloat16\"", BFLOAT16},
                 {"\"c10::Float8_e", FLOAT8},   {"\"signed char\"", INT8}};
    enum peak_type first = PEAK_TYPES;
    const char *at = NULL;
    for (size_t i = 0; types && i < sizeof known / sizeof *known; i++) {
        const char *found = strstr(types->text, known[i].text);
        if (found && (!at || found < at)) {
            at = found;
            first = known[i].type;
        }
    }
    return first;
}

/* F9.2: whether the name of a kernel shows TF32. */
static bool shows_tf32(const struct name *name)
{
    return strstr(name->text, "tf32") || strstr(name->text, "TF32") ||
           strstr(name->text, "tensorop_s1688gemm");
}

/* F9.1: whether a copy crosses the bus to the host. */
static bool leaves_device(const struct name *name)
{
    return strstr(name->text, "HtoD") || strstr(name->text, "DtoH");
}

bool ideal_times_find(struct call *call, const struct trace_file *file,
                      const struct kernel_work *owners, const struct work *work,
                      struct ideal_times *ideal)
{
    const struct columns *columns = &file->columns;
    struct peaks peaks;
    *ideal = (struct ideal_times){memory_items(columns->count, sizeof *ideal->flops),
                                  memory_items(columns->count, sizeof *ideal->bytes)};
    bool done = ((ideal->flops && ideal->bytes) || failure_memory(&call->failure)) &&
                find_peaks(call, file, &peaks);
    for (uint32_t row = 0; done && row < columns->count; row++)
        ideal->flops[row] = ideal->bytes[row] = NAN;
    const struct name *types;
    size_t i = 0;
    for (uint32_t row; done && (row = kernel_work_owned(owners, i, &types)) != ROW_NONE; i++) {
        const struct name *name = &file->names.items[columns->name[row]];
        enum peak_type type = type_of(types);
        if (type == FLOAT32 && shows_tf32(name))
            type = TF32;
        if (type != PEAK_TYPES)
            ideal->flops[row] = (double)work[row].flops / peaks.by_type[type];
        if (!leaves_device(name))
            ideal->bytes[row] = (double)work[row].bytes / peaks.by_type[MEMORY];
        done = stopper_goes_on(call_stopper(call), i, &call->failure);
    }
    if (!done)
        ideal_times_clear(ideal);
    return done;
}

void ideal_times_clear(struct ideal_times *ideal)
{
    memory_free(ideal->flops);
    memory_free(ideal->bytes);
    *ideal = (struct ideal_times){NULL, NULL};
}
