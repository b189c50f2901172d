-- critical_path_summary: what the critical paths of the steps consist of, by kind and name.
--
-- Parameters
--   :trace       TEXT required  directory, file, pattern or JSON array of these
--   :ranks       any            integer, JSON array or 'all'; default the lowest
--   :iterations  any            integer, JSON array, 'all', 'steady', 'first' or a phase (T23); default 'steady'
--   :clock       TEXT           whose steps: 'device' or 'host'; default 'device'
--   :steps       TEXT           which events are steps (T20); default 'auto'
-- Columns
--   kind        TEXT     as critical_path has it
--   name        TEXT     stable name; NULL if nothing is recorded
--   time        REAL     us a step
--   share       REAL     of all paths, 0 to 1; NULL if these have no length
--   parts       INTEGER  of all paths
--   time_ns     INTEGER  ns, of all paths
--   step_count  INTEGER  the paths
-- Grain: one row per kind and name, by time descending, then kind, name.
-- Rules:
--   1. The times of the rows add up to the mean length of a step.
--   2. A trace without steps has one path a file.
-- Reference: HTA TraceAnalysis.critical_path_analysis, CPGraph.summary
-- Differs from HTA: the path covers the whole step, also before the first kernel of a burst; copies are not
-- computation (D36); steps are taken one by one; nanoseconds are kept (D4).
WITH part AS MATERIALIZED (
  SELECT rank, iteration, kind, trace_stable_name(name) AS name, count(*) AS parts, sum(dur_ns) AS time_ns
  FROM critical_path(:trace, :ranks, :iterations, :clock, NULL, :steps)
  GROUP BY rank, iteration, kind, 4
  LIMIT -1),
paths AS MATERIALIZED (
  SELECT count(*) AS step_count FROM (SELECT DISTINCT rank, iteration FROM part)),
summed AS (
  SELECT kind, name, sum(parts) AS parts, sum(time_ns) AS time_ns
  FROM part
  WHERE kind IS NOT NULL
  GROUP BY kind, name)
SELECT kind, name, time_ns / (1000.0 * step_count) AS time, time_ns * 1.0 / sum(time_ns) OVER () AS share, parts,
       time_ns, step_count
FROM summed CROSS JOIN paths
ORDER BY time_ns DESC, kind, name;
