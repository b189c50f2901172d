-- 2_step_time: Mean duration of a step, without the first and the last
-- Figure visualize_duration_diff
-- Parameters
--   :control  TEXT required  baseline trace
--   :test     TEXT required  trace to compare with the baseline
SELECT 'rank ' || rank AS name,
       avg(dur_ns) FILTER (WHERE side = 'control') / 1000.0 AS control_total_duration,
       avg(dur_ns) FILTER (WHERE side = 'test') / 1000.0 AS test_total_duration
FROM (SELECT side, rank, dur_ns,
             row_number() OVER (PARTITION BY side, file ORDER BY iteration) AS step,
             count(*) OVER (PARTITION BY side, file) AS steps
      FROM (SELECT 'control' AS side, rank, iteration, dur_ns, file FROM trace_steps(:control)
            UNION ALL
            SELECT 'test', rank, iteration, dur_ns, file FROM trace_steps(:test)))
WHERE steps < 3 OR step NOT IN (1, steps)
GROUP BY rank
ORDER BY rank
