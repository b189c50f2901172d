-- items: numbers are read from tensors more often, by .item() and the like, in traces without a device
-- Rank: 29
-- Said: always
-- Evidence: aten::item outside of the optimizer changed by eight per step or more; no check for NaN by anomaly mode
WITH n AS (
  SELECT op.c - (SELECT total(c) FROM inside WHERE name = 'aten::item' AND area GLOB 'Optimizer.step#*') AS c,
         op.t - (SELECT total(t) FROM inside WHERE name = 'aten::item' AND area GLOB 'Optimizer.step#*') AS t
  FROM pair CROSS JOIN op WHERE of_host AND op.name = 'aten::item'),
top AS (SELECT name, c, t FROM op, (SELECT t - c AS d FROM n) WHERE name GLOB 'aten::*' AND t - c = d
        AND name NOT IN ('aten::item', 'aten::_local_scalar_dense', 'aten::as_strided', 'aten::detach',
          'aten::empty') LIMIT 2)
SELECT printf('numbers read from tensors per step: %g -> %g', n.c, n.t)
       || coalesce((SELECT ' (' || group_concat(printf('%s %g -> %g', name, c, t), ', ') || ')' FROM top), ''),
       'stack them and read them once every 100 steps; on a GPU each .item() waits', cause.id
FROM n LEFT JOIN cause ON cause.id IN (
  SELECT id FROM cause_op WHERE name IN (SELECT name FROM top UNION ALL VALUES ('aten::item'),
    ('aten::_local_scalar_dense')))
WHERE abs(n.t - n.c) >= 8 AND max(n.c, n.t) > 1.5 * min(n.c, n.t)
  AND NOT EXISTS (SELECT 1 FROM op WHERE name = 'aten::isnan' AND min(c, t) = 0 AND abs(t - c) >= 10)
