-- quantised: one side computes products of quantised weights
-- Rank: 43
-- Said: always
-- Alike: no
-- Evidence: products of quantised weights were replaced by the same number of ordinary products per step, or the
--   reverse
WITH q AS (
  SELECT total(c) AS c, total(t) AS t, max(name) AS name FROM op
  WHERE name GLOB 'quantized::linear*' OR name GLOB 'quantized::conv*' OR name GLOB 'onednn::q*'
    OR name GLOB 'torchao::*mm*'
     OR name IN ('aten::_int_mm', 'aten::_weight_int4pack_mm', 'aten::_weight_int8pack_mm', 'aten::_scaled_mm')),
n AS (SELECT * FROM q WHERE (c > 0) <> (t > 0) AND EXISTS (SELECT 1 FROM op
  WHERE op.name IN ('aten::linear', 'aten::addmm', 'aten::mm', 'aten::conv2d') AND op.t - op.c = q.c - q.t))
SELECT CASE WHEN t > 0 THEN printf('weights are quantised: %g %s per step', t, n.name)
            ELSE printf('weights are not quantised any more: %g %s per step gone', c, n.name) END,
       CASE WHEN t > 0 THEN 'check the accuracy' ELSE 'quantise the model as control does' END, cause.id
FROM n LEFT JOIN cause ON cause.id IN (
  SELECT id FROM cause_op WHERE name GLOB 'quantized::*' OR name GLOB 'aten::*mm*'
    OR name IN ('aten::linear', 'aten::matmul', 'aten::conv2d', n.name))
