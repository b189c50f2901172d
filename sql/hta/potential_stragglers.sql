-- potential_stragglers: which ranks the others wait for in collectives, and what takes these ranks longer.
-- Family: ranks and the job
-- Question: Which slow ranks start collectives last, and why?
--
-- Parameters
--   :trace               trace required directory, file, pattern or JSON array of these
--   :ranks               ranks          integer, JSON array or 'all'; default 'all'
--   :iterations          iterations     integer, JSON array, 'all', 'steady' (without first and last),
--                                       'first' or a phase; default 'steady'
--   :control             trace          baseline trace: fills the columns control_...; default none
--   :control_iterations  iterations     the steps of control; default iterations
--   :steps               steps          which events are steps: 'auto', 'profiler',
--                                       a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   rank                 INTEGER  rank
--   times_last           INTEGER  collectives in which it starts last
--   wait_caused          REAL     us, the longest waits of the others in these, added up
--   class                TEXT     class of time, as in trace_step_time
--   name                 TEXT     name, as in trace_step_time; may be NULL
--   time                 REAL     us per step of the rank
--   others_time          REAL     us per step of the other ranks
--   diff_time            REAL     us per step, the rank minus the others
--   control_wait_caused  REAL     us, what the rank caused in as many steps of control; NULL: not known
--   control_diff_time    REAL     us per step, diff_time in control; NULL: not known
-- Grain: one row per rank, class and name, the rank with the greatest wait_caused first, then the
--   lowest, and of a rank the greatest diff_time first. For a row a rank, GROUP BY rank.
-- Rules:
--   1. times_last counts the collectives of trace_collectives with this last_rank; wait_caused is the sum
--      of their max_wait. Starts are by one clock (Q3); where nothing ties clocks that are far apart, nobody is last
--      (W4).
--   2. A rank for which nobody waits (wait_caused 0) has no rows. So there are none without collectives, whatever
--      takes a rank longer.
--   3. The parts of a step are those of trace_step_time: of the rank, and of all others together. One that
--      only the others have takes the rank 0 us.
--   4. diff_time of a rank adds up to the mean length of its steps minus that of the others'. A rank that is
--      late in something makes up for it in 'comm': there the others wait.
--   5. A single rank has no rows.
--   6. With control, the rows are those of the trace, and of the parts of such a rank that only control has.
--      A rank that was always slower has the same diff_time in control; that of one that became slower is
--      greater than control_diff_time by what it lost. control_wait_caused is the wait in control, divided by
--      the steps of the rank there and multiplied by those here. Both are NULL where control has no such
--      rank, or no other.
-- Reference: HTA TraceAnalysis.get_potential_stragglers
-- Differs from HTA: every collective counts, of whatever name (K3), and who is last in it; what waiting
--   cost, and why, is said in us (D33).
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
