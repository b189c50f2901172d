-- 09_waits: Which rank comes last to collectives
-- Layout prose
WITH file AS MATERIALIZED (
  SELECT 0 AS side, rank FROM trace_files(:control)
  UNION ALL
  SELECT 1, rank FROM trace_files(:test)),
recorded AS MATERIALIZED (
  SELECT max(ranks) FILTER (WHERE side = 0) AS c, max(ranks) FILTER (WHERE side = 1) AS t
  FROM (SELECT side, count(DISTINCT rank) AS ranks FROM file GROUP BY side)),
met AS MATERIALIZED (
  SELECT 0 AS side, iteration, rank_count, transfer, max_wait, last_rank
  FROM recorded
  CROSS JOIN trace_collectives(CASE WHEN recorded.c > 1 THEN :control END, :control_ranks, :control_iteration, :steps)
  UNION ALL
  SELECT 1, iteration, rank_count, transfer, max_wait, last_rank
  FROM recorded
  CROSS JOIN trace_collectives(CASE WHEN recorded.t > 1 THEN :test END, :test_ranks, :test_iteration, :steps)),
whole AS (
  SELECT side, count(*) AS collectives, sum(max_wait) / 1000 / count(DISTINCT iteration) AS wait,
         count(DISTINCT iteration) AS steps, avg(transfer) / 1000 AS transfer
  FROM met
  WHERE rank_count > 1
  GROUP BY side),
last AS (
  SELECT side, last_rank, count(*) AS times, sum(max_wait) AS caused,
         row_number() OVER (PARTITION BY side ORDER BY sum(max_wait) DESC, last_rank) AS place
  FROM met
  WHERE last_rank IS NOT NULL
  GROUP BY side, last_rank),
side(side, word) AS (VALUES (0, 'Control'), (1, 'Test')),
said(place, block, strong, text) AS (
  SELECT 1, 'state', 'One rank per side.', CASE WHEN EXISTS (
             SELECT 1 FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
             WHERE class = 'comm'
             UNION ALL
             SELECT 1 FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)
             WHERE class = 'comm')
           THEN 'Whether its collectives are slow or wait for another rank needs the traces of the others '
                || 'in the same directory.'
           ELSE 'Nothing of these steps waits for another rank.' END
  FROM recorded
  WHERE c <= 1 AND t <= 1
  UNION ALL
  SELECT 1, 'note', NULL, 'The 32 ranks that change most, of ' || max(c, t) || '.'
  FROM recorded
  WHERE max(c, t) > 32
  UNION ALL
  SELECT 2 + side, 'p', word || ':', 'of ' || collectives || ' collectives, '
         || coalesce('rank ' || last_rank || ' starts last in ' || times, 'no rank starts last')
         || '. Waiting for the last rank takes ' || printf('%.*f', :digits, wait / :size)
         || ' ' || :unit || ' per ' || :per
         || coalesce(', ' || printf('%.*f', :digits, caused / 1000 / steps / :size) || ' ' || :unit
                     || ' of it for rank ' || last_rank, '')
         || '; the transfer of a collective takes ' || printf('%.*f', :digits, transfer / :size) || ' ' || :unit || '.'
  FROM whole JOIN side USING (side) LEFT JOIN last USING (side)
  WHERE place IS NULL OR place = 1
  UNION ALL
  SELECT 2, 'p', NULL, 'The ranks have no collective in common in these steps.'
  FROM recorded
  WHERE (c > 1 OR t > 1) AND NOT EXISTS (SELECT 1 FROM whole))
SELECT block, strong, text, NULL AS diff
FROM said
ORDER BY place
