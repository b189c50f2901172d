-- 09_waits_for: Who waits for whom in collectives: of one, the longest wait
-- Layout table ranks
-- SQL
--   SELECT last_rank, name, count(*) AS times, sum(max_wait) / 1000 / count(DISTINCT iteration) AS ms_a_step
--   FROM trace_collectives(:test, :test_ranks, :test_iteration, :steps)
--   WHERE last_rank IS NOT NULL
--   GROUP BY last_rank, name;
WITH file AS MATERIALIZED (
  SELECT 0 AS side, rank FROM trace_files(:control) UNION ALL SELECT 1, rank FROM trace_files(:test)),
several AS MATERIALIZED (SELECT side, count(DISTINCT rank) AS ranks FROM file GROUP BY side),
two AS MATERIALIZED ( -- the ranks of both sides, if there are exactly two
  SELECT min(rank) AS one, max(rank) AS other FROM file GROUP BY NULL HAVING count(DISTINCT rank) = 2),
met AS (
  SELECT 0 AS side, iteration, name, rank_count, max_wait, last_rank
  FROM several CROSS JOIN trace_collectives(CASE WHEN several.side = 0 AND several.ranks > 1 THEN :control END,
                                            :control_ranks, :control_iteration, :steps)
  UNION ALL
  SELECT 1, iteration, name, rank_count, max_wait, last_rank
  FROM several CROSS JOIN trace_collectives(CASE WHEN several.side = 1 AND several.ranks > 1 THEN :test END,
                                            :test_ranks, :test_iteration, :steps)),
counted AS (
  SELECT *, max(number) OVER (PARTITION BY side) AS steps
  FROM (SELECT *, dense_rank() OVER (PARTITION BY side ORDER BY iteration) AS number FROM met)),
pair AS (
  SELECT last_rank, name, total(max_wait / steps) FILTER (WHERE side = 0) / 1000 AS c,
         total(max_wait / steps) FILTER (WHERE side = 1) / 1000 AS t,
         total(1.0 / steps) FILTER (WHERE side = 0) AS c_times, total(1.0 / steps) FILTER (WHERE side = 1) AS t_times
  FROM counted
  WHERE last_rank IS NOT NULL
  GROUP BY last_rank, name)
SELECT coalesce('rank ' || CASE last_rank WHEN one THEN other ELSE one END || ' waits', 'others wait')
       || ' for rank ' || last_rank || ' in ' || trace_label(name) AS "who waits|head",
       c AS "control|time", t AS "test|time", t - c AS "difference|diff", c_times AS "per step, control|count",
       t_times AS "per step, test|count"
FROM pair LEFT JOIN two
WHERE max(c, t) >= :least
ORDER BY abs(t - c) DESC, max(c, t) DESC, last_rank, name
LIMIT 12
