-- A second reading of L2 and L3, in SQL: the causes of trace_step_causes, without their texts, from a table placed,
-- which oracle_moved.py fills. SQLite takes long to prepare it.
WITH
-- a row per area, and of the host per area and part of the step
by_area AS MATERIALIZED (
  SELECT class, family, area, late_area, stage, name, max(moved) AS moved,
         sum(before_ns) AS before_ns, -- of control, before L12
         sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns,
         max(max(CASE side WHEN 0 THEN steps ELSE 0 END)) OVER () AS control_windows,
         max(max(CASE side WHEN 1 THEN steps ELSE 0 END)) OVER () AS test_windows
  FROM placed
  GROUP BY class, family, area, late_area, stage, name
  HAVING class IS NULL OR total(time_ns) + total(before_ns) > 0
  LIMIT -1),
-- L2.3: the areas in which the host is late, in the order in which they are looked at
late_part AS (
  SELECT late_area, abs(sum(test_ns * control_windows - control_ns * test_windows)) AS size
  FROM by_area
  WHERE class IN ('idle_call', 'idle_host', 'idle_launch')
  GROUP BY late_area, class, name),
time AS (SELECT *, test_ns * control_windows - control_ns * test_windows AS diff,
                test_ns * control_windows + control_ns * test_windows AS both
         FROM by_area WHERE class IS NOT NULL),
looked_at AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY size DESC, late_area) AS place
  FROM (SELECT late_area, abs(sum(diff)) AS size,
               sum(both) + coalesce((SELECT sum(both) FROM time AS work
                                     WHERE work.family = time.late_area), 0) AS own,
               (SELECT max(size) FROM late_part WHERE late_part.late_area IS time.late_area) AS largest
        FROM time
        WHERE class IN ('idle_call', 'idle_host', 'idle_launch')
        GROUP BY late_area)
  LIMIT -1),
tested AS (
  SELECT *, late_area IS NOT NULL AND 2 * size >= left AND 20 * size >= delta
            AND 1.0 * size * (whole - before) >= 2.0 * left * own AS holds
  FROM (SELECT *, sum(size) OVER (ORDER BY place DESC) AS left,
               sum(own) OVER (ORDER BY place) - own AS before,
               (SELECT abs(sum(diff)) FROM time) AS delta, (SELECT sum(both) FROM time) AS whole
        FROM looked_at)),
chosen AS MATERIALIZED (
  SELECT late_area
  FROM (SELECT *, min(holds) OVER (ORDER BY place) AS is_reached FROM tested)
  WHERE is_reached AND 2 * largest < size
  LIMIT -1),
of_area AS MATERIALIZED (
  SELECT class, area, stage, name, moved, before_ns, control_ns, test_ns, control_windows, test_windows,
         CASE WHEN late_area IN (SELECT late_area FROM chosen) THEN late_area ELSE family END AS family
  FROM by_area
  LIMIT -1),
summed AS (
  SELECT class, family, name, sum(control_ns) AS control_ns, sum(test_ns) AS test_ns, control_windows, test_windows,
         min(mostly) AS stage, max(moved) AS moved, sum(before_ns) = 0 AS is_new
  FROM (SELECT *, first_value(stage) OVER (PARTITION BY class, family, name ORDER BY of_stage DESC, stage) AS mostly
        FROM (SELECT *, sum(control_ns * test_windows + test_ns * control_windows)
                        OVER (PARTITION BY class, family, name, stage) AS of_stage
              FROM of_area
              WHERE class IS NOT NULL))
  GROUP BY class, family, name
  HAVING sum(control_ns + test_ns) > 0),
meant AS (
  SELECT class, family, name, stage, moved, is_new, control_ns, test_ns, control_windows, test_windows,
         control_ns * test_windows AS control_mean, test_ns * control_windows AS test_mean,
         test_ns * control_windows - control_ns * test_windows AS diff,
         CASE WHEN class IN ('idle_call', 'idle_host', 'idle_launch') THEN 'host late'
              WHEN class IN ('idle_unrecorded', 'unrecorded') THEN 'not recorded' END AS late,
         class IN ('compute', 'memory') AS works
  FROM summed),
measured AS (
  SELECT *, abs(sum(diff) OVER ()) AS delta, abs(sum(diff) OVER (PARTITION BY late, family)) AS all_late,
         sum(CASE WHEN is_new THEN diff ELSE 0 END) OVER of_family AS came,
         sum(CASE WHEN test_ns = 0 THEN -diff ELSE 0 END) OVER of_family AS went
  FROM meant
  WINDOW of_family AS (PARTITION BY class, family)),
flagged AS (
  SELECT *, works AND CASE
    WHEN came > 0 AND 100 * came >= delta THEN is_new OR 4 * test_mean < 3 * control_mean
    WHEN went > 0 AND 100 * went >= delta THEN test_ns = 0 OR 4 * control_mean < 3 * test_mean
    ELSE 0 END AS swapped
  FROM measured),
