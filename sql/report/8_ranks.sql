-- 8_ranks: Device work of each rank, by type
-- Figure visualize_duration_diff
-- Parameters
--   :control  TEXT required  trace to compare with
--   :test     TEXT required  trace that is compared
SELECT 'rank ' || rank || ', ' || lower(type) AS name,
       total(us) FILTER (WHERE side = 'control') AS control_total_duration,
       total(us) FILTER (WHERE side = 'test') AS test_total_duration
FROM (SELECT 'control' AS side, rank, trace_kernel_type(name, cat) AS type, total_duration AS us
      FROM trace_ops(:control, 'all', 'steady', 'GPU')
      UNION ALL
      SELECT 'test', rank, trace_kernel_type(name, cat), total_duration
      FROM trace_ops(:test, 'all', 'steady', 'GPU'))
WHERE type IS NOT NULL
GROUP BY rank, type
ORDER BY rank, type
