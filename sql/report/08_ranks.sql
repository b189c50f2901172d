-- 08_ranks: The own step of each rank, with its waits
-- Layout table ranks
-- SQL
--   SELECT rank, class, sum(time_ns) / 1e6 / count(DISTINCT iteration) AS control_ms
--   FROM trace_step_time(:control, 'all', :control_iteration, NULL, :clock, NULL, :steps)
--   GROUP BY rank, class;
WITH file AS MATERIALIZED (
  SELECT 0 AS side, rank, world_size FROM trace_files(:control) WHERE rank IS NOT NULL
  UNION ALL
  SELECT 1, rank, world_size FROM trace_files(:test) WHERE rank IS NOT NULL),
several AS MATERIALIZED (
  SELECT CASE WHEN max(ranks) > 1 THEN :control END AS control, CASE WHEN max(ranks) > 1 THEN :test END AS test
  FROM (SELECT count(DISTINCT rank) AS ranks FROM file GROUP BY side)),
part AS (
  SELECT 0 AS side, rank, iteration, class, time_ns
  FROM several
  CROSS JOIN trace_step_time(several.control, :control_ranks, :control_iteration, 'annotation', :clock, NULL, :steps)
  UNION ALL
  SELECT 1, rank, iteration, class, time_ns
  FROM several
  CROSS JOIN trace_step_time(several.test, :test_ranks, :test_iteration, 'annotation', :clock, NULL, :steps)),
summed AS (
  SELECT side, rank, count(DISTINCT coalesce(iteration, 0)) * 1e6 AS windows, total(time_ns) AS step,
         total(time_ns) FILTER (WHERE class = 'compute') AS compute,
         total(time_ns) FILTER (WHERE class = 'comm') AS comm, total(time_ns) FILTER (WHERE class = 'memory') AS copies,
         total(time_ns) FILTER (WHERE class IN ('idle_host', 'idle_call', 'idle_launch')) AS late
  FROM part
  GROUP BY side, rank),
mean AS MATERIALIZED (
  SELECT side, rank, step / windows AS step, compute / windows AS compute, comm / windows AS comm,
         copies / windows AS copies, late / windows AS late
  FROM summed),
path AS MATERIALIZED (
  SELECT rank, total(dur_ns) FILTER (WHERE side = 0) / 1e6 / :control_windows AS c_path,
         total(dur_ns) FILTER (WHERE side = 1) / 1e6 / :test_windows AS t_path
  FROM (SELECT 0 AS side, rank, dur_ns
        FROM trace_job_path(CASE WHEN :ranks > 0 THEN :control END, :control_rank, :control_iteration, :steps)
        UNION ALL
        SELECT 1, rank, dur_ns
        FROM trace_job_path(CASE WHEN :ranks > 0 THEN :test END, :test_rank, :test_iteration, :steps))
  GROUP BY rank),
pair AS (
  SELECT rank, max(step) FILTER (WHERE side = 0) AS c, max(step) FILTER (WHERE side = 1) AS t,
         max(compute) FILTER (WHERE side = 0) AS c_compute, max(compute) FILTER (WHERE side = 1) AS t_compute,
         max(comm) FILTER (WHERE side = 0) AS c_comm, max(comm) FILTER (WHERE side = 1) AS t_comm,
         max(copies) FILTER (WHERE side = 0) AS c_copies, max(copies) FILTER (WHERE side = 1) AS t_copies,
         max(late) FILTER (WHERE side = 0) AS c_late, max(late) FILTER (WHERE side = 1) AS t_late
  FROM mean
  GROUP BY rank, CASE WHEN (SELECT count(DISTINCT coalesce(world_size, -1)) FROM file) > 1 THEN side END),
placed AS (
  SELECT *, row_number() OVER (ORDER BY abs(coalesce(t - c, 0)) DESC, coalesce(c, t) DESC, rank) AS place
  FROM pair)
SELECT 'rank ' || rank || CASE WHEN c IS NULL THEN ' (only in test)' WHEN t IS NULL THEN ' (only in control)'
                               ELSE '' END AS "rank|head",
       c AS "control|time", t AS "test|time", t - c AS "difference|diff",
       CASE WHEN c_path > 0 OR t_path > 0 THEN printf('%.*f', :digits, coalesce(c_path, 0) / :size) || ' → '
         || printf('%.*f', :digits, coalesce(t_path, 0) / :size) END AS "on the path|range",
       CASE WHEN c_compute > 0 OR t_compute > 0 THEN coalesce(printf('%.*f', :digits, c_compute / :size), '–') || ' → '
         || coalesce(printf('%.*f', :digits, t_compute / :size), '–') END AS "compute|range",
       CASE WHEN c_comm > 0 OR t_comm > 0 THEN coalesce(printf('%.*f', :digits, c_comm / :size), '–') || ' → '
         || coalesce(printf('%.*f', :digits, t_comm / :size), '–') END AS "exposed comm.|range",
       CASE WHEN c_copies > 0 OR t_copies > 0 THEN coalesce(printf('%.*f', :digits, c_copies / :size), '–') || ' → '
         || coalesce(printf('%.*f', :digits, t_copies / :size), '–') END AS "copies|range",
       CASE WHEN c_late > 0 OR t_late > 0 THEN coalesce(printf('%.*f', :digits, c_late / :size), '–') || ' → '
         || coalesce(printf('%.*f', :digits, t_late / :size), '–') END AS "idle, host late|range"
FROM placed LEFT JOIN path USING (rank)
WHERE place <= 32
ORDER BY rank, c IS NULL
