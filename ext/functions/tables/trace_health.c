/*
** trace_health: impossible or missing data in the recordings of a trace.
*/
#include "analysis/health/trace_findings.h"
#include "functions/call/call_trace.h"
#include "functions/words/health_words.h"

static const struct table_column columns_of_health[] = {
    {"file", "TEXT", "path; NULL: the whole trace"},
    {"rank", "INTEGER", "rank of the file; NULL: none or several"},
    {"check", "TEXT",
     "'too long', 'no time', 'kernels lost', 'graphs lost', 'no device work', 'end', 'empty "
     "steps', 'out of step', 'no launch', 'before launch', 'cut', 'ranks in one file', 'several "
     "processes', 'cycles', 'copy' or 'not tied'"},
    {"severity", "TEXT",
     "'wrong': results would be wrong; 'incomplete': parts are missing; 'note': results are right"},
    {"count", "INTEGER", "number of findings"},
    {"total", "INTEGER", "number of events or files that were checked"},
    {"time_ns", "INTEGER", "ns, recorded time of these events"},
    {"steps", "INTEGER", "number of affected steps; NULL: none"},
    {"first_step", "INTEGER", "lowest affected step"},
    {"last_step", "INTEGER", "highest affected step"},
    {"event", "INTEGER", "position of an example in the file's traceEvents"},
    {"name", "TEXT", "name of the example"},
    {"ts_ns", "INTEGER", "ns, absolute start of the example as recorded"},
    {"what", "TEXT", "the finding in a sentence"},
};

static const struct argument arguments_of_health[] = {
    {TRACE_ARGUMENT}, {STEPS_ARGUMENT_AS("step_events")} /* a column is named `steps` already */
};

static void add_row(struct result *result, const struct trace_finding *found)
{
    const struct health_finding *finding = &found->finding;
    const struct trace_file *file = found->member ? found->member->file : NULL;
    struct writer what = {0};
    result_string(result, file ? file->shown : NULL);
    result_number(result, found->rank);
    result_string(result, health_check_name(finding->check));
    result_string(result, health_severity_name(finding->severity));
    result_integer(result, finding->count);
    result_integer(result, finding->total);
    result_integer(result, finding->time);
    result_number(result, finding->steps > 0 ? finding->steps : NUMBER_NONE);
    result_number(result, finding->first_step);
    result_number(result, finding->last_step);
    if (finding->row == ROW_NONE) {
        result_nulls(result, 2);
    } else {
        result_integer(result, file->columns.event[finding->row]);
        result_name(result, &file->names, file->columns.name[finding->row]);
    }
    result_number(result, finding->ts);
    health_write(&what, finding);
    if (what.failed)
        result_lost(result);
    result_repaired(result, what.bytes, what.length);
    writer_clear(&what);
}

static int health_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.use = TRACE_FOR_EVENTS};
    struct call_trace opened;
    struct result *result = result_new(call->function->column_count);
    struct trace_findings found = {.count = 0};
    if (call_trace_open(call, &request, &opened) &&
        trace_findings_find(&found, &opened.trace, call_stopper(call), &call->failure))
        for (size_t i = 0; i < found.count; i++)
            add_row(result, &found.items[i]);
    trace_findings_clear(&found);
    call_trace_close(&opened);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_health_function = {
    .name = "trace_health",
    .family = FAMILY_EVENTS_AND_FILES,
    .question = "Can this recording be trusted?",
    .text =
        "recorded data that is impossible or missing, one row per finding; a healthy trace has no "
        "rows",
    COLUMNS(columns_of_health),
    ARGUMENTS(arguments_of_health),
    .typical_rows = 3,
    .produce = health_produce,
};
