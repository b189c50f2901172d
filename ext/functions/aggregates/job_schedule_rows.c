#include "job_schedule_rows.h"

#include <string.h>

#include "analysis/job/job_rows.h"
#include "analysis/job/job_schedule.h"
#include "chart/writer.h"
#include "base/memory.h"
#include "sqlite/connection.h"
#include "aggregates.h"

const char job_schedule_name[] = "trace_job_schedule";
const char job_offsets_name[] = "trace_job_offsets";

const char *const job_row_kinds[] = {"step", "collective", "exposed", "host_collective",
                                     "host_wait"};

/* Arguments, which are the columns of trace_job_ranks in their order. */
enum {
    ROW_KIND,
    ROW_RANK,
    ROW_FILE,
    ROW_ITERATION,
    ROW_START,
    ROW_END,
    ROW_EVENT,
    ROW_BEHIND,
    ROW_GROUP,
    ROW_RANKS,
    ROW_NAME,
    ROW_WAITS
};

/* A row while it is read. */
struct row_reader {
    sqlite3_value **values;
    const char *wrong; /* error message; NULL: none so far */
    bool lost;         /* out of memory */
};

/* Returns an integer, or NUMBER_NONE for NULL. */
static int64_t integer_at(struct row_reader *reader, int argument, bool may_be_null,
                          const char *wrong)
{
    int type = sqlite3_value_type(reader->values[argument]);
    if (type != SQLITE_INTEGER && !(type == SQLITE_NULL && may_be_null) && !reader->wrong)
        reader->wrong = wrong;
    return type == SQLITE_INTEGER ? sqlite3_value_int64(reader->values[argument]) : NUMBER_NONE;
}

static struct job_text text_at(struct row_reader *reader, int argument, bool may_be_null,
                               const char *wrong)
{
    sqlite3_value *value = reader->values[argument];
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL && may_be_null)
        return (struct job_text){NULL, 0};
    if (type != SQLITE_TEXT && !reader->wrong)
        reader->wrong = wrong;
    const char *text = (const char *)sqlite3_value_text(value);
    reader->lost = reader->lost || (!text && type != SQLITE_NULL);
    return (struct job_text){text, text ? (size_t)sqlite3_value_bytes(value) : 0};
}

static enum job_row_kind kind_at(struct row_reader *reader)
{
    struct job_text text = text_at(reader, ROW_KIND, true, NULL);
    for (int i = 0; text.bytes && i < JOB_ROW_KINDS; i++)
        if (strcmp(text.bytes, job_row_kinds[i]) == 0)
            return (enum job_row_kind)i;
    reader->wrong =
        "kind must be 'step', 'collective', 'exposed', 'host_collective' or 'host_wait'";
    return JOB_ROW_KINDS;
}

/* Reads a row and checks it. */
static struct job_row read_row(struct row_reader *reader)
{
    static const char events[] =
        "event and queued_behind must be whole numbers from 0, below 2^32 - 1";
    struct job_row row = {.kind = kind_at(reader), .queued_behind = NUMBER_NONE};
    bool step = row.kind == JOB_ROW_STEP, host = row.kind == JOB_ROW_HOST_COLLECTIVE;
    bool collective = host || row.kind == JOB_ROW_COLLECTIVE;
    bool has_event = collective || row.kind == JOB_ROW_EXPOSED;
    row.rank = integer_at(reader, ROW_RANK, false, "rank must be an integer");
    row.file = text_at(reader, ROW_FILE, false, "file must be a text");
    row.iteration = integer_at(reader, ROW_ITERATION, true, "iteration must be an integer or NULL");
    row.start = integer_at(reader, ROW_START, step, "start_ns must be an integer");
    row.end = integer_at(reader, ROW_END, step, "end_ns must be an integer");
    row.event = has_event ? integer_at(reader, ROW_EVENT, false, events) : 0;
    if (collective) {
        row.queued_behind = integer_at(reader, ROW_BEHIND, true, events);
        row.group = text_at(reader, ROW_GROUP, host, "process_group must be a text");
        row.ranks = text_at(reader, ROW_RANKS, true, "process_group_ranks must be a text or NULL");
        row.name = text_at(reader, ROW_NAME, false, "name must be a text");
        row.waits_for_all =
            integer_at(reader, ROW_WAITS, false, "waits_for_all must be 0 or 1") != 0;
    }
    wide_time length = (wide_time)row.end - row.start;
    if (reader->wrong)
        return row;
    if ((row.start == NUMBER_NONE) != (row.end == NUMBER_NONE) || (!step && length < 0))
        reader->wrong = "start_ns must not be after end_ns";
    else if (length > INT64_MAX || length < -INT64_MAX)
        reader->wrong = "start_ns and end_ns are more than 2^63 ns apart";
    else if (row.event < 0 || row.event >= JOB_NONE || row.queued_behind >= JOB_NONE ||
             (row.queued_behind < 0 && row.queued_behind != NUMBER_NONE))
        reader->wrong = events;
    return row;
}

