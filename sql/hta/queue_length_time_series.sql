-- queue_length_time_series: the number of launched kernels that wait on each stream over time.
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
--   pid           any      device of the work that is launched or starts
--   tid           any      thread of the work, which is its stream
--   stream        INTEGER  stream
--   queue_length  INTEGER  launched work that has not started, from this time on
-- Grain: two rows per launched kernel, copy or fill with a stream, for its launch and its start; by rank, stream,
--   device and time.
-- Rules:
--   1. Work is in the queue of its stream from the start of its launch (T10) to its own start. If the recorded start
--      is before the launch, the work is never in the queue.
--   2. At equal times, launches come before starts. Launches are ordered by the start of their work, starts by their
--      launch.
--   3. All launched work counts, including every kernel of a graph launch.
-- Reference: HTA TraceAnalysis.get_queue_length_time_series
-- Differs from HTA: no queue is shorter than 0; runtime and driver calls of one launch count once; every kind of
--   launch counts, including graphs (D29); synchronization is not work (D24); nanoseconds are kept (D4); streams of
--   different devices are separate (D43).
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
