-- cupti_counters: the counters of each kernel that CUPTI's range profiler measured, with the operators that launched
--   it.
-- Family: analyses of HTA
-- Question: What did CUPTI count in each kernel, and whose is it?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
-- Columns
--   rank       INTEGER  rank
--   iteration  INTEGER  number of the step of the launch; NULL outside of every step
--   name       TEXT     kernel name from CUPTI; __missing__ if CUPTI does not know it
--   op         TEXT     innermost operator around the launch; NULL without a launch
--   top_op     TEXT     outermost operator around the launch; NULL without a launch
--   op_stack   TEXT     JSON array of the operators from top_op to op
--   counters   TEXT     JSON object of the counters: counters ->> '$."smsp__inst_executed.sum"'
--   ts         REAL     us from the earliest event of the rank, invented by the profiler: only the order counts
--   dur        REAL     us, invented likewise
--   launch     INTEGER  event of the call that launched it; NULL: not known (rule 3)
--   file       TEXT     path
--   event      INTEGER  position in the file's traceEvents
-- Grain: one row per event of category cuda_profiler_range that has a ts, by rank and time.
-- Rules:
--   1. Launches are the calls (T10) with a name like *Launch*Kernel*, except driver calls inside a runtime call.
--   2. A trace does not record the launch of a range. So the first range of a file, by ts and then by place in the
--      file, gets the first launch, and so on.
--   3. If a file has more or fewer ranges than launches, then launch, op, top_op, op_stack and iteration are NULL.
--   4. Operators are the cpu_op (A11.5) that enclose the launch on its thread (T5).
--   5. A range counts if its launch counts (T13). Without a launch, its own start decides.
--   6. To record ranges, pass experimental_config=_ExperimentalConfig(profiler_metrics=[...],
--      profiler_measure_per_kernel=True) to a PyTorch that was built with CUPTI's range profiler. Other builds, such as
--      PyTorch 2.11 for CUDA 13, ignore the option without an error and write no ranges, so there are no rows
--      (https://github.com/pytorch/kineto/pull/1412).
-- Reference: HTA TraceAnalysis.get_cupti_counter_data_with_operators
-- Differs from HTA: if the numbers of ranges and launches differ, the counters are still listed, without operators;
--   every kind of launch counts; ranges are paired with launches before the last step is left out (D42).
WITH range AS (
  SELECT rank, file, event, name, ts, dur, args, ts_ns,
         row_number() OVER (PARTITION BY file ORDER BY ts_ns, event) AS place,
         count(*) OVER (PARTITION BY file) AS count
  FROM trace_events(:trace, :ranks)
  WHERE cat = 'cuda_profiler_range' AND ts_ns IS NOT NULL),
any_event AS MATERIALIZED (
  SELECT file, event, iteration, parent, cat, name, ts_ns,
         (cat IN ('cuda_driver', 'Runtime') OR cat GLOB '*_runtime') AND name GLOB '*Launch*Kernel*' AS launches
  FROM trace_events(:trace, :ranks)
  LIMIT -1),
launch AS MATERIALIZED (
  SELECT host.file, host.event, host.iteration, host.parent,
         row_number() OVER (PARTITION BY host.file ORDER BY host.ts_ns, host.event) AS place,
         count(*) OVER (PARTITION BY host.file) AS count
  FROM any_event AS host
  LEFT JOIN any_event AS around ON around.file = host.file AND around.event = host.parent
  WHERE host.launches AND host.ts_ns IS NOT NULL AND around.launches IS NOT 1
  LIMIT -1),
enclosing AS (
  SELECT file, event AS launch, parent, NULL AS op, 0 AS level
  FROM launch
  UNION ALL
  SELECT enclosing.file, launch, host.parent, CASE WHEN host.cat IN ('cpu_op', 'Operator') THEN host.name END, level + 1
  FROM enclosing
  CROSS JOIN any_event AS host
  WHERE host.file = enclosing.file AND host.event = enclosing.parent),
owner AS MATERIALIZED (
  SELECT file, launch, json_group_array(op) FILTER (WHERE level > 0) AS names
  FROM (SELECT file, launch, level, op
        FROM enclosing
        WHERE level = 0 OR op IS NOT NULL
        ORDER BY file, launch, level DESC)
  GROUP BY file, launch
  LIMIT -1)
SELECT rank, launch.iteration, name, names ->> '$[#-1]' AS op, names ->> '$[0]' AS top_op, names AS op_stack,
       args AS counters, ts, dur, launch.event AS launch, range.file, range.event
FROM range
LEFT JOIN launch ON launch.file = range.file AND launch.place = range.place AND launch.count = range.count
LEFT JOIN owner ON owner.file = launch.file AND owner.launch = launch.event
WHERE (range.file, coalesce(launch.event, range.event)) IN (
  SELECT file, event FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0)))
ORDER BY rank, ts_ns, range.file, range.event;
