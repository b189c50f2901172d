/*
** trace_what_if: how long steps would take if some of their work took longer or shorter.
*/
#include "base/memory.h"
#include "base/wide.h"
#include "functions/call/call_simulation.h"
#include "changes_argument.h"

static const struct table_column columns_of_what_if[] = {
    {"iteration", "INTEGER", "number of the step; NULL in files without steps"},
    {"recorded_ms", "REAL", "ms, length of the step as recorded"},
    {"simulated_ms", "REAL", "ms, length of the step with the changes, by simulation"},
    {"gain_ms", "REAL", "ms, recorded_ms minus simulated_ms"},
    {"recorded_ns", "INTEGER", "ns, the same as recorded_ms"},
    {"simulated_ns", "INTEGER", "ns, the same as simulated_ms"},
    {"dropped", "INTEGER",
     "dependencies that the simulation ignores because the recorded times contradict them"},
};

enum { WHAT_IF_CHANGES = 1 };

static const struct argument arguments_of_what_if[] = {
    {TRACE_ARGUMENT},
    {"changes", TAKES_TEXT, true,
     "JSON array of changes, or []. Keys of a change: " CHANGE_KEYS_TEXT},
    {"ranks", TAKES_RANKS_OR_JOB, false,
     "integer, JSON array, 'all', or 'job' (all ranks as one); default 'job'"},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {STEPS_ARGUMENT},
};

static bool add_rows(struct call *call, const struct call_simulation *simulation,
                     struct result *result)
{
    const struct sim_steps *steps = &simulation->steps;
    for (size_t i = 0; i < steps->count; i++) {
        wide_time recorded = simulation->recorded[i], simulated = simulation->simulated[i];
        if (!steps->items[i].chosen)
            continue;
        if (simulated > INT64_MAX || recorded > INT64_MAX)
            return failure_set(&call->failure, FAILURE_REQUEST,
                               "a step would take more than 64 bits of nanoseconds");
        result_number(result, steps->items[i].window.iteration);
        result_real(result, quotient(recorded, 1000000));
        result_real(result, quotient(simulated, 1000000));
        result_real(result, quotient(recorded - simulated, 1000000));
        result_integer(result, (int64_t)recorded);
        result_integer(result, (int64_t)simulated);
        result_integer(result, (int64_t)simulation->graph.dropped);
    }
    return true;
}

/* Applies the changes, simulates, and adds the rows. */
static bool find_rows(struct call *call, const struct changes_argument *changes,
                      struct call_simulation *simulation, struct result *result)
{
    struct sim_parts parts = {.graph = NULL};
    int64_t *longer = memory_zeroed(simulation->graph.edges, sizeof *longer);
    bool done = longer || failure_memory(&call->failure);
    if (changes->count > 0)
        done = done &&
               sim_parts_make(&parts, &simulation->graph, false, NULL, call_stopper(call),
                              &call->failure) &&
               sim_parts_list_uses(&parts, call_stopper(call), &call->failure) &&
               changes_argument_make(call, changes, &parts, longer);
    sim_parts_clear(&parts);
    done = done && call_simulation_run(call, simulation, longer) &&
           add_rows(call, simulation, result);
    memory_free(longer);
    return done;
}

static int what_if_produce(struct call *call, struct rows **rows)
{
    static const struct call_trace_request request = {.default_ranks = SELECT_ALL,
                                                      .use = TRACE_FOR_DIFF,
                                                      .job = true};
    struct call_trace opened;
    struct changes_argument changes;
    struct call_simulation simulation = {.opened = NULL};
    struct result *result = result_new(call->function->column_count);
    if (changes_argument_read(call, WHAT_IF_CHANGES, &changes) &&
        call_trace_open(call, &request, &opened)) {
        if (call_simulations_open(call, &opened, 1, SIZE_MAX, &simulation) && result)
            find_rows(call, &changes, &simulation, result);
        call_simulation_close(&simulation);
        call_trace_close(&opened);
    }
    changes_argument_clear(&changes);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_what_if_function = {
    .name = "trace_what_if",
    .family = FAMILY_WHAT_A_FIX_BRINGS,
    .question = "How long would a step take if chosen work were changed?",
    .text = "how long steps would take if some work were faster, slower or absent, by simulation",
    COLUMNS(columns_of_what_if),
    ARGUMENTS(arguments_of_what_if),
    .produce = what_if_produce,
};
