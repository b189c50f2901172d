-- comm_comp_overlap: the share of each rank's communication that computation hides.
-- Family: analyses of HTA
-- Question: How much communication is hidden behind computation?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank                    INTEGER  rank
--   comp_comm_overlap_pctg  REAL     percent of communication time that overlaps computation, two decimals;
--                                    NULL without communication
--   hidden_time             REAL     us of hidden communication, which overlaps computation; NULL without communication
--   exposed_time            REAL     us of exposed communication; NULL without communication
--   pid                     any      device; NULL for work without a category
-- Grain: one row per rank and device with work, in this order.
-- Rules:
--   1. Communication and computation are device work of these types (K1 to K4).
--   2. Time is a union: an instant counts once, however many kernels run.
--   3. hidden_time and exposed_time add up to the time in which communication runs.
-- Reference: HTA TraceAnalysis.get_comm_comp_overlap
-- Differs from HTA: the type follows the category (D26, D27); nanoseconds are kept (D4); a rank without
--   device work has no row (D39); device work without a launch belongs to the step in which it starts,
--   and is not left out (D41); each device of a rank has a row (D43).
WITH work AS (
  SELECT rank, CASE WHEN cat IS NOT NULL THEN pid END AS pid, ts_ns, dur_ns, trace_kernel_type(name, cat) AS type
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU'),
time AS (
  SELECT rank, pid,
         trace_overlap_time(ts_ns, dur_ns, type = 'COMMUNICATION')
           FILTER (WHERE type <> 'MEMORY') AS hidden,
         trace_busy_time(ts_ns, dur_ns) FILTER (WHERE type = 'COMMUNICATION') AS communication
  FROM work
  WHERE type IS NOT NULL
  GROUP BY rank, pid)
SELECT rank,
       round(100.0 * hidden / communication, 2) AS comp_comm_overlap_pctg,
       CASE WHEN communication > 0 THEN hidden / 1000.0 END AS hidden_time,
       CASE WHEN communication > 0 THEN (communication - hidden) / 1000.0 END AS exposed_time,
       pid
FROM time
ORDER BY rank, pid;
