-- cuda_kernel_launch_stats: durations of launches and of their kernels, and the delay between them.
-- Family: analyses of HTA
-- Question: How long does each launch take, and its kernel then wait?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :include_memory_events       0|1            0: exclude copies and fills; default 1
-- Columns
--   rank          INTEGER  rank
--   correlation   INTEGER  correlation id that the launch and its work share
--   cpu_duration  REAL     us, duration of the call
--   gpu_duration  REAL     us, duration of the work
--   launch_delay  REAL     us from the end of the call to the start of the work; 0 if the work starts earlier
--   file          TEXT     path
--   launch        INTEGER  event of the call; (file, launch) identifies the call
-- Grain: one row per kernel, copy or fill with a launch (T10), by rank, launch and start.
-- Rules:
--   1. Each kernel, copy or fill is joined to its launch. A call that launched several has several rows. To count it
--      once, GROUP BY file, launch.
--   2. With include_memory_events = 0, work of type MEMORY (K1) is left out.
-- Reference: HTA TraceAnalysis.get_cuda_kernel_launch_stats
-- Differs from HTA: every kind of launch counts, including cuLaunchKernel, hip and graphs (D29); no
--   cross joins over a missing correlation (D11); synchronization is not work (D24);
--   nanoseconds are kept (D4).
WITH work AS (
  SELECT rank, file, event, link, correlation, ts_ns, dur_ns, trace_kernel_type(name, cat) AS type
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU' AND link IS NOT NULL),
call AS MATERIALIZED (
  SELECT file, event, ts_ns, dur_ns
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'CPU' AND link IS NOT NULL
  LIMIT -1)
SELECT work.rank, work.correlation,
       call.dur_ns / 1000.0 AS cpu_duration,
       work.dur_ns / 1000.0 AS gpu_duration,
       CASE WHEN work.ts_ns > call.ts_ns + call.dur_ns
            THEN work.ts_ns - call.ts_ns - call.dur_ns ELSE 0 END / 1000.0 AS launch_delay,
       work.file, call.event AS launch
FROM work
CROSS JOIN call
WHERE call.file = work.file AND call.event = work.link
  AND work.type <> CASE WHEN coalesce(:include_memory_events, 1) THEN '' ELSE 'MEMORY' END
ORDER BY work.rank, call.ts_ns, work.file, call.event, work.ts_ns, work.event;
