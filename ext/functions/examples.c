/*
** One example per function for tracediff_help, which lists the functions in this order. An example
** is SQL that runs in the directory of this project, names its columns and fits a terminal of 120
** columns.
*/
#include "examples.h"

#define GPU "'examples/gpu/test'"
#define PAIR "'examples/gpu/control', 'examples/gpu/test'"
#define SNAPSHOTS                                 \
    "'examples/memory/training_128.pickle.gz',\n" \
    "                 'examples/memory/training_512.pickle.gz'"
#define SIDES                                                            \
    "FROM (\n"                                                           \
    "  SELECT 0 AS side, dur FROM trace_steps('examples/gpu/control')\n" \
    "  UNION ALL SELECT 1, dur FROM trace_steps(" GPU ")))"
#define JOB_SCHEDULE                                                                        \
    "WITH path AS (\n"                                                                      \
    "  SELECT trace_job_schedule(kind, rank, file, iteration, start_ns, end_ns, event, "    \
    "queued_behind,\n"                                                                      \
    "                            process_group, process_group_ranks, name, waits_for_all) " \
    "AS stretches\n"                                                                        \
    "  FROM trace_job_ranks(" GPU "))\n"
#define STEADY "WHERE control_iteration = 'steady' AND test_iteration = 'steady'\n"