kinds AS (
  SELECT *, CASE
    WHEN class = 'idle_wait' THEN 'queued'
    WHEN late IS NOT NULL THEN late
    WHEN class = 'comm' THEN 'communication'
    WHEN swapped AND sum(swapped AND diff > 0) OVER (PARTITION BY class, family) > 0
         AND sum(swapped AND diff < 0) OVER (PARTITION BY class, family) > 0 THEN 'replaced'
    ELSE 'changed' END AS kind,
    late IS NOT NULL AND family IS NULL AND name IS NOT NULL AND diff <> 0 AND 5 * abs(diff) >= all_late
      AND 20 * abs(diff) >= delta AND NOT (late = 'not recorded' AND moved) AS is_named
  FROM flagged),
-- L2.7
may_be_loose AS (
  SELECT *, kind <> 'replaced' AND name IS NOT NULL AND (class = 'comm' OR (class = 'compute' AND family = name))
            AND (is_new OR test_ns = 0) AS may
  FROM kinds),
weighed AS (
  SELECT *, sum(max(diff, 0)) OVER alike AS loose_came, sum(max(-diff, 0)) OVER alike AS loose_went
  FROM may_be_loose
  WINDOW alike AS (PARTITION BY class, may)),
loosened AS (
  SELECT class, family, name, stage, moved, is_new, control_ns, test_ns, control_windows, test_windows, diff, late,
         is_named, may AND loose_came > 0 AND loose_went > 0 AND 20 * min(loose_came, loose_went) >= delta AS loose,
         CASE WHEN may AND loose_came > 0 AND loose_went > 0 AND 20 * min(loose_came, loose_went) >= delta
              THEN 'replaced' ELSE kind END AS kind
  FROM weighed),
keyed AS MATERIALIZED (
  SELECT *, kind NOT IN ('queued', 'replaced') AND (late IS NULL OR is_named) AS single,
         dense_rank() OVER (ORDER BY kind,
                            CASE WHEN kind = 'queued' OR (late IS NOT NULL AND NOT is_named) THEN NULL ELSE class END,
                            loose, CASE WHEN kind IN ('changed', 'replaced', 'communication', 'host late') AND NOT loose
                                        THEN family END,
                            CASE WHEN kind NOT IN ('queued', 'replaced') AND (late IS NULL OR is_named)
                                 THEN quote(name) END) AS id
  FROM loosened
  LIMIT -1),
-- the areas of each cause, those that differ most first
spread AS (
  SELECT id, a.area, sum(a.test_ns * a.control_windows - a.control_ns * a.test_windows) AS diff
  FROM keyed CROSS JOIN of_area AS a ON a.class = keyed.class AND a.family = keyed.family AND a.name IS keyed.name
  WHERE a.stage IS NULL AND a.control_ns + a.test_ns > 0
  GROUP BY id, a.area),
ranged AS (
  SELECT *, count(*) OVER of_cause AS areas, sum(abs(diff)) OVER of_cause AS changes,
         row_number() OVER largest AS place,
         sum(abs(diff)) OVER (PARTITION BY id ORDER BY abs(diff) DESC, area ROWS UNBOUNDED PRECEDING)
           - abs(diff) AS before
  FROM spread
  WINDOW of_cause AS (PARTITION BY id), largest AS (PARTITION BY id ORDER BY abs(diff) DESC, area)),
placed_in AS MATERIALIZED (
  SELECT id, max(areas) AS areas, min(area) AS area,
         CASE WHEN max(areas) > 1 AND max(changes) > 0
                   AND (total(5 * before < 4 * changes) = 1 OR 10 * total(5 * before < 4 * changes) < max(areas))
              THEN json_group_array(area) FILTER (WHERE 5 * before < 4 * changes) END AS only_in
  FROM (SELECT * FROM ranged ORDER BY id, place)
  GROUP BY id
  LIMIT -1),
raw AS (
  SELECT id, kind, CASE WHEN count(DISTINCT class) = 1 THEN min(class) END AS class,
         CASE WHEN NOT max(loose) THEN min(family) END AS family,
         CASE WHEN count(DISTINCT stage) = 1 THEN min(stage) END AS stage,
         CASE WHEN single THEN min(name)
              WHEN kind = 'host late' THEN min(family)
              WHEN kind = 'replaced' THEN
                (SELECT new.name FROM keyed AS new
                 WHERE new.kind = 'replaced' AND new.class = keyed.class AND new.loose = keyed.loose
                   AND (new.loose OR new.family IS keyed.family)
                   AND (new.is_new OR new.test_ns = 0)
                 ORDER BY new.is_new DESC, new.control_ns + new.test_ns DESC, new.name
                 LIMIT 1) END AS name,
         single, sum(is_new) AS added, sum(test_ns = 0) AS removed, count(*) AS names,
         sum(control_ns) AS control_ns, sum(test_ns) AS test_ns, sum(diff) AS diff, control_windows, test_windows
  FROM keyed
  GROUP BY id),
