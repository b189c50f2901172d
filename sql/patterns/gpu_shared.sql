-- gpu_shared: another process uses the GPU, which goes from one to the other in slices of time
-- Rank: 80
-- Said: a tenth
-- Evidence: the same kernels run as often; some executions are interrupted, by more than 0.5 ms and all by about as long
--   (three quarters of them within a quarter of the median), others of the same kernel are not; the other side has few such
-- Not: a clock, which makes all executions longer by a factor
WITH may AS (
  SELECT 1 FROM pair WHERE is_clear AND EXISTS (SELECT 1 FROM clock WHERE outcome = 'no common factor')
    AND abs((SELECT total(tt - ct) FROM kernel WHERE name NOT GLOB '*nccl*')) > max(0.1 * abs(gap), 5000.0 / max(control_steps, test_steps, 1))),
e AS (
  SELECT side, rank, iteration, name, dur, row_number() OVER (PARTITION BY side, rank, iteration, name ORDER BY ts) AS place FROM (
    SELECT 0 AS side, rank, iteration, name, ts, dur FROM trace_events(CASE WHEN EXISTS (SELECT 1 FROM may) THEN :control END, :control_rank, :control_iteration) WHERE device = 'GPU' AND cat = 'kernel'
    UNION ALL SELECT 1, rank, iteration, name, ts, dur FROM trace_events(CASE WHEN EXISTS (SELECT 1 FROM may) THEN :test END, :test_rank, :test_iteration) WHERE device = 'GPU' AND cat = 'kernel')
  WHERE iteration IS NOT NULL AND name NOT GLOB '*nccl*'),
least AS (SELECT name, place, min(dur) AS dur FROM e GROUP BY 1, 2 HAVING count(*) > 5 AND count(DISTINCT side) = 2),
late AS (SELECT e.side, e.dur - l.dur AS us FROM e JOIN least AS l USING (name, place) WHERE e.dur > l.dur + 500 AND e.dur > 1.5 * l.dur),
mid AS (SELECT side, count(*) AS n, (SELECT count(DISTINCT rank || ' ' || iteration) FROM e WHERE e.side = late.side) AS steps, sum(us) AS us, trace_quantile(us, 0.5) AS us50 FROM late GROUP BY side),
n AS (
  SELECT m.*, (SELECT count(*) FROM late AS l WHERE l.side = m.side AND l.us BETWEEN 0.75 * us50 AND 1.25 * us50) AS near
  FROM mid AS m WHERE m.n >= 10 AND m.n > 10 * coalesce((SELECT o.n FROM mid AS o WHERE o.side <> m.side), 0))
SELECT printf('the GPU %s shared: kernels %s interrupted for %.1f ms, %.1f times per step',
              CASE side WHEN 1 THEN 'is' ELSE 'was' END, CASE side WHEN 1 THEN 'are' ELSE 'were' END, us50 / 1000,
              1.0 * n.n / n.steps),
       CASE side WHEN 1 THEN 'nvidia-smi shows who uses the GPU; record again on a GPU of one''s own' ELSE 'record control again' END, cause.id
FROM n LEFT JOIN cause ON cause.class IN ('compute', 'memory', 'comm', 'idle_unrecorded') AND (cause.diff_time > 0) = side
WHERE near >= 0.75 * n.n AND (SELECT alike > 0.9 FROM pair)
