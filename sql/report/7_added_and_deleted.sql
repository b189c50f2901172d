-- 7_added_and_deleted: Added and deleted
-- Figure visualize_counts_diff
-- Parameters
--   :control  TEXT required  baseline trace
--   :test     TEXT required  trace to compare with the baseline
SELECT name, control_counts, test_counts
FROM trace_diff(:control, :test, 'all', 'all', 'steady', 'steady')
WHERE counts_change IN ('added', 'deleted') AND name NOT LIKE 'ProfilerStep%'
ORDER BY counts_change, abs(diff_counts) DESC, name
LIMIT 100
