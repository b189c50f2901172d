-- 06_gains: What a fix would bring, by simulation: the step with 0, 50 and 100 % of one cause undone. Gains may overlap
-- Layout table fall
-- SQL
--   SELECT text, gain_half / 1000 AS half_ms, gain_alone / 1000 AS gain_ms, hidden_by
--   FROM trace_undo(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :shown, 7, 0,
--                   :steps);
-- Rules:
--   1. The causes of 06_causes, in the same order. A bar goes from the step of test to the step without the cause.
--   2. The last row is the step without all causes, the small ones included.
--   3. If the simulation fails, the only row has the error.
WITH cause AS MATERIALIZED (
  SELECT kind, class, text, hidden_by, hidden_rank, rank, diff_time / 1000 AS d, gain_half / 1000 AS half,
         gain_alone / 1000 AS gain,
         CASE WHEN kind IS NULL THEN (cumulative + diff_time) / 1000 END AS after,
         row_number() OVER (ORDER BY kind IS NULL, abs(diff_time) DESC, text, kind, class, area, name) AS place
  FROM trace_undo(CASE WHEN coalesce(:gains, 1) AND coalesce(:clock, 'device') <> 'host' AND :strata = 1
                            AND :judged NOT IN ('same', 'nothing') THEN :control END,
                  :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :shown, 7, 1, :steps)
  LIMIT -1),
line AS (
  SELECT place, text, CASE WHEN gain IS NULL AND class IN ('compute', 'comm', 'memory')
                                AND kind IN ('changed', 'replaced', 'communication')
                             THEN '(not known)'
                           WHEN gain IS NULL THEN '(nothing that could be undone)'
                           WHEN hidden_by IS NOT NULL AND d - gain >= 2 * :least
                             THEN '(hidden by ' || trace_label(hidden_by)
                                  || CASE WHEN rank <> hidden_rank THEN ' on rank ' || hidden_rank ELSE '' END
                                  || ')'
                           WHEN abs(gain) < :least AND abs(d) >= 2 * :least THEN '(other work hides it)' END AS note,
         :test_ms - half AS half, :test_ms - gain AS undone, gain, NULL AS style
  FROM cause
  WHERE kind <> 'failed' AND place <= 7 AND abs(d) >= 0.01 * abs(:diff_ms) AND abs(d) >= :least
  UNION ALL
  SELECT place, 'all causes', '(control: ' || printf('%.*f', :digits, :control_ms / :size) || ')', NULL, after,
         :test_ms - after, 'sum'
  FROM cause
  WHERE kind IS NULL AND place > 1
  UNION ALL
  SELECT place, 'not known', '(' || text || ')', NULL, NULL, NULL, NULL
  FROM cause
  WHERE kind = 'failed')
SELECT text AS "undone|head", note AS "|note", :test_ms AS "0 %|time", half AS "50 %|time", undone AS "100 %|time",
       gain AS "gain|change", :diff_ms AS "|from", :diff_ms - gain AS "|to",
       min(0, :diff_ms, min(:diff_ms - gain) OVER ()) AS "|low",
       max(0, :diff_ms, max(:diff_ms - gain) OVER ()) AS "|high", style AS "|row"
FROM line
ORDER BY place
