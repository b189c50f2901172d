-- trace_tree_diff: the parts of a step in two traces as one tree: area, operators, kernel.
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array or 'all'; default the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all' or 'steady'; default 'steady'
--   :test_iteration     any            the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
-- Columns
--   path               TEXT     names from the step down to the row's, joined by ';': a folded stack
--   depth              INTEGER  0 for the step
--   name               TEXT     last name of the path
--   class              TEXT     as trace_step_time has it; NULL if the time is of several
--   side               TEXT     'both', 'control' or 'test': who has it
--   control_time       REAL     us a step in control, with everything below it
--   test_time          REAL     us a step in test, the same
--   diff_time          REAL     us a step, test minus control
--   control_self_time  REAL     us a step in control, without what is below it
--   test_self_time     REAL     us a step in test, the same
--   diff_self_time     REAL     us a step, test minus control
--   control_ns         INTEGER  ns, of all steps of control, with everything below it
--   test_ns            INTEGER  ns, of all steps of test, the same
--   control_self_ns    INTEGER  ns, of all steps of control, without what is below it
--   test_self_ns       INTEGER  ns, of all steps of test, the same
-- Grain: one row per path, parents before children, siblings by control_time + test_time
-- descending, then name.
-- Rules:
--   1. The parts of a step are those of trace_step_path. The step is the sum of all self times, and
--      equals the sum of trace_step_diff.
--   2. Below the step, work of the device, and of the host in a trace without device work: area,
--      top_op, op, trace_short_name of the kernel. The area is that of trace_step_causes.
--   3. While the device is idle: 'device idle', class, top_op, op.
--   4. A level that is NULL, or equal to the level above it, is left out. Time of neither name is
--      that of its class ('unrecorded').
--   5. Both sides have one tree: rows of the same path are one. Names are stable names.
--   6. In the names of a path, '%', ';', line feeds and carriage returns are written %25, %3B, %0A
--      and %0D: a path has one frame for each name.
WITH RECURSIVE part AS (
  SELECT 0 AS side, rank, iteration, class, annotation, module, top_op, op, kernel, time_ns
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock)
  UNION ALL
  SELECT 1, rank, iteration, class, annotation, module, top_op, op, kernel, time_ns
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock)),
counted AS (
  SELECT *, row_number() OVER (PARTITION BY side, rank, iteration) = 1 AS begins
  FROM part),
summed AS (
  SELECT class, annotation, module, top_op, op, kernel,
         sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns,
         min(side) AS first_side, max(side) AS last_side,
         sum(sum(CASE side WHEN 0 THEN begins ELSE 0 END)) OVER () AS control_windows,
         sum(sum(CASE side WHEN 1 THEN begins ELSE 0 END)) OVER () AS test_windows
  FROM counted
  GROUP BY class, annotation, module, top_op, op, kernel),
leveled AS (
  SELECT *, CASE WHEN class LIKE 'idle%' THEN 'device idle' ELSE
           coalesce(annotation, CASE WHEN module LIKE 'nn.Module%' THEN module END,
                    CASE WHEN top_op LIKE 'autograd::engine%' OR top_op GLOB '*Backward'
                           OR top_op GLOB '*Backward[0-9]'
                           OR top_op LIKE 'torch::autograd::AccumulateGrad%' THEN 'backward' END,
                    top_op) END AS area,
         CASE WHEN class LIKE 'idle%' OR class = 'unrecorded' THEN class END AS idle,
         trace_short_name(kernel) AS work
  FROM summed),
named AS (
  SELECT *, area AS name_1, nullif(idle, area) AS name_2,
         nullif(top_op, coalesce(idle, area)) AS name_3,
         nullif(op, coalesce(top_op, idle, area)) AS name_4,
         nullif(work, coalesce(op, top_op, idle, area)) AS name_5
  FROM leveled),
