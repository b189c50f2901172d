-- 10_steps: Every step, so that noise is seen
-- Section steps Steps
-- Layout steps
-- Rules:
--   1. By the device's clock, the first step has no certain start: it is shown only if it counts.
-- Empty No steps are marked: profiler.step() at the end of each iteration marks them.
-- SQL
--   SELECT 'control' AS side, rank, iteration, sum(time_ns) / 1e6 AS ms
--   FROM trace_step_time(:control, :control_rank, 'all', NULL, :clock, :steps)
--   GROUP BY rank, iteration;
-- With steps
marked AS (
  SELECT side, rank, iteration, ms, EXISTS (SELECT 1 FROM used WHERE used.side = timed.side AND used.rank = timed.rank
                                            AND used.iteration = timed.iteration) AS counted
  FROM timed
  WHERE iteration IS NOT NULL),
ordered AS (
  SELECT *, dense_rank() OVER (PARTITION BY side, rank ORDER BY iteration) AS number,
         dense_rank() OVER (PARTITION BY side ORDER BY rank) AS nth_rank
  FROM marked)
SELECT side, rank, iteration, number, ms, counted
FROM ordered
WHERE number <= 60 AND nth_rank <= 16 AND (counted OR number > 1 OR :clock_used = 'host')
ORDER BY side, number, rank
