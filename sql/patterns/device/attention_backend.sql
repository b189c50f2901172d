-- attention_backend: fused attention runs by another backend
-- Rank: 21
-- Said: always
-- Evidence: fused attentions of one backend were replaced by the same number of another backend
WITH n AS (
  SELECT name, t - c AS d FROM op
  WHERE c <> t AND name IN ('aten::_scaled_dot_product_flash_attention',
    'aten::_scaled_dot_product_efficient_attention',
    'aten::_scaled_dot_product_cudnn_attention', 'aten::_scaled_dot_product_attention_math', 'FlashAttnFunc',
    'aten::_scaled_dot_product_fused_attention_overrideable', 'flash_attn::_flash_attn_forward'))
SELECT printf('attention runs by %s where control runs %s, %g per step', replace(replace(b.name,
  'aten::_scaled_dot_product_', ''), '_attention', ''),
              replace(replace(a.name, 'aten::_scaled_dot_product_', ''), '_attention', ''), b.d),
       'torch.nn.attention.sdpa_kernel; what decides is types, mask, head size, versions', cause.id
FROM n AS a JOIN n AS b ON a.d = -b.d AND b.d > 0
LEFT JOIN cause ON cause.id IN (SELECT id FROM cause_op WHERE name GLOB '*caled*ot*roduct*' OR name GLOB '*lashAttn*')
