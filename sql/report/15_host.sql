-- 15_host: Host operators and calls, their own time: it costs the step only where the device waits for it
-- Layout table app
-- SQL
--   SELECT key, control_self_time, test_self_time, diff_self_time
--   FROM trace_diff_by(:control, :test, 'name', :control_each, :test_each, :control_iteration, :test_iteration,
--                      'CPU', NULL, :steps)
--   ORDER BY abs(diff_self_time) DESC;
SELECT key AS "name|name", diff_self_time / 1000 AS "difference|diff", control_self_time / 1000 AS "control|time",
       test_self_time / 1000 AS "test|time",
       CASE WHEN control_host_time = 0 THEN 'new' WHEN test_host_time = 0 THEN 'gone' ELSE 'both' END AS "in|text"
FROM trace_diff_by(:control, :test, 'name', :control_each, :test_each, :control_iteration, :test_iteration,
                   'CPU', NULL, :steps)
ORDER BY abs(diff_self_time) DESC, key
LIMIT 100
