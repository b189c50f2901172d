-- 03_compared: What was compared
-- Section compared Compared
-- Layout table cmp
-- With steps
file AS MATERIALIZED (
  SELECT 0 AS side, file, rank, world_size, device, events, size FROM trace_files(:control) WHERE rank IS NOT NULL
  UNION ALL
  SELECT 1, file, rank, world_size, device, events, size FROM trace_files(:test) WHERE rank IS NOT NULL),
chosen AS MATERIALIZED (
  SELECT side, group_concat(DISTINCT rank) AS ranks, count(DISTINCT rank) AS rank_count,
         count(DISTINCT iteration) AS steps, min(iteration) AS low, max(iteration) AS high
  FROM used
  GROUP BY side),
marked AS MATERIALIZED (
  SELECT 0 AS side, rank, iteration, dur_ns FROM trace_steps(:control, :steps)
  UNION ALL
  SELECT 1, rank, iteration, dur_ns FROM trace_steps(:test, :steps)),
host AS (
  SELECT side, avg(dur_ns) / 1e6 AS mean, min(dur_ns) / 1e6 AS low, max(dur_ns) / 1e6 AS high
  FROM marked JOIN used USING (side, rank, iteration)
  GROUP BY side),
whole AS (
  SELECT side, max(world_size) AS world, count(DISTINCT rank) AS recorded, sum(events) AS events,
         count(DISTINCT file) AS files,
         (SELECT sum(size) FROM (SELECT DISTINCT file, size FROM file AS other WHERE other.side = file.side)) AS size,
         (SELECT group_concat(device, ', ')
          FROM (SELECT DISTINCT device FROM file AS other
                WHERE other.side = file.side AND rank IN (SELECT rank FROM used WHERE used.side = file.side))) AS device
  FROM file
  GROUP BY side),
said(place, side, what, text) AS (
  SELECT 1, 0, 'trace', :control UNION ALL SELECT 1, 1, 'trace', :test
  UNION ALL
  SELECT 2, side, 'device', coalesce(device, 'not recorded') FROM whole
  UNION ALL
  SELECT 3, side, CASE rank_count WHEN 1 THEN 'rank shown' ELSE 'ranks shown' END,
         CASE WHEN rank_count <= 8 THEN replace(ranks, ',', ', ') ELSE rank_count || ' ranks' END
           || coalesce(' of ' || world, '')
  FROM chosen JOIN whole USING (side)
  UNION ALL
  SELECT 4, side, 'steps used',
         CASE WHEN steps = 0 THEN 'none marked: the whole trace'
              ELSE low || CASE WHEN high > low THEN '–' || high ELSE '' END || ' (' || steps || ' of '
                   || (SELECT count(DISTINCT iteration) FROM marked WHERE marked.side = chosen.side) || ')' END
  FROM chosen
  UNION ALL
  SELECT 5, side, :clock_used || ' clock',
         printf('%.*f', :digits, CASE side WHEN 0 THEN :control_ms ELSE :test_ms END / :size) || ' ' || :unit
           || ' (' || CASE side WHEN 0 THEN :control_range ELSE :test_range END || ')'
  FROM chosen
  UNION ALL
  SELECT 6, side, 'host clock', printf('%.*f', :digits, mean / :size) || ' ' || :unit
         || ' (' || printf('%.*f', :digits, low / :size)
         || CASE WHEN high > low THEN '–' || printf('%.*f', :digits, high / :size) ELSE '' END || ')'
  FROM host
  WHERE :clock_used <> 'host'
  UNION ALL
  SELECT 7, side, 'recorded', printf('%,d', events) || ' events, '
         || CASE WHEN size < 1e5 THEN printf('%.1f kB', size / 1e3) ELSE printf('%.1f MB', size / 1e6) END
         || ' in ' || files || CASE files WHEN 1 THEN ' file' ELSE ' files' END
         || CASE WHEN recorded > 1 THEN ' of ' || recorded || ' ranks' ELSE '' END
  FROM whole)
SELECT c.what AS "|head", c.text AS "control|text", coalesce(t.text, 'not recorded') AS "test|text",
       c.text <> coalesce(t.text, '') AND c.place IN (2, 3) AS "|differs"
FROM said AS c LEFT JOIN said AS t ON t.place = c.place AND t.side = 1
WHERE c.side = 0
ORDER BY c.place
