/*
** trace_health: what is impossible or missing in the recordings of a trace.
*/
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "functions/call/call_trace.h"
#include "functions/words/health_words.h"

static const struct table_column columns_of_health[] = {
    {"file", "TEXT", "path"},
    {"rank", "INTEGER", "rank of the file"},
    {"check", "TEXT",
     "too long, no time, kernels lost, graphs lost, no device work, end, empty steps, out of step, "
     "no launch or cut"},
    {"severity", "TEXT",
     "wrong: results would be wrong; incomplete: parts are missing; note: results are right"},
    {"count", "INTEGER", "how much was found"},
    {"total", "INTEGER", "of how many"},
    {"time_ns", "INTEGER", "ns, the recorded time of these events"},
    {"steps", "INTEGER", "steps concerned; NULL: no step"},
    {"first_step", "INTEGER", "lowest of them"},
    {"last_step", "INTEGER", "highest of them"},
    {"event", "INTEGER", "an example, as in trace_events"},
    {"name", "TEXT", "name of the example"},
    {"ts_ns", "INTEGER", "ns, absolute: its start, as recorded"},
    {"what", "TEXT", "what was found, in a sentence"},
};

static const struct argument arguments_of_health[] = {
    {TRACE_ARGUMENT}, {STEPS_ARGUMENT_AS("step_events")} /* a column is named steps */
};

/* A finding of a file. */
struct found {
    struct health_finding finding;
    const struct trace_member *member;
    size_t index;
};

static int found_order(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int order = COMPARE(x->finding.severity, y->finding.severity);
    order = order ? order : COMPARE(x->member->rank, y->member->rank);
    return order ? order : COMPARE(x->index, y->index);
}

static void add_row(struct result *result, const struct found *found)
{
    const struct health_finding *finding = &found->finding;
    const struct trace_file *file = found->member->file;
    struct writer what = {0};
    result_string(result, file->shown);
    result_integer(result, found->member->rank);
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
    result_text(result, what.bytes, what.length);
    writer_clear(&what);
}

/* Finds what is wrong with all files of a trace. */
static bool find_all(struct call *call, const struct trace *trace, struct found **found,
                     size_t *count)
{
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        struct health health;
        if (!member->chosen)
            continue;
        if (!health_find(&health, member, NULL, call_stopper(call), &call->failure))
            return false;
        if (!MEMORY_GROW(*found, capacity, *count + health.count))
            return failure_memory(&call->failure);
        for (size_t j = 0; j < health.count; j++)
            (*found)[(*count)++] = (struct found){health.items[j], member, i};
    }
    return *count == 0 || sort_items(*found, *count, sizeof **found, found_order,
                                     call_stopper(call), &call->failure);
}

static int health_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.use = TRACE_FOR_EVENTS};
    struct call_trace opened;
    struct result *result = result_new(call->function->column_count);
    struct found *found = NULL;
    size_t count = 0;
    if (call_trace_open(call, &request, &opened) &&
        find_all(call, &opened.trace, &found, &count))
        for (size_t i = 0; i < count; i++)
            add_row(result, &found[i]);
    memory_free(found);
    call_trace_close(&opened);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_health_function = {
    .name = "trace_health",
    .family = FAMILY_EVENTS_AND_FILES,
    .question = "Can this recording be trusted?",
    .text = "what is impossible or missing in the recordings of a trace, a row each; none of a "
            "healthy one",
    COLUMNS(columns_of_health),
    ARGUMENTS(arguments_of_health),
    .typical_rows = 3,
    .produce = health_produce,
};
