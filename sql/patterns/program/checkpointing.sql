-- checkpointing: activations are computed again in the backward pass
-- Rank: 15
-- Said: always
-- Evidence: marks of torch.utils.checkpoint (_NoopSaveInputs, CheckpointFunction), or two forward operators that
--   run inside the autograd engine on one side only, where they also run more often in total
-- Not: how much memory it saves
WITH mark AS (SELECT total(c) AS c, total(t) AS t FROM op WHERE name IN ('_NoopSaveInputs', 'CheckpointFunction')),
again AS (
  SELECT count(*) AS n, total(d) AS d FROM (
    SELECT u.name, sum(u.t - u.c) AS d FROM under AS u WHERE u.top_op GLOB 'autograd::engine*'
      AND u.name IN ('aten::linear', 'aten::conv2d',
      'aten::layer_norm', 'aten::batch_norm', 'aten::gelu', 'aten::silu', 'aten::relu', 'aten::softmax',
        'aten::scaled_dot_product_attention')
    GROUP BY 1 HAVING min(sum(u.c), sum(u.t)) = 0 AND sum(u.c) <> sum(u.t))),
n AS (SELECT mark.c AS c, mark.t AS t, again.n AS n, CASE WHEN mark.c <> mark.t THEN mark.t > mark.c
  ELSE again.d > 0 END AS is_on FROM mark, again)
SELECT CASE WHEN min(c, t) > 0 THEN printf('backward computes activations of %s regions again: %g -> %g', CASE
  WHEN is_on THEN 'more' ELSE 'fewer' END, c, t)
            WHEN is_on THEN 'activation checkpointing is on: backward computes activations again'
            ELSE 'activation checkpointing is off: backward computes nothing again' END
       || CASE WHEN c = t OR min(c, t) > 0 THEN '' ELSE printf(' (%g regions)', c + t) END,
       CASE WHEN is_on THEN 'if memory allows, checkpoint fewer layers (torch.utils.checkpoint)'
         ELSE 'it takes more memory' END, cause.id
FROM n LEFT JOIN cause ON cause.is_again OR cause.name GLOB '*CheckpointFunction*' OR cause.name IN (
  SELECT top_op FROM under WHERE top_op GLOB 'autograd::engine*' AND name IN ('aten::linear', 'aten::conv2d')
    AND min(c, t) = 0)
WHERE CASE WHEN min(c, t) > 0 THEN max(c, t) > 1.2 * min(c, t) ELSE c <> t OR n >= 2 END
