-- grad_hooks: a hook on gradients does more, or less
-- Rank: 28
-- Said: always
-- Evidence: operators under AccumulateGrad that only one side has, eight or more per step
-- Not: other operators in place of as many
WITH h AS (
  SELECT top_op, name, c, t FROM under
  WHERE top_op GLOB '*AccumulateGrad' AND name GLOB 'aten::*' AND min(c, t) = 0 AND abs(t - c) >= 8
    AND name NOT IN ('aten::copy_', 'aten::mul_', 'aten::div_', 'aten::add_', 'aten::detach', 'aten::empty',
      'aten::empty_strided', 'aten::as_strided', 'aten::to', 'aten::_to_copy', 'aten::mul', 'aten::div')),
n AS (SELECT top_op, total(t) > total(c) AS is_on, total(abs(t - c)) AS n FROM h GROUP BY 1
  HAVING total(t) <> total(c))
SELECT printf('hooks on gradients %s: ', CASE WHEN is_on THEN 'run more operators' ELSE 'run fewer operators' END)
       || (SELECT group_concat(printf('%s %g -> %g', name, c, t), ', ') FROM (SELECT * FROM h WHERE (t > c) = is_on
         ORDER BY abs(t - c) DESC, name LIMIT 1)),
       CASE WHEN is_on THEN 'one hook for all: Optimizer.register_step_pre_hook with torch._foreach_ operators' END,
         cause.id
FROM n LEFT JOIN cause ON cause.name = n.top_op
