-- forward_twice: the forward pass runs more often, the backward pass does not
-- Rank: 30
-- Said: always
-- Evidence: three operators run k times as often, and their backward as often as before; no checkpointing
WITH two(f, b) AS (VALUES ('aten::addmm', 'AddmmBackward0'), ('aten::native_layer_norm', 'NativeLayerNormBackward0'),
  ('aten::convolution', 'ConvolutionBackward0'), ('aten::embedding', 'EmbeddingBackward0'), ('aten::gelu',
    'GeluBackward0'),
  ('aten::silu', 'SiluBackward0'), ('aten::relu', 'ReluBackward0'), ('aten::_log_softmax', 'LogSoftmaxBackward0')),
n AS (
  SELECT f.t / f.c AS k, count(*) AS n FROM two JOIN op AS f ON f.name = two.f JOIN op AS b ON b.name = two.b
  WHERE b.c = b.t AND b.c > 0 AND f.t > 0 GROUP BY 1 HAVING k <> 1 ORDER BY n DESC LIMIT 1)
SELECT CASE WHEN k > 1 THEN printf('the forward pass runs %g times as often, backward as often as before', k)
            ELSE printf('the forward pass ran %g times as often, backward as often as now', 1 / k) END,
       'look for a second call of the model: a metric, a check; torch.no_grad(), if it needs no gradients', cause.id
FROM n LEFT JOIN cause ON cause.id IN (
  SELECT o.id FROM cause_op AS o JOIN op USING (name) WHERE op.name GLOB 'aten::*' AND (op.t - op.c) * (n.k - 1) > 0)
WHERE n >= 3 AND (k = CAST(k AS INTEGER) OR 1 / k = CAST(1 / k AS INTEGER))
  AND NOT EXISTS (SELECT 1 FROM op WHERE name IN ('_NoopSaveInputs', 'CheckpointFunction') AND c <> t)
  AND NOT EXISTS (SELECT 1 FROM under WHERE top_op GLOB 'autograd::engine*' AND name IN ('aten::linear', 'aten::conv2d')
    AND c <> t)
