-- queue_length_time_series: how many launched kernels wait on each stream over time.
-- Family: analyses of HTA
-- Question: How long are the queues of launched kernels over time?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank          INTEGER  rank
--   ts            REAL     us from the earliest event of the rank
--   pid           any      device of the work that is launched or begins
--   tid           any      thread of the work: its stream
--   stream        INTEGER  stream
--   queue_length  INTEGER  work that is launched and not begun, from this time on
-- Grain: two rows per launched device work that has a stream: its launch and its beginning; by rank,
--   stream, device and time.
-- Rules:
--   1. Work is in the queue of its stream from the start of its launch (T10) to its own start. Work that
--      starts before its launch, by their clocks, is never in the queue.
--   2. At one time, launches come before beginnings. Launches are in the order in which their work
--      begins, beginnings in the order in which the work was launched.
--   3. All launched work counts, including every kernel of a graph launch.
-- Reference: HTA TraceAnalysis.get_queue_length_time_series
-- Differs from HTA: no queue is shorter than 0, runtime and driver calls of one launch count once, and
--   graph launches and every kind of launch count (D29); waiting for the device is not work (D24);
--   nanoseconds are kept (D4); streams of several devices are told apart (D43).
WITH work AS (
  SELECT rank, pid, tid, stream, file, event, link, ts, ts_ns
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU' AND stream IS NOT NULL AND link IS NOT NULL
    AND trace_kernel_type(name, cat) IS NOT NULL),
call AS MATERIALIZED (
  SELECT file, event, ts, ts_ns
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'CPU' AND link IS NOT NULL
  LIMIT -1),
launched AS MATERIALIZED (
  SELECT rank, pid, tid, stream, work.file, work.event,
         call.ts_ns AS launch, call.ts AS launch_ts,
         CASE WHEN work.ts_ns < call.ts_ns THEN call.ts_ns ELSE work.ts_ns END AS start,
         CASE WHEN work.ts_ns < call.ts_ns THEN call.ts ELSE work.ts END AS start_ts
  FROM work
  CROSS JOIN call
  WHERE call.file = work.file AND call.event = work.link
  LIMIT -1),
change AS (
  SELECT rank, pid, tid, stream, file, event, launch, start, column1 AS more,
         CASE column1 WHEN 1 THEN launch ELSE start END AS ns,
         CASE column1 WHEN 1 THEN launch_ts ELSE start_ts END AS ts
  FROM launched
  CROSS JOIN (VALUES (1), (-1)))
SELECT rank, ts, pid, tid, stream,
       sum(more) OVER (PARTITION BY rank, stream, pid
                       ORDER BY ns, more DESC, launch, start, tid, file, event
                       ROWS UNBOUNDED PRECEDING) AS queue_length
FROM change
ORDER BY rank, stream, pid, ns, more DESC, launch, start, tid, file, event;
