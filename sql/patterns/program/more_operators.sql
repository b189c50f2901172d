-- more_operators: the host runs many more small operators, as in a Python loop, or many fewer
-- Rank: 88
-- Said: a tenth
-- Evidence: a fifth more executions of operators, 16 or more, mostly with names that ran before or that slice
--   tensors
WITH n AS (SELECT total(c) AS c, total(t) AS t FROM op WHERE device <> 'GPU' AND name GLOB 'aten::*'),
top AS (SELECT name, c, t FROM op, (SELECT n.t > n.c AS up FROM n) WHERE device <> 'GPU' AND name GLOB 'aten::*'
  AND (t > c) = up
  AND name NOT IN ('aten::as_strided', 'aten::empty', 'aten::empty_strided', 'aten::detach', 'aten::view')
    ORDER BY abs(t - c) DESC, name LIMIT 2),
slices AS (SELECT total(op.t - op.c) > 0.1 * (n.t - n.c) AS n FROM op, n
  WHERE name IN ('aten::select', 'aten::slice', 'aten::unbind', 'aten::split', 'aten::narrow'))
SELECT printf('%g -> %g operators per step', n.c, n.t) || CASE WHEN slices.n > 0
  AND n.t > n.c THEN ', a loop over slices' ELSE '' END
       || coalesce((SELECT ' (' || group_concat(printf('%s %g -> %g', name, c, t), ', ') || ')' FROM top), ''),
       CASE WHEN n.t > n.c THEN CASE
         WHEN slices.n THEN 'one operator on the whole tensor in place of the loop, or torch.vmap'
         ELSE 'many small ones: torch.compile' END END, cause.id
FROM n, slices LEFT JOIN cause ON (cause.diff_time > 0) = (n.t > n.c) AND cause.class IN ('host', 'compute',
  'idle_host', 'idle_launch')
  AND (cause.id IN (SELECT id FROM cause_op JOIN op USING (name) WHERE op.c <> op.t AND (op.t > op.c) = (n.t > n.c))
  OR cause.name IN (SELECT top_op FROM under GROUP BY 1 HAVING sum(under.t - under.c) * (n.t - n.c) > 0
    AND abs(sum(under.t - under.c)) >= 8))
WHERE abs(n.t - n.c) >= 16 AND n.c = round(n.c) AND n.t = round(n.t) AND max(n.t, n.c) > 1.2 * min(n.t, n.c)
  AND (SELECT alike > 0.8 FROM pair)
