-- 10_steps: Every step, so that noise is seen
-- Section steps Steps
-- Layout steps
-- Rules:
--   1. On the device's clock, the start of the first step is uncertain. So that step is shown only if it is used.
-- Empty No steps are marked: profiler.step() at the end of each iteration marks them.
-- SQL
--   SELECT 'control' AS side, rank, iteration, sum(time_ns) / 1e6 AS ms
--   FROM trace_step_time(:control, :control_rank, 'all', NULL, :clock, NULL, :steps)
--   GROUP BY rank, iteration;
-- With shared/steps
timed AS (
  SELECT 0 AS side, CASE WHEN NOT :control_job THEN rank END AS rank, iteration, total(time_ns) / 1e6 AS ms
  FROM trace_step_time(:control, :control_rank, 'all', 'annotation', :clock, NULL, :steps)
  WHERE iteration IS NOT NULL
  GROUP BY 2, iteration
  UNION ALL
  SELECT 1, CASE WHEN NOT :test_job THEN rank END, iteration, total(time_ns) / 1e6
  FROM trace_step_time(:test, :test_rank, 'all', 'annotation', :clock, NULL, :steps)
  WHERE iteration IS NOT NULL
  GROUP BY 2, iteration),
ordered AS (
  SELECT timed.*, step.iteration IS NOT NULL AS counted,
         dense_rank() OVER (PARTITION BY timed.side, timed.rank ORDER BY timed.iteration) AS number,
         dense_rank() OVER (PARTITION BY timed.side ORDER BY timed.rank) AS nth_rank
  FROM timed LEFT JOIN step ON step.side = timed.side AND step.rank IS timed.rank AND step.iteration = timed.iteration)
SELECT side, rank, iteration, number, ms, counted
FROM ordered
WHERE number <= 60 AND nth_rank <= 16 AND (counted OR number > 1 OR :clock_used = 'host')
ORDER BY side, number, rank
