/*
** The SQL functions. Each table function in C has a file in ext/functions/ and a line here.
** sql/embed.awk reads the names from this file.
*/
#ifndef TRACEDIFF_REGISTRY_H
#define TRACEDIFF_REGISTRY_H

#include "functions/aggregates/aggregates.h"
#include "sqlite/table_function.h"

/* clang-format off */
#define TABLE_FUNCTIONS(FUNCTION) \
    FUNCTION(trace_events) \
    FUNCTION(trace_files) \
    FUNCTION(trace_health) \
    FUNCTION(trace_metadata) \
    FUNCTION(trace_steps) \
    FUNCTION(trace_ops) \
    FUNCTION(trace_diff) \
    FUNCTION(trace_step_time) \
    FUNCTION(trace_step_path) \
    FUNCTION(trace_summary) \
    FUNCTION(trace_brief) \
    FUNCTION(trace_diagnoses) \
    FUNCTION(trace_verdict) \
    FUNCTION(trace_gate) \
    FUNCTION(trace_comparability) \
    FUNCTION(trace_long_steps) \
    FUNCTION(trace_step_causes) \
    FUNCTION(trace_cause_parts) \
    FUNCTION(trace_clock_factor) \
    FUNCTION(trace_host_factor) \
    FUNCTION(trace_job_path) \
    FUNCTION(trace_job_ranks) \
    FUNCTION(trace_job_parts) \
    FUNCTION(trace_job_clocks) \
    FUNCTION(trace_compared_ranks) \
    FUNCTION(trace_work_diff) \
    FUNCTION(critical_path) \
    FUNCTION(trace_kernel_owners) \
    FUNCTION(trace_subtree) \
    FUNCTION(trace_diff_by) \
    FUNCTION(trace_graph_diff) \
    FUNCTION(trace_ab) \
    FUNCTION(trace_what_if) \
    FUNCTION(trace_gains) \
    FUNCTION(trace_undo) \
    FUNCTION(trace_diff_report) \
    FUNCTION(memory_timeline) \
    FUNCTION(memory_files) \
    FUNCTION(memory_events) \
    FUNCTION(memory_allocations) \
    FUNCTION(memory_segments) \
    FUNCTION(memory_peak) \
    FUNCTION(hang_summary) \
    FUNCTION(hang_ranks) \
    FUNCTION(fr_dumps) \
    FUNCTION(fr_entries) \
    FUNCTION(fr_groups) \
    FUNCTION(compilations) \
    FUNCTION(compile_breaks) \
    FUNCTION(compile_guards) \
    FUNCTION(compile_events) \
    FUNCTION(compile_steps) \
    FUNCTION(compile_diff) \
    FUNCTION(compile_ranks) \
    FUNCTION(compile_files) \
    FUNCTION(compile_records) \
    FUNCTION(execution_trace) \
    FUNCTION(tracediff_help) \
    FUNCTION(tracediff_columns)
/* clang-format on */

/* The descriptor of NAME is `NAME_function`. */
#define DECLARE_FUNCTION(name) extern const struct table_function name##_function;
TABLE_FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION

/* The functions written in SQL, generated from sql/ by the build. */
extern const struct table_function sql_functions[];
extern const int sql_function_count;

/* Table functions in C, then in SQL. Other functions: scalars, then aggregates, then charts. */
extern const struct function_list all_functions;

#endif
