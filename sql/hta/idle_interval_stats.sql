-- idle_interval_stats: how long the single stretches are in which each stream idles.
-- Family: analyses of HTA
-- Question: How long are the single stretches in which streams idle?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :consecutive_kernel_delay    REAL>=0        us; a shorter gap is kernel_wait; default 30
-- Columns
--   rank           INTEGER  rank
--   stream         INTEGER  stream
--   idle_category  TEXT     host_wait, kernel_wait or other
--   count          INTEGER  intervals
--   mean           REAL     us, of these intervals
--   std            REAL     us, of the sample
--   min            REAL     us
--   p25            REAL     us
--   p50            REAL     us
--   p75            REAL     us
--   max            REAL     us
--   pid            any      device, of work that has a category; else NULL
-- Grain: three rows per rank, device and stream with work, by rank, stream and device.
-- Rules:
--   1. Gaps and their parts are those of idle_time_breakdown: a gap may be two intervals, one of host_wait
--      and one of kernel_wait or other. A part of no length is not an interval.
--   2. Quantiles are interpolated between the two nearest intervals. Without intervals count is 0 and the
--      rest NULL.
-- Reference: HTA TraceAnalysis.get_idle_time_breakdown, second table
-- Differs from HTA: the latest end counts, not that of the work before, so that overlaps give no
--   negative times; only the part of a gap up to the launch is host_wait (D25); work without a
--   launch is not joined to event 0 (D6), and is cut with the last step by its own start, not left
--   out (D41); streams of several devices are told apart (D43).
WITH work AS (
  SELECT rank, stream, CASE WHEN cat IS NOT NULL THEN pid END AS pid, file, link, ts_ns, dur_ns
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU' AND stream IS NOT NULL AND trace_kernel_type(name, cat) IS NOT NULL),
call AS MATERIALIZED (
  SELECT file, event, ts_ns + dur_ns AS call_end
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'CPU' AND link IS NOT NULL
  LIMIT -1),
launched AS (
  SELECT rank, stream, pid, ts_ns, call_end,
         max(ts_ns + dur_ns) OVER (
           PARTITION BY rank, stream, pid ORDER BY ts_ns, call_end
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS idle_from
  FROM work
  LEFT JOIN call ON call.file = work.file AND call.event = work.link),
gap AS (
  SELECT rank, stream, pid,
         CASE WHEN idle_from < ts_ns THEN ts_ns - idle_from ELSE 0 END AS length,
         CASE WHEN idle_from < ts_ns AND idle_from < call_end
              THEN CASE WHEN call_end < ts_ns THEN call_end ELSE ts_ns END - idle_from
              ELSE 0 END AS host
  FROM launched),
part AS MATERIALIZED (
  SELECT rank, stream, pid, nullif(host, 0) AS host, nullif(length - host, 0) AS rest,
         length - host < 1000 * coalesce(:consecutive_kernel_delay, 30) AS short
  FROM gap),
interval AS (
  SELECT rank, stream, pid, 'host_wait' AS idle_category, host AS ns FROM part
  UNION ALL
  SELECT rank, stream, pid, 'kernel_wait', CASE WHEN short THEN rest END FROM part
  UNION ALL
  SELECT rank, stream, pid, 'other', CASE WHEN NOT short THEN rest END FROM part)
SELECT rank, stream, idle_category, count(ns) AS count,
       sum(ns) / (1000.0 * count(ns)) AS mean,
       trace_stddev(ns) / 1000 AS std,
       min(ns) / 1000.0 AS min,
       trace_quantile(ns, 0.25) / 1000 AS p25,
       trace_quantile(ns, 0.5) / 1000 AS p50,
       trace_quantile(ns, 0.75) / 1000 AS p75,
       max(ns) / 1000.0 AS max,
       pid
FROM interval
GROUP BY rank, stream, pid, idle_category
ORDER BY rank, stream, pid, idle_category;
