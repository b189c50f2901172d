-- gpu_kernel_breakdown: the kernels that take the time of each type of device work.
-- Family: analyses of HTA
-- Question: Which kernels take the time of each type?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :duration_ratio              REAL0..1       list the longest kernels until their sum reaches this share;
--                                               default 0.8
--   :num_kernels                 INTEGER>=0     maximum number of listed kernels; default 10
--   :include_memory_kernels      0|1            0: exclude copies and fills; default 1
-- Columns
--   name         TEXT     name of the kernel, or 'others'
--   sum          REAL     us, sum of the durations
--   max          REAL     us, longest duration
--   min          REAL     us, shortest duration
--   mean         REAL     us, mean duration
--   stddev       REAL     us, sample standard deviation; 0 for one event
--   kernel_type  TEXT     'COMPUTATION', 'COMMUNICATION' or 'MEMORY'
--   rank         INTEGER  rank
-- Grain: one row per rank, type and listed name; all other names of a rank and type are one row.
-- Rules:
--   1. If a rank and type has at most num_kernels names, all are listed.
--   2. Otherwise a name is listed if it is among the first num_kernels, by sum, then name, and the names before it
--      have less than duration_ratio of the total.
--   3. Every statistic is over events, including the statistics of 'others'.
-- Reference: HTA TraceAnalysis.get_gpu_kernel_breakdown, second table
-- Differs from HTA: statistics remain over events when names are merged, and duration_ratio
--   is a share, not a quantile (D8); the type follows the category (D26, D27); nanoseconds are kept (D4);
--   device work without a launch belongs to the step in which it starts, and is not left out (D41).
WITH work AS NOT MATERIALIZED (
  SELECT rank, name, dur_ns, trace_kernel_type(name, cat) AS type
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE device = 'GPU'),
counted AS NOT MATERIALIZED (
  SELECT rank, type, name, dur_ns
  FROM work
  WHERE type IS NOT NULL AND (type <> 'MEMORY' OR coalesce(:include_memory_kernels, 1))),
named AS (
  SELECT rank, type, name, sum(dur_ns) AS total
  FROM counted
  GROUP BY rank, type, name),
placed AS (
  SELECT rank, type, name,
         row_number() OVER longest AS place,
         sum(total) OVER longest - total AS before,
         count(*) OVER (PARTITION BY rank, type) AS names,
         sum(total) OVER (PARTITION BY rank, type) AS all_of_them
  FROM named
  WINDOW longest AS (PARTITION BY rank, type ORDER BY total DESC, name ROWS UNBOUNDED PRECEDING)),
listed AS (
  SELECT rank, type, name
  FROM placed
  WHERE names <= coalesce(:num_kernels, 10) OR
        (place <= coalesce(:num_kernels, 10) AND
         before < coalesce(:duration_ratio, 0.8) * all_of_them)),
-- IN indexes the listed names; a join might not
labelled AS (
  SELECT rank, type, dur_ns,
         CASE WHEN (rank, type, name) IN (SELECT rank, type, name FROM listed)
              THEN name ELSE 'others' END AS label
  FROM counted
  LIMIT -1)
SELECT label AS name,
       sum(dur_ns) / 1000.0 AS sum,
       max(dur_ns) / 1000.0 AS max,
       min(dur_ns) / 1000.0 AS min,
       sum(dur_ns) / (1000.0 * count(*)) AS mean,
       coalesce(trace_stddev(dur_ns), 0) / 1000.0 AS stddev,
       type AS kernel_type, rank
FROM labelled
GROUP BY rank, type, label
ORDER BY rank, kernel_type, sum(dur_ns) DESC, label;
