-- 8_ranks: Device work of each rank, by type
-- Figure visualize_duration_diff
-- Parameters
--   :control  TEXT required  baseline trace
--   :test     TEXT required  trace to compare with the baseline
SELECT 'rank ' || rank || ', ' || lower(type) AS name,
       total(ns) FILTER (WHERE side = 'control') / 1000.0 AS control_total_duration,
       total(ns) FILTER (WHERE side = 'test') / 1000.0 AS test_total_duration
FROM (SELECT 'control' AS side, rank, trace_kernel_type(name, cat) AS type,
             round(total_duration * 1000) AS ns
      FROM trace_ops(:control, 'all', 'steady', 'GPU')
      UNION ALL
      SELECT 'test', rank, trace_kernel_type(name, cat), round(total_duration * 1000)
      FROM trace_ops(:test, 'all', 'steady', 'GPU'))
WHERE type IS NOT NULL
GROUP BY rank, type
ORDER BY rank, type
