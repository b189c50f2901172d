/*
** trace_step_path: where the time of each step went, by all levels at once.
*/
#include "functions/call/call_trace.h"
#include "functions/call/step_parts.h"

static const struct table_column columns_of_step_path[] = {
    {"rank", "INTEGER", "rank; NULL in sums over all steps"},
    {"iteration", "INTEGER", "number of the step; NULL in these and in a file without steps"},
    {"class", "TEXT", "as trace_step_time has it"},
    {"annotation", "TEXT", "innermost user annotation around the launch, or around the host"},
    {"module", "TEXT", "innermost nn.Module around it, else top_op"},
    {"top_op", "TEXT", "outermost operator around it, else the outermost event"},
    {"op", "TEXT",
     "the call that launched or the host was in, or a gap, as in `between X and Y`; else the "
     "innermost operator"},
    {"kernel", "TEXT", "the device work; NULL while the device is idle"},
    {"time", "REAL", "us"},
    {"time_ns", "INTEGER", "ns"},
    {"kernels", "INTEGER",
     "events of device work that start in the step; of hidden ones time is 0"},
    {"step_count", "INTEGER", "steps that the row is a sum over"},
    {"area", "TEXT",
     "part of the program: annotation, else an nn.Module, else 'backward', else top_op"},
    {"family", "TEXT", "area without the number of an instance, as of the layers of a model"},
    {"top_name", "TEXT", "top_op; in place of a Python frame the annotation or module around it"},
};

static const struct argument arguments_of_step_path[] = {
    {TRACE_ARGUMENT},
    {JOB_RANKS_ARGUMENT},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {STEP_CLOCK_ARGUMENT},
    {"per", TAKES_TEXT, false,
     "rows are of each 'step', or sums over all steps of the 'trace'; default 'step'"},
    {STEPS_ARGUMENT},
};

static int step_path_produce(struct call *call, struct rows **rows)
{
    static const unsigned char names[] = {LEVEL_ANNOTATION, LEVEL_MODULE, LEVEL_TOP_OP, LEVEL_OP,
                                          LEVEL_KERNEL};
    static const struct step_parts columns = {
        .clock = 3, .per = 4, .names = names, .name_count = COUNT_OF(names)};
    return step_parts_produce(call, rows, &columns);
}

const struct table_function trace_step_path_function = {
    .name = "trace_step_path",
    .family = FAMILY_TIME_OF_A_STEP,
    .question = "Which annotation, module and operator take a step's time?",
    .text = "where the time of each step went, by annotation, module, operator and kernel",
    COLUMNS(columns_of_step_path),
    ARGUMENTS(arguments_of_step_path),
    .produce = step_path_produce,
};
