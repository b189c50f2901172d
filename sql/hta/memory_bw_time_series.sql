-- memory_bw_time_series: the bandwidth of copies and fills over time.
-- Family: analyses of HTA
-- Question: How fast are copies and fills over time?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank            INTEGER  rank
--   ts              REAL     us from the earliest event of the rank
--   pid             any      device of the copy or fill that begins or ends
--   name            TEXT     'Memset', 'Memcpy HtoD', 'Memcpy DtoH', 'Memcpy DtoD', 'Memcpy PtoP' or 'Memcpy Unknown'
--   memory_bw_gbps  REAL     GB/s from this time on, sum over all that run
-- Grain: two rows per copy or fill, for its beginning and its end; by rank, name and time.
-- Rules:
--   1. Copies and fills are device work of type MEMORY. Their bandwidth is "memory bandwidth (GB/s)" of their args, or
--      0 if that is absent or not from 0 to 1,000,000.
--   2. name is 'Memset' for fills. For copies, it is the first 11 characters of a name that begins with Memcpy, else
--      'Memcpy Unknown'.
--   3. A copy or fill without a duration takes 1 us.
--   4. Sums are exact: they are 0 when nothing runs.
--   5. At equal times, ends come before beginnings. The fastest ends first and begins last.
-- Reference: HTA TraceAnalysis.get_memory_bw_time_series
-- Differs from HTA: sums return to 0, and ends come first (D28); the type follows the category (D26); work
--   without a launch belongs to the step in which it starts, and is not left out (D41).
WITH copy AS (
  SELECT rank, pid, file, event,
         CASE WHEN cat IN ('gpu_memset', 'Memset') OR substr(name, 1, 6) = 'Memset' THEN 'Memset'
              WHEN substr(name, 1, 6) = 'Memcpy' THEN substr(name, 1, 11)
              ELSE 'Memcpy Unknown' END AS name,
         CAST(ts * 1000 + 0.5 AS INTEGER) AS start, -- ns from the origin
         CASE dur_ns WHEN 0 THEN 1000 ELSE dur_ns END AS length,
         CAST(args ->> '$."memory bandwidth (GB/s)"' AS REAL) AS gbps
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU' AND trace_kernel_type(name, cat) = 'MEMORY'),
exact AS MATERIALIZED (
  SELECT rank, pid, file, event, name, start, length,
         CASE WHEN gbps BETWEEN 0 AND 1e6 THEN CAST(gbps * 1e12 + 0.5 AS INTEGER) ELSE 0 END AS bw
  FROM copy
  LIMIT -1),
change AS (
  SELECT rank, pid, file, event, name, column1 AS begins,
         CASE column1 WHEN 1 THEN start ELSE start + length END AS ns,
         CASE column1 WHEN 1 THEN bw ELSE -bw END AS bw
  FROM exact
  CROSS JOIN (VALUES (0), (1)))
SELECT rank, ns / 1000.0 AS ts, pid, name,
       sum(bw) OVER (PARTITION BY rank, name ORDER BY ns, begins, bw, pid, file, event
                     ROWS UNBOUNDED PRECEDING) / 1e12 AS memory_bw_gbps
FROM change
ORDER BY rank, name, ns, begins, bw, pid, file, event;
