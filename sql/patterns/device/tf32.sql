-- tf32: matrix products of float32 use TF32 tensor cores on one side only
-- Rank: 58
-- Said: always
-- Evidence: names of the kernels of products of float32: sgemm, simt and ffma against tf32 and s1688
WITH k AS (
  SELECT c, t, ct, tt, CASE WHEN name GLOB '*tf32*' OR name GLOB '*TF32*' OR name GLOB '*s1688*' THEN 1
                    WHEN name GLOB '*sgemm*' OR name GLOB '*simt*' OR name GLOB '*ffma*' THEN 0 END AS is_tf
  FROM kernel WHERE op IN ('aten::addmm', 'aten::mm', 'aten::bmm', 'aten::baddbmm', 'aten::cudnn_convolution',
    'aten::convolution_backward')
    AND coalesce(json_extract(types, '$[1]'), 'float') = 'float'),
n AS (SELECT total(ct) FILTER (WHERE is_tf = 1) / total(ct) AS c, total(tt) FILTER (WHERE is_tf = 1) / total(tt) AS t,
             total(ct) FILTER (WHERE is_tf = 0) / total(ct) AS c32,
               total(tt) FILTER (WHERE is_tf = 0) / total(tt) AS t32 FROM k)
SELECT CASE WHEN c > t THEN 'matrix products of float32 do not use TF32 any more'
  ELSE 'matrix products of float32 use TF32 now' END,
       CASE WHEN c > t THEN 'torch.set_float32_matmul_precision(''high'')'
         ELSE 'check that 10 bits of mantissa are enough' END, cause.id
FROM n LEFT JOIN cause ON cause.class = 'compute' AND cause.id IN (
  SELECT o.id FROM cause_op AS o JOIN kernel AS k ON replace(k.top_op, 'autograd::engine::evaluate_function: ',
    '') = o.name
  WHERE k.op IN ('aten::addmm', 'aten::mm', 'aten::bmm', 'aten::baddbmm', 'aten::cudnn_convolution',
    'aten::convolution_backward'))
WHERE (SELECT NOT other_device FROM pair) AND ((c > 0.6 AND t32 > 0.6) OR (t > 0.6 AND c32 > 0.6))
