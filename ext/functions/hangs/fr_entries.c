/*
** fr_entries: the calls recorded in the dumps of a job.
*/
#include "call_job.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum entries_column {
    ENTRIES_RANK,
    ENTRIES_RECORD_ID,
    ENTRIES_GROUP,
    ENTRIES_DESCRIPTION,
    ENTRIES_BACKEND,
    ENTRIES_OP,
    ENTRIES_P2P,
    ENTRIES_SRC,
    ENTRIES_DST,
    ENTRIES_COLLECTIVE_SEQ,
    ENTRIES_P2P_SEQ,
    ENTRIES_OP_ID,
    ENTRIES_STATE,
    ENTRIES_STATUS,
    ENTRIES_BATCH,
    ENTRIES_CREATED,
    ENTRIES_STARTED,
    ENTRIES_COMPLETED,
    ENTRIES_DURATION,
    ENTRIES_TIMEOUT,
    ENTRIES_INPUT_SIZES,
    ENTRIES_INPUT_TYPES,
    ENTRIES_OUTPUT_SIZES,
    ENTRIES_OUTPUT_TYPES,
    ENTRIES_RETIRED,
    ENTRIES_THREAD,
    ENTRIES_AT,
    ENTRIES_FRAMES,
    ENTRIES_COLUMNS
};

static const struct table_column columns_of_entries[ENTRIES_COLUMNS] = {
    [ENTRIES_RANK] = {"rank", "INTEGER", "rank of the dump"},
    [ENTRIES_RECORD_ID] = {"record_id", "INTEGER", "number of the call on its rank"},
    [ENTRIES_GROUP] = {"group", "TEXT", "name of its process group"},
    [ENTRIES_DESCRIPTION] = {"description", "TEXT", "purpose of the group"},
    [ENTRIES_BACKEND] = {"backend", "TEXT", "backend, such as nccl or gloo"},
    [ENTRIES_OP] = {"op", "TEXT", "the op, such as all_reduce or send"},
    [ENTRIES_P2P] = {"p2p", "INTEGER", "1 for a send or a receive, else 0"},
    [ENTRIES_SRC] = {"src", "INTEGER", "rank that sends; NULL for a collective"},
    [ENTRIES_DST] = {"dst", "INTEGER", "rank that receives; NULL for a collective"},
    [ENTRIES_COLLECTIVE_SEQ] = {"collective_seq", "INTEGER",
        "number among the collectives of the group"},
    [ENTRIES_P2P_SEQ] = {"p2p_seq", "INTEGER", "number among the sends and receives of the group"},
    [ENTRIES_OP_ID] = {"op_id", "INTEGER", "number among all calls of the group"},
    [ENTRIES_STATE] = {"state", "TEXT", "as in the dump: 'scheduled', 'started' or 'completed'"},
    [ENTRIES_STATUS] = {"status", "TEXT", "'completed', 'pending' or 'timed out'"},
    [ENTRIES_BATCH] = {"batch", "INTEGER",
        "record_id of the call that closes its batch; NULL: not in a batch"},
    [ENTRIES_CREATED] = {"created_ns", "INTEGER", "ns since 1970, time of the call"},
    [ENTRIES_STARTED] = {"started_ns", "INTEGER",
        "ns since 1970, when the watchdog saw that it had started; NULL: never"},
    [ENTRIES_COMPLETED] = {"completed_ns", "INTEGER",
        "ns since 1970, when the watchdog saw that it had completed; NULL: never"},
    [ENTRIES_DURATION] = {"duration_ms", "REAL", "ms on the device; NULL if not recorded"},
    [ENTRIES_TIMEOUT] = {"timeout_ms", "INTEGER", "ms, its timeout"},
    [ENTRIES_INPUT_SIZES] = {"input_sizes", "TEXT", "JSON array of the shapes of its inputs"},
    [ENTRIES_INPUT_TYPES] = {"input_dtypes", "TEXT", "JSON array of the types of its inputs"},
    [ENTRIES_OUTPUT_SIZES] = {"output_sizes", "TEXT", "JSON array of the shapes of its outputs"},
    [ENTRIES_OUTPUT_TYPES] = {"output_dtypes", "TEXT", "JSON array of the types of its outputs"},
    [ENTRIES_RETIRED] = {"retired", "INTEGER", "1 if the watchdog no longer watches it, else 0"},
    [ENTRIES_THREAD] = {"thread", "TEXT", "name of the thread"},
    [ENTRIES_AT] = {"at", "TEXT", "the first frame outside of PyTorch"},
    [ENTRIES_FRAMES] = {"frames", "TEXT", "JSON array of the frames of the call, innermost first"},
};

