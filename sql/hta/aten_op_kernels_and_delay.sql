-- aten_op_kernels_and_delay: the kernels that ATen operators launch, and the delays of launch and start.
-- Family: analyses of HTA
-- Question: Which kernels does each ATen operator launch, and how late?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :include_memory_events       0|1            1: include copies and fills; default 0
-- Columns
--   rank                      INTEGER  rank
--   aten_op_name              TEXT     stable name of the operator
--   kernel_sequence           TEXT     names of its kernels, joined by ' -> '
--   occurrence_count          INTEGER  number of times that it launched this sequence
--   avg_aten_op_launch_delay  REAL     us, mean from the start of the operator to its first launch
--   avg_runtime_delay         REAL     us, mean from the start of that launch to the start of the first kernel
-- Grain: one row per rank, operator and sequence, the most frequent first.
-- Rules:
--   1. The operator of device work is op of trace_kernel_owners (A11), if its name begins with aten::. So each kernel
--      counts once, not also for the operators around that one.
--   2. The kernels of an operator are ordered by the start of the launch, then the start of the kernel, then name.
--   3. With include_memory_events = 0, work of type MEMORY (K1) is left out.
-- Reference: HTA TraceAnalysis.get_aten_op_kernels_and_delay
-- Differs from HTA: the operator is on the launch's thread and launches the kernel itself; a launch without device
--   work is harmless; ranks are not mixed (D32); every kind of launch counts (D29); synchronization is not work (D24);
--   means are not rounded.
WITH owned AS MATERIALIZED (
  SELECT file, event, launch, op, op_event
  FROM trace_kernel_owners(:trace, coalesce(:ranks, 'all'), 'all')
  WHERE op GLOB 'aten::*' AND op_event IS NOT NULL
  LIMIT -1),
host AS MATERIALIZED (
  SELECT file, event, ts_ns
  FROM trace_events(:trace, :ranks)
  WHERE device = 'CPU'
  LIMIT -1),
kernel AS (
  SELECT work.rank, owned.file, op, op_event, work.name, call.ts_ns - operator.ts_ns AS launch_delay,
         work.ts_ns - call.ts_ns AS runtime_delay,
         row_number() OVER (PARTITION BY owned.file, op_event
                            ORDER BY call.ts_ns, work.ts_ns, work.name) AS place
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0)) AS work
  CROSS JOIN owned ON owned.file = work.file AND owned.event = work.event
  CROSS JOIN host AS call ON call.file = owned.file AND call.event = owned.launch
  CROSS JOIN host AS operator ON operator.file = owned.file AND operator.event = owned.op_event
  WHERE work.device = 'GPU' AND (trace_kernel_type(work.name, work.cat) <> 'MEMORY' OR :include_memory_events)
  ORDER BY owned.file, op_event, place),
instance AS (
  SELECT rank, op, group_concat(name, ' -> ') AS kernel_sequence,
         max(launch_delay) FILTER (WHERE place = 1) AS launch_delay,
         max(runtime_delay) FILTER (WHERE place = 1) AS runtime_delay
  FROM kernel
  GROUP BY file, op_event)
SELECT rank, op AS aten_op_name, kernel_sequence, count(*) AS occurrence_count,
       sum(launch_delay) / (1000.0 * count(*)) AS avg_aten_op_launch_delay,
       sum(runtime_delay) / (1000.0 * count(*)) AS avg_runtime_delay
FROM instance
GROUP BY rank, op, kernel_sequence
ORDER BY rank, occurrence_count DESC, aten_op_name, kernel_sequence;
