-- temporal_breakdown: the time in which each rank's device computes, does other work, or idles.
-- Family: analyses of HTA
-- Question: How much does each device compute, do other work, or idle?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank                   INTEGER  rank
--   idle_time              REAL     us in which no device work runs
--   compute_time           REAL     us in which computation runs
--   non_compute_time       REAL     us in which device work runs, but no computation
--   kernel_time            REAL     us from the first start of device work to the last end
--   idle_time_pctg         REAL     percent of kernel_time, two decimals
--   compute_time_pctg      REAL     the same for compute_time
--   non_compute_time_pctg  REAL     the same for non_compute_time
--   pid                    any      device; NULL for work without a category
-- Grain: one row per rank and device with work, in this order.
-- Rules:
--   1. kernel_time is the sum of the three other times.
--   2. compute_time is the time in which work of type COMPUTATION runs (K1 to K4).
-- Reference: HTA TraceAnalysis.get_temporal_breakdown
-- Differs from HTA: synchronization is not work (D24); the type follows the category (D26, D27);
--   nanoseconds are kept (D4); a rank without device work has no row, not an exception (D39);
--   device work without a launch belongs to the step in which it starts, and is not left out (D41);
--   each device of a rank has a row (D43).
WITH work AS (
  SELECT rank, CASE WHEN cat IS NOT NULL THEN pid END AS pid, ts_ns, dur_ns, trace_kernel_type(name, cat) AS type
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU'),
time AS (
  SELECT rank, pid,
         max(ts_ns + dur_ns) - min(ts_ns) AS kernel,
         trace_busy_time(ts_ns, dur_ns) AS busy,
         trace_busy_time(ts_ns, dur_ns) FILTER (WHERE type = 'COMPUTATION') AS compute
  FROM work
  WHERE type IS NOT NULL
  GROUP BY rank, pid)
SELECT rank,
       (kernel - busy) / 1000.0 AS idle_time,
       compute / 1000.0 AS compute_time,
       (busy - compute) / 1000.0 AS non_compute_time,
       kernel / 1000.0 AS kernel_time,
       round(100.0 * (kernel - busy) / kernel, 2) AS idle_time_pctg,
       round(100.0 * compute / kernel, 2) AS compute_time_pctg,
       round(100.0 * (busy - compute) / kernel, 2) AS non_compute_time_pctg,
       pid
FROM time
ORDER BY rank, pid;
