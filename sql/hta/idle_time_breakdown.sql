-- idle_time_breakdown: why each stream idles between its kernels.
-- Family: analyses of HTA
-- Question: Why does each stream idle: host, kernels, or other?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :consecutive_kernel_delay    REAL>=0        us; a shorter gap counts as kernel_wait; default 30
-- Columns
--   rank             INTEGER  rank
--   stream           INTEGER  stream
--   idle_category    TEXT     'host_wait', 'kernel_wait' or 'other'
--   idle_time        REAL     us
--   idle_time_ratio  REAL     share of the stream's idle time, 0 to 1; NULL if it has none
--   busy_time        REAL     us in which the stream works, the same in its three rows
--   pid              any      device; NULL for work without a category
-- Grain: three rows per rank, device and stream with work, by rank, stream and device.
-- Rules:
--   1. A gap precedes the work of a stream, except the first. It lasts from the latest end of all work before to the
--      start of this work, if that is later. Work is ordered by start; ties: by the end of the launch.
--   2. Up to the end of the call that launched the work, the gap is host_wait.
--   3. The rest of the gap, or a whole gap without such a call, is kernel_wait if it is shorter than
--      consecutive_kernel_delay, else other.
--   4. busy_time and the three idle times add up to the time from the first start to the last end on the stream.
-- Reference: HTA TraceAnalysis.get_idle_time_breakdown
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
  SELECT rank, stream, pid, ts_ns, ts_ns + dur_ns AS end_ns, call_end,
         max(ts_ns + dur_ns) OVER (
           PARTITION BY rank, stream, pid ORDER BY ts_ns, call_end
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS idle_from
  FROM work
  LEFT JOIN call ON call.file = work.file AND call.event = work.link),
gap AS (
  SELECT rank, stream, pid, ts_ns, end_ns,
         CASE WHEN idle_from < ts_ns THEN ts_ns - idle_from ELSE 0 END AS length,
         CASE WHEN idle_from < ts_ns AND idle_from < call_end
              THEN CASE WHEN call_end < ts_ns THEN call_end ELSE ts_ns END - idle_from
              ELSE 0 END AS host
  FROM launched),
part AS (
  SELECT rank, stream, pid, ts_ns, end_ns, length, host, length - host AS rest,
         length - host < 1000 * coalesce(:consecutive_kernel_delay, 30) AS short
  FROM gap),
total AS (
  SELECT rank, stream, pid,
         coalesce(sum(host), 0) AS host_wait,
         coalesce(sum(rest) FILTER (WHERE short), 0) AS kernel_wait,
         coalesce(sum(rest) FILTER (WHERE NOT short), 0) AS other,
         max(end_ns) - min(ts_ns) - sum(length) AS busy
  FROM part
  GROUP BY rank, stream, pid)
SELECT rank, stream, column1 AS idle_category,
       CASE column1 WHEN 'host_wait' THEN host_wait WHEN 'kernel_wait' THEN kernel_wait ELSE other
       END / 1000.0 AS idle_time,
       CASE column1 WHEN 'host_wait' THEN host_wait WHEN 'kernel_wait' THEN kernel_wait ELSE other
       END * 1.0 / nullif(host_wait + kernel_wait + other, 0) AS idle_time_ratio,
       busy / 1000.0 AS busy_time,
       pid
FROM total, (VALUES ('host_wait'), ('kernel_wait'), ('other'))
ORDER BY rank, stream, pid, idle_category;
