-- trace_clock_factor: whether kernels that do the same work are all slower by one factor, as with another clock.
-- Family: the answer
-- Question: Is it the clock of the GPU: all kernels slower alike?
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array or 'all'; default the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all', 'steady' (without first and last),
--                                      'first' or a phase; default 'steady'
--   :test_iteration     any            the same for test
--   :steps              TEXT           which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   kind            TEXT     'step', then its parts: a kernel 'beyond' or 'within' the factor, 'other' for all else
--   outcome         TEXT     of the step: 'one factor', 'no change', 'no common factor' or 'too few kernels'
--   op              TEXT     operator that launched the kernel
--   name            TEXT     stable name of the kernel
--   grid            TEXT     JSON, of its launch; NULL if not recorded
--   block           TEXT     the same
--   shapes          TEXT     JSON, Input Dims of op
--   counts          REAL     executions of the kernel a step, on each side
--   factor          REAL     mean duration in test by that in control; of the step the common factor
--   low             REAL     of the step: a quarter of the weight has this factor or less
--   high            REAL     of the step: a quarter of the weight has this factor or more
--   kernels         INTEGER  of the step: kernels that are compared
--   agreeing        INTEGER  of the step: of these, kernels at the common factor
--   agreement       REAL     of the step: the part of the weight that these have
--   share           REAL     of the step: the part of the device time of both sides that these have
--   control_time    REAL     us a step in control
--   test_time       REAL     us a step in test
--   diff_time       REAL     us a step, test minus control
--   explained_time  REAL     us a step: what the common factor makes of control_time
--   rest_time       REAL     us a step: diff_time without explained_time
-- Grain: one row for the step, one per kernel that is compared, one for all else in the step: the step, kernels
-- beyond, other, kernels within; of a kind by |rest_time| descending, then by op, name, grid, block, shapes.
-- Rules:
--   1. A kernel is device work of type COMPUTATION (K4) with one stable name, grid, block and operator, and one list
--      of shapes and types of that. It is compared if it runs equally often a step on both sides: then it does the
--      same work. What is not recorded on either side is the same; shapes and types count if both sides have any.
--   2. Copies and communication are not compared. Their time does not follow the clock of the cores, and a
--      collective waits for other ranks.
--   3. The factor of a kernel is that of its means, not of its medians. A step is a mean over steps, and a clock that
--      falls in a third of the steps changes means and leaves medians as they are. An execution that is far off does
--      no harm, because the common factor is a median over kernels.
--   4. The common factor is the weighted median of the factors: half of the weight has it or less, half has it or
--      more; of two such factors the geometric mean. It is the same on logarithms, and 1 / factor with the sides
--      turned around. The weight of a kernel is its time a step, of both sides together: the durations of short
--      kernels are rounded and noisy. No kernel has more than a fifth of the weight, so that one that takes
--      most of the time and changed is not taken for all; up to five kernels have the same weight.
--   5. A kernel is at the common factor if its own is at most a tolerance away, as a ratio. The tolerance is a quarter
--      of the common factor's distance from 1, at most 5 %; and 5 % if that distance is less than 2 %.
--   6. The outcome is the first that holds:
--      'too few kernels': fewer than three are compared, or they are less than a tenth of the COMPUTATION of a side;
--      'no common factor': fewer than three kernels are at it, or they have less than two thirds of the weight;
--      'no change': the common factor is less than 2 % away from 1;
--      'one factor'.
--   7. With 'one factor', explained_time is control_time * (factor - 1). Otherwise it is 0. A kernel is 'within' if its
--      rest is in the tolerance, else 'beyond': it changed for another reason, too, which is worth rest_time. With
--      another outcome than 'one factor' these two words are about factor 1 and 5 %.
--   8. Kernels that wait for memory do not follow the clock of the cores: their factor is near 1. If they
--      have a third of the weight or more, there is no common factor; low is near 1 then, and high is what the clock
--      does. If they have less, they are beyond the factor, with a rest of the other sign.
--   9. control_time and test_time of a kernel are the time in which the step was in it (A3); kernels of one name and
--      operator divide theirs by durations. So rows add up to the step, and explained_time and rest_time to
--      diff_time, to the ns.
-- With shared/factors
path AS MATERIALIZED (
  SELECT 0 AS side, step_count, class, op, kernel, time_ns
  FROM trace_step_path(:control, :control_rank, :control_iteration, NULL, 'trace', :steps)
  UNION ALL
  SELECT 1, step_count, class, op, kernel, time_ns
  FROM trace_step_path(:test, :test_rank, :test_iteration, NULL, 'trace', :steps)
  LIMIT -1),
