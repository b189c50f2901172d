-- 3_temporal_breakdown: Where the device's time goes
-- Figure visualize_temporal_breakdown
-- Parameters
--   :control  TEXT required  baseline trace
--   :test     TEXT required  trace to compare with the baseline
SELECT number || ', ' || side AS rank, idle_time, compute_time, non_compute_time
FROM (SELECT 'control' AS side, rank AS number, idle_time, compute_time, non_compute_time
      FROM temporal_breakdown(:control)
      UNION ALL
      SELECT 'test', rank, idle_time, compute_time, non_compute_time
      FROM temporal_breakdown(:test))
ORDER BY number, side
