-- network: the same collectives transfer longer, or shorter, on all ranks
-- Rank: 71
-- Said: a tenth
-- Evidence: trace_collectives, which excludes waiting for late ranks: the same number of collectives, 80 % of them
--   different by more than 15 %
-- Not: which link
WITH may AS (
  SELECT 1 FROM pair WHERE is_job AND is_sure AND alike > 0.8 AND NOT EXISTS (SELECT 1 FROM clock
    WHERE outcome = 'one factor')
    AND abs((SELECT total(diff_time) FROM cause WHERE kind = 'communication')) >= 0.1 * abs(gap)),
x AS (
  SELECT 0 AS side, name, seq, trace_quantile(transfer, 0.5) AS us FROM trace_collectives(CASE WHEN EXISTS (SELECT 1
    FROM may) THEN :control END) WHERE rank_count > 1 GROUP BY name, seq
  UNION ALL SELECT 1, name, seq, trace_quantile(transfer, 0.5) FROM trace_collectives(CASE WHEN EXISTS (SELECT 1
    FROM may) THEN :test END) WHERE rank_count > 1 GROUP BY name, seq),
n AS (
  SELECT count(*) AS n, sum(t.us > 1.15 * c.us) AS up, sum(c.us > 1.15 * t.us) AS down, sum(t.us) / sum(c.us) AS r,
    (SELECT count(*) FROM x) AS all_n
  FROM x AS c JOIN x AS t USING (name, seq) WHERE c.side = 0 AND t.side = 1)
SELECT printf('the same collectives transfer %.2f times as %s on all ranks', max(r, 1 / r), CASE WHEN r > 1 THEN 'long'
  ELSE 'fast' END),
       'NCCL_DEBUG=INFO shows network, protocol and algorithm; other jobs may share the links', cause.id
FROM n LEFT JOIN cause ON cause.kind = 'communication'
WHERE all_n = 2 * n AND max(up, down) >= 0.8 * n
