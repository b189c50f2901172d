-- trace_backward: backward operators, each with its forward operator.
-- Family: operators and kernels
-- Question: Which forward operator does a backward operator belong to?
--
-- Parameters
--   :trace  trace required directory, file, pattern or JSON array of these
--   :ranks  ranks          integer, JSON array or 'all'; default 'all'
-- Columns
--   rank                INTEGER  rank
--   iteration           INTEGER  number of the step; NULL outside of every step
--   file                TEXT     path
--   event               INTEGER  position of the backward operator in the file's traceEvents
--   name                TEXT     name of the backward operator
--   ts                  REAL     us from the earliest event of the rank
--   dur                 REAL     us
--   kernel_dur_sum      REAL     us, sum over the device work that it launched (see trace_subtree)
--   sequence_number     INTEGER  sequence number that both operators share
--   fwd_event           INTEGER  position of the forward operator; NULL, like the next columns, if not known
--   fwd_name            TEXT     name of the forward operator
--   fwd_ts              REAL     us from the earliest event of the rank
--   fwd_dur             REAL     us
--   fwd_kernel_dur_sum  REAL     us, sum over the device work that it launched
-- Grain: one row per backward operator, by rank and start.
-- Rules:
--   1. A backward operator is a cpu_op with a Sequence number of 0 or more and a Fwd thread id above 0 in its
--      args. A backward operator directly inside another one with the same number is not listed.
--   2. Its forward operator has the same Sequence number, file and process, and no Fwd thread id. If there are several,
--      it is the one that starts last, but not after the backward operator; ties: the shorter duration, then name.
--      PyTorch's profiler links them in the same way (category fwdbwd).
--   3. Each thread has its own sequence numbers. If forward operators of several threads have the number, other
--      backward operators with this Fwd thread id decide: if only one thread has a number,
--      the operators with it must all point to that same thread. Otherwise the forward operator is not known.
WITH operator AS MATERIALIZED (
  SELECT rank, iteration, file, event, parent, pid, tid, name, ts, dur, ts_ns, dur_ns,
         CAST(args ->> '$."Sequence number"' AS INTEGER) AS seq,
         CAST(coalesce(args ->> '$."Fwd thread id"', 0) AS INTEGER) AS fwd_thread
  FROM trace_events(:trace, :ranks)
  WHERE cat IN ('cpu_op', 'Operator') AND ts_ns IS NOT NULL AND name IS NOT NULL AND dur_ns IS NOT NULL
    AND CAST(args ->> '$."Sequence number"' AS INTEGER) >= 0
  LIMIT -1),
backward AS MATERIALIZED (
  SELECT o.*
  FROM operator AS o
  LEFT JOIN operator AS above
    ON above.file = o.file AND above.event = o.parent AND above.seq = o.seq AND above.fwd_thread > 0
  WHERE o.fwd_thread > 0 AND above.event IS NULL
  LIMIT -1),
thread AS MATERIALIZED (
  SELECT file, pid, seq, min(tid) AS tid, min(tid) = max(tid) AS is_only
  FROM operator
  WHERE fwd_thread <= 0
  GROUP BY file, pid, seq
  LIMIT -1),
known AS MATERIALIZED (
  SELECT b.file, b.pid, b.fwd_thread, min(thread.tid) AS tid
  FROM backward AS b
  CROSS JOIN thread ON thread.file = b.file AND thread.seq = b.seq AND thread.pid = b.pid
  WHERE is_only
  GROUP BY b.file, b.pid, b.fwd_thread
  HAVING min(thread.tid) = max(thread.tid)
  LIMIT -1),
merged AS (
  SELECT file, pid, tid, seq, ts_ns, dur_ns, name, event, 0 AS is_backward
  FROM operator
  WHERE fwd_thread <= 0
  UNION ALL
  SELECT b.file, b.pid, CASE WHEN is_only THEN thread.tid ELSE known.tid END, b.seq, b.ts_ns, b.dur_ns, b.name,
         b.event, 1
  FROM backward AS b
  LEFT JOIN thread ON thread.file = b.file AND thread.seq = b.seq AND thread.pid = b.pid
  LEFT JOIN known ON known.file = b.file AND known.fwd_thread = b.fwd_thread AND known.pid = b.pid),
placed AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY file, pid, seq, tid, ts_ns, is_backward, dur_ns DESC, name, event) AS place
  FROM merged
  LIMIT -1),
paired AS MATERIALIZED (
  SELECT file, event, is_backward,
         max(CASE WHEN NOT is_backward THEN place END) OVER (
           PARTITION BY file, pid, seq, tid ORDER BY place ROWS UNBOUNDED PRECEDING) AS fwd_place
  FROM placed),
tree AS MATERIALIZED (
  SELECT file, event, kernel_dur_sum
  FROM trace_subtree(:trace, coalesce(:ranks, 'all'))
  WHERE device = 'CPU'
  LIMIT -1)
SELECT b.rank, b.iteration, b.file, b.event, b.name, b.ts, b.dur, tree.kernel_dur_sum, b.seq AS sequence_number,
       forward.event AS fwd_event, forward.name AS fwd_name, forward.ts AS fwd_ts, forward.dur AS fwd_dur,
       fwd_tree.kernel_dur_sum AS fwd_kernel_dur_sum
FROM backward AS b
CROSS JOIN paired ON paired.file = b.file AND paired.event = b.event
LEFT JOIN tree ON tree.file = b.file AND tree.event = b.event
LEFT JOIN placed AS match ON match.place = paired.fwd_place
LEFT JOIN operator AS forward ON forward.file = match.file AND forward.event = match.event
LEFT JOIN tree AS fwd_tree ON fwd_tree.file = forward.file AND fwd_tree.event = forward.event
ORDER BY b.rank, b.ts_ns, b.dur_ns, b.name, b.seq, b.file, b.event;
