-- top_duration_changes: the ten names whose total duration changed most.
-- Family: analyses of HTA
-- Question: Which ten total durations changed most?
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
--   name                    TEXT     name of the operator or kernel
--   control_total_duration  REAL     us, sum of their durations in control
--   test_total_duration     REAL     us, the same for test
--   diff_duration           REAL     us, test minus control
--   diff_counts             INTEGER  events, test minus control
-- Grain: one row per name, by |diff_duration| descending, then name.
-- Reference: HTA's trace diff tutorial, largest change in duration without ProfilerStep
-- Differs from HTA: none.
SELECT name, control_total_duration, test_total_duration, diff_duration,
       diff_counts
FROM trace_diff(:control, :test, :control_rank, :test_rank,
                coalesce(:control_iteration, 'first'),
                coalesce(:test_iteration, 'first'), :device_type,
                coalesce(:use_short_name, 0), :steps)
WHERE name NOT LIKE 'ProfilerStep%'
ORDER BY abs(diff_duration) DESC, name
LIMIT 10;
