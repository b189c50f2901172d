/*
** compile_records: the records of logs, which are read again while SQLite asks for rows.
*/
#include <string.h>

#include "base/memory.h"
#include "call_logs.h"
#include "compile/log_values.h"
#include "text/text.h"

enum record_column {
    RECORD_FILE,
    RECORD_RANK,
    RECORD_PID,
    RECORD_LINE,
    RECORD_TS,
    RECORD_KIND,
    RECORD_ID,
    RECORD_ATTEMPT,
    RECORD_NAME,
    RECORD_METADATA,
    RECORD_PAYLOAD,
    RECORD_DAMAGED
};

static const struct table_column columns_of_records[] = {
    LOG_COLUMNS_OF_FILE,
    {"pid", "INTEGER", "number of the process, or of a thread (PyTorch 2.3)"},
    {"line", "INTEGER", "line of the file, from 1"},
    {"ts_ns", "INTEGER", "ns since 1970, time of the record; NULL without a clock"},
    {"kind", "TEXT", "kind of record, such as dynamo_start"},
    {"id", "TEXT", "compilation, such as 0/1; NULL: none"},
    {"attempt", "INTEGER", "attempt at the compilation, from 0"},
    {"name", "TEXT", "name of an artifact; NULL for other kinds"},
    {"metadata", "TEXT", "JSON value that the kind has in the record"},
    {"payload", "TEXT", "text that follows the record's line; NULL: none"},
    {"damaged", "INTEGER", "1 if the payload is damaged, else 0"},
};

static const struct argument arguments_of_records[] = {{LOG_ARGUMENT}};

struct log_rows {
    struct rows rows; /* must be first */
    struct compile_log log;
    struct connection *connection;
};

struct log_scan {
    struct row_scan base; /* must be first */
    struct log_reader reader;
    struct log_record record;
    bool open;
    size_t file;
    const struct compile_process *process;
    int64_t row;
};

static void record_scan_end(struct row_scan *base)
{
    struct log_scan *scan = (struct log_scan *)base;
    if (scan->open)
        log_close(&scan->reader);
    memory_free(scan);
}

static int record_scan_begin(struct rows *rows, const struct wish *wish, struct row_scan **base,
                             struct failure *failure)
{
    struct log_scan *scan = (struct log_scan *)*base;
    (void)wish;
    if (scan) {
        if (scan->open)
            log_close(&scan->reader);
        memset(scan, 0, sizeof *scan);
    } else if (!(scan = memory_zeroed(1, sizeof *scan))) {
        failure_memory(failure);
        return SQLITE_NOMEM;
    }
    scan->base.rows = rows;
    *base = &scan->base;
    return SQLITE_OK;
}

/* Returns the process of the record by its number, like compile_load_file(). */
static const struct compile_process *process_of(const struct compile_log *log, size_t number,
                                                int64_t pid)
{
    const struct compile_file *file = &log->files[number];
    const struct compile_process *processes = &log->processes[file->first_process];
    for (uint32_t i = 0; i + 1 < file->process_count; i++)
        if (processes[i].number == pid)
            return &processes[i];
    return &processes[file->process_count - 1];
}

static int record_scan_next(struct row_scan *base, struct position *position, bool *end,
                            struct failure *failure)
{
    struct log_scan *scan = (struct log_scan *)base;
    const struct log_rows *made = (const struct log_rows *)base->rows;
    for (;;) {
        if (!scan->open && scan->file == made->log.file_count) {
            *end = true;
            return SQLITE_OK;
        }
        if (!scan->open && !log_open(&scan->reader, made->log.files[scan->file].path,
                                     &made->connection->cache.stopper, failure))
            return SQLITE_ERROR;
        scan->open = true;
        enum log_read read = log_next(&scan->reader, &scan->record, failure);
        if (read == LOG_FAILED)
            return SQLITE_ERROR;
        if (read == LOG_RECORD)
            break;
        log_close(&scan->reader);
        scan->open = false;
        scan->file++;
    }
    scan->process = process_of(&made->log, scan->file, scan->record.pid);
    *position = (struct position){.row = scan->row++, .part = scan->file};
    *end = false;
    return SQLITE_OK;
}

static int give_text(sqlite3_context *context, const unsigned char *text, size_t length)
{
    char *repaired = text_repaired((const char *)text, &length);
    if (!repaired)
        return SQLITE_NOMEM;
    sqlite3_result_text64(context, repaired, length, SQLITE_TRANSIENT, SQLITE_UTF8);
    memory_free(repaired);
    return SQLITE_OK;
}

