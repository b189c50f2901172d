/*
** critical_path: what each step waited for, from its start to its end.
*/
#include "../analysis/path_walk.h"
#include "../reader/memory.h"
#include "../reader/number.h"
#include "call_trace.h"
#include "shapes.h"
#include "step_parts.h"

static const struct column columns_of_path[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the step; NULL in a file without steps"},
    {"seq", "INTEGER", "0, 1, ... in the step, by time"},
    {"kind", "TEXT",
     "host: a thread works; launch: it launches device work; queue: device work was launched and "
     "has "
     "not started; kernel: it runs; sync: the host has waited for it; wait: a thread has waited "
     "for "
     "another; "
     "NULL: a step of no length"},
    {"name", "TEXT",
     "name of the event; of queue that of the device work; NULL: nothing is recorded"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us"},
    {"file", "TEXT", "path"},
    {"event", "INTEGER", "position in the file's traceEvents"},
    {"ts_ns", "INTEGER", "ns, absolute"},
    {"dur_ns", "INTEGER", "ns"},
};

enum { PATH_TRACE, PATH_RANKS, PATH_ITERATIONS, PATH_CLOCK, PATH_STEPS };

static const struct argument arguments_of_path[] = {
    {TRACE_ARGUMENT},      {RANKS_ARGUMENT}, {"iterations", "", false, STEADY_STEPS_TEXT},
    {STEP_CLOCK_ARGUMENT}, {STEPS_ARGUMENT},
};

/* The number that args have for a key, by row; `wanted` rows only. */
static bool read_numbers(struct call *call, struct trace_file *file, const char *key,
                         const bool *wanted, uint32_t *values, struct names *texts)
{
    for (size_t row = 0; row < file->columns.count; row++)
        values[row] = wanted[row] ? 0 : NAME_NONE;
    return arg_read(call, file, key, values, texts);
}

static int64_t number_of(const struct names *texts, uint32_t id)
{
    int64_t number;
    const struct name *text = id == NAME_NONE ? NULL : &texts->items[id];
    return text && number_integer((const unsigned char *)text->text, text->length, &number) &&
                   number >= 0 && number < UINT32_MAX
               ? number
               : NUMBER_NONE;
}

/* Reads what sync events of a file say (P6.1). */
static bool read_syncs(struct call *call, struct trace_file *file, struct path_syncs *syncs)
{
    size_t rows = file->columns.count, count = 0;
    struct names texts = {0};
    bool *wanted = memory_zeroed(rows + 1, sizeof *wanted), done = true;
    *syncs = (struct path_syncs){.count = 0};
    for (size_t row = 0; wanted && row < rows; row++)
        count += wanted[row] = path_sync_wanted(file, row);
    uint32_t *streams = count > 0 ? memory_filled(rows, sizeof *streams) : NULL;
    uint32_t *records = count > 0 ? memory_filled(rows, sizeof *records) : NULL;
    if (count > 0) {
        syncs->items = memory_allocate(count * sizeof *syncs->items);
        done = (streams && records && syncs->items) || failure_memory(&call->failure);
        done =
            done && read_numbers(call, file, "wait_on_stream", wanted, streams, &texts) &&
            read_numbers(call, file, "wait_on_cuda_event_record_corr_id", wanted, records, &texts);
    } else if (!wanted) {
        done = failure_memory(&call->failure);
    }
    for (size_t row = 0; done && count > 0 && row < rows; row++) {
        int64_t stream = wanted[row] ? number_of(&texts, streams[row]) : NUMBER_NONE;
        if (stream != NUMBER_NONE)
            syncs->items[syncs->count++] =
                (struct path_sync){(uint32_t)row, stream, number_of(&texts, records[row])};
    }
    memory_free(wanted);
    memory_free(streams);
    memory_free(records);
    names_clear(&texts);
    return done;
}

static void add_part(struct result *result, const struct call_trace *opened,
                     const struct path_step *step, size_t seq, const struct path_part *part)
{
    static const char *const kinds[] = {"host", "launch", "queue", "kernel", "sync", "wait"};
    const struct trace_member *member = &opened->trace.members[step->member];
    const struct columns *columns = &member->file->columns;
    int64_t origin = opened->trace.origins[member->rank_index];
    bool named = part && part->row != ROW_NONE;
    result_integer(result, step->rank);
    result_number(result, step->iteration);
    result_integer(result, (int64_t)seq);
    result_string(result, part ? kinds[part->kind] : NULL);
    result_name(result, &member->file->names, named ? columns->name[part->row] : NAME_NONE);
    if (part && origin != NUMBER_NONE)
        result_real(result, microseconds((wide_time)part->start - origin));
    else
        result_null(result);
    result_real(result, part ? microseconds((wide_time)part->end - part->start) : 0);
    result_string(result, member->file->shown);
    result_number(result, named ? columns->event[part->row] : NUMBER_NONE);
    result_number(result, part ? part->start : NUMBER_NONE);
    result_integer(result, part ? part->end - part->start : 0);
}

/* Finds the paths of a member. */
static bool add_member(struct call *call, const struct call_trace *opened, size_t member,
                       enum step_clock clock, struct critical_path *path)
{
    const struct stopper *stopper = &call->database->cache.stopper;
    struct path_syncs syncs;
    bool done = read_syncs(call, opened->trace.members[member].file, &syncs) &&
                critical_path_add(path, &opened->trace, member, &opened->steps, clock, &syncs,
                                  stopper, &call->failure);
    memory_free(syncs.items);
    return done;
}

static int path_produce(struct call *call, struct rows **rows)
{
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    static const struct call_trace_request request = {.trace = PATH_TRACE,
                                                      .ranks = PATH_RANKS,
                                                      .iterations = PATH_ITERATIONS,
                                                      .steps = PATH_STEPS,
                                                      .default_iterations = SELECT_STEADY,
                                                      .use = TRACE_FOR_DIFF,
                                                      .quoted = true};
    struct call_trace opened = {.trace = {.count = 0}};
    struct critical_path path = {.part_count = 0};
    struct result *result = result_new(call->function->column_count);
    int clock;
    bool done = argument_word(call, PATH_CLOCK, clocks, COUNT_OF(clocks), &clock) &&
                call_trace_open(call, &request, &opened);
    for (size_t i = 0; done && i < opened.trace.count; i++)
        done = !opened.trace.members[i].chosen ||
               add_member(call, &opened, i, (enum step_clock)clock, &path);
    done = done && critical_path_sort(&path, &call->database->cache.stopper, &call->failure);
    for (size_t i = 0; done && i < path.step_count; i++) {
        const struct path_step *step = &path.steps[i];
        if (step->count == 0)
            add_part(result, &opened, step, 0, NULL);
        for (size_t seq = 0; seq < step->count; seq++)
            add_part(result, &opened, step, seq, &path.parts[step->first + seq]);
    }
    critical_path_clear(&path);
    call_trace_close(&opened);
    return result_finish(result, call_code(call), rows);
}

const struct table_function critical_path_function = {
    .name = "critical_path",
    .text =
        "what each step waited for, from its start to its end: host, launches, queues and kernels",
    COLUMNS(columns_of_path),
    ARGUMENTS(arguments_of_path),
    .reads_files = true,
    .produce = path_produce,
};
