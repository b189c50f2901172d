-- 07_map: Map of the step: part of the program, operator, kernel
-- Section map Map
-- Layout map
-- Empty Nothing is recorded of these steps.
-- SQL
--   SELECT path, control_self_time / 1000 AS control_ms, test_self_time / 1000 AS test_ms
--   FROM trace_tree_diff(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
--                        :clock, :steps)
--   WHERE control_self_time + test_self_time > 0;
-- Rules:
--   1. The levels come from trace_tree_diff, without the areas of a family.
--   2. A part below 0.01 % of the step, or not among the 800 largest, has no box. Its time belongs to its outermost
--      operator or, if that is also too small, to the part of the program. Parts of the program beyond the first 300
--      share one box.
WITH path AS MATERIALIZED (
  SELECT class, area, family, top_name,
         CASE WHEN top_name IS top_op OR class NOT IN ('compute', 'comm', 'memory', 'idle_host', 'idle_wait', 'host')
                   THEN op END AS op, kernel, time_ns * 1.0 / :control_windows AS c, 0.0 AS t
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  WHERE time_ns > 0
  UNION ALL
  SELECT class, area, family, top_name,
         CASE WHEN top_name IS top_op OR class NOT IN ('compute', 'comm', 'memory', 'idle_host', 'idle_wait', 'host')
                   THEN op END, kernel, 0.0, time_ns * 1.0 / :test_windows
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)
  WHERE time_ns > 0
  LIMIT -1),
of_several AS ( -- families with several areas
  SELECT family FROM path WHERE class NOT LIKE 'idle%' AND class <> 'unrecorded' GROUP BY family
  HAVING min(area) < max(area)),
summed AS (
  SELECT class, CASE WHEN class LIKE 'idle%' THEN 'device idle' WHEN class = 'unrecorded' THEN NULL
                     WHEN family IN (SELECT family FROM of_several) THEN family ELSE area END AS area,
         top_name AS top_op, op, kernel, sum(c) AS c, sum(t) AS t
  FROM path
  GROUP BY 1, 2, 3, 4, 5),
leaf AS (
  SELECT area, CASE WHEN class LIKE 'idle%' OR class = 'unrecorded' THEN class END AS state, top_op,
         max(c, t) >= 100 * max(:control_ms, :test_ms)
           AND row_number() OVER (ORDER BY max(c, t) DESC) <= 800 AS is_large,
         op, kernel, c, t
  FROM summed),
below AS (
  SELECT area, state, top_op, CASE WHEN is_large THEN op END AS op,
         CASE WHEN is_large THEN trace_short_name(kernel) END AS kernel, sum(c) AS c, sum(t) AS t
  FROM leaf
  GROUP BY 1, 2, 3, 4, 5),
top AS (
  SELECT area, state, CASE WHEN max(c, t) >= 100 * max(:control_ms, :test_ms)
                             AND row_number() OVER (ORDER BY max(c, t) DESC) <= 800 THEN top_op END AS top_op,
         op, kernel, c, t
  FROM below),
weighed AS (
  SELECT *, sum(c + t) OVER (PARTITION BY area) AS size
  FROM top),
part AS (
  SELECT *, dense_rank() OVER (ORDER BY size DESC, area) <= 300 AS is_large
  FROM weighed)
SELECT CASE WHEN is_large THEN area ELSE 'smaller parts' END AS area,
       CASE WHEN is_large THEN trace_class_word(state) END AS state,
       CASE WHEN is_large THEN top_op END AS top_op, CASE WHEN is_large THEN op END AS op,
       CASE WHEN is_large THEN kernel END AS kernel, sum(c) AS control_ns, sum(t) AS test_ns
FROM part
GROUP BY 1, 2, 3, 4, 5
ORDER BY max(size) DESC, 1, 2, 3, 4, 5
