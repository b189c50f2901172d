-- ops_diff: operators and kernels added, deleted, or run more or less often.
-- Family: analyses of HTA
-- Question: Which operators were added or deleted (HTA's ops_diff)?
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
--   change          TEXT     'added', 'deleted', 'increased', 'decreased' or 'unchanged', by counts
--   name            TEXT     name of the operator or kernel
--   control_counts  INTEGER  number of events in control
--   test_counts     INTEGER  number of events in test
-- Grain: one row per name, by change, then name.
-- Reference: HTA TraceDiff.ops_diff
-- Differs from HTA: rows with their counts instead of five lists of names.
SELECT CASE counts_change WHEN 'same' THEN 'unchanged' ELSE counts_change END AS change,
       name, control_counts, test_counts
FROM trace_diff(:control, :test, :control_rank, :test_rank,
                coalesce(:control_iteration, 'first'),
                coalesce(:test_iteration, 'first'), :device_type,
                coalesce(:use_short_name, 0), :steps)
ORDER BY CASE counts_change
           WHEN 'added' THEN 1
           WHEN 'deleted' THEN 2
           WHEN 'increased' THEN 3
           WHEN 'decreased' THEN 4
           ELSE 5
         END, name;
