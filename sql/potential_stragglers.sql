-- potential_stragglers: which ranks the others wait for in collectives, and what takes these ranks longer.
--
-- Parameters
--   :trace       TEXT required  directory, file, pattern or JSON array of these
--   :ranks       any            integer, JSON array or 'all'; default 'all'
--   :iterations  any            integer, JSON array, 'all', 'steady' or a phase (T23); default 'steady'
--   :steps       TEXT           which events are steps (T20); default 'auto'
-- Columns
--   rank         INTEGER  rank
--   times_last   INTEGER  collectives in which it starts last
--   wait_caused  REAL     us, the longest waits of the others in these, added up
--   class        TEXT     class of time, as in trace_step_time
--   name         TEXT     name, as in trace_step_time; may be NULL
--   time         REAL     us a step of the rank
--   others_time  REAL     us a step of the other ranks
--   diff_time    REAL     us a step, the rank minus the others
-- Grain: one row per rank, class and name, the rank with the greatest wait_caused first, then the
--   lowest, and of a rank the greatest diff_time first. For a row a rank, GROUP BY rank.
-- Rules:
--   1. times_last counts the collectives of trace_collectives with this last_rank; wait_caused is the sum
--      of their max_wait. Where the ranks' clocks are not aligned, nobody is last (W4).
--   2. The parts of a step are those of trace_step_time: of the rank, and of all others together. One that
--      only the others have takes the rank 0 us.
--   3. diff_time of a rank adds up to the mean length of its steps minus that of the others'. A rank that is
--      late in something makes up for it in 'comm': there the others wait.
--   4. A single rank has no rows.
-- Reference: HTA TraceAnalysis.get_potential_stragglers
-- Differs from HTA: every collective counts, of whatever name (K3), and who is last in it; what waiting
--   cost, and why, is said in us (D33).
WITH part AS MATERIALIZED (
  SELECT rank, iteration, class, name, time_ns
  FROM trace_step_time(:trace, coalesce(:ranks, 'all'), :iterations, NULL, NULL, :steps)
  LIMIT -1),
windows AS MATERIALIZED (
  SELECT rank, count(*) AS windows, sum(count(*)) OVER () - count(*) AS others_windows
  FROM (SELECT DISTINCT rank, iteration FROM part)
  GROUP BY rank
  LIMIT -1),
late AS MATERIALIZED (
  SELECT last_rank, count(*) AS times_last, sum(CAST(max_wait * 1000 + 0.5 AS INTEGER)) AS wait_ns
  FROM trace_collectives(:trace, coalesce(:ranks, 'all'), :iterations, :steps)
  WHERE last_rank IS NOT NULL
  GROUP BY last_rank
  LIMIT -1),
listed AS (
  SELECT rank, class, name, time_ns AS own_ns, 0 AS all_ns FROM part
  UNION ALL
  SELECT windows.rank, class, name, 0, all_ns
  FROM windows
  CROSS JOIN (SELECT class, name, sum(time_ns) AS all_ns FROM part GROUP BY class, name)),
summed AS (
  SELECT rank, class, name, sum(own_ns) AS own_ns, sum(all_ns) - sum(own_ns) AS others_ns
  FROM listed
  WHERE class IS NOT NULL
  GROUP BY rank, class, name)
SELECT summed.rank, coalesce(times_last, 0) AS times_last, coalesce(wait_ns, 0) / 1000.0 AS wait_caused,
       class, name, own_ns / (1000.0 * windows) AS time, others_ns / (1000.0 * others_windows) AS others_time,
       (own_ns * others_windows - others_ns * windows) / (1000.0 * windows * others_windows) AS diff_time
FROM summed
CROSS JOIN windows ON windows.rank = summed.rank
LEFT JOIN late ON late.last_rank = summed.rank
WHERE others_windows > 0
ORDER BY wait_caused DESC, summed.rank, diff_time DESC, class, name;