const struct example examples[] = {
    {"trace_summary", "SELECT text\nFROM trace_summary(" PAIR ");"},
    {"trace_brief", "SELECT json ->> '$.verdict.is' AS verdict,\n"
                    "       json ->> '$.causes[0].words' AS cause,\n"
                    "       round(json ->> '$.causes[0].diff_ms', 3) AS ms\n"
                    "FROM trace_brief(" PAIR ");"},
    {"trace_diagnoses", "SELECT pattern, round(time_ms, 2) AS ms, sentence\n"
                        "FROM trace_diagnoses('examples/h200/pageable/control', "
                        "'examples/h200/pageable/test');"},
    {"trace_diff_report", "SELECT writefile('build/report.html', html) > 0 AS written\n"
                          "FROM trace_diff_report(" PAIR ");"},
    {"trace_comparability", "SELECT topic, item, why\n"
                            "FROM trace_comparability('examples/gpu/test', 'examples/cpu/test')\n"
                            "WHERE matters = 'yes';"},
    {"trace_verdict", "SELECT verdict, round(control_ms, 3) AS control, round(test_ms, 3) AS "
                      "test, control_steps, test_steps\n"
                      "FROM trace_verdict(" PAIR ");"},
    {"trace_gate", "SELECT outcome, status, round(mean_percent, 1) AS percent\n"
                   "FROM trace_gate(" PAIR ", 5);"},
    {"trace_long_steps",
     "SELECT side, iteration, is_left_out, round(ms, 3) AS ms, class, name\n"
     "FROM trace_long_steps('examples/cpu/control', 'examples/cpu/test');"},
    {"trace_step_causes", "SELECT kind, class, name, round(diff_time, 1) AS diff, added, removed\n"
                          "FROM trace_step_causes(" PAIR ")\n"
                          "LIMIT 5;"},
    {"trace_cause_parts",
     "SELECT name, control_kernels, test_kernels, round(diff_time, 1) AS diff\n"
     "FROM trace_cause_parts(" PAIR ")\n"
     "WHERE cause = 3;"},
    {"trace_clock_factor",
     "SELECT kind, outcome, op, round(factor, 2) AS factor, kernels,\n"
     "       round(explained_time) AS explained, round(rest_time) AS rest\n"
     "FROM trace_clock_factor('examples/joins/runs/7f3e5b8', 'examples/joins/runs/5a90d13')\n"
     "LIMIT 3;"},
    {"trace_host_factor", "SELECT kind, name, round(factor, 2) AS factor, operators, text\n"
                          "FROM trace_host_factor('examples/cpu/control', 'examples/cpu/test')\n"
                          "LIMIT 3;"},
    {"trace_step_diff",
     "SELECT class, name, round(control_time, 1) AS control, round(test_time, 1) AS test,\n"
     "       round(diff_time, 1) AS diff\n"
     "FROM trace_step_diff(" PAIR ")\n"
     "LIMIT 6;"},
    {"trace_tree_diff",
     "SELECT substr('          ', 1, 2 * depth) || trace_short_name(name) AS name, side,\n"
     "       round(control_time, 1) AS control, round(test_time, 1) AS test,\n"
     "       round(diff_time, 1) AS diff\n"
     "FROM trace_tree_diff(" PAIR ")\n"
     "WHERE path LIKE 'step;Optimizer%';"},
    {"trace_step_time", "SELECT iteration, class, name, round(time, 1) AS us\n"
                        "FROM trace_step_time(" GPU ", 0, 12)\n"
                        "ORDER BY time DESC\n"
                        "LIMIT 5;"},
    {"trace_step_path", "SELECT class, annotation, round(sum(time), 1) AS us\n"
                        "FROM trace_step_path(" GPU ", 0, 12)\n"
                        "GROUP BY class, annotation\n"
                        "ORDER BY us DESC\n"
                        "LIMIT 5;"},
    {"trace_steps", "SELECT rank, iteration, dur\n"
                    "FROM trace_steps(" GPU ");"},
    {"trace_diff",
     "SELECT trace_short_name(name) AS name, counts_change, control_counts, test_counts,\n"
     "       round(diff_duration_per_step, 1) AS us_per_step\n"
     "FROM trace_diff(" PAIR ")\n"
     "LIMIT 5;"},
    {"trace_diff_by", "SELECT key, round(diff_device_time, 1) AS diff,\n"
                      "       round(diff_from_counts, 1) AS from_counts,\n"
                      "       round(diff_from_mean, 1) AS from_mean\n"
                      "FROM trace_diff_by(" PAIR ", 'op')\n"
                      "LIMIT 5;"},
    {"trace_device_peaks", "SELECT type, peak, unit\n"
                           "FROM trace_device_peaks('NVIDIA H200')\n"
                           "WHERE type IN ('float32', 'bfloat16', 'memory');"},
    {"trace_work_diff", "SELECT text, kind, round(median_duration, 1) AS median, round(size, 1) "
                        "AS us\n"
                        "FROM trace_work_diff(" PAIR ")\n"
                        "LIMIT 5;"},
    {"trace_ops", "SELECT trace_short_name(name) AS name, counts, round(total_duration, 1) AS us\n"
                  "FROM trace_ops(" GPU ")\n"
                  "WHERE device_type = 'GPU'\n"
                  "ORDER BY total_duration DESC\n"
                  "LIMIT 5;"},
    {"trace_kernel_owners", "SELECT iteration, trace_short_name(name) AS name, op, top_op, shapes\n"
                            "FROM trace_kernel_owners(" GPU ")\n"
                            "WHERE op = 'aten::copy_'\n"
                            "LIMIT 3;"},
    {"trace_subtree",
     "SELECT depth, trace_short_name(name) AS name, num_kernels, round(kernel_dur_sum, 1) AS us,\n"
     "       round(kernel_span, 1) AS span\n"
     "FROM trace_subtree(" GPU ", 0, 204);"},
    {"trace_backward",
     "SELECT fwd_name, count(*) AS times, round(sum(fwd_kernel_dur_sum), 1) AS forward,\n"
     "       round(sum(kernel_dur_sum), 1) AS backward\n"
     "FROM trace_backward(" GPU ", 0)\n"
     "GROUP BY fwd_name\n"
     "ORDER BY backward DESC\n"
     "LIMIT 3;"},
    {"trace_graph_diff",
     "SELECT control_position, test_position, trace_short_name(name) AS name, change,\n"
     "       round(diff_time, 2) AS us\n"
     "FROM trace_graph_diff('examples/serving/control', 'examples/serving/test')\n"
     "WHERE graph = 0\n"
     "LIMIT 4;"},
    {"trace_job_path", "SELECT iteration, rank, dur, waiting_rank\n"
                       "FROM trace_job_path(" GPU ");"},
    {"potential_stragglers",
     "SELECT rank, times_last, round(wait_caused, 1) AS wait_caused, class,\n"
     "       trace_label(name) AS name, round(diff_time, 1) AS diff\n"
     "FROM potential_stragglers(" GPU ")\n"
     "LIMIT 3;"},
    {"trace_collectives",
     "SELECT iteration, collective, round(transfer, 1) AS us, round(max_wait, 1) AS max_wait,\n"
     "       last_rank, bytes, round(busbw_gbs, 1) AS busbw_gbs\n"
     "FROM trace_collectives(" GPU ")\n"
     "LIMIT 4;"},
    {"trace_collective_rates",
     "SELECT process_group, group_ranks, collective, calls, round(transfer) AS us, bytes,\n"
     "       round(busbw_gbs, 1) AS busbw_gbs\n"
     "FROM trace_collective_rates(" GPU ");"},
    {"trace_compared_ranks", "SELECT control_chosen, test_chosen, control_ranks, test_ranks, "
                             "ranks, why\n"
                             "FROM trace_compared_ranks(" PAIR ");"},
    {"trace_job_clocks", "SELECT iteration, rank, offset_ns\n"
                         "FROM trace_job_clocks('examples/gpu/test')\n"
                         "WHERE rank > 0;"},
    {"trace_job_ranks", "SELECT rank, kind, count(*) AS rows, round(sum(end_ns - start_ns) / 1e6, "
                        "3) AS ms\n"
                        "FROM trace_job_ranks(" GPU ")\n"
                        "GROUP BY rank, kind;"},
    {"trace_job_schedule",
     JOB_SCHEDULE "SELECT value ->> 'iteration' AS iteration, value ->> 'rank' AS rank,\n"
                  "       (value ->> 'dur_ns') / 1000.0 AS dur, value ->> 'waiting_rank' "
                  "AS waiting_rank\n"
                  "FROM path CROSS JOIN json_each(stretches)\n"
                  "LIMIT 5;"},
    {"trace_job_parts",
     JOB_SCHEDULE "SELECT p.rank, class, name, round(sum(time_ns) / 1e3, 1) AS "
                  "us\n"
                  "FROM path CROSS JOIN trace_job_parts(" GPU ", stretches) AS p\n"
                  "GROUP BY p.rank, class, name\n"
                  "ORDER BY us DESC\n"
                  "LIMIT 5;"},
    {"trace_job_offsets", "SELECT value ->> 'rank' AS rank, value ->> 'iteration' AS iteration, "
                          "value ->> 'offset_ns' AS offset_ns\n"
                          "FROM (SELECT trace_job_offsets(kind, rank, file, iteration, start_ns, "
                          "end_ns, event, queued_behind,\n"
                          "                               process_group, process_group_ranks, "
                          "name, waits_for_all) AS offsets\n"
                          "      FROM trace_job_ranks(" GPU "))\n"
                          "CROSS JOIN json_each(offsets)\n"
                          "LIMIT 4;"},
    {"trace_only_rank", "SELECT trace_only_rank(column1, column2, 100) AS rank\n"
                        "FROM (VALUES (0, 8), (1, 104), (2, -3));"},
    {"hang_summary", "SELECT text\n"
                     "FROM hang_summary('examples/hangs/never_called');"},
    {"hang_ranks", "SELECT rank, state, culprit, op, \"group\", seq, waits_for, root\n"
                   "FROM hang_ranks('examples/hangs/never_called');"},
    {"fr_groups", "SELECT name, description, rank, last_called_seq, last_completed_seq, pending\n"
                  "FROM fr_groups('examples/hangs/never_called')\n"
                  "WHERE last_called_seq > last_completed_seq\n"
                  "LIMIT 5;"},
    {"fr_entries", "SELECT rank, record_id, op, collective_seq, status, at\n"
                   "FROM fr_entries('examples/hangs/never_called')\n"
                   "WHERE status <> 'completed'\n"
                   "LIMIT 5;"},
    {"fr_dumps", "SELECT rank, file, entries, pending, timed_out, lost, problems\n"
                 "FROM fr_dumps('examples/hangs/never_called')\n"
                 "LIMIT 3;"},
    {"compilations", "SELECT id, function, place, round(dur_ns / 1e6, 1) AS ms, recompile, guard\n"
                     "FROM compilations('examples/compile/test');"},
    {"compile_breaks", "SELECT id, attempt, function, place, reason\n"
                       "FROM compile_breaks('examples/compile/breaks');"},
    {"compile_guards", "SELECT id, number, substr(guard, 1, 45) AS guard, place\n"
                       "FROM compile_guards('examples/compile/test')\n"
                       "WHERE id = '0/1' AND place IS NOT NULL\n"
                       "LIMIT 3;"},
    {"compile_events", "SELECT name, phase, depth, dur_ns, self_ns\n"
                       "FROM compile_events('examples/compile/test')\n"
                       "WHERE id = '0/1'\n"
                       "LIMIT 4;"},
    {"compile_steps", "SELECT step, id, round(dur_ns / 1e6, 1) AS ms, recompile, function, guard\n"
                      "FROM compile_steps('examples/compile/test');"},
    {"compile_diff", "SELECT function, what, control_count, test_count, guard\n"
                     "FROM compile_diff('examples/compile/control', 'examples/compile/test');"},
    {"compile_ranks", "SELECT what, groups, ranks, value\n"
                      "FROM compile_ranks('examples/compile/test');"},
    {"compile_files", "SELECT pid, version, clock, records, events, compilations, problems\n"
                      "FROM compile_files('examples/compile/test');"},
    {"compile_records", "SELECT line, kind, id, attempt, name, length(payload) AS length\n"
                        "FROM compile_records('examples/compile/test')\n"
                        "WHERE kind = 'artifact'\n"
                        "LIMIT 3;"},
    {"trace_ab", "SELECT trace_short_name(name) AS name, device, control_steps AS n,\n"
                 "       round(diff_pct, 1) AS percent, round(ci_low, 1) AS low,\n"
                 "       round(ci_high, 1) AS high, verdict\n"
                 "FROM trace_ab(" PAIR ")\n"
                 "WHERE device <> 'CPU'\n"
                 "LIMIT 4;"},
    {"trace_change_points",
     "SELECT round(found ->> '$.before', 1) AS before, round(found ->> '$.after', 1) AS after,\n"
     "       found ->> '$.before_n' AS before_n, found ->> '$.after_n' AS after_n\n"
     "FROM (SELECT trace_change_points(dur, ts_ns) -> '$[0]' AS found\n"
     "      FROM (SELECT iteration, ts_ns, dur FROM trace_steps('examples/gpu/control') UNION ALL\n"
     "            SELECT iteration, ts_ns, dur FROM trace_steps('examples/gpu/test'))\n"
     "      WHERE iteration > 10);"},
    {"trace_shift",
     "SELECT round(found ->> '$.shift', 1) AS us, round(found ->> '$.low', 1) AS low,\n"
     "       round(found ->> '$.high', 1) AS high\n"
     "FROM (SELECT trace_shift(dur, side) AS found " SIDES ";"},
    {"trace_mannwhitney",
     "SELECT found ->> '$.u' AS u, round(found ->> '$.p', 4) AS p, found ->> '$.exact' AS exact\n"
     "FROM (SELECT trace_mannwhitney(dur, side) AS found " SIDES ";"},
    {"trace_ttest", "SELECT round(found ->> '$.diff', 1) AS us, round(found ->> '$.t', 2) AS t,\n"
                    "       round(found ->> '$.p', 4) AS p\n"
                    "FROM (SELECT trace_ttest(dur, side) AS found " SIDES ";"},
    {"trace_gains",
     "SELECT what, class, trace_label(name) AS name, rank, round(path_time, 1) AS path,\n"
     "       round(gain_half, 1) AS half, round(gain_none, 1) AS none\n"
     "FROM trace_gains(" GPU ")\n"
     "LIMIT 8;"},
    {"trace_what_if",
     "SELECT iteration, round(recorded_ms, 3) AS recorded, round(simulated_ms, 3) AS simulated,\n"
     "       round(gain_ms, 3) AS gain\n"
     "FROM trace_what_if(" GPU ", '[\n"
     "  {\"what\": \"device\", \"op\": \"aten::native_layer_norm\", \"factor\": 0.5},\n"
     "  {\"what\": \"transfer\", \"add_us\": -100}]');"},
    {"trace_undo", "SELECT round(diff_time, 1) AS diff, round(gain_alone, 1) AS gain,\n"
                   "       round(cumulative, 1) AS step, text\n"
                   "FROM trace_undo(" PAIR ")\n"
                   "LIMIT 6;"},
    {"critical_path_diff",
     "SELECT kind, trace_label(name) AS name, change, round(diff_time, 1) AS diff\n"
     "FROM critical_path_diff(" PAIR ")\n"
     "LIMIT 6;"},
    {"critical_path", "SELECT seq, kind, trace_short_name(name) AS name, ts, dur\n"
                      "FROM critical_path(" GPU ", 0, 12)\n"
                      "LIMIT 6;"},
    {"memory_summary", "SELECT text\n"
                       "FROM memory_summary(" SNAPSHOTS ");"},
    {"memory_diff", "SELECT phase, op, diff_bytes, diff_from_blocks, diff_from_size\n"
                    "FROM memory_diff(" SNAPSHOTS ", 'phase,op')\n"
                    "LIMIT 5;"},
    {"memory_peak", "SELECT phase, op, bytes, blocks\n"
                    "FROM memory_peak('examples/memory/training_512.pickle.gz', 'phase,op')\n"
                    "LIMIT 5;"},
    {"memory_files",
     "SELECT rank, device, events, peak_bytes, peak_event, peak_reserved, problems\n"
     "FROM memory_files('examples/memory/training_512.pickle.gz');"},
    {"memory_allocations", "SELECT bytes, alloc_event, free_event, lifetime_us, phase, op\n"
                           "FROM memory_allocations('examples/memory/training_512.pickle.gz')\n"
                           "WHERE at_peak AND phase <> 'before'\n"
                           "ORDER BY bytes DESC, alloc_event\n"
                           "LIMIT 5;"},
    {"memory_events", "SELECT event, action, size, allocated, reserved\n"
                      "FROM memory_events('examples/memory/training_512.pickle.gz')\n"
                      "WHERE action LIKE 'segment%';"},
    {"memory_segments",
     "SELECT segment_type, count(*) AS segments, sum(total_size) AS total,\n"
     "       sum(requested_size) AS requested, max(largest_free) AS largest_free\n"
     "FROM memory_segments('examples/memory/training_512.pickle.gz')\n"
     "GROUP BY segment_type;"},
    {"memory_timeline", "SELECT ts, total, parameter, optimizer_state, activation, gradient\n"
                        "FROM memory_timeline('examples/recorded/memory.raw.json.gz')\n"
                        "ORDER BY total DESC\n"
                        "LIMIT 3;"},
    {"trace_events", "SELECT rank, iteration, name, ts, dur\n"
                     "FROM trace_events(" GPU ")\n"
                     "WHERE rank = 0 AND name LIKE 'Memcpy%'\n"
                     "ORDER BY dur DESC\n"
                     "LIMIT 5;"},
    {"trace_files", "SELECT file, rank, steps, rows, problems\n"
                    "FROM trace_files(" GPU ");"},
    {"trace_health", "SELECT severity, \"check\", what\n"
                     "FROM trace_health('examples/counters');"},
    {"trace_validation", "SELECT rule, count(*) AS times, max(time_ns) AS time_ns, text\n"
                         "FROM trace_validation('examples/gpu/control')\n"
                         "GROUP BY rule;"},
    {"trace_metadata", "SELECT rank, key, substr(value, 1, 60) AS value\n"
                       "FROM trace_metadata(" GPU ")\n"
                       "WHERE key = 'distributedInfo';"},
    {"execution_trace", "SELECT name, rf_id, input_shapes, output_shapes\n"
                        "FROM execution_trace('examples/recorded/execution_trace.json.gz')\n"
                        "WHERE name = 'aten::addmm'\n"
                        "LIMIT 3;"},
    {"temporal_breakdown",
     "SELECT rank, round(idle_time, 1) AS idle, round(compute_time, 1) AS compute,\n"
     "       round(non_compute_time, 1) AS other_work, idle_time_pctg\n"
     "FROM temporal_breakdown(" GPU ");"},
    {"idle_time_breakdown", "SELECT rank, stream, idle_category, round(idle_time, 1) AS us, "
                            "round(idle_time_ratio, 3) AS ratio\n"
                            "FROM idle_time_breakdown(" GPU ", 0);"},
    {"idle_interval_stats", "SELECT stream, idle_category, count, round(p50, 1) AS p50, "
                            "round(max, 1) AS max\n"
                            "FROM idle_interval_stats(" GPU ", 0);"},
    {"comm_comp_overlap", "SELECT rank, comp_comm_overlap_pctg\n"
                          "FROM comm_comp_overlap(" GPU ");"},
    {"gpu_kernel_type_breakdown", "SELECT kernel_type, round(sum, 1) AS us, percentage\n"
                                  "FROM gpu_kernel_type_breakdown(" GPU ");"},
    {"gpu_kernel_breakdown", "SELECT rank, kernel_type, trace_short_name(name) AS name, round(sum, "
                             "1) AS us, round(mean, 1) AS mean\n"
                             "FROM gpu_kernel_breakdown(" GPU ", 0)\n"
                             "LIMIT 5;"},
    {"gpu_user_annotation_breakdown",
     "SELECT rank, name, round(sum, 1) AS us, round(mean, 1) AS mean\n"
     "FROM gpu_user_annotation_breakdown(" GPU ", 0)\n"
     "LIMIT 5;"},
    {"gpu_kernels_with_user_annotations",
     "SELECT user_annotation, count(*) AS kernels, round(sum(dur), 1) AS us\n"
     "FROM gpu_kernels_with_user_annotations(" GPU ", 0)\n"
     "GROUP BY user_annotation;"},
    {"cuda_kernel_launch_stats",
     "SELECT rank, round(avg(cpu_duration), 1) AS call, round(avg(gpu_duration), 1) AS work,\n"
     "       round(avg(launch_delay), 1) AS delay\n"
     "FROM cuda_kernel_launch_stats(" GPU ")\n"
     "GROUP BY rank;"},
    {"aten_op_kernels_and_delay", "SELECT aten_op_name, occurrence_count AS count, "
                                  "round(avg_aten_op_launch_delay, 1) AS launch,\n"
                                  "       round(avg_runtime_delay, 1) AS runtime\n"
                                  "FROM aten_op_kernels_and_delay(" GPU ", 0)\n"
                                  "LIMIT 5;"},
    {"frequent_cuda_kernel_sequences",
     "SELECT substr(pattern, 1, 60) AS pattern, count, round(gpu_kernel_duration, 1) AS us\n"
     "FROM frequent_cuda_kernel_sequences(" GPU ", 'aten::linear')\n"
     "WHERE min_pattern_len = 1\n"
     "LIMIT 3;"},
    {"queue_length_summary", "SELECT rank, stream, round(mean, 1) AS mean, max,\n"
                             "       round(mean_over_time, 1) AS mean_over_time\n"
                             "FROM queue_length_summary(" GPU ");"},
    {"queue_length_time_series", "SELECT rank, stream, round(ts, 1) AS ts, queue_length\n"
                                 "FROM queue_length_time_series(" GPU ", 0)\n"
                                 "LIMIT 5;"},
    {"time_spent_blocked_on_full_queue",
     "SELECT rank, stream, round(duration_at_max_queue_length, 1) AS us\n"
     "FROM time_spent_blocked_on_full_queue(" GPU ")\n"
     "WHERE max_queue_length = 8;"},
    {"memory_bw_summary", "SELECT rank, name, count, round(mean, 1) AS mean, round(max, 1) AS max\n"
                          "FROM memory_bw_summary(" GPU ");"},
    {"memory_bw_time_series",
     "SELECT rank, round(ts, 1) AS ts, name, round(memory_bw_gbps, 1) AS gbps\n"
     "FROM memory_bw_time_series(" GPU ", 0)\n"
     "LIMIT 5;"},
    {"trace_counter_events", "SELECT name, stream, pid, count(*) AS events, max(ts) AS last\n"
                             "FROM trace_counter_events(" GPU ", 0)\n"
                             "GROUP BY name, stream, pid;"},
    {"cupti_counters",
     "SELECT op, count(*) AS kernels,\n"
     "       sum(counters ->>\n"
     "           '$.\"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum\"') AS ffma\n"
     "FROM cupti_counters('examples/counters')\n"
     "GROUP BY op\n"
     "ORDER BY ffma DESC;"},
    {"compare_traces",
     "SELECT trace_short_name(name) AS name, control_counts, test_counts, diff_counts,\n"
     "       round(diff_duration, 1) AS diff_duration\n"
     "FROM compare_traces(" PAIR ")\n"
     "ORDER BY abs(diff_duration) DESC\n"
     "LIMIT 5;"},
    {"ops_diff", "SELECT change, trace_short_name(name) AS name, control_counts, test_counts\n"
                 "FROM ops_diff(" PAIR ")\n" STEADY "  AND change IN ('added', 'deleted')\n"
                 "LIMIT 5;"},
    {"top_count_increases",
     "SELECT trace_short_name(name) AS name, control_counts, test_counts, diff_counts\n"
     "FROM top_count_increases(" PAIR ")\n"
     "LIMIT 5;"},
    {"top_duration_changes",
     "SELECT trace_short_name(name) AS name, round(diff_duration, 1) AS us\n"
     "FROM top_duration_changes(" PAIR ")\n"
     "LIMIT 5;"},
    {"visualize_step_diff", "SELECT writefile('build/page.html', visualize_step_diff(\n"
                            "         text, NULL, control_time, test_time)) > 0 AS written\n"
                            "FROM trace_step_causes(" PAIR ");"},
    {"visualize_duration_diff", "SELECT writefile('build/page.html', visualize_duration_diff(\n"
                                "         key, control_device_time + control_self_time,\n"
                                "         test_device_time + test_self_time)) > 0 AS written\n"
                                "FROM (SELECT *\n"
                                "      FROM trace_diff_by(" PAIR ", 'name')\n"
                                "      ORDER BY abs(diff_device_time + diff_self_time) DESC\n"
                                "      LIMIT 10);"},
    {"visualize_counts_diff", "SELECT writefile('build/page.html', visualize_counts_diff(\n"
                              "         name, control_counts, test_counts)) > 0 AS written\n"
                              "FROM top_count_increases(" PAIR ");"},
    {"visualize_timeline",
     "SELECT writefile('build/page.html', visualize_timeline(\n"
     "  rank, 'stream ' || stream, trace_label(name), (ts_ns - offset_ns) / 1000.0, dur,\n"
     "  'Step 12 of both ranks, in the clock of rank 0', NULL, NULL, on_path)) > 0 AS written\n"
     "FROM (SELECT e.*, c.offset_ns, EXISTS (\n"
     "        SELECT 1 FROM trace_job_path('examples/gpu/test', 'job', 12) AS p\n"
     "        WHERE p.rank = e.rank AND e.ts_ns - c.offset_ns < p.ts_ns + p.dur_ns\n"
     "          AND e.ts_ns + e.dur_ns - c.offset_ns > p.ts_ns) AS on_path\n"
     "      FROM trace_job_clocks('examples/gpu/test') AS c\n"
     "      JOIN trace_events('examples/gpu/test') AS e USING (rank, iteration)\n"
     "      WHERE iteration = 12 AND trace_kernel_type(e.name, e.cat) IS NOT NULL\n"
     "      ORDER BY e.rank, e.stream);"},
    {"visualize_critical_path", "SELECT writefile('build/page.html', visualize_critical_path(\n"
                                "         rank, iteration, kind, us)) > 0 AS written\n"
                                "FROM (SELECT rank, iteration, kind, sum(dur) AS us\n"
                                "      FROM critical_path(" GPU ", 'all')\n"
                                "      GROUP BY rank, iteration, kind);"},
    {"visualize_memory_diff", "SELECT writefile('build/page.html', visualize_memory_diff(\n"
                              "         phase, op, control_bytes, test_bytes)) > 0 AS written\n"
                              "FROM memory_diff(" SNAPSHOTS ", 'phase,op')\n"
                              "WHERE phase <> 'cached and rounded';"},
    {"visualize_memory",
     "SELECT writefile('build/page.html', visualize_memory(\n"
     "         rank, device, phase, bytes, alloc_event, free_event)) > 0 AS written\n"
     "FROM memory_allocations('examples/memory/training_512.pickle.gz');"},
    {"visualize_temporal_breakdown",
     "SELECT writefile('build/page.html', visualize_temporal_breakdown(\n"
     "         rank, idle_time, compute_time, non_compute_time, NULL, NULL, side)) > 0 AS written\n"
     "FROM (SELECT 'control' AS side, * FROM temporal_breakdown('examples/gpu/control')\n"
     "      UNION ALL SELECT 'test', * FROM temporal_breakdown(" GPU "));"},
    {"visualize_idle_time_breakdown",
     "SELECT writefile('build/page.html', visualize_idle_time_breakdown(\n"
     "         rank, stream, idle_category, idle_time, NULL, NULL, busy_time)) > 0 AS written\n"
     "FROM idle_time_breakdown(" GPU ");"},
    {"visualize_comm_comp_overlap",
     "SELECT writefile('build/page.html', visualize_comm_comp_overlap(\n"
     "         rank, comp_comm_overlap_pctg, NULL, NULL, hidden_time, exposed_time)) > 0 AS "
     "written\n"
     "FROM comm_comp_overlap(" GPU ");"},
    {"visualize_gpu_kernel_type_breakdown",
     "SELECT writefile('build/page.html', visualize_gpu_kernel_type_breakdown(\n"
     "         kernel_type, sum)) > 0 AS written\n"
     "FROM gpu_kernel_type_breakdown(" GPU ");"},
    {"visualize_gpu_kernel_breakdown",
     "SELECT writefile('build/page.html', visualize_gpu_kernel_breakdown(\n"
     "         name, sum, max, min, mean)) > 0 AS written\n"
     "FROM gpu_kernel_breakdown(" GPU ", 0);"},
    {"visualize_cuda_kernel_launch_stats",
     "SELECT writefile('build/page.html', visualize_cuda_kernel_launch_stats(\n"
     "         cpu_duration, gpu_duration, launch_delay)) > 0 AS written\n"
     "FROM cuda_kernel_launch_stats(" GPU ");"},
    {"visualize_queue_length_time_series",
     "SELECT writefile('build/page.html', visualize_queue_length_time_series(\n"
     "         it.rank, stream, it.ts, queue_length, NULL, NULL, step.ts)) > 0 AS written\n"
     "FROM queue_length_time_series(" GPU ") AS it\n"
     "LEFT JOIN trace_steps(" GPU ") AS step\n"
     "  ON step.rank = it.rank AND it.ts >= step.ts AND it.ts < step.ts + step.dur;"},
    {"visualize_memory_bw_time_series",
     "SELECT writefile('build/page.html', visualize_memory_bw_time_series(\n"
     "         rank, name, ts, memory_bw_gbps)) > 0 AS written\n"
     "FROM memory_bw_time_series(" GPU ");"},
    {"tracediff_help", "SELECT text\n"
                       "FROM tracediff_help('trace_steps');"},
    {"tracediff_columns", "SELECT kind, name, type, default_value, description\n"
                          "FROM tracediff_columns('trace_files');"},
    {"trace_label",
     "SELECT trace_label('autograd::engine::evaluate_function: AddmmBackward0') AS name;"},
    {"trace_short_name", "SELECT trace_short_name('void "
                         "at::native::vectorized_elementwise_kernel<4, Add>(int)') AS name;"},
    {"trace_stable_name", "SELECT trace_stable_name('triton_poi_fused_add_12') AS name;"},
    {"trace_class_word",
     "SELECT trace_class_word('comm') AS comm, trace_class_word('idle_call') AS idle_call,\n"
     "       trace_class_word('idle_call', 'host late') AS of_cause;"},
    {"trace_kernel_type",
     "SELECT trace_kernel_type('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'kernel') AS type;"},
    {"trace_bar",
     "SELECT name, trace_bar(diff_duration, max(abs(diff_duration)) OVER ()) AS change\n"
     "FROM (SELECT trace_short_name(name) AS name, diff_duration\n"
     "      FROM trace_diff(" PAIR ")\n"
     "      WHERE device_type = 'GPU'\n"
     "      LIMIT 5);"},
    {"trace_busy_time", "SELECT rank, round(trace_busy_time(ts, dur), 1) AS us\n"
                        "FROM trace_events(" GPU ")\n"
                        "WHERE cat = 'kernel'\n"
                        "GROUP BY rank;"},
    {"trace_overlap_time",
     "SELECT rank, round(trace_overlap_time(ts, dur, name LIKE 'nccl%'), 1) AS us\n"
     "FROM trace_events(" GPU ")\n"
     "WHERE cat = 'kernel'\n"
     "GROUP BY rank;"},
    {"trace_quantile", "SELECT round(trace_quantile(dur, 0.5), 1) AS median, "
                       "round(trace_quantile(dur, 0.99), 1) AS p99\n"
                       "FROM trace_events(" GPU ")\n"
                       "WHERE cat = 'kernel';"},
    {"trace_stddev", "SELECT round(trace_stddev(dur), 1) AS us\n"
                     "FROM trace_events(" GPU ")\n"
                     "WHERE cat = 'kernel';"},
    {"tracediff_version", "SELECT tracediff_version() AS version;"},
    {"tracediff_debug", "SELECT tracediff_debug() AS debug;"},
};
const int example_count = sizeof examples / sizeof *examples;