static void take_row(sqlite3_context *context, const char *function, sqlite3_value **values)
{
    struct row_reader reader = {.values = values};
    struct job_row row = read_row(&reader);
    struct failure failure = {.code = FAILURE_NONE};
    struct job_rows *rows = reader.wrong ? NULL : sqlite3_aggregate_context(context, sizeof *rows);
    if (reader.wrong)
        function_fail(context, function, "%s", reader.wrong);
    else if (reader.lost || !rows || !job_rows_add(rows, &row, &failure))
        sqlite3_result_error_nomem(context);
    failure_clear(&failure);
}

void jobScheduleStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    take_row(context, job_schedule_name, values);
}

void jobOffsetsStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    take_row(context, job_offsets_name, values);
}

/* Output of one job. */
struct schedule_writer {
    struct writer *to;
    const struct job_rows *rows;
    const struct job_schedule *schedule;
    struct job_piece *pieces; /* pieces of the current stretch; owned */
    size_t capacity;
    struct failure *failure;
};

static void put_number(struct writer *to, const char *key, int64_t number)
{
    write_key(to, ", ", key);
    if (number == NUMBER_NONE)
        write_string(to, "null");
    else
        write_integer(to, number);
}

static void put_name(const struct schedule_writer *of, const char *key, uint32_t id)
{
    write_key(of->to, ", ", key);
    if (id == NAME_NONE)
        write_string(of->to, "null");
    else
        write_json(of->to, of->rows->job.texts.items[id].text,
                   of->rows->job.texts.items[id].length);
}

/* Writes a piece of a stretch. In a step of length 0, both are NULL. */
static void put_piece(const struct schedule_writer *of, const struct window *window, int64_t seq,
                      const struct job_stretch *stretch, const struct job_piece *piece)
{
    const struct job *job = &of->rows->job;
    const int64_t *numbers = of->rows->numbers;
    bool waits = stretch && stretch->waiting != JOB_NONE;
    const struct job_collective *awaited =
        waits ? &job->ranks[stretch->waiting].collectives[stretch->awaited] : NULL;
    const struct job_collective *queued =
        stretch && stretch->queued != JOB_NONE
            ? &job->ranks[stretch->rank].collectives[stretch->queued]
            : NULL;
    int64_t start = stretch ? stretch->start + (piece->start - stretch->own_start) : window->start;
    write_string(of->to, of->to->length > 1 ? ",\n{\"seq\": " : "{\"seq\": ");
    write_integer(of->to, seq);
    put_number(of->to, "iteration", window->iteration);
    put_number(of->to, "rank", numbers[stretch ? stretch->rank : 0]);
    put_number(of->to, "ts_ns", start);
    put_number(of->to, "dur_ns", stretch ? piece->end - piece->start : 0);
    put_number(of->to, "own_iteration",
               stretch ? piece->window->window.iteration : window->iteration);
    put_number(of->to, "own_ts_ns", stretch ? piece->start : start);
    put_number(of->to, "event", queued ? (int64_t)queued->row : NUMBER_NONE);
    put_number(of->to, "waiting_rank", waits ? numbers[stretch->waiting] : NUMBER_NONE);
    put_name(of, "collective", waits ? awaited->name : NAME_NONE);
    put_name(of, "process_group", waits ? awaited->group : NAME_NONE);
    put_name(of, "queued", queued ? queued->name : NAME_NONE);
    put_number(of->to, "not_matched", (int64_t)job->not_matched);
    put_number(of->to, "not_tied", (int64_t)of->schedule->not_tied);
    write_string(of->to, "}");
}

