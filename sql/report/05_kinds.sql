-- 05_kinds: The same, by kind. Every instant of a step belongs to one
-- Layout table kinds
-- SQL
--   SELECT class, sum(control_time) / 1000 AS control_ms, sum(test_time) / 1000 AS test_ms,
--          sum(diff_time) / 1000 AS diff_ms
--   FROM trace_step_diff(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
--                        NULL, :clock, NULL, NULL, :steps)
--   GROUP BY class;
WITH part AS (
  SELECT class, total(time_ns) / 1e6 / :control_windows AS c, 0.0 AS t
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  GROUP BY class
  UNION ALL
  SELECT class, 0.0, total(time_ns) / 1e6 / :test_windows
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)
  GROUP BY class),
summed AS (
  SELECT class, sum(c) AS c, sum(t) AS t
  FROM part
  GROUP BY class),
kinds(place, class, means) AS (
  VALUES (1, 'compute', 'a kernel that computes runs'),
         (2, 'comm', 'a collective runs and nothing computes: exposed communication'),
         (3, 'memory', 'only a copy or a fill runs'),
         (4, 'idle_host', 'nothing runs: the host is in other code and has not launched'),
         (5, 'idle_call', 'nothing runs: the host is inside a call of the device’s library'),
         (6, 'idle_launch', 'nothing runs: the launch is under way'),
         (7, 'idle_wait', 'nothing runs, though the next kernel was launched'),
         (8, 'idle_unrecorded', 'nothing runs, and nothing is recorded on the host'),
         (9, 'host', 'the host is in an operator or another event'),
         (10, 'call', 'the host is in a call of the device’s library'),
         (11, 'unrecorded', 'nothing is recorded on the host')),
line AS (
  SELECT place, trace_class_word(class) AS kind, means, c, t, t - c AS d, NULL AS style
  FROM summed JOIN kinds USING (class)
  UNION ALL
  SELECT 12, NULL, NULL, :control_ms, :test_ms, :diff_ms, 'sum')
SELECT CASE style WHEN 'sum' THEN :per END AS "kind|head", kind AS "|tag", means AS "what it means|text",
       c AS "control|time", t AS "test|time", d AS "difference|diff", style AS "|row"
FROM line
ORDER BY place
