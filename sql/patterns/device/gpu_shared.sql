-- gpu_shared: another process uses the GPU, which goes from one to the other in slices of time
-- Rank: 80
-- Said: a tenth
-- Evidence: the same kernels run as often; some executions are interrupted for more than 0.5 ms,
--   all for about the same time (75 % of them within 25 % of the median), while others of the same kernel are not; the
--   other side has few
-- Not: a clock, which makes all executions longer by a factor
WITH may AS (
  SELECT control_rank, test_rank FROM pair
  WHERE is_clear AND alike > 0.9 AND EXISTS (SELECT 1 FROM clock WHERE outcome = 'no common factor')
    AND abs((SELECT total(tt - ct) FROM kernel WHERE name NOT GLOB '*nccl*')) > 0.1 * abs(gap)),
e AS (
  SELECT side, iteration, name, dur, row_number() OVER (PARTITION BY side, iteration, name ORDER BY ts) AS place
  FROM (
    SELECT 0 AS side, e.* FROM may CROSS JOIN trace_events(:control, control_rank, NULL, NULL, NULL, :steps) AS e
    WHERE device = 'GPU' AND cat = 'kernel'
    UNION ALL SELECT 1, e.* FROM may CROSS JOIN trace_events(:test, test_rank, NULL, NULL, NULL, :steps) AS e
    WHERE device = 'GPU' AND cat = 'kernel')
  WHERE iteration IS NOT NULL AND name NOT GLOB '*nccl*'),
least AS (SELECT name, place, min(dur) AS dur FROM e GROUP BY 1, 2 HAVING count(*) > 5 AND count(DISTINCT side) = 2),
late AS (
  SELECT e.side, e.dur - l.dur AS us FROM e JOIN least AS l USING (name, place)
  WHERE e.dur > l.dur + 500 AND e.dur > 1.5 * l.dur),
mid AS (
  SELECT side, count(*) AS n, trace_quantile(us, 0.5) AS us50,
         (SELECT count(DISTINCT iteration) FROM e WHERE e.side = late.side) AS steps
  FROM late GROUP BY side),
n AS (
  SELECT m.*, (SELECT count(*) FROM late AS l
               WHERE l.side = m.side AND l.us BETWEEN 0.75 * us50 AND 1.25 * us50) AS near
  FROM mid AS m WHERE m.n >= 10 AND m.n > 10 * (SELECT count(*) FROM late AS o WHERE o.side <> m.side))
SELECT printf(CASE side WHEN 1 THEN 'the GPU is shared: kernels are interrupted %.1f times per step, %.1f ms each'
                        ELSE 'the GPU was shared: kernels were interrupted %.1f times per step, %.1f ms each' END,
              1.0 * n.n / n.steps, us50 / 1000),
       CASE side WHEN 1 THEN 'nvidia-smi shows who uses the GPU; record again while nobody else uses it'
                 ELSE 'record control again' END, cause.id
FROM n LEFT JOIN cause ON cause.class IN ('compute', 'memory', 'comm', 'idle_unrecorded') AND (diff_time > 0) = side
WHERE near >= 0.75 * n.n
