-- trace_counter_events: the lengths of queues and the bandwidth of copies as counter events of a Chrome trace.
-- Family: analyses of HTA
-- Question: How are queues and bandwidth shown in a Chrome trace?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank    INTEGER  rank
--   ph      TEXT     phase: C
--   name    TEXT     Queue Length, or the name in memory_bw_time_series
--   stream  INTEGER  of queues, the stream; else NULL
--   pid     any      device
--   ts      REAL     us from the earliest event of the rank, as in trace_events
--   args    TEXT     JSON: {"Queue Length":n}, or {"Memcpy BW":GB/s}
-- Grain: one row per row of queue_length_time_series, then one per row of memory_bw_time_series; by rank.
-- Rules:
--   1. The columns are the members of an event as trace files have it, but for rank; stream is its id. One that is
--      NULL is to be left out.
--   2. A counter is told by pid, name and id; it has the value of args from ts on.
--   3. Values, their order and what counts are those of the two series.
-- Reference: HTA TraceAnalysis.generate_trace_with_counters
-- Differs from HTA: as the two series do (D4, D24, D26, D28, D29, D41); nothing is written (D34); ts counts
--   from the origin of the rank.
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
