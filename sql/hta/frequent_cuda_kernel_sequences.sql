-- frequent_cuda_kernel_sequences: the sequences of kernels that an operator launches, and how often.
-- Family: analyses of HTA
-- Question: Which sequences of kernels does an operator often launch?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :operator_name               TEXT required  a part of the operator's name, such as aten::linear;
--                                               with * or ?, a GLOB pattern for the whole name
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :min_pattern_len             INTEGER>=0     smallest number of kernels in a sequence; default 3
-- Columns
--   rank                 INTEGER  rank
--   pattern              TEXT     the operator and its kernels, joined by '|'
--   count                INTEGER  number of times that it was launched
--   gpu_kernel_duration  REAL     us, sum over the kernels
--   cpu_op_duration      REAL     us, sum over the operators
-- Grain: one row per rank and pattern, the most frequent first.
-- Rules:
--   1. Operators are host events, except calls (T10), with a name that contains operator_name or matches its pattern,
--      and that are not nested in another such event (T5).
--   2. An operator's kernels are the device work with a launch nested in the operator, by start, then name.
-- Reference: HTA TraceAnalysis.get_frequent_cuda_kernel_sequences
-- Differs from HTA: the outermost operators of every call stack count, not only those at the smallest depth in
--   the trace (D30); device work of stream 0 counts (D5); synchronization is not work (D24); the backward thread is a
--   thread of its own; no file is written.
WITH kernel AS (
  SELECT file, operator, name, dur_ns
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0), NULL, :operator_name)
  WHERE device = 'GPU' AND operator IS NOT NULL AND trace_kernel_type(name, cat) IS NOT NULL
  ORDER BY file, operator, ts_ns, name),
sequence AS MATERIALIZED (
  SELECT file, operator, group_concat(name, '|') AS names, sum(dur_ns) AS kernels
  FROM kernel
  GROUP BY file, operator
  HAVING count(*) >= coalesce(:min_pattern_len, 3)
  LIMIT -1)
SELECT host.rank, host.name || '|' || names AS pattern, count(*) AS count,
       sum(kernels) / 1000.0 AS gpu_kernel_duration,
       sum(host.dur_ns) / 1000.0 AS cpu_op_duration
FROM trace_events(:trace, :ranks, NULL, NULL, :operator_name) AS host
CROSS JOIN sequence
WHERE host.device = 'CPU' AND host.operator = host.event AND sequence.file = host.file
  AND sequence.operator = host.event
GROUP BY host.rank, pattern
ORDER BY host.rank, count DESC, pattern;
