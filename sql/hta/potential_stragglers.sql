-- potential_stragglers: the ranks that others wait for in collectives, and the work that takes these ranks longer.
-- Family: ranks and the job
-- Question: Which slow ranks start collectives last, and why?
--
-- Parameters
--   :trace               trace required directory, file, pattern or JSON array of these
--   :ranks               ranks          integer, JSON array or 'all'; default 'all'
--   :iterations          iterations     integer, JSON array, 'all', 'steady' (without first and last),
--                                       'first' or a phase; default 'steady'
--   :control             trace          baseline trace, which fills the columns control_...; default none
--   :control_iterations  iterations     the steps of control; default iterations
--   :steps               steps          which events are steps: 'auto', 'profiler',
--                                       a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   rank                 INTEGER  rank
--   times_last           INTEGER  number of collectives in which it starts last
--   wait_caused          REAL     us, sum over these of the longest wait of another rank
--   class                TEXT     class of time (see trace_step_time)
--   name                 TEXT     name (see trace_step_time); NULL if not recorded
--   time                 REAL     us per step, on the rank
--   others_time          REAL     us per step, mean over the other ranks
--   diff_time            REAL     us per step, this rank minus the others
--   control_wait_caused  REAL     us, wait_caused in control, scaled to the same number of steps; NULL: not known
--   control_diff_time    REAL     us per step, diff_time in control; NULL: not known
-- Grain: one row per rank, class and name. The rank with the largest wait_caused comes first, then the lowest rank;
--   within a rank the largest diff_time comes first. For one row per rank, GROUP BY rank.
-- Rules:
--   1. times_last counts the collectives of trace_collectives with this last_rank, and wait_caused sums their max_wait.
--      Starts are on one clock (Q3). If nothing ties clocks that are far apart, no rank is last (W4).
--   2. A rank that no other rank waits for (wait_caused 0) has no rows. So a trace without collectives has no rows,
--      even if one rank is slower.
--   3. The parts of a step come from trace_step_time, for the rank and for all others together. A part that only the
--      others have takes 0 us on the rank.
--   4. diff_time of a rank adds up to its mean step minus the mean step of the others. A rank that is late in other
--      parts is shorter in 'comm', because the others wait there.
--   5. A single rank has no rows.
--   6. With control, there are also rows for parts of these ranks that only control has. If a rank was always slower,
--      control_diff_time equals diff_time. If it became slower, diff_time is larger by the time it lost.
--      control_wait_caused is the wait per step in control times the number of steps here. Both are NULL if control
--      lacks the rank, or has no other rank.
-- Reference: HTA TraceAnalysis.get_potential_stragglers
-- Differs from HTA: every collective counts, whatever its name (K3), and so does the last rank in it; the cost of
--   waiting and its reasons are in us (D33).
WITH part AS MATERIALIZED (
  SELECT 'test' AS side, rank, iteration, class, name, time_ns
  FROM trace_step_time(:trace, coalesce(:ranks, 'all'), :iterations, NULL, NULL, NULL, :steps)
  UNION ALL
  SELECT 'control', rank, iteration, class, name, time_ns
  FROM trace_step_time(:control, coalesce(:ranks, 'all'), coalesce(:control_iterations, :iterations), NULL, NULL,
                       NULL, :steps)
  LIMIT -1),
late AS (
  SELECT 'test' AS side, last_rank AS rank, max_wait
  FROM trace_collectives(:trace, coalesce(:ranks, 'all'), :iterations, :steps)
  UNION ALL
  SELECT 'control', last_rank, max_wait
  FROM trace_collectives(:control, coalesce(:ranks, 'all'), coalesce(:control_iterations, :iterations), :steps)),
waited AS MATERIALIZED (
  SELECT rank, count(*) FILTER (WHERE side = 'test') AS times_last,
         sum(CASE side WHEN 'test' THEN CAST(max_wait * 1000 + 0.5 AS INTEGER) ELSE 0 END) AS wait_ns,
         sum(CASE side WHEN 'control' THEN CAST(max_wait * 1000 + 0.5 AS INTEGER) ELSE 0 END) AS control_wait_ns
  FROM late
  WHERE rank IS NOT NULL
  GROUP BY rank
  LIMIT -1),
counted AS (
  SELECT side, rank, count(*) AS windows, sum(count(*)) OVER (PARTITION BY side) - count(*) AS others
  FROM (SELECT DISTINCT side, rank, iteration FROM part)
  GROUP BY side, rank),
straggler AS MATERIALIZED (
  SELECT rank, times_last, wait_ns, control_wait_ns,
         max(windows) FILTER (WHERE side = 'test') AS windows, max(others) FILTER (WHERE side = 'test') AS others,
         max(windows) FILTER (WHERE side = 'control') AS control_windows,
         nullif(max(others) FILTER (WHERE side = 'control'), 0) AS control_others
  FROM counted
  CROSS JOIN waited USING (rank)
  WHERE wait_ns > 0
  GROUP BY rank
  LIMIT -1),
listed AS (
  SELECT side, rank, class, name, time_ns AS own_ns, 0 AS all_ns
  FROM part
  WHERE rank IN (SELECT rank FROM straggler)
  UNION ALL
  SELECT side, straggler.rank, class, name, 0, all_ns
  FROM straggler
  CROSS JOIN (SELECT side, class, name, sum(time_ns) AS all_ns FROM part GROUP BY side, class, name)),
summed AS (
  SELECT rank, class, name,
         sum(CASE side WHEN 'test' THEN own_ns ELSE 0 END) AS own_ns,
         sum(CASE side WHEN 'test' THEN all_ns - own_ns ELSE 0 END) AS others_ns,
         sum(CASE side WHEN 'control' THEN own_ns ELSE 0 END) AS control_own_ns,
         sum(CASE side WHEN 'control' THEN all_ns - own_ns ELSE 0 END) AS control_others_ns
  FROM listed
  WHERE class IS NOT NULL
  GROUP BY rank, class, name)
SELECT summed.rank, times_last, wait_ns / 1000.0 AS wait_caused, class, name,
       own_ns / (1000.0 * windows) AS time, others_ns / (1000.0 * others) AS others_time,
       (own_ns * others - others_ns * windows) / (1000.0 * windows * others) AS diff_time,
       CASE WHEN control_others > 0
            THEN control_wait_ns * windows / (1000.0 * control_windows) END AS control_wait_caused,
       (control_own_ns * control_others - control_others_ns * control_windows)
         / (1000.0 * control_windows * control_others) AS control_diff_time
FROM summed
CROSS JOIN straggler USING (rank)
WHERE others > 0
ORDER BY wait_caused DESC, summed.rank, diff_time DESC, class, name;
