-- idle_interval_stats: statistics of the intervals in which each stream idles.
-- Family: analyses of HTA
-- Question: How long are the single stretches in which streams idle?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :consecutive_kernel_delay    REAL>=0        us; a shorter gap counts as kernel_wait; default 30
-- Columns
--   rank           INTEGER  rank
--   stream         INTEGER  stream
--   idle_category  TEXT     'host_wait', 'kernel_wait' or 'other'
--   count          INTEGER  number of intervals
--   mean           REAL     us, mean length; NULL, like the other statistics, without intervals
--   std            REAL     us, sample standard deviation
--   min            REAL     us, shortest
--   p25            REAL     us, first quartile
--   p50            REAL     us, median
--   p75            REAL     us, third quartile
--   max            REAL     us, longest
--   pid            any      device; NULL for work without a category
-- Grain: three rows per rank, device and stream with work, by rank, stream and device.
-- Rules:
--   1. Gaps and their parts come from idle_time_breakdown. A gap may be two intervals, one of host_wait and one of
--      kernel_wait or other. A part of no length is not an interval.
--   2. Quantiles are interpolated between the two nearest intervals. Without intervals, count is 0 and all
--      statistics are NULL.
-- Reference: HTA TraceAnalysis.get_idle_time_breakdown, second table
-- Differs from HTA: a gap starts at the latest end so far, not at the end of the previous work, so overlaps
--   cause no negative times; only the part of a gap up to the launch is host_wait (D25); work without a
--   launch is not joined to event 0 (D6), and belongs to the step in which it starts (D41); streams of
--   different devices are separate (D43).
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
