-- gpu_kernel_type_breakdown: the time of computation, communication and memory work, alone and overlapping.
-- Family: analyses of HTA
-- Question: How long do computation, communication and memory work run?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   kernel_type  TEXT  'COMPUTATION', 'COMMUNICATION', 'MEMORY', or several joined by ' overlapping '
--   sum          REAL  us, summed over ranks
--   percentage   REAL  percent of the sum over all rows, one decimal
-- Grain: one row per set of types that run together at some time, the longest first.
-- Rules:
--   1. Rules K1 to K4 define the types.
--   2. An instant belongs to the set of types that run on the rank at that time.
--   3. Lengths are computed from unions: A and B without C is (A or C) + (B or C) - C - (A or B or C).
-- Reference: HTA TraceAnalysis.get_gpu_kernel_breakdown, first table
-- Differs from HTA: the type follows the category, and no work is lost as OTHER (D26, D27); sets of no length
--   are left out; nanoseconds are kept (D4), also in the parts that are summed (D40); device work
--   without a launch belongs to the step in which it starts, and is not left out (D41).
WITH work AS (
  SELECT rank, ts_ns, dur_ns, trace_kernel_type(name, cat) AS type
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU'),
busy AS (
  SELECT trace_busy_time(ts_ns, dur_ns) FILTER (WHERE type = 'COMPUTATION') AS a,
         trace_busy_time(ts_ns, dur_ns) FILTER (WHERE type = 'COMMUNICATION') AS b,
         trace_busy_time(ts_ns, dur_ns) FILTER (WHERE type = 'MEMORY') AS c,
         trace_busy_time(ts_ns, dur_ns) FILTER (WHERE type <> 'MEMORY') AS ab,
         trace_busy_time(ts_ns, dur_ns) FILTER (WHERE type <> 'COMMUNICATION') AS ac,
         trace_busy_time(ts_ns, dur_ns) FILTER (WHERE type <> 'COMPUTATION') AS bc,
         trace_busy_time(ts_ns, dur_ns) AS abc
  FROM work
  WHERE type IS NOT NULL
  GROUP BY rank),
length AS (
  SELECT 'COMPUTATION' AS kernel_type, sum(abc - bc) AS ns FROM busy
  UNION ALL SELECT 'COMMUNICATION', sum(abc - ac) FROM busy
  UNION ALL SELECT 'MEMORY', sum(abc - ab) FROM busy
  UNION ALL SELECT 'COMPUTATION overlapping COMMUNICATION', sum(ac + bc - c - abc) FROM busy
  UNION ALL SELECT 'COMPUTATION overlapping MEMORY', sum(ab + bc - b - abc) FROM busy
  UNION ALL SELECT 'COMMUNICATION overlapping MEMORY', sum(ab + ac - a - abc) FROM busy
  UNION ALL SELECT 'COMPUTATION overlapping COMMUNICATION overlapping MEMORY',
                   sum(a + b + c - ab - ac - bc + abc) FROM busy)
SELECT kernel_type, ns / 1000.0 AS sum,
       round(100.0 * ns / sum(ns) OVER (), 1) AS percentage
FROM length
WHERE ns > 0
ORDER BY ns DESC, kernel_type;
