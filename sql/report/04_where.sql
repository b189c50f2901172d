-- 04_where: Where the step went
-- Section where Where it went
-- Layout table fall
-- SQL
--   SELECT text, control_time / 1000 AS control_ms, test_time / 1000 AS test_ms, diff_time / 1000 AS diff_ms
--   FROM trace_step_causes(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
--                          :clock, :shown, :steps);
WITH cause AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY abs(diff_time) DESC, text, kind, class, area, name) AS place, kind, class,
         text, control_time / 1000 AS c, test_time / 1000 AS t, diff_time / 1000 AS d
  FROM trace_step_causes(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                         :clock, :shown, :steps)
  LIMIT -1),
shown AS MATERIALIZED (
  SELECT *
  FROM cause
  WHERE place <= 10 AND abs(d) >= 0.01 * abs(:diff_ms) AND abs(d) >= :least),
rest AS (
  SELECT count(*) AS parts, total(c) AS c, total(t) AS t, total(d) AS d, total(d) FILTER (WHERE d > 0) AS more,
         total(d) FILTER (WHERE d < 0) AS less, count(*) FILTER (WHERE abs(d) < :least) AS same
  FROM cause
  WHERE place NOT IN (SELECT place FROM shown)),
line(place, tag, text, note, c, t, d, kind) AS (
  SELECT 0, NULL, :per || ' of control', NULL, :control_ms, NULL, NULL, 'sum'
  UNION ALL
  SELECT place, trace_class_word(class, kind), text, NULL, c, t, d, NULL
  FROM shown
  UNION ALL
  SELECT 1000, NULL, parts || CASE parts WHEN 1 THEN ' smaller part' ELSE ' smaller parts' END,
         '(' || CASE WHEN more < :least THEN '0' ELSE printf('%+.*f', :digits, more / :size) END || ' longer, '
         || CASE WHEN less > -:least THEN '0' ELSE '−' || printf('%.*f', :digits, -less / :size) END || ' shorter'
         || CASE same WHEN 0 THEN '' ELSE '; ' || same || ' unchanged' END || ')', c, t, d, NULL
  FROM rest
  WHERE parts > 0
  UNION ALL
  SELECT 1001, NULL, :per || ' of test', NULL, NULL, :test_ms, :diff_ms, 'sum'),
placed AS (
  SELECT *, CASE kind WHEN 'sum' THEN 0
              ELSE total(d) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) END AS begins
  FROM line)
SELECT text AS "what the time goes to|head", tag AS "|tag", note AS "|note", c AS "control|time", t AS "test|time",
       d AS "difference|diff", begins AS "|from", begins + d AS "|to",
       min(0, min(begins) OVER (), min(begins + d) OVER ()) AS "|low",
       max(0, max(begins) OVER (), max(begins + d) OVER ()) AS "|high", kind AS "|row"
FROM placed
ORDER BY place
