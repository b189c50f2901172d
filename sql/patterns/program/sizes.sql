-- sizes: batches are larger or smaller, or sequences longer or shorter
-- Rank: 82
-- Said: always
-- Evidence: operators with a third of the time, five or more, run as often and have other shapes, all but a tenth
--   larger, or all but a tenth smaller
-- Not: which dimension is the batch
WITH s AS (
  SELECT name, c, t, ct + tt AS us, size, dims FROM sized
  WHERE name GLOB 'aten::*' AND size IS NOT NULL AND name NOT GLOB '*_' AND name NOT IN ('aten::t', 'aten::transpose')),
r AS (SELECT name, sum(t * size) / sum(c * size) AS r, sum(c) AS n, sum(us) AS us FROM s GROUP BY name
  HAVING sum(c) = sum(t)),
n AS (SELECT count(*) AS n, sum(r > 1) AS up, trace_quantile(r, 0.5) AS r, sum(us) / (SELECT sum(us) FROM s) AS part
  FROM r WHERE abs(r - 1) > 0.001),
x AS (
  SELECT r.name, r.n, (SELECT dims FROM s WHERE s.name = r.name ORDER BY c DESC, dims) AS cd,
         (SELECT dims FROM s WHERE s.name = r.name ORDER BY t DESC, dims) AS td,
         (SELECT size FROM s WHERE s.name = r.name ORDER BY t DESC, dims) / (SELECT size FROM s
           WHERE s.name = r.name ORDER BY c DESC, dims) AS r
  FROM r)
SELECT printf('tensors are %.3g times as large: %s -> %s', n.r, cd, td),
  'compare the time of a sample or token, not of a step', cause.id
FROM n, (SELECT x.* FROM x, n WHERE json_array_length(cd) = json_array_length(td) AND x.r BETWEEN 0.95 * n.r
  AND 1.05 * n.r
  ORDER BY x.name IN ('aten::layer_norm', 'aten::conv2d', 'aten::batch_norm', 'aten::linear') DESC, x.n DESC,
    x.name LIMIT 1)
LEFT JOIN cause ON cause.class IN ('compute', 'memory', 'host') AND (cause.area NOT GLOB 'Optimizer*'
  OR cause.area IS NULL)
WHERE n.n >= 5 AND (part > 0.3 OR n.n >= 20) AND up NOT BETWEEN 0.1 * n.n AND 0.9 * n.n AND n.r NOT BETWEEN 0.9 AND 1.1
  AND (SELECT alike > 0.8 AND even > 0.6 AND strata < 2 FROM pair)
