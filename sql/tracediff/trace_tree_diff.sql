-- trace_tree_diff: the parts of a step in two traces as one tree: area, operators, kernel.
-- Family: time of a step
-- Question: Which part of the program is slower: tree, flame graph?
--
-- Parameters
--   :control            trace required baseline trace
--   :test               trace required trace to compare with the baseline
--   :control_rank       ranks|job      integer, JSON array, 'all', or 'job' (all ranks as one);
--                                      default 'job' if both have several ranks, else the lowest
--   :test_rank          ranks|job      the same for test
--   :control_iteration  iterations     integer, JSON array, 'all', 'steady' (without first and last),
--                                      'first' or a phase; default 'steady'
--   :test_iteration     iterations     the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :steps              steps          which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   path               TEXT     names from the step down to this one, joined by ';': a stack for flame graphs
--   depth              INTEGER  0 for the step
--   name               TEXT     last name of the path
--   class              TEXT     as in trace_step_time; NULL if its parts have several classes
--   side               TEXT     side that has it: 'both', 'control' or 'test'
--   control_time       REAL     us per step in control, including everything below
--   test_time          REAL     us per step in test, including everything below
--   diff_time          REAL     us per step, test minus control
--   control_self_time  REAL     us per step in control, excluding everything below
--   test_self_time     REAL     us per step in test, excluding everything below
--   diff_self_time     REAL     us per step, test minus control
--   control_ns         INTEGER  ns, control_time summed over all steps of control
--   test_ns            INTEGER  ns, test_time summed over all steps of test
--   control_self_ns    INTEGER  ns, control_self_time summed over all steps of control
--   test_self_ns       INTEGER  ns, test_self_time summed over all steps of test
--   control_kernels    REAL     kernels, copies and fills per step in control, including everything below
--   test_kernels       REAL     kernels, copies and fills per step in test, including everything below
--   only_rank          INTEGER  for a job, the only rank whose own steps differ in this; NULL: several, or
--                               communication
-- Grain: one row per path, parents before their children, longer siblings first (control_time + test_time), then
-- by name.
-- Rules:
--   1. The parts of a step come from trace_step_path. So the self times add up to the step, exactly like the times of
--      trace_step_diff.
--   2. The levels of device work are area (see trace_step_path), top_name, op unless it is a Python frame (L4), and
--      trace_short_name of the kernel. Host time in a trace without device work has the same levels. Device work
--      without a launch is directly below the step. If a family (L1) has several areas, the family takes their place,
--      and the areas are below top_name. So each cause of trace_step_causes is a row, with its parts below it.
--   3. The levels of idle time are 'device idle', class, top_name and op. The levels of unrecorded host time are
--      'unrecorded' and op. Here op may be the name of a gap (A5.4).
--   4. A level that is NULL or equal to the level above it is left out. This holds for op and kernel even if an area of
--      a family is between them.
--   5. Names are stable names. A name that both sides have is one row.
--   6. Kernels are counted as in trace_step_path, including hidden ones. A row with only hidden kernels has no time.
--   7. If only one side calls HIP and only the other CUDA, hipX counts as cudaX, as in causes (L2.1).
--   8. In the path, '%', ';' and line feeds of a name are written %25, %3B and %0A.
WITH RECURSIVE asked AS MATERIALIZED (
  SELECT control_chosen, test_chosen, control_ranks, test_ranks, control_job AND test_job AND ranks > 1 AS is_job
  FROM trace_compared_ranks(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :steps)
  LIMIT -1),
own AS MATERIALIZED ( -- steps of two jobs, rank by rank
  SELECT 0 AS side, rank, iteration, class, area, family, top_name, top_op, op, kernel, time_ns
  FROM asked CROSS JOIN trace_step_path(CASE WHEN is_job THEN :control END, control_ranks, :control_iteration, :clock,
                                        'step', :steps)
  UNION ALL
  SELECT 1, rank, iteration, class, area, family, top_name, top_op, op, kernel, time_ns
  FROM asked CROSS JOIN trace_step_path(CASE WHEN is_job THEN :test END, test_ranks, :test_iteration, :clock, 'step',
                                        :steps)
  LIMIT -1),
shared AS MATERIALIZED ( -- the ranks of both jobs, with their steps
  SELECT rank, max(windows) FILTER (WHERE side = 0) AS control_windows,
         max(windows) FILTER (WHERE side = 1) AS test_windows, count(*) OVER () AS ranks
  FROM (SELECT side, rank, count(*) AS windows FROM (SELECT DISTINCT side, rank, iteration FROM own)
        GROUP BY side, rank)
  GROUP BY rank
  HAVING count(*) = 2
  LIMIT -1),