static const struct argument arguments_of_entries[] = {DUMPS_ARGUMENTS};

/* Rows that are made from the entries when SQLite reads them. */
struct entry_rows {
    struct rows rows; /* must be first */
    struct fr_job job;
};

static void destroy(struct rows *rows)
{
    struct entry_rows *made = (struct entry_rows *)rows;
    fr_job_clear(&made->job);
    memory_free(made);
}

static int give_writer(sqlite3_context *context, struct writer *text)
{
    bool failed = text->failed;
    if (!failed)
        sqlite3_result_text64(context, text->bytes, text->length, SQLITE_TRANSIENT, SQLITE_UTF8);
    writer_clear(text);
    return failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int give_sizes(sqlite3_context *context, const struct fr_job *job, uint32_t sizes)
{
    const struct name *list = &job->sizes.items[sizes];
    struct writer text = {0};
    int64_t left = 0, value;
    write_string(&text, "[");
    for (size_t at = 0; at < list->length; at += sizeof value) {
        bool begins = left == 0;
        memcpy(&value, list->text + at, sizeof value);
        if (begins)
            write_string(&text, at > 0 ? ",[" : "[");
        else
            write_integer(&text, value);
        left = begins ? value : left - 1;
        write_string(&text, left == 0 ? "]" : begins ? "" : ",");
    }
    write_string(&text, "]");
    return give_writer(context, &text);
}

/* Returns a list of texts, or of frames, to SQLite. */
static int give_list(sqlite3_context *context, const struct fr_job *job, uint32_t id,
                     bool of_frames)
{
    const struct name *list = &job->lists.items[id];
    struct writer text = {0};
    write_string(&text, "[");
    for (size_t at = 0; at < list->length; at += sizeof(uint32_t)) {
        uint32_t item;
        memcpy(&item, list->text + at, sizeof item);
        const struct name *name = fr_text(job, of_frames ? job->frames[item].whole : item);
        write_string(&text, at > 0 ? "," : "");
        write_json(&text, name->text, name->length);
    }
    write_string(&text, "]");
    return give_writer(context, &text);
}

static void give_text(sqlite3_context *context, const struct fr_job *job, uint32_t text)
{
    if (text == NAME_NONE || text == FR_EMPTY) {
        sqlite3_result_null(context);
        return;
    }
    const struct name *name = fr_text(job, text);
    sqlite3_result_text64(context, name->text, name->length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void give_integer(sqlite3_context *context, int64_t number)
{
    if (number == NUMBER_NONE)
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, number);
}

/* Converts a rank in an entry's group to a rank of the job. */
static int64_t rank_in_job(const struct fr_job *job, const struct fr_entry *entry, int64_t rank)
{
    uint32_t of = job->members[entry->member].group;
    if (of == FR_NONE)
        return NUMBER_NONE;
    const struct fr_group *group = &job->groups[of];
    return rank >= 0 && (size_t)rank < group->count ? group->ranks[rank] : NUMBER_NONE;
}

static int64_t number_of_column(const struct fr_job *job, const struct fr_entry *entry, int column)
{
    switch (column) {
    case ENTRIES_RANK:
        return job->dumps[entry->dump].rank >= 0 ? job->dumps[entry->dump].rank : NUMBER_NONE;
    case ENTRIES_RECORD_ID:
        return entry->record;
    case ENTRIES_P2P:
        return entry->is_p2p;
    case ENTRIES_SRC:
        return rank_in_job(job, entry, fr_op_of(job, entry)->from);
    case ENTRIES_DST:
        return rank_in_job(job, entry, fr_op_of(job, entry)->to);
    case ENTRIES_COLLECTIVE_SEQ:
        return entry->collective_seq;
    case ENTRIES_P2P_SEQ:
        return entry->p2p_seq;
    case ENTRIES_OP_ID:
        return entry->op_id;
    case ENTRIES_BATCH:
        return entry->batch == FR_NONE ? NUMBER_NONE : job->entries[entry->batch].record;
    case ENTRIES_CREATED:
        return entry->created;
    case ENTRIES_STARTED:
        return entry->started;
    case ENTRIES_COMPLETED:
        return entry->completed;
    case ENTRIES_TIMEOUT:
        return entry->timeout_ms;
    default:
        return entry->retired;
    }
}

static int column_of_entry(struct rows *rows, struct row_scan *scan,
                           const struct position *position, int column, sqlite3_context *context,
                           struct failure *failure)
{
    static const char *const statuses[] = {[FR_STATUS_COMPLETED] = "completed",
                                           [FR_STATUS_TIMED_OUT] = "timed out",
                                           [FR_STATUS_PENDING] = "pending"};
    const struct entry_rows *made = (const struct entry_rows *)rows;
    const struct fr_job *job = &made->job;
    const struct fr_entry *entry = &job->entries[position->row];
    const struct fr_op *op = fr_op_of(job, entry);
    (void)scan;
    (void)failure;
    switch (column) {
    case ENTRIES_GROUP:
        give_text(context, job, job->members[entry->member].name);
        return SQLITE_OK;
    case ENTRIES_DESCRIPTION:
        give_text(context, job, job->members[entry->member].description);
        return SQLITE_OK;
    case ENTRIES_BACKEND:
        give_text(context, job, op->backend);
        return SQLITE_OK;
    case ENTRIES_OP:
        give_text(context, job, op->op);
        return SQLITE_OK;
    case ENTRIES_STATE:
        give_text(context, job, entry->state);
        return SQLITE_OK;
    case ENTRIES_STATUS:
        sqlite3_result_text(context, statuses[entry->status], -1, SQLITE_STATIC);
        return SQLITE_OK;
    case ENTRIES_DURATION:
        if (!isnan(entry->duration_ms))
            sqlite3_result_double(context, entry->duration_ms);
        return SQLITE_OK;
    case ENTRIES_INPUT_SIZES:
        return give_sizes(context, job, entry->input_sizes);
    case ENTRIES_OUTPUT_SIZES:
        return give_sizes(context, job, entry->output_sizes);
    case ENTRIES_INPUT_TYPES:
        return give_list(context, job, entry->input_types, false);
    case ENTRIES_OUTPUT_TYPES:
        return give_list(context, job, entry->output_types, false);
    case ENTRIES_FRAMES:
        return give_list(context, job, entry->frames, true);
    case ENTRIES_THREAD:
        give_text(context, job, entry->thread);
        return SQLITE_OK;
    case ENTRIES_AT:
        give_text(context, job, fr_place(job, entry));
        return SQLITE_OK;
    default:
        give_integer(context, number_of_column(job, entry, column));
        return SQLITE_OK;
    }
}


static int entries_produce(struct call *call, struct rows **rows)
{
    static const struct rows_methods methods = {.column = column_of_entry, .destroy = destroy};
    struct entry_rows *made = memory_zeroed(1, sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    struct fr_job *job = &made->job;
    made->rows.methods = &methods;
    connection_begin_work(call->connection);
    if (call_job_read(call, job)) {
        made->rows.count = (int64_t)job->entry_count;
        made->rows.memory = job->entry_count * sizeof *job->entries + names_memory(&job->texts) +
                            names_memory(&job->sizes) + names_memory(&job->lists);
    }
    connection_end_work(call->connection);
    if (call_code(call) == SQLITE_OK)
        *rows = &made->rows;
    else
        destroy(&made->rows);
    return call_code(call);
}

const struct table_function fr_entries_function = {
    .name = "fr_entries",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "Which collectives did each rank call, and from where?",
    .text = "the calls recorded by the flight recorder, one row per rank and call",
    COLUMNS(columns_of_entries),
    ARGUMENTS(arguments_of_entries),
    .produce = entries_produce,
};
