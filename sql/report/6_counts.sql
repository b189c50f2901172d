-- 6_counts: Largest changes of counts
-- Figure visualize_counts_diff
-- Parameters
--   :control  TEXT required  baseline trace
--   :test     TEXT required  trace to compare with the baseline
SELECT name, control_counts, test_counts
FROM trace_diff(:control, :test, 'all', 'all', 'steady', 'steady')
WHERE diff_counts <> 0 AND name NOT LIKE 'ProfilerStep%'
ORDER BY abs(diff_counts) DESC, name
LIMIT 20
