-- trace_step_causes: why a step takes longer or shorter in another trace, in causes that add up.
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array or 'all'; default the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all', 'steady' or a phase (T23); default 'steady'
--   :test_iteration     any            the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :steps              TEXT           which events are steps (T20); default 'auto'
-- Columns
--   kind          TEXT     'changed', 'replaced', 'communication', 'host late', 'queued' or 'not recorded'
--   class         TEXT     as trace_step_time has it; NULL if the parts are of several
--   area          TEXT     part of the program, as trace_step_path has it
--   name          TEXT     operator or kernel; of 'replaced' the longest new one, else old one; NULL: several
--   added         INTEGER  names that only test has
--   removed       INTEGER  names that only control has
--   names         INTEGER  names in all
--   control_time  REAL     us a step in control
--   test_time     REAL     us a step in test
--   diff_time     REAL     us a step, test minus control
--   control_ns    INTEGER  ns, of all steps of control
--   test_ns       INTEGER  ns, of all steps of test
--   share         REAL     part of the difference of the steps; NULL if that is 0
--   text          TEXT     the cause in words, with names as trace_label gives them
-- Grain: one row per cause, by |diff_time| descending, then kind, class, area, name.
-- Rules:
--   1. The parts of a step are those of trace_step_path, so the causes sum to the difference of the
--      mean lengths of a step, as those of trace_step_diff do.
--   2. Work of the device belongs to an area, as in trace_step_path. A part is a class, an area and a
--      name: the outermost operator, or the kernel of communication.
--   3. 'replaced': in an area and class, the parts that came, if they take 1 % of the difference or
--      more, and those that went or lost a quarter of their time, are one cause: what replaced what
--      counts net. If none came, it is the parts that went and those that gained.
--   4. 'communication': each kernel of an area. 'changed': each other part.
--   5. 'host late': the device waits because the host has not launched. A name that makes up a fifth of
--      all such lateness and 5 % of the difference is a cause, the others are one.
--   6. 'queued' (idle_wait) and 'not recorded' (idle_unrecorded) are one cause each. A trace without
--      device work has the parts of its host as areas of their own.
WITH part AS (
  SELECT 0 AS side, step_count AS steps, class, area, top_op, op, kernel, time_ns
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  WHERE time_ns > 0 OR class IS NULL
  UNION ALL
  SELECT 1, step_count, class, area, top_op, op, kernel, time_ns
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)
  WHERE time_ns > 0 OR class IS NULL),
placed AS (
  SELECT side, steps, class, time_ns,
         CASE WHEN class IN ('compute', 'comm', 'memory') THEN area END AS area,
         CASE WHEN class = 'comm' THEN kernel
              WHEN class IN ('idle_call', 'idle_launch', 'call') THEN op
              WHEN class IN ('compute', 'memory') THEN coalesce(top_op, kernel)
              ELSE top_op END AS name
  FROM part),
summed AS (
  SELECT class, area, name, sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns,
         max(max(CASE side WHEN 0 THEN steps ELSE 0 END)) OVER () AS control_windows,
         max(max(CASE side WHEN 1 THEN steps ELSE 0 END)) OVER () AS test_windows
  FROM placed
  GROUP BY class, area, name),
meant AS (
  SELECT class, area, name, control_ns, test_ns, control_windows, test_windows,
         control_ns * test_windows AS control_mean, test_ns * control_windows AS test_mean,
         test_ns * control_windows - control_ns * test_windows AS diff,
         class LIKE 'idle%' AND class NOT IN ('idle_wait', 'idle_unrecorded') AS late,
         class IN ('compute', 'memory') AS works
  FROM summed
  WHERE class IS NOT NULL),
measured AS (
  SELECT *, abs(sum(diff) OVER ()) AS delta, abs(sum(diff) FILTER (WHERE late) OVER ()) AS all_late,
         sum(CASE WHEN control_ns = 0 THEN diff ELSE 0 END) OVER area_of AS came,
         sum(CASE WHEN test_ns = 0 THEN -diff ELSE 0 END) OVER area_of AS went
  FROM meant
  WINDOW area_of AS (PARTITION BY class, area)),
flagged AS (
  SELECT *, works AND CASE
    WHEN came > 0 AND 100 * came >= delta THEN control_ns = 0 OR 4 * test_mean < 3 * control_mean
    WHEN went > 0 AND 100 * went >= delta THEN test_ns = 0 OR 4 * control_mean < 3 * test_mean
    ELSE 0 END AS swapped
  FROM measured),
