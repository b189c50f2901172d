-- trace_counter_events: queue lengths and copy bandwidth as counter events for a Chrome trace.
-- Family: analyses of HTA
-- Question: How do I show queues and bandwidth in a Chrome trace?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank    INTEGER  rank
--   ph      TEXT     phase, always 'C'
--   name    TEXT     'Queue Length', or name of memory_bw_time_series
--   stream  INTEGER  stream of the queue; NULL for bandwidth
--   pid     any      device
--   ts      REAL     us from the earliest event of the rank
--   args    TEXT     JSON: {"Queue Length": kernels} or {"Memcpy BW": GB/s}
-- Grain: one row per row of queue_length_time_series, then one per row of memory_bw_time_series; by rank.
-- Rules:
--   1. Except rank, the columns are the members of an event in a trace file; stream is its id. Leave out members that
--      are NULL.
--   2. pid, name and id identify a counter, which has the value of args from ts on.
--   3. Values and their order come from the two series.
-- Reference: HTA TraceAnalysis.generate_trace_with_counters
-- Differs from HTA: like the two series (D4, D24, D26, D28, D29, D41); no file is written (D34); ts counts from
--   the origin of the rank.
WITH counter AS (
  SELECT rank, 0 AS kind, rowid AS place, 'Queue Length' AS name, stream, pid, ts,
         json_object('Queue Length', queue_length) AS args
  FROM queue_length_time_series(:trace, :ranks, :include_last_profiler_step)
  UNION ALL
  SELECT rank, 1, rowid, name, NULL, pid, ts, json_object('Memcpy BW', memory_bw_gbps)
  FROM memory_bw_time_series(:trace, :ranks, :include_last_profiler_step))
SELECT rank, 'C' AS ph, name, stream, pid, ts, args
FROM counter
ORDER BY rank, kind, place;