cause AS MATERIALIZED (
  SELECT raw.*, coalesce(areas, 0) AS instances, only_in,
         coalesce(CASE WHEN areas > 1 THEN family ELSE area END, family) AS area,
         row_number() OVER (ORDER BY abs(diff) DESC, kind, class,
                            coalesce(CASE WHEN areas > 1 THEN family ELSE area END, family), name) AS place,
         sum(abs(diff)) OVER () AS all_changes
  FROM raw LEFT JOIN placed_in USING (id)
  LIMIT -1),
-- L3: what may be merged, in three rounds; of a round each cause is in one merge at most
by_stage AS MATERIALIZED (
  SELECT 1 AS round, stage AS key, id, diff, class, family, name
  FROM cause
  WHERE place > :shown AND stage IS NOT NULL AND single AND kind IN ('changed', 'host late')),
stages AS MATERIALIZED (
  SELECT key FROM by_stage GROUP BY key
  HAVING count(*) > 1 AND sum(abs(diff)) > 0 AND 2 * abs(sum(diff)) >= sum(abs(diff))),
by_name AS MATERIALIZED (
  SELECT 2 AS round, class || ' ' || quote(name) AS key, id, diff, class, family, name
  FROM cause
  WHERE place > :shown AND kind = 'changed' AND class IN ('compute', 'memory') AND name IS NOT NULL),
names AS MATERIALIZED (
  SELECT key FROM by_name GROUP BY key
  HAVING count(*) > 1 AND sum(abs(diff)) > 0 AND 2 * abs(sum(diff)) >= sum(abs(diff))),
by_family AS MATERIALIZED (
  SELECT 3 AS round, class || ' ' || quote(family) AS key, id, diff, class, family, name
  FROM cause
  WHERE place > :shown AND kind = 'changed' AND class IN ('compute', 'memory') AND family IS NOT NULL
    AND class || ' ' || quote(name) NOT IN (SELECT key FROM names)),
families AS MATERIALIZED (
  SELECT key FROM by_family GROUP BY key
  HAVING count(*) > 1 AND sum(abs(diff)) > 0 AND 2 * abs(sum(diff)) >= sum(abs(diff))),
member AS MATERIALIZED (
  SELECT * FROM by_stage WHERE key IN (SELECT key FROM stages)
  UNION ALL
  SELECT * FROM by_name WHERE key IN (SELECT key FROM names)
  UNION ALL
  SELECT * FROM by_family WHERE key IN (SELECT key FROM families)),
merge AS MATERIALIZED (
  SELECT round, key, sum(diff) AS diff,
         row_number() OVER (ORDER BY round, abs(sum(diff)) * 1.0 / sum(abs(diff)) DESC, abs(sum(diff)) DESC,
                            key) AS number
  FROM member
  GROUP BY round, key
  LIMIT -1),
-- how many merges it takes until the largest :shown have enough
enough AS MATERIALIZED (
  SELECT coalesce(min(number), (SELECT count(*) FROM merge)) AS number
  FROM (SELECT number, sum(size) AS held
        FROM (SELECT step.number, of.size,
                     row_number() OVER (PARTITION BY step.number ORDER BY of.size DESC) AS place
              FROM (SELECT 0 AS number UNION ALL SELECT number FROM merge) AS step
              CROSS JOIN (SELECT 0 AS number, abs(diff) AS size FROM cause WHERE place <= :shown
                          UNION ALL
                          SELECT number, abs(diff) FROM merge) AS of ON of.number <= step.number)
        WHERE place <= :shown
        GROUP BY number)
  WHERE 4 * held >= 3 * (SELECT max(all_changes) FROM cause)
  LIMIT -1),
merged AS MATERIALIZED (
  SELECT id, round, number
  FROM member JOIN merge USING (round, key)
  WHERE number <= (SELECT number FROM enough)
  LIMIT -1),
final AS (
  SELECT CASE WHEN merged.id IS NULL THEN kind ELSE 'merged' END AS kind,
         CASE WHEN count(DISTINCT class) = 1 THEN min(class) END AS class,
         CASE WHEN count(DISTINCT quote(area)) = 1 THEN min(area) WHEN round = 3 THEN min(family) END AS area,
         CASE WHEN count(DISTINCT quote(name)) = 1 THEN min(name) END AS name,
         sum(added) AS added, sum(removed) AS removed, sum(names) AS names, sum(control_ns) AS control_ns,
         sum(test_ns) AS test_ns, sum(diff) AS diff, sum(abs(diff)) AS changes, sum(instances) AS instances,
         CASE count(*) WHEN 1 THEN min(only_in) END AS only_in, control_windows, test_windows
  FROM cause LEFT JOIN merged USING (id)
  GROUP BY round, coalesce(number, -cause.id))
SELECT kind, class, area, name, added, removed, names, control_ns / (1000.0 * control_windows) AS control_time,
       test_ns / (1000.0 * test_windows) AS test_time,
       diff / (1000.0 * control_windows * test_windows) AS diff_time, control_ns, test_ns,
       diff * 1.0 / nullif(sum(diff) OVER (), 0) + 0.0 AS share, instances, only_in,
       changes / (1000.0 * control_windows * test_windows) AS changes
FROM final
ORDER BY abs(diff) DESC, kind, class, area, name;
