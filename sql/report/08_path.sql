-- 08_path: Ranks: who is late, who waits
-- Section ranks Ranks
-- Layout path
-- SQL
--   SELECT iteration, seq, rank, dur / 1000 AS ms, waiting_rank, collective
--   FROM trace_job_path(:test, :test_rank, :test_iteration, :steps);
-- Rules:
--   1. The section shows the first six used steps of each side, and at most 60 stretches per step. Consecutive
--      stretches on one rank are merged. If all steps are on the same rank throughout, they are one lane of their mean
--      length.
WITH stretch AS (
  SELECT 0 AS side, iteration, seq, rank, dur_ns / 1e6 AS ms, waiting_rank, collective
  FROM trace_job_path(CASE WHEN :ranks > 0 THEN :control END, :control_rank, :control_iteration, :steps)
  UNION ALL
  SELECT 1, iteration, seq, rank, dur_ns / 1e6, waiting_rank, collective
  FROM trace_job_path(CASE WHEN :ranks > 0 THEN :test END, :test_rank, :test_iteration, :steps)),
begun AS (
  SELECT *, rank IS NOT lag(rank) OVER of_step AS begins,
         dense_rank() OVER (PARTITION BY side ORDER BY iteration) AS lane,
         min(rank) OVER of_side = max(rank) OVER of_side AS is_same
  FROM stretch
  WINDOW of_step AS (PARTITION BY side, iteration ORDER BY seq), of_side AS (PARTITION BY side)),
numbered AS (
  SELECT *, sum(begins) OVER (PARTITION BY side, iteration ORDER BY seq) AS n,
         max(lane) OVER (PARTITION BY side) AS lanes
  FROM begun),
joined AS (
  SELECT side, CASE WHEN is_same THEN 0 ELSE lane END AS lane, n, rank,
         sum(ms) / CASE WHEN is_same THEN lanes ELSE 1 END AS ms,
         CASE side WHEN 0 THEN 'control' ELSE 'test' END
           || CASE WHEN is_same AND lanes > 1 THEN ', all ' || lanes || ' steps'
                   ELSE coalesce(', step ' || iteration, '') END AS text,
         max(CASE WHEN waiting_rank <> rank
                       THEN 'rank ' || waiting_rank || ' waits for it in ' || trace_label(collective) END) AS waits
  FROM numbered
  WHERE is_same OR lane <= 6
  GROUP BY side, 2, n)
SELECT text, rank, total(ms) OVER (of_lane ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins, ms, waits,
       max(:control_ms, :test_ms,
           (SELECT max(ms) FROM (SELECT sum(ms) AS ms FROM joined GROUP BY side, lane))) AS longest
FROM joined
WHERE n <= 60
WINDOW of_lane AS (PARTITION BY side, lane ORDER BY n)
ORDER BY side, lane, n
