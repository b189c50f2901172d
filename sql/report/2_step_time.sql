-- 2_step_time: Mean duration of a step, without the first and the last
-- Figure visualize_duration_diff
-- Parameters
--   :control  TEXT required  trace to compare with
--   :test     TEXT required  trace that is compared
SELECT 'rank ' || rank AS name,
       avg(dur) FILTER (WHERE side = 'control') AS control_total_duration,
       avg(dur) FILTER (WHERE side = 'test') AS test_total_duration
FROM (SELECT side, rank, dur,
             row_number() OVER (PARTITION BY side, file ORDER BY iteration) AS step,
             count(*) OVER (PARTITION BY side, file) AS steps
      FROM (SELECT 'control' AS side, rank, iteration, dur, file FROM trace_steps(:control)
            UNION ALL
            SELECT 'test', rank, iteration, dur, file FROM trace_steps(:test)))
WHERE steps < 3 OR step NOT IN (1, steps)
GROUP BY rank
ORDER BY rank
