-- 03_compared: What was compared
-- Section compared Compared
-- Layout table cmp
-- SQL
--   SELECT topic, item, control_value, test_value, matters, why
--   FROM trace_comparability(:control, :test, :control_each, :test_each, :control_iteration, :test_iteration,
--                            :clock, 1, :steps);
-- Rules:
--   1. The time of recording is the start of a side's earliest event, in ns since 1970. It is shown only if it is after
--      2001: a clock that counts from the start of the machine or of the recording gives an earlier time.
--   2. PyTorch's profiler writes host_name, but not its version. To record that, call
--      profiler.add_metadata('torch_version', ...), or add a list of packages with "torch==2.7.1" to the metadata.
--   3. A property that is unknown on both sides has no row.
-- With shared/steps
file AS MATERIALIZED (
  SELECT 0 AS side, file, rank, world_size, device, events, size, start_ns
  FROM trace_files(:control)
  WHERE rank IS NOT NULL
  UNION ALL
  SELECT 1, file, rank, world_size, device, events, size, start_ns FROM trace_files(:test) WHERE rank IS NOT NULL),
key AS (
  SELECT 0 AS side, key, value FROM trace_metadata(:control)
  UNION ALL
  SELECT 1, key, value FROM trace_metadata(:test)),
property AS (
  SELECT DISTINCT side, CASE key WHEN 'host_name' THEN 'host' ELSE 'PyTorch' END AS what,
         CASE WHEN key IN ('host_name', 'torch_version') THEN value
              ELSE substr(value, begins, instr(substr(value, begins), '"') - 1) END AS value
  FROM (SELECT *, instr(value, '"torch==') + 8 AS begins FROM key)
  WHERE key IN ('host_name', 'torch_version') OR begins > 8),
told AS (
  SELECT side, what, CASE WHEN count(*) <= 4 THEN group_concat(value, ', ') ELSE count(*) || ' different' END AS text
  FROM (SELECT * FROM property ORDER BY side, what, value)
  GROUP BY side, what),
chosen AS MATERIALIZED (
  SELECT side, group_concat(DISTINCT rank) AS ranks, count(DISTINCT rank) AS rank_count,
         count(DISTINCT iteration) AS steps, min(iteration) AS low, max(iteration) AS high
  FROM step
  GROUP BY side),
marked AS MATERIALIZED (
  SELECT 0 AS side, rank, iteration, dur_ns FROM trace_steps(:control, :steps)
  UNION ALL
  SELECT 1, rank, iteration, dur_ns FROM trace_steps(:test, :steps)),
host AS (
  SELECT marked.side, avg(dur_ns) / 1e6 AS mean, min(dur_ns) / 1e6 AS low, max(dur_ns) / 1e6 AS high
  FROM marked
  JOIN step ON step.side = marked.side AND coalesce(step.rank, marked.rank) = marked.rank
    AND step.iteration = marked.iteration
  GROUP BY marked.side),
whole AS (
  SELECT side, max(world_size) AS world, count(DISTINCT rank) AS recorded, sum(events) AS events,
         count(DISTINCT file) AS files,
         (SELECT sum(size) FROM (SELECT DISTINCT file, size FROM file AS other WHERE other.side = file.side)) AS size,
         (SELECT group_concat(device, ', ')
          FROM (SELECT DISTINCT device FROM file AS other
                WHERE other.side = file.side
                  AND (:ranks > 0 OR rank IN (SELECT rank FROM step WHERE step.side = file.side)))) AS device
  FROM file
  GROUP BY side),
said(place, side, what, text) AS (
  SELECT 1, 0, 'trace', :control UNION ALL SELECT 1, 1, 'trace', :test
  UNION ALL
  SELECT 1.1, side, 'recorded on', strftime('%Y-%m-%d %H:%M UTC', min(start_ns) / 1000000000, 'unixepoch')
  FROM file
  WHERE start_ns > 1000000000000000000
  GROUP BY side
  UNION ALL
  SELECT CASE what WHEN 'host' THEN 1.2 ELSE 1.3 END, side, what, text FROM told
  UNION ALL
  SELECT 2, side, 'device', device FROM whole WHERE device IS NOT NULL
  UNION ALL
  SELECT 3, side, CASE WHEN rank_count = 1 THEN 'rank shown' WHEN :ranks > 0 THEN 'job' ELSE 'ranks shown' END,
         CASE WHEN :ranks > 0 THEN 'of ' || :ranks || ' ranks'
              WHEN rank_count = 0 THEN 'a job'
              WHEN rank_count <= 8 THEN replace(ranks, ',', ', ') ELSE rank_count || ' ranks' END
           || CASE WHEN :ranks = 0 OR world > :ranks THEN coalesce(' of ' || world, '') ELSE '' END
  FROM chosen JOIN whole USING (side)
  UNION ALL
  SELECT 4, side, 'steps used',
         CASE WHEN steps = 0 THEN 'none marked: the whole trace'
              ELSE low || CASE WHEN high > low THEN '–' || high ELSE '' END || ' (' || steps || ' of '
                   || (SELECT count(DISTINCT iteration) FROM marked WHERE marked.side = chosen.side) || ')'
                   || coalesce(', without '
                               || trim(replace(CASE side WHEN 0 THEN :control_left_out ELSE :test_left_out END,
                                               ',', ', '), '[]'), '') END
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
  FROM whole),
pair AS (
  SELECT place, max(what) FILTER (WHERE side = 0) AS what, max(what) AS other, max(text) FILTER (WHERE side = 0) AS c,
         max(text) FILTER (WHERE side = 1) AS t
  FROM said
  GROUP BY place)
SELECT coalesce(what, other) AS "|head", coalesce(c, 'not known') AS "control|text",
       coalesce(t, 'not known') AS "test|text", c IS NOT t AND place IN (1.3, 2, 3) AS "|differs"
FROM pair
ORDER BY place
