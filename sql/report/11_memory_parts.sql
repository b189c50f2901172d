-- 11_memory_parts: From peak to peak: memory allocated at the peaks
-- Layout table fall
-- Of memory
-- SQL
--   SELECT phase, function, op, control_bytes, test_bytes, diff_bytes, control_blocks, test_blocks
--   FROM memory_summary(:control_memory, :test_memory, 'worst', 10)
--   WHERE kind IN ('cause', 'rest');
WITH cause AS MATERIALIZED (
  SELECT line, kind, text, phase,
         CASE WHEN length(function) > 100 THEN substr(function, 1, 99) || '…' ELSE function END AS function, op,
         control_bytes AS c, test_bytes AS t, diff_bytes AS d, control_blocks AS cn, test_blocks AS tn
  FROM memory_summary(:control_memory, :test_memory, 'worst', 10)
  WHERE kind IN ('cause', 'rest')
  LIMIT -1),
-- includes memory that is equal on both sides, so that all columns add up
rest AS (
  SELECT coalesce(max(substr(text, instr(text, 'B  ') + 3)) FILTER (WHERE kind = 'rest'), 'the same in both') AS text,
         :control_peak - total(c) FILTER (WHERE kind = 'cause') AS c,
         :test_peak - total(t) FILTER (WHERE kind = 'cause') AS t
  FROM cause),
line(place, tag, text, note, c, t, d, kind) AS (
  SELECT 0, NULL, 'peak of control', NULL, :control_peak, NULL, NULL, 'sum'
  UNION ALL
  SELECT line, phase, coalesce(op || coalesce(' in ' || function, ''), function,
                               CASE phase WHEN 'before' THEN 'allocated before the recording began'
                                 ELSE 'not recorded' END),
         '(' || cn || CASE cn WHEN tn THEN '' ELSE char(160) || '→' || char(160) || tn END || char(160)
           || CASE WHEN cn = 1 AND tn = 1 THEN 'block)' ELSE 'blocks)' END, c, t, d, NULL
  FROM cause
  WHERE kind = 'cause'
  UNION ALL
  SELECT 999, NULL, text, NULL, c, t, t - c, NULL
  FROM rest
  WHERE c > 0 OR t > 0
  UNION ALL
  SELECT 1000, NULL, 'peak of test', NULL, NULL, :test_peak, :test_peak - :control_peak, 'sum'),
placed AS (
  SELECT *, CASE kind WHEN 'sum' THEN 0
              ELSE total(d) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) END AS begins
  FROM line)
SELECT text AS "what is alive at the peak|head", tag AS "|tag", note AS "|note", c AS "control|time", t AS "test|time",
       d AS "difference|diff", begins AS "|from", begins + d AS "|to",
       min(0, min(begins) OVER (), min(begins + d) OVER ()) AS "|low",
       max(0, max(begins) OVER (), max(begins + d) OVER ()) AS "|high", kind AS "|row"
FROM placed
ORDER BY place
