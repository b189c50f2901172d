-- 11_memory: Memory at the peak
-- Section memory Memory
-- Layout prose
-- Of memory
-- SQL
--   SELECT text
--   FROM memory_summary(:control_memory, :test_memory, 'worst');
-- Rules:
--   1. The step of a peak is the step that contains it, by the clock, in the trace of the same rank or in the only
--      trace. A snapshot of another run has no such step.
WITH told AS MATERIALIZED (
  SELECT line, kind, upper(substr(text, 1, 1))
           || replace(replace(replace(substr(text, 2), ' -> ', ' → '), ', -', ', −'), '(-', '(−') AS text
  FROM memory_summary(:control_memory, :test_memory, 'worst', 10)
  WHERE kind IN ('verdict', 'peak', 'host', 'caution', 'reserved')
  LIMIT -1),
peak AS MATERIALIZED (
  SELECT 'control' AS word, rank, 1000 * peak_us AS ns, max(peak_bytes) FROM memory_files(:control_memory, 'worst')
  WHERE device >= 0
  UNION ALL
  SELECT 'test', rank, 1000 * peak_us, max(peak_bytes) FROM memory_files(:test_memory, 'worst')
  WHERE device >= 0),
ranks AS MATERIALIZED (
  SELECT 'control' AS word, count(DISTINCT rank) AS ranks FROM trace_files(:control)
  UNION ALL
  SELECT 'test', count(DISTINCT rank) FROM trace_files(:test)),
step AS MATERIALIZED (
  SELECT 'control' AS word, rank, iteration, ts_ns, ts_ns + dur_ns AS end_ns FROM trace_steps(:control, :steps)
  UNION ALL
  SELECT 'test', rank, iteration, ts_ns, ts_ns + dur_ns FROM trace_steps(:test, :steps)),
during AS (
  SELECT peak.word, min(iteration) AS iteration
  FROM peak JOIN ranks USING (word) CROSS JOIN step
  WHERE step.word = peak.word AND (step.rank = peak.rank OR ranks = 1) AND ns BETWEEN ts_ns - 999 AND end_ns
  GROUP BY peak.word),
said(place, block, strong, text) AS (
  SELECT 1, 'lead', NULL, text || '.' FROM told WHERE kind = 'verdict'
  UNION ALL
  SELECT 2, 'bars', NULL, NULL
  UNION ALL
  SELECT 3, 'p', NULL, text || '.' FROM told WHERE kind = 'peak'
  UNION ALL
  SELECT 4, NULL, NULL, ' By the clock of the traces that is in ' || words || '.'
  FROM (SELECT group_concat('step ' || iteration || ' of ' || word, ' and in ') AS words
        FROM (SELECT * FROM during ORDER BY word))
  WHERE words IS NOT NULL
  UNION ALL
  SELECT 5, 'p', NULL, text || '.' FROM told WHERE kind IN ('host', 'reserved')
  UNION ALL
  SELECT 5 + line, 'warn', NULL, upper(substr(text, 10, 1)) || substr(text, 11) || '.' FROM told WHERE kind = 'caution')
SELECT block, strong, text, NULL AS diff
FROM said
ORDER BY place
