-- frequent_cuda_kernel_sequences: which sequences of kernels an operator launches, and how often.
--
-- Parameters
--   :trace                       TEXT required  directory, file, pattern or JSON array of these
--   :ranks                       any            integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank (T13), 1 with it; default 0
--   :operator_name               TEXT required  a part of the operator's name, such as aten::linear
--   :min_pattern_len             INTEGER        kernels that a sequence has at the least; default 3
-- Columns
--   rank                 INTEGER  rank
--   pattern              TEXT     the operator and its kernels, joined by |
--   count                INTEGER  how often
--   gpu_kernel_duration  REAL     us, of the kernels
--   cpu_op_duration      REAL     us, of the operators
-- Grain: one row per rank and pattern, the most frequent first.
-- Rules:
--   1. Operators are host events, no calls (T10), whose name contains operator_name, and that are not
--      nested in another such event (T5).
--   2. An operator's kernels are the device work whose launches are nested in it, by their start.
-- Reference: HTA TraceAnalysis.get_frequent_cuda_kernel_sequences
-- Differs from HTA: the outermost operators of every call stack count, not only those of the least depth
--   of all (D30); device work of stream 0 counts (D5), and waiting for the device is none (D24); the
--   backward thread is a thread of its own; nothing is written.
WITH RECURSIVE work AS MATERIALIZED (
  SELECT file, event, link, name, ts_ns, dur_ns
  FROM trace_events(:trace, NULL, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU' AND link IS NOT NULL AND trace_kernel_type(name, cat) IS NOT NULL),
-- from each launch up its call stack; the last operator that is met is the outermost
climb(file, launch, event, operator) AS (
  SELECT DISTINCT file, link, link, NULL FROM work
  UNION ALL
  SELECT climb.file, launch, up.parent,
         CASE WHEN instr(up.name, :operator_name) > 0
                   AND coalesce(up.cat, '') NOT IN ('cuda_driver', 'Runtime')
                   AND coalesce(substr(up.cat, -8), '') <> '_runtime'
              THEN up.event ELSE operator END
  FROM climb
  CROSS JOIN trace_events(:trace, NULL, :ranks) AS up
  WHERE up.file = climb.file AND up.event = climb.event),
launch AS MATERIALIZED (
  SELECT file, launch, operator FROM climb WHERE event IS NULL AND operator IS NOT NULL),
kernel AS (
  SELECT work.file, operator, work.name, work.dur_ns
  FROM work
  JOIN launch ON launch.file = work.file AND launch.launch = work.link
  ORDER BY work.file, operator, work.ts_ns, work.event),
sequence AS MATERIALIZED (
  SELECT file, operator, group_concat(name, '|') AS names, sum(dur_ns) AS kernels
  FROM kernel
  GROUP BY file, operator
  HAVING count(*) >= coalesce(:min_pattern_len, 3))
SELECT host.rank, host.name || '|' || names AS pattern, count(*) AS count,
       sum(kernels) / 1000.0 AS gpu_kernel_duration,
       sum(host.dur_ns) / 1000.0 AS cpu_op_duration
FROM sequence
CROSS JOIN trace_events(:trace, NULL, :ranks) AS host
WHERE host.file = sequence.file AND host.event = sequence.operator
GROUP BY host.rank, pattern
ORDER BY host.rank, count DESC, pattern;
