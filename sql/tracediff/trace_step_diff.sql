-- trace_step_diff: where the time of a step went in two traces, side by side.
-- Family: time of a step
-- Question: Which work or waiting made steps longer? Is the GPU starved?
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
--   :level              TEXT           what a name is: 'op', 'top_op', 'module' ('top_op' if no modules were
--                                      recorded), 'annotation' or 'kernel'; default 'op'
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :control_capture    capture        a trace of the capture of the graphs that control replays,
--                                      to name their kernels; default none
--   :test_capture       capture        the same for test
--   :steps              steps          which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   class           TEXT     as in trace_step_time
--   name            TEXT     operator, kernel or host event; NULL if nothing was recorded
--   control_time    REAL     us per step in control
--   test_time       REAL     us per step in test
--   diff_time       REAL     us per step, test minus control
--   control_ns      INTEGER  ns, control_time summed over all steps of control
--   test_ns         INTEGER  ns, test_time summed over all steps of test
--   control_steps   INTEGER  number of steps of control, over all its ranks; NULL for a trace without steps
--   test_steps      INTEGER  the same for test
--   control_stddev  REAL     us, standard deviation over the steps of control; NULL for fewer than two steps
--   test_stddev     REAL     us, the same for test
--   diff_within     REAL     us per step, the part of diff_time between steps of the same phase and size
--   diff_mix        REAL     us per step, the part of diff_time due to a different mix of phases and sizes
--   only_rank       INTEGER  for a job, the only rank whose own steps differ in this; NULL: several, or communication
-- Grain: one row per class and name, by |diff_time| descending, then class, name.
-- Rules:
--   1. The parts of a step come from trace_step_time and add up to its length.
--   2. So diff_time adds up to the difference between the mean steps.
--   3. A trace without steps has one window per file, and its times are means over these windows. A rank
--      without steps beside ranks with steps (iterations 'all') counts as one more step.
--      A side without events has no window: its times and all differences are NULL.
--   4. diff_within and diff_mix add up to diff_time in every row, and so in every sum.
--   5. In the standard deviation of a part, steps without the part count as 0. A window counts as a step.
-- With database/diffs
asked AS MATERIALIZED (
  SELECT control_chosen, test_chosen, control_ranks, test_ranks, control_job, test_job,
         control_job AND test_job AND ranks > 1 AS is_job
  FROM trace_compared_ranks(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :steps)
  LIMIT -1),
part AS MATERIALIZED (
  SELECT 0 AS side, CASE WHEN NOT control_job THEN rank END AS rank, iteration, class, name,
         sum(time_ns) AS time_ns, stratum
  FROM asked
  CROSS JOIN trace_step_time(:control, control_chosen, :control_iteration, :level, :clock, :control_capture, :steps)
  GROUP BY 2, iteration, class, name
  UNION ALL
  SELECT 1, CASE WHEN NOT test_job THEN rank END AS rank, iteration, class, name, sum(time_ns), stratum
  FROM asked CROSS JOIN trace_step_time(:test, test_chosen, :test_iteration, :level, :clock, :test_capture, :steps)
  GROUP BY 2, iteration, class, name
  LIMIT -1),
own AS MATERIALIZED ( -- steps of two jobs, rank by rank
  SELECT 0 AS side, rank, iteration, class, name, time_ns
  FROM asked CROSS JOIN trace_step_time(CASE WHEN is_job THEN :control END, control_ranks, :control_iteration, :level,
                                        :clock, :control_capture, :steps)
  UNION ALL
  SELECT 1, rank, iteration, class, name, time_ns
  FROM asked CROSS JOIN trace_step_time(CASE WHEN is_job THEN :test END, test_ranks, :test_iteration, :level, :clock,
                                        :test_capture, :steps)
  LIMIT -1)
SELECT class, name, control_time, test_time, diff_time, control_ns, test_ns, control_steps, test_steps, control_stddev,
       test_stddev, diff_within, diff_mix, only_rank
FROM compared
ORDER BY abs(diff_time) DESC, class, name;