static int give_string(sqlite3_context *context, const struct token *token)
{
    struct log_scratch scratch = {NULL, 0, 0};
    int code = SQLITE_OK;
    if (token->kind == TOKEN_NONE)
        return SQLITE_OK;
    const char *text = log_text(&scratch, token);
    if (text)
        code = give_text(context, (const unsigned char *)text, scratch.length);
    memory_free(scratch.text);
    return text ? code : SQLITE_NOMEM;
}

static void give_integer(sqlite3_context *context, int64_t number)
{
    if (number != NUMBER_NONE)
        sqlite3_result_int64(context, number);
}

/* Returns the time of a record from its event, or else from its prefix. */
static int64_t time_of(const struct log_scan *scan)
{
    struct token event, ts;
    if (scan_equal(&scan->record.kind, "chromium_event") && log_payload(&scan->record, &event) &&
        *event.at == '{' && scan_member(&event, "ts", &ts) && ts.kind == TOKEN_BARE)
        return number_nanoseconds(ts.at, ts.length);
    return scan->process->clock.known ? log_time(&scan->process->clock, scan->record.local)
                                      : NUMBER_NONE;
}

static int record_column(struct rows *rows, struct row_scan *base, const struct position *position,
                         int column, sqlite3_context *context, struct failure *failure)
{
    const struct log_rows *made = (const struct log_rows *)rows;
    const struct log_scan *scan = (const struct log_scan *)base;
    const struct log_record *record = &scan->record;
    const char *file = made->log.files[position->part].name;
    struct token name = {.kind = TOKEN_NONE};
    char id[LOG_ID_SIZE];
    (void)failure;
    switch ((enum record_column)column) {
    case RECORD_FILE:
        return give_text(context, (const unsigned char *)file, strlen(file));
    case RECORD_RANK:
        give_integer(context, scan->process->rank);
        return SQLITE_OK;
    case RECORD_PID:
        give_integer(context, record->pid);
        return SQLITE_OK;
    case RECORD_LINE:
        give_integer(context, record->line);
        return SQLITE_OK;
    case RECORD_TS:
        give_integer(context, time_of(scan));
        return SQLITE_OK;
    case RECORD_KIND:
        return give_string(context, &record->kind);
    case RECORD_ID:
        return log_id(record, id) > 0
                   ? give_text(context, (const unsigned char *)id, strlen(id))
                   : SQLITE_OK;
    case RECORD_ATTEMPT:
        give_integer(context, log_integer(&record->members[LOG_ATTEMPT]));
        return SQLITE_OK;
    case RECORD_NAME:
        if (record->value.kind == TOKEN_NESTED && *record->value.at == '{' &&
            scan_equal(&record->kind, "artifact"))
            scan_member(&record->value, "name", &name);
        return give_string(context, &name);
    case RECORD_METADATA:
        return record->value.kind == TOKEN_NONE
                   ? SQLITE_OK
                   : give_text(context, record->value.at - (record->value.kind == TOKEN_TEXT ||
                                                            record->value.kind == TOKEN_ODD_TEXT),
                               record->value.length +
                                   2 * (size_t)(record->value.kind == TOKEN_TEXT ||
                                                record->value.kind == TOKEN_ODD_TEXT));
    case RECORD_PAYLOAD:
        return record->has_payload ? give_text(context, record->payload, record->payload_length)
                                   : SQLITE_OK;
    case RECORD_DAMAGED:
        sqlite3_result_int(context, record->damaged);
        return SQLITE_OK;
    }
    return SQLITE_OK;
}

static void record_rows_destroy(struct rows *rows)
{
    compile_log_clear(&((struct log_rows *)rows)->log);
    memory_free(rows);
}

static int records_produce(struct call *call, struct rows **rows)
{
    static const struct rows_methods methods = {.begin = record_scan_begin,
                                                .next = record_scan_next,
                                                .end = record_scan_end,
                                                .column = record_column,
                                                .destroy = record_rows_destroy};
    struct log_rows *made = memory_zeroed(1, sizeof *made);
    if (!made) {
        failure_memory(&call->failure);
        return SQLITE_NOMEM;
    }
    made->rows.methods = &methods;
    made->connection = call->connection;
    connection_begin_work(call->connection);
    bool done = call_logs_read(call, 0, &made->log);
    connection_end_work(call->connection);
    for (size_t i = 0; i < made->log.process_count; i++)
        made->rows.count += made->log.processes[i].records;
    if (done)
        *rows = &made->rows;
    else
        record_rows_destroy(&made->rows);
    return call_code(call);
}

const struct table_function compile_records_function = {
    .name = "compile_records",
    .family = FAMILY_COMPILER,
    .question = "Which records does a log of the compiler have?",
    .text = "the records of TORCH_TRACE logs, one row per record",
    COLUMNS(columns_of_records),
    ARGUMENTS(arguments_of_records),
    .produce = records_produce,
};
