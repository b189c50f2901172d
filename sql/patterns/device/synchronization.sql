-- synchronization: the host waits for the device more often, or less
-- Rank: 25
-- Said: always
-- Evidence: calls that wait (cudaStreamSynchronize, cudaDeviceSynchronize, cudaEventSynchronize) changed in number
WITH n AS (
  SELECT total(c) AS c, total(t) AS t FROM op
  WHERE name IN ('cudaStreamSynchronize', 'cudaDeviceSynchronize', 'cudaEventSynchronize', 'hipStreamSynchronize',
                 'hipDeviceSynchronize', 'hipEventSynchronize')),
who AS (
  SELECT group_concat(printf('%s %g -> %g', name, c, t), ', ') AS text FROM (SELECT * FROM op
  WHERE name IN ('aten::item', 'aten::nonzero', 'aten::is_nonzero', 'aten::masked_select', 'aten::cpu', 'aten::unique',
    'aten::equal',
    'aten::_unique2', 'aten::repeat_interleave', 'aten::to') AND c <> t AND (t > c) = (SELECT t > c FROM n)
      ORDER BY name = 'aten::to', abs(t - c) DESC, name LIMIT 1))
SELECT printf('the host waits for the device %s often: %g -> %g per step', CASE WHEN t > c THEN 'more'
  ELSE 'less' END, c, t)
       || coalesce(' (' || who.text || ')', ''),
       'read losses and metrics every 100 steps; avoid .item(), .cpu(), print() and nonzero() in a step', cause.id
FROM n, who LEFT JOIN cause ON cause.kind = 'synchronized' AND (cause.diff_time > 0) = (t > c)
WHERE abs(t - c) >= 0.5 AND max(c, t) > 1.2 * min(c, t) AND (SELECT NOT control_of_host AND NOT test_of_host FROM pair)
  AND EXISTS (SELECT 1 FROM cause WHERE kind = 'synchronized' AND (diff_time > 0) = (n.t > n.c)
    AND abs(diff_time) > (SELECT 2 * control_ms FROM pair))
