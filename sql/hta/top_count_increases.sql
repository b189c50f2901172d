-- top_count_increases: the ten names whose number of events grew most.
-- Family: analyses of HTA
-- Question: Which ten names have more events than before?
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
--   name            TEXT     name of the operator or kernel
--   control_counts  INTEGER  number of events in control
--   test_counts     INTEGER  number of events in test
--   diff_counts     INTEGER  events, test minus control
--   diff_duration   REAL     us, test minus control
-- Grain: one row per name, by diff_counts descending, then name.
-- Reference: HTA's trace diff tutorial, largest increase in count
-- Differs from HTA: names whose count did not grow are left out.
SELECT name, control_counts, test_counts, diff_counts, diff_duration
FROM trace_diff(:control, :test, :control_rank, :test_rank,
                coalesce(:control_iteration, 'first'),
                coalesce(:test_iteration, 'first'), :device_type,
                coalesce(:use_short_name, 0), :steps)
WHERE diff_counts > 0
ORDER BY diff_counts DESC, name
LIMIT 10;