part AS (
  SELECT 0 AS side, NULL AS rank, class, area, family, top_name, top_op, op, kernel, time_ns, kernels,
         step_count AS steps
  FROM asked CROSS JOIN trace_step_path(:control, control_chosen, :control_iteration, :clock, 'trace', :steps)
  UNION ALL
  SELECT 1, NULL, class, area, family, top_name, top_op, op, kernel, time_ns, kernels, step_count
  FROM asked CROSS JOIN trace_step_path(:test, test_chosen, :test_iteration, :clock, 'trace', :steps)
  UNION ALL
  SELECT side, rank, class, area, family, top_name, top_op, op, kernel, sum(time_ns), 0, NULL
  FROM own CROSS JOIN shared USING (rank)
  WHERE ranks > 1 AND time_ns > 0
  GROUP BY side, rank, class, area, family, top_name, top_op, op, kernel),
-- the sides that call HIP and CUDA
called AS (
  SELECT *, class LIKE 'idle%' OR class IS 'unrecorded' AS is_state,
         min(CASE WHEN class IN ('idle_call', 'idle_launch') AND op GLOB 'hip[A-Z]*' THEN side END) OVER () AS hip,
         max(CASE WHEN class IN ('idle_call', 'idle_launch') AND op GLOB 'hip[A-Z]*' THEN side END) OVER () AS last_hip,
         min(CASE WHEN class IN ('idle_call', 'idle_launch') AND op GLOB 'cuda[A-Z]*' THEN side END) OVER () AS cuda,
         max(CASE WHEN class IN ('idle_call', 'idle_launch') AND op GLOB 'cuda[A-Z]*' THEN side END) OVER ()
           AS last_cuda
  FROM part),
alike AS (
  SELECT side, rank, class, area, family, kernel, time_ns, kernels, steps, is_state,
         CASE WHEN as_cuda THEN substr(replace(' ' || top_name, ' hip', ' cuda'), 2) ELSE top_name END AS top_name,
         CASE WHEN as_cuda THEN substr(replace(' ' || op, ' hip', ' cuda'), 2) ELSE op END AS op
  FROM (SELECT side, rank, class, area, family, top_name, kernel, time_ns, kernels, steps, is_state,
               side = hip AND hip = last_hip AND cuda = last_cuda AND hip <> cuda AS as_cuda,
               CASE WHEN top_name IS top_op OR class IN ('idle_call', 'idle_launch', 'idle_unrecorded', 'call',
                                                         'unrecorded')
                    THEN op END AS op
        FROM called)),
leveled AS MATERIALIZED (
  SELECT side, rank, class, time_ns, kernels, steps, is_state,
         CASE WHEN class LIKE 'idle%' THEN 'device idle' WHEN is_state THEN class
              WHEN min(CASE WHEN rank IS NULL THEN area END) OVER of_family
                   < max(CASE WHEN rank IS NULL THEN area END) OVER of_family THEN family ELSE area END AS area,
         CASE WHEN class LIKE 'idle%' THEN class
              WHEN NOT is_state AND min(CASE WHEN rank IS NULL THEN area END) OVER of_family
                                    < max(CASE WHEN rank IS NULL THEN area END) OVER of_family THEN area END AS inner,
         CASE WHEN class IS NOT 'unrecorded' THEN top_name END AS top_op, op, trace_short_name(kernel) AS kernel
  FROM alike
  WINDOW of_family AS (PARTITION BY is_state, family)),
named AS MATERIALIZED (
  SELECT side, rank, class, time_ns, kernels, steps, area AS name_1,
         CASE WHEN is_state THEN inner ELSE nullif(top_op, area) END AS name_2,
         CASE WHEN is_state THEN nullif(top_op, coalesce(inner, area)) ELSE nullif(inner, top_op) END AS name_3,
         CASE WHEN op IS NOT inner OR is_state
                   THEN nullif(op, coalesce(top_op, CASE WHEN is_state THEN inner END, area)) END AS name_4,
         nullif(kernel, coalesce(op, top_op, area)) AS name_5
  FROM leveled),
framed AS MATERIALIZED (
  SELECT *,
         coalesce(';' || replace(replace(replace(name_1, '%', '%25'), ';', '%3B'), char(10), '%0A'), '')
           AS frame_1,
         coalesce(';' || replace(replace(replace(name_2, '%', '%25'), ';', '%3B'), char(10), '%0A'), '')
           AS frame_2,
         coalesce(';' || replace(replace(replace(name_3, '%', '%25'), ';', '%3B'), char(10), '%0A'), '')
           AS frame_3,
         coalesce(';' || replace(replace(replace(name_4, '%', '%25'), ';', '%3B'), char(10), '%0A'), '')
           AS frame_4,
         coalesce(';' || replace(replace(replace(name_5, '%', '%25'), ';', '%3B'), char(10), '%0A'), '')
           AS frame_5
  FROM named),
