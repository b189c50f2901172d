-- compare_traces: operators and kernels of two traces side by side, in HTA's format.
-- Family: analyses of HTA
-- Question: How do counts and durations by name compare (HTA)?
--
-- Parameters
--   :control            trace required baseline trace
--   :test               trace required trace to compare with the baseline
--   :control_rank       ranks          integer, JSON array or 'all'; default the lowest
--   :test_rank          ranks          the same for test
--   :control_iteration  iterations     integer, JSON array, 'all', 'steady' (without first and last),
--                                      'first' or a phase; default 'first'
--   :test_iteration     iterations     the same for test
--   :device_type        TEXT           'ALL', 'CPU' or 'GPU'; default 'ALL'
--   :use_short_name     INTEGER        0 the full name, 1 trace_short_name, 2 trace_stable_name; default 0
--   :steps              steps          which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   name                      TEXT     name of the operator or kernel
--   control_counts            INTEGER  number of events in control
--   control_total_duration    REAL     us, sum of their durations in control
--   test_counts               INTEGER  number of events in test
--   test_total_duration       REAL     us, the same for test
--   diff_counts               INTEGER  events, test minus control
--   diff_duration             REAL     us, test minus control
--   counts_change_categories  TEXT     '+', '-' or '=': the sign of diff_counts
-- Grain: one row per name; names of control first, then those only in test.
-- Reference: HTA TraceDiff.compare_traces
-- Differs from HTA: nanoseconds are kept (D4), device work of stream 0 counts (D5),
-- the category separates host from device (D23).
SELECT name, control_counts, control_total_duration, test_counts,
       test_total_duration, diff_counts, diff_duration,
       counts_change_categories
FROM trace_diff(:control, :test, :control_rank, :test_rank,
                coalesce(:control_iteration, 'first'),
                coalesce(:test_iteration, 'first'), :device_type,
                coalesce(:use_short_name, 0), :steps)
ORDER BY control_counts = 0, name;
