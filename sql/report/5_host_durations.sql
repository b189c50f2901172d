-- 5_host_durations: Largest changes of duration, operators of the host
-- Figure visualize_duration_diff
-- Parameters
--   :control  TEXT required  baseline trace
--   :test     TEXT required  trace to compare with the baseline
SELECT name, control_total_duration, test_total_duration
FROM trace_diff(:control, :test, 'all', 'all', 'steady', 'steady', 'CPU')
WHERE diff_duration <> 0 AND name NOT LIKE 'ProfilerStep%'
ORDER BY abs(diff_duration) DESC, name
LIMIT 20
