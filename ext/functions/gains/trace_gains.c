/*
** trace_gains: how much shorter steps would be if parts of a trace took half as long, or no time.
*/
#include "analysis/gains/gains.h"
#include "base/wide.h"
#include "functions/call/call_simulation.h"

static const struct table_column columns_of_gains[] = {
    {"what", "TEXT",
     "device: device work; host: time of host threads; transfer: collectives after their last rank "
     "has started; launch: the delay from a launch to its work; rank: all of one rank's device, "
     "host and launch time; NULL: path time of none of these kinds"},
    {"class", "TEXT",
     "of device work and launches: compute, comm or memory; of the host: call, host or unrecorded"},
    {"name", "TEXT", "as in trace_step_time at this level"},
    {"rank", "INTEGER", "the rank; NULL: all ranks"},
    {"time", "REAL", "us per step in total, on the critical path or not"},
    {"path_time", "REAL", "us per step on the critical path"},
    {"gain_half", "REAL", "us per step saved if this took half as long, by simulation"},
    {"gain_none", "REAL", "us per step saved if this took no time, by simulation"},
    {"path_ns", "INTEGER", "ns, path_time summed over all steps"},
    {"gain_half_ns", "INTEGER", "ns, gain_half summed over all steps"},
    {"gain_none_ns", "INTEGER", "ns, gain_none summed over all steps"},
};

enum { GAINS_LEVEL = 3 };

static const struct argument arguments_of_gains[] = {
    {TRACE_ARGUMENT},
    {"ranks", TAKES_RANKS_OR_JOB, false,
     "integer, JSON array, 'all', or 'job' (all ranks as one); default 'job'"},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {"level", TAKES_TEXT, false,
     "'op', 'top_op', 'module', 'annotation' or 'kernel'; default 'op'"},
    {STEPS_ARGUMENT},
};

/* Adds a time in us per step; NULL without steps. */
static void add_time(struct result *result, const struct gains *gains, wide_time time)
{
    if (gains->steps > 0)
        result_real(result, mean_microseconds(time, (int64_t)gains->steps));
    else
        result_null(result);
}

static bool add_row(struct call *call, struct result *result, const struct gains *gains,
                    const struct names *names, const struct gain *gain)
{
    bool rest = !gain;
    const struct gain none = {.path = gains->rest, .name = NAME_NONE, .rank = NUMBER_NONE};
    gain = rest ? &none : gain;
    result_string(result, rest                      ? NULL
                          : gain->what == SIM_WHATS ? "rank"
                                                    : sim_what_name(gain->what));
    result_string(result,
                  rest || gain->what == SIM_WHATS ? NULL : step_class_name(gain->step_class));
    result_name(result, names, gain->name);
    result_number(result, gain->rank);
    add_time(result, gains, gain->time);
    add_time(result, gains, gain->path);
    for (int i = 0; i < 2; i++)
        if (rest)
            result_null(result);
        else
            add_time(result, gains, i == 0 ? gain->half : gain->none);
    result_integer(result, (int64_t)gain->path);
    for (int i = 0; i < 2; i++)
        result_number(result, rest ? NUMBER_NONE : (int64_t)(i == 0 ? gain->half : gain->none));
    return gain->path <= INT64_MAX ||
           failure_set(&call->failure, FAILURE_REQUEST,
                       "the steps take more than 64 bits of nanoseconds");
}

static bool find_rows(struct call *call, enum label_level level,
                      const struct call_simulation *simulation, struct result *result)
{
    const struct stopper *stopper = call_stopper(call);
    struct sim_parts parts = {.graph = NULL};
    struct sim_net net = {.steps = NULL};
    struct gains gains = {.count = 0};
    const struct gains_request request = {&parts, &simulation->steps, &net, level, stopper};
    bool done = sim_parts_make(&parts, &simulation->graph, false, NULL, stopper, &call->failure) &&
                sim_parts_list_uses(&parts, stopper, &call->failure) &&
                sim_net_make(&net, &simulation->steps, stopper, &call->failure) &&
                gains_find(&gains, &request, &call->failure);
    for (size_t i = 0; done && i < gains.count; i++)
        done = add_row(call, result, &gains, &parts.names, &gains.items[i]);
    done = done && add_row(call, result, &gains, &parts.names, NULL);
    gains_clear(&gains);
    sim_net_clear(&net);
    sim_parts_clear(&parts);
    return done;
}

static int gains_produce(struct call *call, struct rows **rows)
{
    static const char *const levels[] = {[LEVEL_OP] = "op",
                                         [LEVEL_TOP_OP] = "top_op",
                                         [LEVEL_MODULE] = "module",
                                         [LEVEL_ANNOTATION] = "annotation",
                                         [LEVEL_KERNEL] = "kernel"};
    static const struct call_trace_request request = {.default_ranks = SELECT_ALL,
                                                      .use = TRACE_FOR_DIFF,
                                                      .job = true};
    struct call_trace opened;
    struct call_simulation simulation = {.opened = NULL};
    struct result *result = result_new(call->function->column_count);
    int level;
    if (argument_word(call, GAINS_LEVEL, levels, COUNT_OF(levels), &level) &&
        call_trace_open(call, &request, &opened)) {
        if (call_simulations_open(call, &opened, 1, SIZE_MAX, &simulation) && result)
            find_rows(call, (enum label_level)level, &simulation, result);
        call_simulation_close(&simulation);
        call_trace_close(&opened);
    }
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_gains_function = {
    .name = "trace_gains",
    .family = FAMILY_WHAT_A_FIX_BRINGS,
    .question = "What would each operator gain at half its time, or none?",
    .text =
        "what is worth optimizing: the time that steps save if an operator or kernel takes half as "
        "long, or no time",
    COLUMNS(columns_of_gains),
    ARGUMENTS(arguments_of_gains),
    .produce = gains_produce,
};
