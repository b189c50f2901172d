-- trace_step_diff: where the time of a step went in two traces, side by side.
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array or 'all'; default the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all' or 'steady'; default 'steady'
--   :test_iteration     any            the same for test
--   :level              TEXT           what names are: 'op', 'top_op', 'module', 'annotation' or 'kernel'; default 'op'
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
-- Columns
--   class           TEXT     as trace_step_time has it
--   name            TEXT     what the step did; NULL if nothing is recorded
--   control_time    REAL     us a step in control
--   test_time       REAL     us a step in test
--   diff_time       REAL     us a step, test minus control
--   control_ns      INTEGER  ns, of all steps of control
--   test_ns         INTEGER  ns, of all steps of test
--   control_steps   INTEGER  steps of control, of all its ranks; NULL for a trace without steps
--   test_steps      INTEGER  the same for test
--   control_stddev  REAL     us, standard deviation over the steps of control; NULL for fewer than two
--   test_stddev     REAL     us, the same of test
-- Grain: one row per class and name, by |diff_time| descending, then class, name.
-- Rules:
--   1. The parts of a step are those of trace_step_time: they sum to its length.
--   2. So diff_time sums to the difference of the mean lengths of a step.
--   3. A trace without steps has one window a file: its times are the mean over these. A rank
--      without steps beside ranks with steps (iterations 'all') counts as one more step.
--   4. In the standard deviation of a part, steps without the part count as 0. A window counts as a step.
WITH part AS MATERIALIZED (
  SELECT 0 AS side, rank, iteration, class, name, time_ns
  FROM trace_step_time(:control, :control_rank, :control_iteration, :level, :clock)
  UNION ALL
  SELECT 1, rank, iteration, class, name, time_ns
  FROM trace_step_time(:test, :test_rank, :test_iteration, :level, :clock)
  LIMIT -1),
windows AS MATERIALIZED (
  SELECT count(*) FILTER (WHERE side = 0) AS control_windows,
         count(*) FILTER (WHERE side = 1) AS test_windows,
         count(iteration) FILTER (WHERE side = 0) AS control_steps,
         count(iteration) FILTER (WHERE side = 1) AS test_steps
  FROM (SELECT DISTINCT side, rank, iteration FROM part)),
both AS (
  SELECT class, name, sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns,
         trace_stddev(time_ns, control_windows) FILTER (WHERE side = 0) AS control_stddev,
         trace_stddev(time_ns, test_windows) FILTER (WHERE side = 1) AS test_stddev,
         control_windows, test_windows, control_steps, test_steps
  FROM part CROSS JOIN windows
  WHERE class IS NOT NULL
  GROUP BY class, name)
SELECT class, name, control_ns / (1000.0 * control_windows) AS control_time,
       test_ns / (1000.0 * test_windows) AS test_time,
       (test_ns * control_windows - control_ns * test_windows)
         / (1000.0 * control_windows * test_windows) AS diff_time, control_ns, test_ns,
       CASE WHEN control_steps > 0 THEN control_windows END AS control_steps,
       CASE WHEN test_steps > 0 THEN test_windows END AS test_steps,
       coalesce(control_stddev, CASE WHEN control_windows > 1 THEN 0 END) / 1000.0 AS control_stddev,
       coalesce(test_stddev, CASE WHEN test_windows > 1 THEN 0 END) / 1000.0 AS test_stddev
FROM both
ORDER BY abs(diff_time) DESC, class, name;
