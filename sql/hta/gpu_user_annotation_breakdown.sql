-- gpu_user_annotation_breakdown: the user's annotations that take the time.
-- Family: analyses of HTA
-- Question: Which of your annotations take the time?
--
-- Parameters
--   :trace                       trace required directory, file, pattern or JSON array of these
--   :ranks                       ranks          integer, JSON array or 'all'; default 'all'
--   :include_last_profiler_step  INTEGER        0 without the last step of each rank, 1 with it; default 0
--   :use_gpu_annotation          0|1            1: annotations of the device; 0: of the host; default 1
--   :duration_ratio              REAL0..1       list the longest annotations until their sum reaches this share;
--                                               default 0.8
--   :num_kernels                 INTEGER>=0     maximum number of listed annotations; default 1000
--   :allowlist_patterns          TEXT[]         JSON array of GLOB patterns of names that are always listed;
--                                               default none
-- Columns
--   name    TEXT     name of the annotation, or 'others'
--   sum     REAL     us, sum of the durations
--   max     REAL     us, longest duration
--   min     REAL     us, shortest duration
--   mean    REAL     us, mean duration
--   stddev  REAL     us, sample standard deviation; 0 for one event
--   rank    INTEGER  rank
-- Grain: one row per rank and listed name; all other names of a rank are one row.
-- Rules:
--   1. Annotations are the events of category gpu_user_annotation, or user_annotation.
--   2. If a rank has at most num_kernels names, all are listed.
--   3. Otherwise a name is listed if it is in the allow list, or if it is among the first num_kernels, by sum, then
--      name, and the names before it have less than duration_ratio of the total.
--   4. Nested annotations are each counted in full.
-- Reference: HTA TraceAnalysis.get_gpu_user_annotation_breakdown
-- Differs from HTA: statistics remain over events when names are merged, and duration_ratio
--   is a share, not a quantile (D8); patterns work (D35); nanoseconds are kept (D4);
--   device annotations are left out with the last step if the event that places them is left out (T11,
--   T13), not by their own start (D41).
WITH RECURSIVE allowed(place, pattern) AS (
  SELECT -1, NULL
  UNION ALL
  SELECT place + 1, :allowlist_patterns ->> (place + 1)
  FROM allowed
  WHERE place + 1 < json_array_length(:allowlist_patterns)),
annotation AS NOT MATERIALIZED (
  SELECT rank, name, dur_ns
  FROM trace_events(:trace, :ranks, coalesce(:include_last_profiler_step, 0))
  WHERE cat = CASE WHEN coalesce(:use_gpu_annotation, 1) THEN 'gpu_user_annotation'
                   ELSE 'user_annotation' END),
named AS (
  SELECT rank, name, sum(dur_ns) AS total
  FROM annotation
  GROUP BY rank, name),
placed AS (
  SELECT rank, name,
         row_number() OVER longest AS place,
         sum(total) OVER longest - total AS before,
         count(*) OVER (PARTITION BY rank) AS names,
         sum(total) OVER (PARTITION BY rank) AS all_of_them
  FROM named
  WINDOW longest AS (PARTITION BY rank ORDER BY total DESC, name ROWS UNBOUNDED PRECEDING)),
listed AS (
  SELECT rank, name
  FROM placed
  WHERE names <= coalesce(:num_kernels, 1000) OR
        (place <= coalesce(:num_kernels, 1000) AND
         before < coalesce(:duration_ratio, 0.8) * all_of_them) OR
        EXISTS (SELECT 1 FROM allowed WHERE placed.name GLOB pattern)),
-- IN indexes the listed names; a join might not
labelled AS (
  SELECT rank, dur_ns,
         CASE WHEN (rank, name) IN (SELECT rank, name FROM listed)
              THEN name ELSE 'others' END AS label
  FROM annotation
  LIMIT -1)
SELECT label AS name,
       sum(dur_ns) / 1000.0 AS sum,
       max(dur_ns) / 1000.0 AS max,
       min(dur_ns) / 1000.0 AS min,
       sum(dur_ns) / (1000.0 * count(*)) AS mean,
       coalesce(trace_stddev(dur_ns), 0) / 1000.0 AS stddev,
       rank
FROM labelled
GROUP BY rank, label
ORDER BY rank, sum(dur_ns) DESC, label;
