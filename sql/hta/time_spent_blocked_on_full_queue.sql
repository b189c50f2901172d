-- time_spent_blocked_on_full_queue: the time in which each stream's queue of launched kernels is full.
-- Family: analyses of HTA
-- Question: How long is the queue of each stream full?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :max_queue_length            INTEGER>=0     launches that a queue takes; default 1024
-- Columns
--   rank                                   INTEGER  rank
--   stream                                 INTEGER  stream
--   duration_at_max_queue_length           REAL     us in which the queue is full
--   relative_duration_at_max_queue_length  REAL     share of the time from the rank's first start to its last, 0 to 1
--   pid                                    any      device
-- Grain: one row per rank, stream and device with a full queue, in this order.
-- Rules:
--   1. A queue is full from a point of queue_length_time_series with at least max_queue_length to the next point of its
--      stream and device, in the order of the series. The last point takes no time.
--   2. The time of a rank is from the first to the last start of its events.
-- Reference: HTA TraceAnalysis.get_time_spent_blocked_on_full_queue
-- Differs from HTA: every stream has a row, not only the last one (D9); like queue_length_time_series (D24, D29,
--   D43); the time of a rank includes device work without a launch that starts before the last step (D41).
WITH series AS (
  SELECT rowid AS place, rank, stream, pid, CAST(ts * 1000 + 0.5 AS INTEGER) AS ns, queue_length
  FROM queue_length_time_series(:trace, :ranks, :include_last_profiler_step)),
point AS (
  SELECT rank, stream, pid, queue_length,
         lead(ns) OVER (PARTITION BY rank, stream, pid ORDER BY place ROWS UNBOUNDED PRECEDING) - ns AS lasts
  FROM series),
span AS (
  SELECT rank, max(ts_ns) - min(ts_ns) AS length
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  GROUP BY rank)
SELECT point.rank, stream,
       coalesce(sum(lasts), 0) / 1000.0 AS duration_at_max_queue_length,
       coalesce(sum(lasts), 0) * 1.0 / span.length AS relative_duration_at_max_queue_length,
       pid
FROM point
JOIN span ON span.rank = point.rank
WHERE queue_length >= coalesce(:max_queue_length, 1024)
GROUP BY point.rank, stream, pid
ORDER BY point.rank, stream, pid;
