-- optimizer: the optimizer is fused, uses foreach, or loops over parameters, and control's does otherwise
-- Rank: 10
-- Said: always
-- Evidence: operators inside Optimizer.step: _fused_*, else _foreach_*, else neither
-- Not: whether the learning changed
WITH n AS (
  SELECT area, total(c) AS c, total(t) AS t,
         CASE WHEN total(c) FILTER (WHERE name GLOB '*_fused_*') THEN 'is fused'
              WHEN total(c) FILTER (WHERE name GLOB '*_foreach_*') THEN 'uses foreach'
                ELSE 'loops over parameters' END AS was,
         CASE WHEN total(t) FILTER (WHERE name GLOB '*_fused_*') THEN 'is fused'
              WHEN total(t) FILTER (WHERE name GLOB '*_foreach_*') THEN 'uses foreach'
                ELSE 'loops over parameters' END AS is_now
  FROM inside WHERE area GLOB 'Optimizer.step#*' AND name GLOB 'aten::*' GROUP BY area)
SELECT printf('%s %s, control''s %s', trace_label(n.area), is_now, was) || CASE WHEN c = t THEN ''
  ELSE printf(': %g -> %g operators', c, t) END,
       CASE WHEN is_now = 'is fused' THEN NULL ELSE 'fused=True, an argument of the optimizer' END, cause.id
FROM n LEFT JOIN cause ON cause.area = n.area OR cause.name = n.area OR cause.id IN (
  SELECT o.id FROM cause_op AS o JOIN inside AS i USING (name) JOIN op USING (name)
    WHERE i.area = n.area AND i.c = op.c AND i.t = op.t)
WHERE c > 0 AND t > 0 AND was <> is_now
