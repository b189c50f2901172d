/*
** trace_steps: the steps of a trace.
*/
#include "functions/call/call_trace.h"
#include "functions/call/step_text.h"

static const struct table_column columns_of_steps[] = {
    {"rank", "INTEGER", "rank of the file"},
    {"iteration", "INTEGER",
     "N of ProfilerStep#N; for steps given by annotations, 0, 1, 2, ... by start"},
    {"ts", "REAL", "us from the earliest event of the rank"},
    {"dur", "REAL", "us, duration of the event"},
    {"file", "TEXT", "path"},
    {"ts_ns", "INTEGER", "ns, absolute"},
    {"dur_ns", "INTEGER", "ns"},
    {"name", "TEXT", "name of the event"},
    {"phase", "TEXT",
     "phase of a serving framework's step, such as prefill, decode or mixed; NULL if the name has "
     "none"},
    {"batch_size", "INTEGER", "requests in the batch; NULL if the name has none"},
    {"padded_size", "INTEGER",
     "requests including the padding of a CUDA graph; NULL if the name has none"},
    {"tokens", "INTEGER", "tokens, or pixels for diffusion; NULL if the name has none"},
    {"stratum", "TEXT",
     "phase and size, rounded up, such as 'decode 32'; NULL if the name has none"},
};

static const struct argument arguments_of_steps[] = {{TRACE_ARGUMENT}, {STEPS_ARGUMENT}};

static void add_size(struct result *result, int64_t size)
{
    result_number(result, size == STEP_FORM_UNKNOWN ? NUMBER_NONE : size);
}

static void add_text(struct result *result, char *text)
{
    if (text)
        result_string(result, text);
    else
        result_lost(result);
    sqlite3_free(text);
}

/* Adds the information in the name of a step. */
static void add_form(struct result *result, const struct name *name)
{
    struct step_form form;
    if (!name || !step_form_read(name->text, name->length, &form)) {
        for (int i = 0; i < 5; i++)
            result_null(result);
        return;
    }
    add_text(result, step_phase(&form));
    add_size(result, form.batch);
    add_size(result, form.padded);
    add_size(result, form.tokens);
    add_text(result, step_stratum(&form));
}

static void add_steps(struct call *call, struct result *result, const struct call_trace *opened,
                      size_t i)
{
    const struct trace_member *member = &opened->trace.members[i];
    int64_t origin = opened->trace.origins[member->rank_index];
    (void)call;
    for (size_t s = 0; member->chosen && s < member->steps->count; s++) {
        const struct step *step = &member->steps->items[s];
        const struct trace_file *file = member->file;
        int64_t dur = file->columns.dur[step->row];
        result_integer(result, member->rank);
        result_integer(result, member_iteration(member, step->iteration));
        if (origin == NUMBER_NONE)
            result_null(result);
        else
            result_real(result, microseconds((wide_time)step->start - origin));
        result_real(result, microseconds(dur));
        result_string(result, file->shown);
        result_integer(result, step->start);
        result_integer(result, dur);
        result_name(result, &file->names, file->columns.name[step->row]);
        add_form(result, step->form == NAME_NONE ? NULL : &file->names.items[step->form]);
    }
}

static int steps_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.use = TRACE_FOR_STEPS};
    return call_trace_rows(call, &request, rows, add_steps);
}

const struct table_function trace_steps_function = {
    .name = "trace_steps",
    .family = FAMILY_TIME_OF_A_STEP,
    .question = "Which steps are there, how long, and of which phase?",
    .text = "the steps of a trace, one row per step and rank",
    COLUMNS(columns_of_steps),
    ARGUMENTS(arguments_of_steps),
    .produce = steps_produce,
};
