-- attention: fused attention was written out as softmax and matrix products, or the reverse
-- Rank: 20
-- Said: always
-- Evidence: fused attentions were replaced by the same number of softmax per step, with two matrix products each
-- Not: whether the results are equal
WITH n AS (
  SELECT total(t - c) FILTER (WHERE name <> 'aten::_softmax') AS fused,
    total(t - c) FILTER (WHERE name = 'aten::_softmax') AS soft,
         max(trace_label(name)) FILTER (WHERE name <> 'aten::_softmax' AND t <> c) AS name
  FROM op
  WHERE name IN ('aten::_softmax', 'aten::_scaled_dot_product_flash_attention',
    'aten::_scaled_dot_product_efficient_attention',
                 'aten::_scaled_dot_product_cudnn_attention', 'aten::_scaled_dot_product_flash_attention_for_cpu',
                   'FlashAttnFunc',
                 'aten::_scaled_dot_product_fused_attention_overrideable', 'flash_attn::_flash_attn_forward')),
part(word) AS (VALUES ('oftmax'), ('caled'), ('mm'), ('Mm'), ('atmul'), ('asked'), ('::mul'), ('MulB'), ('::div'),
  ('DivB'),
  ('xpand'), ('iew'), ('lone'), ('opy'), ('::to'), ('here'), ('ropout'), ('tri'), ('eshape'), ('ranspose'), ('::add'),
    ('AddB'))
SELECT printf(CASE WHEN fused < 0 THEN 'attention is no longer fused (%s): written-out softmax, %g per step'
                   ELSE 'attention is fused now (%s), not written-out softmax, %g per step' END,
              replace(replace(trace_label(n.name), 'aten::_scaled_dot_product_', ''), '_attention', ''), abs(fused)),
       'torch.nn.functional.scaled_dot_product_attention', cause.id
FROM n LEFT JOIN cause ON cause.id IN (
  SELECT o.id FROM cause_op AS o JOIN op USING (name) JOIN part ON instr(o.name, word)
  WHERE op.c <> op.t AND (op.t - op.c) / fused = CAST((op.t - op.c) / fused AS INTEGER))
WHERE fused <> 0 AND fused = -soft AND (SELECT total(t - c) FROM op WHERE name IN ('aten::bmm',
  'aten::baddbmm')) / -fused >= 2
