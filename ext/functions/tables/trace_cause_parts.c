/*
** trace_cause_parts: the parts that the causes of trace_step_causes consist of.
*/
#include "analysis/causes/cause_members.h"
#include "functions/call/step_parts.h"
#include "functions/facts/compared_ranks.h"

static const struct table_column columns_of_cause_parts[] = {
    {"cause", "INTEGER", "number of the cause in trace_step_causes"},
    {"class", "TEXT", "as in trace_step_time"},
    {"family", "TEXT",
     "for device work, the family of its area; for waits for the host, the area if it is a cause "
     "of its own; else NULL"},
    {"name", "TEXT", "operator or kernel (see trace_step_causes)"},
    {"area", "TEXT", "for device work, part of the program as in trace_step_path; else NULL"},
    {"kernel", "TEXT", "the device work; NULL while the device is idle"},
    {"control_time", "REAL", "us per step in control"},
    {"test_time", "REAL", "us per step in test"},
    {"diff_time", "REAL", "us per step, test minus control; the parts add up to the cause"},
    {"control_kernels", "REAL",
     "kernels, copies and fills per step that start in control; hidden ones count, too, but take "
     "no time"},
    {"test_kernels", "REAL", "the same for test"},
};

enum { PARTS_CLOCK = 6 };

static const struct argument arguments_of_cause_parts[] = {
    {CONTROL_ARGUMENT},    {TEST_ARGUMENT},        SELECTIONS_OF_JOB,
    {STEP_CLOCK_ARGUMENT}, {CAUSES_SHOWN_ARGUMENT}, {STEPS_ARGUMENT},
};

/* Adds a mean over windows; NULL if there are none. */
static void add_mean(struct result *result, double sum, double windows)
{
    if (windows > 0)
        result_real(result, sum / windows);
    else
        result_null(result);
}

static void add_row(struct result *result, const struct causes *causes,
                    const struct cause_member *member)
{
    const struct cause_part *part = &causes->parts->items[member->part];
    const struct cause_place *place = &causes->parts->places[part->first];
    const double windows[2] = {(double)causes->windows[0], (double)causes->windows[1]};
    wide_time diff =
        member->time[1] * causes->windows[0] - member->time[0] * causes->windows[1];
    result_integer(result, (int64_t)member->cause + 1);
    result_string(result, step_class_name(place->step_class));
    result_name(result, &causes->names, place->family);
    result_name(result, &causes->names, place->name);
    result_name(result, &causes->names, member->area);
    result_name(result, &causes->names, member->kernel);
    for (int side = 0; side < 2; side++)
        add_mean(result, (double)member->time[side] / 1000, windows[side]);
    add_mean(result, (double)diff / 1000, windows[0] * windows[1]);
    for (int side = 0; side < 2; side++)
        add_mean(result, (double)member->kernels[side], windows[side]);
}

static void add_rows(struct call *call, struct result *result, struct call_causes *found)
{
    struct cause_members members;
    if (!cause_members_find(&members, &found->causes, call_stopper(call), &call->failure))
        return;
    for (size_t i = 0; i < members.count; i++)
        add_row(result, &found->causes, &members.items[i]);
    cause_members_clear(&members);
}

static int cause_parts_produce(struct call *call, struct rows **rows)
{
    return call_causes_produce(call, PARTS_CLOCK, add_rows, rows);
}

const struct table_function trace_cause_parts_function = {
    .name = "trace_cause_parts",
    .family = FAMILY_THE_ANSWER,
    .question = "Which operators, areas and kernels is a cause made of?",
    .text = "the parts of each cause of trace_step_causes, by area and kernel",
    COLUMNS(columns_of_cause_parts),
    ARGUMENTS(arguments_of_cause_parts),
    .produce = cause_parts_produce,
};