kinds AS (
  SELECT *, CASE
    WHEN class = 'idle_wait' THEN 'queued'
    WHEN class IN ('idle_unrecorded', 'unrecorded') THEN 'not recorded'
    WHEN late THEN 'host late'
    WHEN class = 'comm' THEN 'communication'
    WHEN swapped AND sum(swapped AND diff > 0) OVER (PARTITION BY class, area) > 0
         AND sum(swapped AND diff < 0) OVER (PARTITION BY class, area) > 0 THEN 'replaced'
    ELSE 'changed' END AS kind,
    late AND diff <> 0 AND 5 * abs(diff) >= all_late AND 20 * abs(diff) >= delta AS is_named
  FROM flagged),
keyed AS (
  SELECT *, CASE WHEN kind IN ('queued', 'not recorded') OR (late AND NOT is_named) THEN NULL
                 ELSE class END AS of_class,
    kind NOT IN ('queued', 'not recorded', 'replaced') AND (NOT late OR is_named) AS single
  FROM kinds),
cause AS MATERIALIZED (
  SELECT kind, CASE WHEN count(DISTINCT class) = 1 THEN min(class) END AS class, min(area) AS area,
         CASE WHEN single THEN min(name)
              WHEN kind = 'replaced' THEN
                (SELECT new.name FROM keyed AS new
                 WHERE new.kind = 'replaced' AND new.class = keyed.class AND new.area IS keyed.area
                   AND (new.control_ns = 0 OR new.test_ns = 0)
                 ORDER BY new.control_ns = 0 DESC, new.control_ns + new.test_ns DESC, new.name
                 LIMIT 1) END AS name,
         sum(control_ns = 0) AS added, sum(test_ns = 0) AS removed, count(*) AS names,
         sum(control_ns) / (1000.0 * control_windows) AS control_time,
         sum(test_ns) / (1000.0 * test_windows) AS test_time,
         sum(diff) / (1000.0 * control_windows * test_windows) AS diff_time,
         sum(control_ns) AS control_ns, sum(test_ns) AS test_ns,
         sum(diff) * 1.0 / nullif((SELECT sum(diff) FROM meant), 0) + 0.0 AS share, abs(sum(diff)) AS size
  FROM keyed
  GROUP BY kind, of_class, CASE WHEN kind IN ('changed', 'replaced', 'communication') THEN area END,
           single, CASE WHEN single THEN name END),
said AS (
  SELECT *, trace_label(name) AS label,
         CASE WHEN area <> coalesce(name, '') THEN ' (' || trace_label(area) || ')' ELSE '' END AS of_area,
         CASE WHEN added > 0 THEN added ELSE removed END AS winners, sum(kind = 'host late') OVER () AS late
  FROM cause)
SELECT kind, class, area, name, added, removed, names, control_time, test_time, diff_time, control_ns, test_ns,
       share, CASE kind
         WHEN 'queued' THEN 'launched, not begun'
         WHEN 'not recorded' THEN CASE WHEN class = 'unrecorded' THEN 'nothing recorded of the host'
                                       ELSE 'idle, nothing recorded of the host' END
         WHEN 'communication' THEN CASE WHEN area LIKE 'nccl:%' OR area LIKE 'gloo:%' THEN area
                                        ELSE label || CASE WHEN count(*) OVER (PARTITION BY kind, label) > 1
                                                           THEN coalesce(of_area, '') ELSE '' END END || ', not hidden'
         WHEN 'host late' THEN CASE WHEN class IS 'idle_launch' THEN 'launching: ' || label
                                    ELSE 'waiting for ' || coalesce(label, 'the host'
                                           || CASE WHEN late > 1 THEN ', elsewhere' ELSE '' END) END
         WHEN 'replaced' THEN CASE
           WHEN class = 'memory' THEN 'copies of ' || label
           ELSE label || CASE WHEN added = 0 THEN ' gives way to '
                              WHEN added = 1 THEN ' takes over from '
                              ELSE ' and ' || (added - 1) || ' more take over from ' END
                || (names - winners) || CASE names - winners WHEN 1 THEN ' operator' ELSE ' operators' END
           END || coalesce(of_area, '')
         ELSE CASE class WHEN 'memory' THEN 'copies: ' ELSE '' END || coalesce(label, 'work without a launch')
              || coalesce(of_area, '') END AS text
FROM said
ORDER BY size DESC, kind, class, area, name;
