-- trace_validation: events that break a rule of PyTorch's own trace validator.
-- Family: events and files
-- Question: What would PyTorch's trace validator say?
--
-- Parameters
--   :trace  trace required directory, file, pattern or JSON array of these
--   :ranks  ranks          integer, JSON array or 'all'; default 'all'
-- Columns
--   rank     INTEGER  rank
--   file     TEXT     path
--   rule     TEXT     PyTorch's name of the rule: gpu_kernel_causality, stream_wait_corr_id_populated,
--                     stream_sync_overlap, stream_wait_corr_id_in_past, nccl_metadata or
--                     backward_seq_id_uniqueness
--   event    INTEGER  position of the event in the file's traceEvents
--   name     TEXT     name of the event
--   ts_ns    INTEGER  ns, absolute start of the event
--   time_ns  INTEGER  ns by which a kernel starts too early or still runs, or a record is too late; NULL for the
--                     other rules
--   text     TEXT     the violation in words
-- Grain: one row per event and rule, by rank, file, rule and start.
-- Rules:
--   1. gpu_kernel_causality: the first kernel of an External id starts before the first cudaLaunchKernel of that id.
--   2. stream_wait_corr_id_populated: a Stream Wait Event or an Event Sync names no recorded CUDA event.
--   3. stream_sync_overlap: the last kernel that starts on a stream before a Stream Sync of it still runs then.
--   4. stream_wait_corr_id_in_past: a Stream Wait Event waits for a CUDA event that is recorded later, or never.
--   5. nccl_metadata: record_param_comms lacks a name, a data type, a number of elements or the size of the group.
--   6. backward_seq_id_uniqueness: backward operators with different names share a Sequence number.
--   7. These are not findings of trace_health, except the first one (I13): healthy recordings break the second, third
--      and fifth rule, and none of them makes a comparison wrong.
WITH event AS MATERIALIZED (
  SELECT rank, file, event, cat, name, ts_ns, ts_ns + dur_ns AS end_ns, args,
         args ->> '$."External id"' AS external, args ->> '$.correlation' AS correlation,
         args ->> '$.cuda_sync_kind' AS sync, args ->> '$.wait_on_cuda_event_record_corr_id' AS record,
         args ->> '$.device' AS device, args ->> '$.stream' AS stream
  FROM trace_events(:trace, coalesce(:ranks, 'all'))
  WHERE ts_ns IS NOT NULL
    AND (cat IN ('kernel', 'cuda_runtime', 'cuda_driver', 'cuda_sync') OR name = 'record_param_comms'
         OR name LIKE '%autograd::engine::evaluate_function:%')
  LIMIT -1),
launch AS MATERIALIZED (
  SELECT file, external, min(ts_ns) AS ts_ns
  FROM event
  WHERE cat = 'cuda_runtime' AND name = 'cudaLaunchKernel' AND external IS NOT NULL
  GROUP BY file, external
  LIMIT -1),
kernel AS MATERIALIZED (
  SELECT rank, file, event, name, external, min(ts_ns) AS ts_ns
  FROM event
  WHERE cat = 'kernel' AND external IS NOT NULL
  GROUP BY file, external
  LIMIT -1),
recorded AS MATERIALIZED (
  SELECT file, id, min(ts_ns) AS ts_ns
  FROM (SELECT file, external AS id, ts_ns, cat, name FROM event
        UNION ALL
        SELECT file, correlation, ts_ns, cat, name FROM event)
  WHERE cat IN ('cuda_runtime', 'cuda_driver') AND id IS NOT NULL
    AND name IN ('cudaEventRecord', 'cudaEventRecord_ptsz', 'cudaEventRecordWithFlags', 'cudaEventRecordWithFlags_ptsz')
  GROUP BY file, id
  LIMIT -1),
queued AS (
  SELECT *, max(CASE WHEN cat = 'kernel' THEN place END) OVER (
              PARTITION BY file, device, stream ORDER BY place ROWS UNBOUNDED PRECEDING) AS before
  FROM (SELECT *, row_number() OVER (ORDER BY file, device, stream, ts_ns, cat = 'kernel', event) AS place
        FROM event
        WHERE cat = 'kernel' OR (cat = 'cuda_sync' AND sync = 'Stream Sync'))),
placed AS MATERIALIZED (SELECT * FROM queued LIMIT -1),
backward AS MATERIALIZED (
  SELECT *, coalesce(nullif(args ->> '$."Sequence number"', 0), args ->> '$.seq_num',
                     args ->> '$."Sequence number"') AS sequence
  FROM event
  WHERE name LIKE '%autograd::engine::evaluate_function:%'
  LIMIT -1),
needed(key) AS (
  VALUES ('Collective name'), ('Group size'), ('In msg nelems'), ('Out msg nelems'), ('dtype')),
broken AS (
  SELECT k.rank, k.file, 'gpu_kernel_causality' AS rule, k.event, k.name, k.ts_ns,
         launch.ts_ns - k.ts_ns AS time_ns, 'starts before its cudaLaunchKernel' AS text
  FROM kernel AS k
  JOIN launch ON launch.file = k.file AND launch.external = k.external AND launch.ts_ns > k.ts_ns
  UNION ALL
  SELECT rank, file, 'stream_wait_corr_id_populated', event, name, ts_ns, NULL,
         sync || ' names no recorded CUDA event'
  FROM event
  WHERE sync IN ('Stream Wait Event', 'Event Sync') AND coalesce(record, -1) < 0
  UNION ALL
  SELECT s.rank, s.file, 'stream_sync_overlap', s.event, s.name, s.ts_ns,
         k.end_ns - s.ts_ns, trace_short_name(k.name) || ' still runs on its stream'
  FROM placed AS k
  CROSS JOIN placed AS s ON s.before = k.place AND s.ts_ns < k.end_ns
  WHERE s.cat = 'cuda_sync'
  UNION ALL
  SELECT e.rank, e.file, 'stream_wait_corr_id_in_past', e.event, e.name, e.ts_ns,
         recorded.ts_ns - e.ts_ns,
         'waits for a CUDA event recorded ' || CASE WHEN recorded.ts_ns IS NULL THEN 'nowhere' ELSE 'later' END
  FROM event AS e
  LEFT JOIN recorded ON recorded.file = e.file AND recorded.id = e.record
  WHERE e.sync = 'Stream Wait Event' AND e.record >= 0 AND (recorded.ts_ns IS NULL OR recorded.ts_ns > e.ts_ns)
  UNION ALL
  SELECT rank, file, 'nccl_metadata', event, name, ts_ns, NULL,
         'lacks ' || (SELECT group_concat(key, ', ')
                      FROM needed
                      WHERE json_type(coalesce(args, '{}'), '$."' || key || '"') IS NULL) AS text
  FROM event
  WHERE name = 'record_param_comms' AND text IS NOT NULL
  UNION ALL
  SELECT rank, file, 'backward_seq_id_uniqueness', event, name, min(ts_ns), NULL,
         printf('%d backward operators share Sequence number %s', count(DISTINCT name), sequence)
  FROM backward
  WHERE sequence IS NOT NULL
  GROUP BY file, sequence
  HAVING count(DISTINCT name) > 1)
SELECT rank, file, rule, event, name, ts_ns, time_ns, text
FROM broken
ORDER BY rank, file, rule, ts_ns, event;
