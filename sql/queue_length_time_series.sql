-- queue_length_time_series: how many launched kernels wait on each stream over time.
--
-- Parameters
--   :trace                       TEXT required  directory, file, pattern or JSON array of these
--   :ranks                       any            integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank (T13), 1 with it; default 0
-- Columns
--   rank          INTEGER  rank
--   ts            REAL     us from the origin of the rank (T2)
--   pid           any      device of the work that is launched or begins
--   tid           any      its thread, which stands for the stream
--   stream        INTEGER  stream
--   queue_length  INTEGER  work launched and not begun, from here on
-- Grain: two rows per launched device work that has a stream: its launch and its beginning; by rank,
--   stream and time.
-- Rules:
--   1. Work is in the queue of its stream from the start of its launch (T10) to its own start; not at
--      all if its clock says that it began before its launch.
--   2. At one time, launches come before beginnings.
--   3. Every launched work counts, also each of the many of one graph launch.
-- Reference: HTA TraceAnalysis.get_queue_length_time_series
-- Differs from HTA: no queue is shorter than 0, runtime and driver calls of one launch count once, and
--   graph launches and every kind of launch count (D29); waiting for the device is no work (D24);
--   nanoseconds are kept (D4).
WITH work AS (
  SELECT rank, pid, tid, stream, file, event, link, CAST(round(ts * 1000) AS INTEGER) AS start
  FROM trace_events(:trace, NULL, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU' AND stream IS NOT NULL AND link IS NOT NULL
    AND trace_kernel_type(name, cat) IS NOT NULL),
call AS MATERIALIZED (
  SELECT file, event, CAST(round(ts * 1000) AS INTEGER) AS start
  FROM trace_events(:trace, NULL, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'CPU' AND link IS NOT NULL),
launched AS MATERIALIZED (
  SELECT rank, pid, tid, stream, work.file, work.event, call.start AS launch, work.start AS start
  FROM work
  JOIN call ON call.file = work.file AND call.event = work.link),
change AS (
  SELECT rank, pid, tid, stream, file, event, column1 AS more,
         CASE column1 WHEN 1 THEN launch ELSE max(start, launch) END AS ns
  FROM launched
  CROSS JOIN (VALUES (1), (-1)))
SELECT rank, ns / 1000.0 AS ts, pid, tid, stream,
       sum(more) OVER (PARTITION BY rank, stream ORDER BY ns, more DESC, file, event
                       ROWS UNBOUNDED PRECEDING) AS queue_length
FROM change
ORDER BY rank, stream, ns, more DESC, file, event;