placed AS ( -- one row per level of a part
  SELECT CASE WHEN level > 0 THEN 'step' ELSE '' END || CASE WHEN level > 1 THEN frame_1 ELSE '' END
         || CASE WHEN level > 2 THEN frame_2 ELSE '' END || CASE WHEN level > 3 THEN frame_3 ELSE '' END
         || CASE WHEN level > 4 THEN frame_4 ELSE '' END AS parent,
         CASE level WHEN 0 THEN 'step' WHEN 1 THEN frame_1 WHEN 2 THEN frame_2 WHEN 3 THEN frame_3 WHEN 4 THEN frame_4
                    ELSE frame_5 END AS frame,
         CASE level WHEN 0 THEN 'step' WHEN 1 THEN name_1 WHEN 2 THEN name_2 WHEN 3 THEN name_3 WHEN 4 THEN name_4
                    ELSE name_5 END AS name,
         CASE WHEN level < 1 THEN frame_1 ELSE '' END || CASE WHEN level < 2 THEN frame_2 ELSE '' END
         || CASE WHEN level < 3 THEN frame_3 ELSE '' END || CASE WHEN level < 4 THEN frame_4 ELSE '' END
         || CASE WHEN level < 5 THEN frame_5 ELSE '' END AS below, side, rank, class, time_ns, kernels
  FROM framed
  CROSS JOIN (SELECT 0 AS level UNION ALL SELECT 1 UNION ALL SELECT 2
              UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5)
  WHERE CASE level WHEN 0 THEN 1 WHEN 1 THEN name_1 IS NOT NULL
                   WHEN 2 THEN name_2 IS NOT NULL WHEN 3 THEN name_3 IS NOT NULL
                   WHEN 4 THEN name_4 IS NOT NULL ELSE name_5 IS NOT NULL END),
node AS MATERIALIZED (
  SELECT parent || frame AS path, parent, name,
         CASE WHEN min(class) = max(class) THEN min(class) END AS class,
         min(side) AS first_side, max(side) AS last_side,
         sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns,
         sum(CASE WHEN side = 0 AND below = '' THEN time_ns ELSE 0 END) AS control_self_ns,
         sum(CASE WHEN side = 1 AND below = '' THEN time_ns ELSE 0 END) AS test_self_ns,
         sum(CASE side WHEN 0 THEN kernels ELSE 0 END) AS control_kernels,
         sum(CASE side WHEN 1 THEN kernels ELSE 0 END) AS test_kernels
  FROM placed
  WHERE rank IS NULL
  GROUP BY 1
  LIMIT -1),
own_node AS MATERIALIZED (
  SELECT parent || frame AS path, rank, (sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) * control_windows
                                         - sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) * test_windows)
                                          / (1000.0 * control_windows * test_windows) AS diff_time
  FROM placed CROSS JOIN shared USING (rank)
  GROUP BY 1, rank
  LIMIT -1),
counted AS MATERIALIZED (
  SELECT max(CASE side WHEN 0 THEN steps END) AS control_steps,
         max(CASE side WHEN 1 THEN steps END) AS test_steps
  FROM named),
tree AS (
  SELECT 0 AS depth, control_ns * test_steps + test_ns * control_steps AS size, node.*,
         control_steps, test_steps
  FROM node CROSS JOIN counted
  WHERE parent = ''
  UNION ALL
  SELECT depth + 1, node.control_ns * test_steps + node.test_ns * control_steps, node.*,
         control_steps, test_steps
  FROM tree CROSS JOIN node ON node.parent = tree.path
  ORDER BY depth DESC, size DESC, name) -- deepest first: children follow their parent
SELECT path, depth, name, class,
       CASE WHEN first_side < last_side THEN 'both' WHEN last_side = 0 THEN 'control'
            ELSE 'test' END AS side,
       control_ns / (1000.0 * control_steps) AS control_time,
       test_ns / (1000.0 * test_steps) AS test_time,
       (test_ns * control_steps - control_ns * test_steps)
         / (1000.0 * control_steps * test_steps) AS diff_time,
       control_self_ns / (1000.0 * control_steps) AS control_self_time,
       test_self_ns / (1000.0 * test_steps) AS test_self_time,
       (test_self_ns * control_steps - control_self_ns * test_steps)
         / (1000.0 * control_steps * test_steps) AS diff_self_time,
       control_ns, test_ns, control_self_ns, test_self_ns,
       control_kernels * 1.0 / control_steps AS control_kernels,
       test_kernels * 1.0 / test_steps AS test_kernels,
       CASE WHEN class IS NOT 'comm'
            THEN (SELECT trace_only_rank(o.rank, o.diff_time,
                                         (tree.test_ns * control_steps - tree.control_ns * test_steps)
                                         / (1000.0 * control_steps * test_steps))
                  FROM own_node AS o
                  WHERE o.path = tree.path) END AS only_rank
FROM tree;
