-- 14_kernels: Kernels and copies, whole: also the time that other kernels hide
-- Layout table app
-- SQL
--   SELECT key, control_kernels, test_kernels, control_device_time, test_device_time, diff_device_time,
--          diff_from_counts, diff_from_mean
--   FROM trace_diff_by(:control, :test, 'kernel', :control_each, :test_each, :control_iteration, :test_iteration,
--                      'GPU', NULL, :steps)
--   ORDER BY abs(diff_device_time) DESC;
SELECT key AS "kernel|name", diff_device_time / 1000 AS "difference|diff",
       diff_from_counts / 1000 AS "from counts|change", diff_from_mean / 1000 AS "from length|change",
       control_device_time / 1000 AS "control|time", test_device_time / 1000 AS "test|time",
       control_kernels AS "count, control|count", test_kernels AS "count, test|count",
       CASE WHEN control_kernels = 0 THEN 'new' WHEN test_kernels = 0 THEN 'gone' ELSE 'both' END AS "in|text"
FROM trace_diff_by(:control, :test, 'kernel', :control_each, :test_each, :control_iteration, :test_iteration,
                   'GPU', NULL, :steps)
ORDER BY abs(diff_device_time) DESC, key
LIMIT 150