windows AS MATERIALIZED (
  SELECT max(step_count) FILTER (WHERE side = 0) AS c_steps, max(step_count) FILTER (WHERE side = 1) AS t_steps,
         total(time_ns) FILTER (WHERE side = 0) AS c_step, total(time_ns) FILTER (WHERE side = 1) AS t_step
  FROM path
  LIMIT -1),
-- ns and counts of all steps: whole numbers, of means that were rounded once
launched AS MATERIALIZED (
  SELECT op, kernel AS name, kernel_type = 'COMPUTATION' AS computes, shapes, types,
         CASE kernel_type WHEN 'COMPUTATION' THEN grid END AS grid,
         CASE kernel_type WHEN 'COMPUTATION' THEN block END AS block,
         round(control_kernels * c_steps) AS c_counts, round(test_kernels * t_steps) AS t_counts,
         round(1000 * control_device_time * c_steps) AS c_ns, round(1000 * test_device_time * t_steps) AS t_ns
  FROM windows
  CROSS JOIN trace_diff_by(:control, :test, 'op,kernel,kernel_type,shapes,types,grid,block', :control_rank, :test_rank,
                           :control_iteration, :test_iteration, 'GPU', 2, :steps)
  LIMIT -1),
-- shapes that only one side has recorded tell nothing
known AS MATERIALIZED (
  SELECT max(c_counts > 0 AND shapes IS NOT NULL) AND max(t_counts > 0 AND shapes IS NOT NULL) AS shapes
  FROM launched LIMIT -1),
-- a row per kernel, with the sums of both sides
kernel AS MATERIALIZED (
  SELECT computes, op, name, grid, block, CASE WHEN known.shapes THEN launched.shapes END AS shapes, sum(c_ns) AS c_ns,
         sum(t_ns) AS t_ns, sum(c_counts) AS c_counts, sum(t_counts) AS t_counts
  FROM known CROSS JOIN launched
  GROUP BY computes, op, name, grid, block, 6, CASE WHEN known.shapes THEN types END
  LIMIT -1),
-- the time of a step that kernels of an operator and a name have, and that all work has
place AS MATERIALIZED (
  SELECT quote(op) AS op, kernel AS name, total(time_ns) FILTER (WHERE side = 0) AS c_ns,
         total(time_ns) FILTER (WHERE side = 1) AS t_ns
  FROM path
  WHERE class = 'compute'
  GROUP BY 1, 2
  LIMIT -1),
-- all kernels and those that compute; and these by operator and name
whole AS MATERIALIZED (
  SELECT sum(c_ns) AS c_all, sum(t_ns) AS t_all, sum(c_ns * computes) AS c_computes, sum(t_ns * computes) AS t_computes
  FROM kernel
  LIMIT -1),
named AS MATERIALIZED (
  SELECT quote(op) AS op, name, sum(c_ns) AS c_ns, sum(t_ns) AS t_ns FROM kernel WHERE computes GROUP BY 1, 2 LIMIT -1),
compared AS MATERIALIZED (
  SELECT op, name, grid, block, shapes, c_ns, t_ns, c_counts * 1.0 / c_steps AS counts,
         t_ns * c_counts / (c_ns * t_counts) AS ratio, c_ns * t_steps + t_ns * c_steps AS time, c_steps, t_steps
  FROM kernel CROSS JOIN windows
  WHERE computes AND c_ns > 0 AND t_ns > 0 AND c_counts * t_steps = t_counts * c_steps
  LIMIT -1),