framed AS (
  SELECT *,
    ';' || replace(replace(replace(replace(name_1, '%', '%25'), ';', '%3B'), char(10), '%0A'), char(13), '%0D')
      AS frame_1,
    ';' || name_2 AS frame_2,
    ';' || replace(replace(replace(replace(name_3, '%', '%25'), ';', '%3B'), char(10), '%0A'), char(13), '%0D')
      AS frame_3,
    ';' || replace(replace(replace(replace(name_4, '%', '%25'), ';', '%3B'), char(10), '%0A'), char(13), '%0D')
      AS frame_4,
    ';' || replace(replace(replace(replace(name_5, '%', '%25'), ';', '%3B'), char(10), '%0A'), char(13), '%0D')
      AS frame_5
  FROM named),
prefixed AS (
  SELECT *, 'step' || coalesce(frame_1, '') AS path_1,
         'step' || coalesce(frame_1, '') || coalesce(frame_2, '') AS path_2,
         'step' || coalesce(frame_1, '') || coalesce(frame_2, '') || coalesce(frame_3, '') AS path_3,
         'step' || coalesce(frame_1, '') || coalesce(frame_2, '') || coalesce(frame_3, '')
                || coalesce(frame_4, '') AS path_4,
         'step' || coalesce(frame_1, '') || coalesce(frame_2, '') || coalesce(frame_3, '')
                || coalesce(frame_4, '') || coalesce(frame_5, '') AS path_5
  FROM framed),
placed AS (
  SELECT NULL AS parent, 'step' AS path, 'step' AS name, path_5 = 'step' AS is_self, prefixed.* FROM prefixed
  UNION ALL SELECT 'step', path_1, name_1, path_1 = path_5, * FROM prefixed WHERE name_1 IS NOT NULL
  UNION ALL SELECT path_1, path_2, name_2, path_2 = path_5, * FROM prefixed WHERE name_2 IS NOT NULL
  UNION ALL SELECT path_2, path_3, name_3, path_3 = path_5, * FROM prefixed WHERE name_3 IS NOT NULL
  UNION ALL SELECT path_3, path_4, name_4, path_4 = path_5, * FROM prefixed WHERE name_4 IS NOT NULL
  UNION ALL SELECT path_4, path_5, name_5, 1, * FROM prefixed WHERE name_5 IS NOT NULL),
node AS (
  SELECT path, min(parent) AS parent, min(name) AS name, min(class) AS first_class, max(class) AS last_class,
         min(first_side) AS first_side, max(last_side) AS last_side,
         sum(control_ns) AS control_ns, sum(test_ns) AS test_ns,
         sum(CASE WHEN is_self THEN control_ns ELSE 0 END) AS control_self_ns,
         sum(CASE WHEN is_self THEN test_ns ELSE 0 END) AS test_self_ns,
         min(control_windows) AS control_windows, min(test_windows) AS test_windows
  FROM placed
  GROUP BY path),
sibling AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY parent ORDER BY control_ns * test_windows
                               + test_ns * control_windows DESC, name) AS place
  FROM node
  LIMIT -1),
tree AS (
  SELECT path, 0 AS depth, '' AS place FROM sibling WHERE parent IS NULL
  UNION ALL
  SELECT sibling.path, depth + 1, tree.place || printf('%09d', sibling.place)
  FROM tree CROSS JOIN sibling ON sibling.parent = tree.path)
SELECT path, depth, name, CASE WHEN first_class = last_class THEN first_class END AS class,
       CASE WHEN first_side < last_side THEN 'both' WHEN last_side = 0 THEN 'control' ELSE 'test' END
         AS side,
       control_ns / (1000.0 * control_windows) AS control_time,
       test_ns / (1000.0 * test_windows) AS test_time,
       (test_ns * control_windows - control_ns * test_windows)
         / (1000.0 * control_windows * test_windows) AS diff_time,
       control_self_ns / (1000.0 * control_windows) AS control_self_time,
       test_self_ns / (1000.0 * test_windows) AS test_self_time,
       (test_self_ns * control_windows - control_self_ns * test_windows)
         / (1000.0 * control_windows * test_windows) AS diff_self_time,
       control_ns, test_ns, control_self_ns, test_self_ns
FROM tree CROSS JOIN sibling USING (path)
ORDER BY tree.place;
