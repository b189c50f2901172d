-- precision: matrix products and convolutions compute in another type
-- Rank: 84
-- Said: always
-- Evidence: on each side, one tensor type has 80 % of the time of these operators
WITH n AS (
  SELECT type, sum(ct) / sum(sum(ct)) OVER () AS c, sum(tt) / sum(sum(tt)) OVER () AS t FROM (
    SELECT coalesce(json_extract(types, '$[1]'), json_extract(types, '$[0]')) AS type, ct, tt FROM sized
    WHERE name IN ('aten::addmm', 'aten::mm', 'aten::bmm', 'aten::baddbmm', 'aten::cudnn_convolution',
      'aten::miopen_convolution',
      'aten::mkldnn_convolution', 'aten::_slow_conv2d_forward', 'aten::convolution_backward', 'aten::_convolution'))
  GROUP BY type),
word(type, word) AS (VALUES ('float', 'float32'), ('double', 'float64'), ('c10::BFloat16', 'bfloat16'),
  ('c10::Half', 'float16'), ('signed char', 'int8'))
SELECT printf('matmuls and convolutions compute in %s, control''s in %s', a.word, b.word),
       CASE WHEN a.word = 'float64' THEN 'float64 leaks from NumPy or torch.set_default_dtype: .float() at the source'
            WHEN a.word = 'float32' AND b.word <> 'float64'
            THEN 'torch.autocast(device, torch.bfloat16), or model.to(torch.bfloat16)' END, cause.id
FROM n AS test JOIN n AS control ON control.c >= 0.8 JOIN word AS a ON a.type = test.type
  JOIN word AS b ON b.type = control.type
LEFT JOIN cause ON cause.class IN ('compute', 'host') AND (cause.area NOT GLOB 'Optimizer*' OR cause.area IS NULL)
WHERE test.t >= 0.8 AND test.type <> control.type
