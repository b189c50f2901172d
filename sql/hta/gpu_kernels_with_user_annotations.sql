-- gpu_kernels_with_user_annotations: kernels, copies and fills, each with the device annotation that it runs in.
-- Family: analyses of HTA
-- Question: In which of your annotations does each kernel run?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank             INTEGER  rank
--   ts               REAL     us from the earliest event of the rank
--   dur              REAL     us
--   pid              any      process, as in the file
--   tid              any      stream, as in the file
--   stream           INTEGER  stream
--   name             TEXT     name
--   user_annotation  TEXT     name of the annotation; NULL: none
--   file             TEXT     path
--   event            INTEGER  position in the file's traceEvents
-- Grain: one row per kernel, copy or fill, by rank and start.
-- Rules:
--   1. Annotations are the events of category gpu_user_annotation with a length (T4). An annotation contains
--      the instants from its start up to, but not including, its end.
--   2. The annotation of work is the innermost one (T5.2) of the same pid and tid that contains the start of the work.
--   3. trace_kernel_owners.annotation is the host annotation around the launch.
-- Reference: HTA TraceAnalysis.get_gpu_kernels_with_user_annotations
-- Differs from HTA: the annotation is on the work's own stream and contains its start. HTA takes the shortest
--   annotation that overlaps the work anywhere, even on other streams (D31). Synchronization is not work (D24). Work
--   without a launch belongs to the step in which it starts, and an annotation is never left out before its work
--   (D41).
WITH annotated AS MATERIALIZED (
  SELECT file, event, gpu_annotation
  FROM trace_kernel_owners(:trace, coalesce(:ranks, 'all'), 'all')
  WHERE gpu_annotation IS NOT NULL
  LIMIT -1)
SELECT rank, ts, dur, pid, tid, stream, name, gpu_annotation AS user_annotation, work.file, work.event
FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0)) AS work
LEFT JOIN annotated ON annotated.file = work.file AND annotated.event = work.event
WHERE device = 'GPU' AND trace_kernel_type(name, cat) IS NOT NULL
ORDER BY rank, ts_ns, dur_ns, name, stream, user_annotation, work.file, work.event;
