-- other_kernels: the same products and convolutions run by other kernels
-- Rank: 60
-- Said: a tenth
-- Evidence: per operator, shapes and types: the same number of executions, and no kernel in common
WITH k AS (
  SELECT top_op, op, sum(ct) AS ct, sum(tt) AS tt
  FROM kernel WHERE type = 'COMPUTATION' AND shapes IS NOT NULL AND (op IN ('aten::addmm', 'aten::mm', 'aten::bmm',
    'aten::baddbmm') OR op GLOB '*onv*')
  GROUP BY top_op, op, shapes, types HAVING sum(c) = sum(t) AND max(min(c, t)) = 0),
n AS (SELECT max(op) AS op, count(DISTINCT op) - 1 AS more, count(*) AS n, sum(ct) AS ct, sum(tt) AS tt FROM k)
SELECT printf('other kernels compute the same %s%s, of %d shapes: %.2f -> %.2f ms', n.op, CASE
  WHEN more THEN printf(' and %d more', more) ELSE '' END, n, ct / 1000, tt / 1000),
       'versions of CUDA, cuBLAS, cuDNN; torch.backends.cudnn.benchmark; alignment of sizes to 8', cause.id
FROM n LEFT JOIN cause ON cause.class = 'compute' AND cause.id IN (
  SELECT o.id FROM cause_op AS o JOIN k ON replace(k.top_op, 'autograd::engine::evaluate_function: ', '') = o.name
  JOIN cause AS x ON x.id = o.id GROUP BY o.id HAVING abs(sum(k.tt - k.ct)) > 0.5 * abs(x.diff_time))
WHERE abs(tt - ct) > (SELECT 20 * control_ms FROM pair) AND (SELECT NOT other_device FROM pair)
