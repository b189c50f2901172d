-- queue_length_summary: statistics of the queues of launched kernels.
-- Family: analyses of HTA
-- Question: How long are the queues of launched kernels?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank            INTEGER  rank
--   stream          INTEGER  stream
--   count           INTEGER  number of points of queue_length_time_series
--   mean            REAL     kernels, mean over these points
--   std             REAL     kernels, sample standard deviation
--   min             INTEGER  kernels, shortest queue
--   p25             REAL     kernels, first quartile
--   p50             REAL     kernels, median
--   p75             REAL     kernels, third quartile
--   max             INTEGER  kernels, longest queue
--   mean_over_time  REAL     kernels, mean over time: each point weighted by the time to the next
--   pid             any      device
-- Grain: one row per rank, stream and device.
-- Rules:
--   1. Points come from queue_length_time_series.
--   2. Quantiles are interpolated between the two nearest points.
--   3. A point lasts until the next point of its rank, stream and device, in the order of the series, which is the
--      order of rowid.
-- Reference: HTA TraceAnalysis.get_queue_length_summary
-- Differs from HTA: like queue_length_time_series (D24, D29, D43); mean_over_time weights points by
--   time (D28).
WITH series AS (
  SELECT rowid AS place, rank, stream, pid, CAST(ts * 1000 + 0.5 AS INTEGER) AS ns, queue_length
  FROM queue_length_time_series(:trace, :ranks, :include_last_profiler_step)),
point AS (
  SELECT rank, stream, pid, queue_length,
         lead(ns) OVER (PARTITION BY rank, stream, pid ORDER BY place ROWS UNBOUNDED PRECEDING) - ns AS lasts
  FROM series)
SELECT rank, stream, count(*) AS count,
       avg(queue_length) AS mean,
       trace_stddev(queue_length) AS std,
       min(queue_length) AS min,
       trace_quantile(queue_length, 0.25) AS p25,
       trace_quantile(queue_length, 0.5) AS p50,
       trace_quantile(queue_length, 0.75) AS p75,
       max(queue_length) AS max,
       sum(1.0 * queue_length * lasts) / nullif(sum(lasts), 0) AS mean_over_time,
       pid
FROM point
GROUP BY rank, stream, pid
ORDER BY rank, stream, pid;
