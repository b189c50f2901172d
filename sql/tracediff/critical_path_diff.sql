-- critical_path_diff: time on the critical paths of two traces, side by side, by kind and name.
-- Family: critical path
-- Question: What is on the critical path, and what changed there?
--
-- Parameters
--   :control            trace required baseline trace
--   :test               trace required trace to compare with the baseline
--   :control_rank       ranks          integer, JSON array or 'all'; default the lowest
--   :test_rank          ranks          the same for test
--   :control_iteration  iterations     integer, JSON array, 'all', 'steady' (without first and last),
--                                      'first' or a phase; default 'steady'
--   :test_iteration     iterations     the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :steps              steps          which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   kind           TEXT     as in critical_path
--   name           TEXT     stable name; NULL if nothing was recorded
--   control_time   REAL     us per step on the critical path in control
--   test_time      REAL     us per step on the critical path in test
--   diff_time      REAL     us per step, test minus control
--   control_parts  REAL     parts per path in control
--   test_parts     REAL     the same for test
--   change         TEXT     'added', 'deleted', 'increased', 'decreased' or 'same'; 'added' and 'deleted': only one
--                           side has it on its paths
--   control_ns     INTEGER  ns, summed over all paths of control
--   test_ns        INTEGER  ns, summed over all paths of test
--   control_steps  INTEGER  number of paths of control, over all its ranks; NULL for a trace without steps
--   test_steps     INTEGER  the same for test
-- Grain: one row per kind and name, by |diff_time| descending, then kind, name.
-- Rules:
--   1. The parts of a path add up to the step (P1). So diff_time adds up to the difference between the mean steps,
--      like diff_time of trace_step_diff.
--   2. Work can leave the path without being faster, because something else became longer.
--   3. A trace without steps has one path per file. A rank without steps beside ranks with steps (iterations
--      'all') counts as one more step.
WITH part AS MATERIALIZED (
  SELECT 0 AS side, rank, iteration, kind, trace_stable_name(name) AS name, count(*) AS parts, sum(dur_ns) AS time_ns
  FROM critical_path(:control, :control_rank, :control_iteration, :clock, NULL, :steps)
  GROUP BY rank, iteration, kind, 5
  UNION ALL
  SELECT 1, rank, iteration, kind, trace_stable_name(name) AS name, count(*), sum(dur_ns)
  FROM critical_path(:test, :test_rank, :test_iteration, :clock, NULL, :steps)
  GROUP BY rank, iteration, kind, 5
  LIMIT -1),
windows AS MATERIALIZED (
  SELECT count(*) FILTER (WHERE side = 0) AS control_windows, count(*) FILTER (WHERE side = 1) AS test_windows,
         count(iteration) FILTER (WHERE side = 0) AS control_steps,
         count(iteration) FILTER (WHERE side = 1) AS test_steps
  FROM (SELECT DISTINCT side, rank, iteration FROM part)),
both AS (
  SELECT kind, name, sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns,
         sum(CASE side WHEN 0 THEN parts ELSE 0 END) AS control_parts,
         sum(CASE side WHEN 1 THEN parts ELSE 0 END) AS test_parts
  FROM part
  WHERE kind IS NOT NULL
  GROUP BY kind, name),
compared AS (
  SELECT *, (test_ns * control_windows - control_ns * test_windows) / (1000.0 * control_windows * test_windows)
              AS diff_time
  FROM both CROSS JOIN windows)
SELECT kind, name, control_ns / (1000.0 * control_windows) AS control_time,
       test_ns / (1000.0 * test_windows) AS test_time, diff_time,
       control_parts * 1.0 / control_windows AS control_parts, test_parts * 1.0 / test_windows AS test_parts,
       CASE WHEN control_parts = 0 THEN 'added' WHEN test_parts = 0 THEN 'deleted'
            WHEN diff_time > 0 THEN 'increased' WHEN diff_time < 0 THEN 'decreased' ELSE 'same' END AS change,
       control_ns, test_ns, CASE WHEN control_steps > 0 THEN control_windows END AS control_steps,
       CASE WHEN test_steps > 0 THEN test_windows END AS test_steps
FROM compared
ORDER BY abs(diff_time) DESC, kind, name;
