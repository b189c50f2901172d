/*
** trace_step_path: the time of each step, by all levels at once.
*/
#include "functions/call/call_trace.h"
#include "functions/call/step_parts.h"

static const struct table_column columns_of_step_path[] = {
    {"rank", "INTEGER", "rank; NULL in sums over all steps"},
    {"iteration", "INTEGER",
     "number of the step; NULL in sums over all steps and in a file without steps"},
    {"class", "TEXT", "as in trace_step_time"},
    {"annotation", "TEXT",
     "innermost user annotation around the launch or the host event; NULL: none"},
    {"module", "TEXT", "innermost nn.Module around it, else top_op"},
    {"top_op", "TEXT", "outermost operator around it, else the outermost event"},
    {"op", "TEXT",
     "the call that launched the work or that the host is in, or a gap such as `between X and Y`; "
     "else the innermost operator"},
    {"kernel", "TEXT", "the device work; NULL while the device is idle"},
    {"time", "REAL", "us"},
    {"time_ns", "INTEGER", "ns"},
    {"kernels", "INTEGER",
     "kernels, copies and fills that start in the step; hidden ones count, too, but take no time"},
    {"step_count", "INTEGER", "steps that the row sums up"},
    {"area", "TEXT",
     "part of the program: the annotation, else an nn.Module, else 'backward', else top_op"},
    {"family", "TEXT",
     "area without the number of an instance, so that all layers of a model are one family"},
    {"top_name", "TEXT",
     "top_op, but a Python frame is replaced by the annotation or module around it"},
};

static const struct argument arguments_of_step_path[] = {
    {TRACE_ARGUMENT},
    {JOB_RANKS_ARGUMENT},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {STEP_CLOCK_ARGUMENT},
    {"per", TAKES_TEXT, false,
     "'step': rows per step; 'trace': sums over all steps; default 'step'"},
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
