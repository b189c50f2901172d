-- other_optimizer: another optimizer is used
-- Rank: 9
-- Said: always
-- Evidence: the names of Optimizer.step#*: one on each side, and they differ
WITH o AS (SELECT name, c, t FROM op WHERE name GLOB 'Optimizer.step#*' AND device <> 'GPU'),
n AS (SELECT max(name) FILTER (WHERE c > 0) AS was, max(name) FILTER (WHERE t > 0) AS is_now, sum(c > 0) AS nc,
  sum(t > 0) AS nt FROM o)
SELECT printf('the optimizer is %s, where control''s is %s', trace_label(is_now), trace_label(was)),
  'compare the learning, too', cause.id
FROM n LEFT JOIN cause ON cause.area GLOB 'Optimizer.*' OR cause.name GLOB 'Optimizer.*' OR cause.id IN (
  SELECT o.id FROM cause_op AS o JOIN inside AS i USING (name) JOIN op USING (name) WHERE i.area GLOB 'Optimizer.step#*'
    GROUP BY o.id, op.c, op.t HAVING sum(i.c) = op.c AND sum(i.t) = op.t)
WHERE nc = 1 AND nt = 1 AND was <> is_now
