/*
** trace_step_time: the time of each step, by class and name.
*/
#include "functions/call/call_trace.h"
#include "functions/call/graph_args.h"
#include "functions/call/step_parts.h"

static const struct table_column columns_of_step_time[] = {
    {"rank", "INTEGER", "rank"},
    {"iteration", "INTEGER", "number of the step; NULL in a file without steps"},
    {"class", "TEXT",
     "the device works: compute, comm or memory. The device is idle: idle_host, idle_call or "
     "idle_unrecorded: the host has not started to launch the next work; idle_launch: the host is "
     "launching it; idle_wait: it is launched and has not started. In a file without device work: "
     "host, call or unrecorded. NULL: a step of no length"},
    {"name", "TEXT",
     "the work of the device or the host, at the given level; for a gap the host events around it: "
     "`between X and Y`; NULL if not recorded"},
    {"time", "REAL", "us"},
    {"time_ns", "INTEGER", "ns"},
    {"stratum", "TEXT", "phase and size of the step; NULL if its name has none"},
};

static const struct argument arguments_of_step_time[] = {
    {TRACE_ARGUMENT},
    {JOB_RANKS_ARGUMENT},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {"level", TAKES_TEXT, false,
     "what a name is: 'op', 'top_op', 'module' ('top_op' if no modules were recorded), "
     "'annotation' or 'kernel'; default 'op'"},
    {STEP_CLOCK_ARGUMENT},
    {"capture", TAKES_CAPTURE, false, CAPTURE_TEXT},
    {STEPS_ARGUMENT},
};

static int step_time_produce(struct call *call, struct rows **rows)
{
    static const unsigned char names[] = {0};
    static const struct step_parts columns = {
        .level = 3, .clock = 4, .names = names, .name_count = COUNT_OF(names)};
    return step_parts_produce(call, rows, &columns);
}

const struct table_function trace_step_time_function = {
    .name = "trace_step_time",
    .family = FAMILY_TIME_OF_A_STEP,
    .question = "Where does the time of each step of one trace go?",
    .text =
        "where the time of each step went, in parts that add up to its length; trace_step_path at "
        "one level",
    COLUMNS(columns_of_step_time),
    ARGUMENTS(arguments_of_step_time),
    .produce = step_time_produce,
};
