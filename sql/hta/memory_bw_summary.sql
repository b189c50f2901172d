-- memory_bw_summary: statistics of the bandwidth of copies and fills.
-- Family: analyses of HTA
-- Question: How fast are copies and fills?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank            INTEGER  rank
--   name            TEXT     kind of copy or fill (see memory_bw_time_series)
--   count           INTEGER  number of points of memory_bw_time_series with a bandwidth above 0
--   mean            REAL     GB/s, mean over these points
--   std             REAL     GB/s, sample standard deviation
--   min             REAL     GB/s, lowest
--   p25             REAL     GB/s, first quartile
--   p50             REAL     GB/s, median
--   p75             REAL     GB/s, third quartile
--   max             REAL     GB/s, highest
--   mean_over_time  REAL     GB/s, mean over time: each point weighted by the time to the next
-- Grain: one row per rank and name.
-- Rules:
--   1. Points come from memory_bw_time_series and have a bandwidth above 0.
--   2. Quantiles are interpolated between the two nearest points.
--   3. A point lasts until the next point of its rank and name, in the order of the series, which is the order of
--      rowid.
-- Reference: HTA TraceAnalysis.get_memory_bw_summary
-- Differs from HTA: residues of sums are not points; mean_over_time weights points by time (D28); work
--   without a launch belongs to the step in which it starts, and is not left out (D41).
WITH series AS (
  SELECT rowid AS place, rank, name, CAST(ts * 1000 + 0.5 AS INTEGER) AS ns, memory_bw_gbps AS bw
  FROM memory_bw_time_series(:trace, :ranks, :include_last_profiler_step)),
point AS (
  SELECT rank, name, bw,
         lead(ns) OVER (PARTITION BY rank, name ORDER BY place ROWS UNBOUNDED PRECEDING) - ns AS lasts
  FROM series)
SELECT rank, name, count(*) AS count,
       avg(bw) AS mean,
       trace_stddev(bw) AS std,
       min(bw) AS min,
       trace_quantile(bw, 0.25) AS p25,
       trace_quantile(bw, 0.5) AS p50,
       trace_quantile(bw, 0.75) AS p75,
       max(bw) AS max,
       sum(bw * lasts) / nullif(sum(lasts), 0) AS mean_over_time
FROM point
WHERE bw > 0
GROUP BY rank, name
ORDER BY rank, name;
