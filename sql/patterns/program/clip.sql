-- clip: gradients are clipped by their norm, on one side only, or parameter by parameter
-- Rank: 27
-- Said: always
-- Evidence: norms of gradients (_foreach_norm, or four linalg_vector_norm or more) changed, with the clamp of
--   clip_grad_norm_; or another kind of norm with the same clamp
WITH n AS (
  SELECT total(c) FILTER (WHERE name = 'aten::_foreach_norm') AS fc,
    total(t) FILTER (WHERE name = 'aten::_foreach_norm') AS ft,
         total(c) FILTER (WHERE name = 'aten::linalg_vector_norm') AS nc,
           total(t) FILTER (WHERE name = 'aten::linalg_vector_norm') AS nt,
         total(c) FILTER (WHERE name = 'aten::clamp') AS cc, total(t) FILTER (WHERE name = 'aten::clamp') AS tc FROM op)
SELECT CASE WHEN tc > cc THEN 'gradients are clipped by their norm' || CASE
  WHEN ft = fc THEN printf(', parameter by parameter: %g norms per step', nt) ELSE '' END
            WHEN tc < cc THEN 'gradients are not clipped by their norm any more'
            WHEN ft < fc THEN printf('clipping of gradients loops over parameters: %g norms per step', nt)
            ELSE 'clipping of gradients uses foreach now' END,
       CASE WHEN tc < cc OR ft > fc THEN NULL
         ELSE 'torch.nn.utils.clip_grad_norm_(..., foreach=True), once per step' END, cause.id
FROM n LEFT JOIN cause ON cause.id IN (SELECT id FROM cause_op WHERE name IN ('aten::linalg_vector_norm',
  'aten::_foreach_norm',
  'aten::mul_', 'aten::_foreach_mul_', 'aten::clamp', 'aten::reciprocal', 'aten::stack'))
WHERE CASE WHEN tc = cc THEN tc > 0 AND (fc > 0) <> (ft > 0) AND min(nc + fc, nt + ft) > 0
           ELSE (tc - cc) * (nt - nc + ft - fc) > 0 AND (abs(nt - nc) >= 4 OR fc <> ft) END