judged AS MATERIALIZED (
  SELECT *, CASE WHEN kernels < 3 OR of_control < 0.1 OR of_test < 0.1 THEN 'too few kernels'
                 WHEN agreeing < 3 OR agreement < 0.666 THEN 'no common factor'
                 WHEN away < 1.02 THEN 'no change'
                 ELSE 'one factor' END AS outcome
  FROM (SELECT count(ratio) AS kernels, coalesce(sum(agrees), 0) AS agreeing,
               total(weight) FILTER (WHERE agrees) / sum(weight) AS agreement,
               sum(c_ns) / max(c_computes) AS of_control, sum(t_ns) / max(t_computes) AS of_test,
               total(c_ns / c_steps + t_ns / t_steps) FILTER (WHERE agrees)
                 / max(c_all / c_steps + t_all / t_steps) AS share,
               max(factor) AS factor, max(away) AS away, max(low) AS low, max(high) AS high, max(tolerance) AS tolerance
        FROM (SELECT *, max(ratio / factor, factor / ratio) <= 1 + tolerance AS agrees
              FROM whole
              CROSS JOIN (SELECT *, CASE WHEN away < 1.02 THEN 0.05 ELSE min(0.05, (away - 1) / 4) END AS tolerance
                          FROM common)
              LEFT JOIN weighed))
  LIMIT -1),
-- ns a step: of the kernels, and of the step
timed AS MATERIALIZED (
  SELECT op, name, grid, block, shapes, counts, ratio, c, t, c * (factor - 1) AS explained,
         max(ratio / factor, factor / ratio) > 1 + tolerance AS is_beyond
  FROM (SELECT w.op, w.name, grid, block, shapes, counts, ratio,
               coalesce(p.c_ns, 0) * w.c_ns / n.c_ns / c_steps AS c,
               coalesce(p.t_ns, 0) * w.t_ns / n.t_ns / t_steps AS t,
               CASE outcome WHEN 'one factor' THEN factor ELSE 1.0 END AS factor,
               CASE outcome WHEN 'one factor' THEN tolerance ELSE 0.05 END AS tolerance
        FROM judged
        CROSS JOIN weighed AS w
        CROSS JOIN named AS n ON n.op = quote(w.op) AND n.name = w.name
        LEFT JOIN place AS p ON p.op = n.op AND p.name = n.name)
  LIMIT -1),
step AS MATERIALIZED (
  SELECT judged.*, c_step / c_steps AS c, t_step / t_steps AS t, sums.*
  FROM windows
  CROSS JOIN judged
  CROSS JOIN (SELECT total(c) AS c_kernels, total(t) AS t_kernels, total(explained) AS explained FROM timed) AS sums
  WHERE c_steps > 0 AND t_steps > 0
  LIMIT -1),
line AS (
  SELECT column1 AS place, column2 AS kind, CASE column1 WHEN 0 THEN outcome END AS outcome, NULL AS op, NULL AS name,
         NULL AS grid, NULL AS block, NULL AS shapes, NULL AS counts, CASE column1 WHEN 0 THEN factor END AS factor,
         CASE column1 WHEN 0 THEN low END AS low, CASE column1 WHEN 0 THEN high END AS high,
         CASE column1 WHEN 0 THEN kernels END AS kernels, CASE column1 WHEN 0 THEN agreeing END AS agreeing,
         CASE column1 WHEN 0 THEN agreement END AS agreement,
         CASE column1 WHEN 0 THEN coalesce(share, 0.0) END AS share,
         CASE column1 WHEN 0 THEN c ELSE c - c_kernels END AS c, CASE column1 WHEN 0 THEN t ELSE t - t_kernels END AS t,
         CASE column1 WHEN 0 THEN explained ELSE 0.0 END AS explained
  FROM step CROSS JOIN (VALUES (0, 'step'), (2, 'other'))
  UNION ALL
  SELECT CASE WHEN is_beyond THEN 1 ELSE 3 END, CASE WHEN is_beyond THEN 'beyond' ELSE 'within' END, NULL,
         op, name, grid, block, shapes, counts, ratio, NULL, NULL, NULL, NULL, NULL, NULL, c, t, explained
  FROM timed)
SELECT kind, outcome, op, name, grid, block, shapes, counts, factor, low, high, kernels, agreeing, agreement, share,
       c / 1000.0 AS control_time, t / 1000.0 AS test_time, (t - c) / 1000.0 AS diff_time,
       explained / 1000.0 AS explained_time, (t - c - explained) / 1000.0 AS rest_time
FROM line
ORDER BY place, abs(rest_time) DESC, op, name, grid, block, shapes, factor;
