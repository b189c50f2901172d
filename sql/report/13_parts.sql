-- 13_parts: Parts of the step: they add up to it
-- Layout table app
-- Empty Nothing is recorded of these steps.
-- SQL
--   SELECT class, name, control_time / 1000 AS control_ms, test_time / 1000 AS test_ms, diff_time / 1000 AS diff_ms
--   FROM trace_step_diff(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
--                        :level, :clock, NULL, NULL, :steps);
-- Rules:
--   1. Names are as in trace_step_diff, derived from paths (A12.4). Paths cannot separate work without a launch from
--      work launched by something without a name; in that case, the section reads trace_step_diff.
WITH path AS MATERIALIZED (
  SELECT class, annotation, module, top_op, op, kernel, 1.0 / :control_windows / 1e6 AS c, 0.0 AS t, time_ns
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  UNION ALL
  SELECT class, annotation, module, top_op, op, kernel, 0.0, 1.0 / :test_windows / 1e6, time_ns
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)),
unclear AS (
  SELECT EXISTS (SELECT 1 FROM path WHERE class <> 'comm' AND kernel IS NOT NULL AND op IS NULL) AS is_unclear),
named AS (
  SELECT class, c * time_ns AS c, t * time_ns AS t,
         CASE WHEN class = 'comm' THEN kernel
              WHEN class IN ('idle_call', 'idle_launch', 'idle_unrecorded', 'call', 'unrecorded') THEN op
              ELSE CASE coalesce(:level, 'op') WHEN 'op' THEN op WHEN 'top_op' THEN top_op WHEN 'module' THEN module
                     WHEN 'annotation' THEN annotation ELSE coalesce(kernel, op) END END AS name
  FROM path CROSS JOIN unclear
  WHERE class IS NOT NULL AND time_ns > 0 AND NOT is_unclear),
part AS (
  SELECT class, name, sum(c) AS c, sum(t) AS t, sum(t) - sum(c) AS d
  FROM named
  GROUP BY class, name
  UNION ALL
  SELECT class, name, control_time / 1000, test_time / 1000, diff_time / 1000
  FROM unclear CROSS JOIN trace_step_diff(CASE WHEN is_unclear THEN :control END, :test, :control_rank, :test_rank,
                                          :control_iteration, :test_iteration, :level, :clock, NULL, NULL, :steps))
SELECT name AS "name|name", d AS "difference|diff", c AS "control|time", t AS "test|time",
       trace_class_word(class) AS "kind|text"
FROM part
ORDER BY abs(d) DESC, class, name
LIMIT 150