/* Writes the pieces of a stretch in order of time. */
static bool put_stretch(struct schedule_writer *of, const struct window *window, int64_t seq,
                        const struct job_stretch *stretch)
{
    struct job_piece piece = {.window = NULL};
    size_t count = 0;
    while (job_stretch_piece(&of->rows->job, stretch, &piece)) {
        if (!MEMORY_GROW(of->pieces, of->capacity, count + 1))
            return failure_memory(of->failure);
        of->pieces[count++] = piece;
    }
    while (count-- > 0)
        put_piece(of, window, seq, stretch, &of->pieces[count]);
    return true;
}

static bool put_schedule(struct schedule_writer *of, const struct stopper *stopper)
{
    const struct job *job = &of->rows->job;
    const struct job_rank *reference = job->ranks;
    size_t left = of->schedule->count, windows = job->rank_count > 0 ? reference->window_count : 0;
    write_string(of->to, "[");
    for (size_t i = 0; i < windows; i++) {
        const struct window *window = &reference->windows[i].window;
        int64_t seq = 0;
        for (; left > 0 && of->schedule->items[left - 1].window == i; left--)
            if (!stopper_goes_on(stopper, left, of->failure) ||
                !put_stretch(of, window, seq++, &of->schedule->items[left - 1]))
                return false;
        if (seq == 0)
            put_piece(of, window, 0, NULL, NULL);
    }
    write_string(of->to, "]");
    return !of->to->failed || failure_memory(of->failure);
}

/* Finds the path and writes it. */
static bool write_schedule(struct writer *to, const struct job_rows *rows,
                           const struct stopper *stopper, struct failure *failure)
{
    struct job_schedule schedule = {.count = 0};
    struct schedule_writer writer = {
        .to = to, .rows = rows, .schedule = &schedule, .failure = failure};
    bool done = job_schedule_make(&schedule, &rows->job, failure) && put_schedule(&writer, stopper);
    memory_free(writer.pieces);
    job_schedule_clear(&schedule);
    return done;
}

/* Finds the clocks and writes them. */
static bool write_offsets(struct writer *to, const struct job_rows *rows,
                          const struct stopper *stopper, struct failure *failure)
{
    const struct job *job = &rows->job;
    struct job_clocks clocks = {.job = NULL};
    size_t count;
    int64_t *steps = job_list_steps(job, NULL, &count);
    bool done = (steps || failure_memory(failure)) && job_clocks_make(&clocks, job, failure);
    write_string(to, "[");
    for (size_t i = 0; i < count && done; i++) {
        done = stopper_goes_on(stopper, i, failure) && job_clocks_find(&clocks, steps[i], failure);
        for (size_t r = 0; r < job->rank_count && done; r++) {
            write_string(to, to->length > 1 ? ",\n{\"rank\": " : "{\"rank\": ");
            write_integer(to, rows->numbers[r]);
            put_number(to, "iteration", steps[i]);
            put_number(to, "offset_ns", job_clocks_offset(&clocks, r));
            write_string(to, "}");
        }
    }
    write_string(to, "]");
    job_clocks_clear(&clocks);
    memory_free(steps);
    return done && (!to->failed || failure_memory(failure));
}

/* Returns the JSON of the rows as the result. */
static void finish(sqlite3_context *context, const char *function,
                   bool (*put)(struct writer *to, const struct job_rows *rows,
                               const struct stopper *stopper, struct failure *failure))
{
    struct connection *connection = sqlite3_user_data(context);
    const struct stopper *stopper = &connection->cache.stopper;
    struct job_rows *rows = sqlite3_aggregate_context(context, 0), none = {.numbers = NULL};
    struct writer text = {.bytes = NULL};
    struct failure failure = {.code = FAILURE_NONE};
    rows = rows ? rows : &none;
    connection_begin_work(connection);
    bool done = job_rows_finish(rows, stopper, &failure) && put(&text, rows, stopper, &failure);
    if (failure.code == FAILURE_REQUEST) {
        connection_end_work(connection);
        function_fail(context, function, "%s", failure.text);
        failure_clear(&failure);
    } else if (function_end_work(context, connection, done, &failure)) {
        sqlite3_result_text64(context, text.bytes, text.length, memory_free, SQLITE_UTF8);
        text = (struct writer){.bytes = NULL};
    }
    writer_clear(&text);
    job_rows_clear(rows);
}

void jobScheduleFinal(sqlite3_context *context)
{
    finish(context, job_schedule_name, write_schedule);
}

void jobOffsetsFinal(sqlite3_context *context)
{
    finish(context, job_offsets_name, write_offsets);
}
