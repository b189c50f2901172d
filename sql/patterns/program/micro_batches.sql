-- micro_batches: forward and backward run more often per step, the optimizer as often
-- Rank: 31
-- Said: always
-- Evidence: three operators and their backward run k times as often, one of them once in the other trace;
--   Optimizer.step as often
WITH two(f, b) AS (VALUES ('aten::addmm', 'AddmmBackward0'), ('aten::native_layer_norm', 'NativeLayerNormBackward0'),
  ('aten::convolution', 'ConvolutionBackward0'), ('aten::embedding', 'EmbeddingBackward0'), ('aten::gelu',
    'GeluBackward0'),
  ('aten::silu', 'SiluBackward0'), ('aten::relu', 'ReluBackward0'), ('aten::_log_softmax', 'LogSoftmaxBackward0'),
  ('aten::nll_loss_forward', 'NllLossBackward0'), ('aten::nll_loss_nd', 'NllLossBackward0')),
n AS (
  SELECT f.t / f.c AS k, count(*) AS n, min(f.c, f.t) AS least FROM two JOIN op AS f ON f.name = two.f
    JOIN op AS b ON b.name = two.b
  WHERE b.t / b.c = f.t / f.c GROUP BY 1 HAVING k <> 1 ORDER BY n DESC LIMIT 1)
SELECT printf('gradient accumulation: forward and backward run %g times per step for %g', max(k, 1), max(1 / k, 1)),
       'compare the time of a sample, not of a step', cause.id
FROM n LEFT JOIN cause ON (cause.area NOT GLOB 'Optimizer*' OR cause.area IS NULL)
  AND cause.class IN ('compute', 'memory', 'host')
WHERE n >= 3 AND least = 1 AND (k = CAST(k AS INTEGER) OR 1 / k = CAST(1 / k AS INTEGER)) AND (SELECT alike > 0.8
  FROM pair)
  AND EXISTS (SELECT 1 FROM op WHERE name GLOB 'Optimizer.step#*' AND c = t)
