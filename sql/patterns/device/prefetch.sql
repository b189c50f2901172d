-- prefetch: a copy to the device was hidden by work, and is not any more, or the reverse
-- Rank: 23
-- Said: always
-- Evidence: the same number of copies of the same length, but on the compute stream
WITH own AS (SELECT stream FROM stream WHERE type = 'COMPUTATION' GROUP BY 1
  HAVING total(tt) > 0.1 * (SELECT total(tt) FROM stream WHERE type = 'COMPUTATION')),
n AS (
  SELECT k.name AS name, total(k.c) AS c, total(k.t) AS t, total(k.ct) AS ct, total(k.tt) AS tt,
         total(k.c) FILTER (WHERE k.stream IN (SELECT stream FROM own)) AS cc,
         total(k.t) FILTER (WHERE k.stream IN (SELECT stream FROM own)) AS tc
  FROM stream AS k WHERE k.name GLOB 'Memcpy HtoD*' GROUP BY k.name)
SELECT printf(CASE WHEN tc > cc THEN 'the copy to the device is not hidden any more: %.2f ms'
                   ELSE 'the copy to the device is hidden now: %.2f ms on a stream of its own' END, tt / 1000),
       CASE WHEN tc > cc THEN 'copy the next batch on a stream of its own, while this one is computed' END, cause.id
FROM n LEFT JOIN cause ON cause.class = 'memory' AND cause.id IN (
  SELECT id FROM cause_op WHERE name IN ('aten::to', 'aten::copy_', 'aten::_to_copy', 'aten::cuda'))
WHERE c = t AND tt BETWEEN 0.8 * ct AND 1.25 * ct AND cc <> tc AND min(cc, tc) = 0
  AND EXISTS (SELECT 1 FROM cause AS s WHERE s.class = 'memory' AND abs(s.diff_time) > 0.3 * n.tt
    AND n.tt > (SELECT 10 * control_ms FROM pair))
