-- trace_step_diff: where the time of a step went in two traces, side by side.
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array, 'all' or 'job' (Q1); default 'job' if both have several ranks, else the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all', 'steady' or a phase (T23); default 'steady'
--   :test_iteration     any            the same for test
--   :level              TEXT           what names are: 'op', 'top_op', 'module' (without modules as 'top_op'), 'annotation' or 'kernel'; default 'op'
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :steps              TEXT           which events are steps (T20); default 'auto'
--   :control_capture    TEXT           a trace of the capture of the graphs that control replays (A15); default none
--   :test_capture       TEXT           the same for test
-- Columns
--   class           TEXT     as trace_step_time has it
--   name            TEXT     what the step did; NULL if nothing is recorded
--   control_time    REAL     us a step in control
--   test_time       REAL     us a step in test
--   diff_time       REAL     us a step, test minus control
--   control_ns      INTEGER  ns, of all steps of control
--   test_ns         INTEGER  ns, of all steps of test
--   control_steps   INTEGER  steps of control, of all its ranks; NULL for a trace without steps
--   test_steps      INTEGER  the same for test
--   control_stddev  REAL     us, standard deviation over the steps of control; NULL for fewer than two
--   test_stddev     REAL     us, the same of test
--   diff_within     REAL     us a step, the part of diff_time that steps of one stratum differ by (A13)
--   diff_mix        REAL     us a step, the part that comes from other shares of the strata
--   only_rank       INTEGER  of jobs: the only rank whose own steps differ so (Q8); NULL: several, or communication
-- Grain: one row per class and name, by |diff_time| descending, then class, name.
-- Rules:
--   1. The parts of a step are those of trace_step_time: they sum to its length.
--   2. So diff_time sums to the difference of the mean lengths of a step.
--   3. A trace without steps has one window a file: its times are the mean over these. A rank
--      without steps beside ranks with steps (iterations 'all') counts as one more step.
--      A side without events has no window: its times and all differences are NULL.
--   4. diff_within and diff_mix add up to diff_time in every row, and so in every sum.
--   5. In the standard deviation of a part, steps without the part count as 0. A window counts as a step.
WITH asked AS MATERIALIZED (
  SELECT control_chosen, test_chosen, control_ranks, test_ranks, control_job, test_job,
         control_job AND test_job AND ranks > 1 AS is_job
  FROM trace_compared_ranks(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :steps)
  LIMIT -1),
part AS MATERIALIZED (
  SELECT 0 AS side, CASE WHEN NOT control_job THEN rank END AS rank, iteration, class, name,
         sum(time_ns) AS time_ns, stratum
  FROM asked CROSS JOIN trace_step_time(:control, control_chosen, :control_iteration, :level, :clock, :steps, :control_capture)
  GROUP BY 2, iteration, class, name
  UNION ALL
  SELECT 1, CASE WHEN NOT test_job THEN rank END AS rank, iteration, class, name, sum(time_ns), stratum
  FROM asked CROSS JOIN trace_step_time(:test, test_chosen, :test_iteration, :level, :clock, :steps, :test_capture)
  GROUP BY 2, iteration, class, name
  LIMIT -1),
own AS MATERIALIZED ( -- the steps of the ranks of two jobs, each by itself
  SELECT 0 AS side, rank, iteration, class, name, time_ns
  FROM asked CROSS JOIN trace_step_time(CASE WHEN is_job THEN :control END, control_ranks, :control_iteration, :level, :clock,
                                        :steps, :control_capture)
  UNION ALL
  SELECT 1, rank, iteration, class, name, time_ns
  FROM asked CROSS JOIN trace_step_time(CASE WHEN is_job THEN :test END, test_ranks, :test_iteration, :level, :clock,
                                        :steps, :test_capture)
  LIMIT -1),
shared AS MATERIALIZED ( -- the ranks of both jobs, with their steps
  SELECT rank, max(windows) FILTER (WHERE side = 0) AS control_windows, max(windows) FILTER (WHERE side = 1) AS test_windows,
         count(*) OVER () AS ranks
  FROM (SELECT side, rank, count(*) AS windows FROM (SELECT DISTINCT side, rank, iteration FROM own) GROUP BY side, rank)
  GROUP BY rank
  HAVING count(*) = 2
  LIMIT -1),
own_diff AS MATERIALIZED (
  SELECT class, name, rank, sum(CASE side WHEN 1 THEN time_ns / (1000.0 * test_windows)
                                          ELSE -time_ns / (1000.0 * control_windows) END) AS diff_time
  FROM own CROSS JOIN shared USING (rank)
  WHERE ranks > 1 AND class <> 'comm'
  GROUP BY class, name, rank
  LIMIT -1),
strata AS MATERIALIZED (
  SELECT stratum, count(*) FILTER (WHERE side = 0) AS control_windows,
         count(*) FILTER (WHERE side = 1) AS test_windows,
         count(iteration) FILTER (WHERE side = 0) AS control_steps,
         count(iteration) FILTER (WHERE side = 1) AS test_steps
  FROM (SELECT DISTINCT side, rank, iteration, stratum FROM part)
  GROUP BY stratum),
windows AS MATERIALIZED (
  SELECT sum(control_windows) AS control_windows, sum(test_windows) AS test_windows,
         sum(control_steps) AS control_steps, sum(test_steps) AS test_steps, count(*) AS strata
  FROM strata),
within AS MATERIALIZED (
  SELECT class, name,
         sum((test_ns * s.control_windows - control_ns * s.test_windows)
             / (1.0 * s.control_windows * s.test_windows)
             * (s.control_windows * 1.0 / w.control_windows + s.test_windows * 1.0 / w.test_windows)) / 2 AS ns
  FROM strata AS s
  CROSS JOIN windows AS w
  CROSS JOIN (SELECT class, name, stratum, sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
                     sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns
              FROM part
              WHERE (SELECT strata FROM windows) > 1
              GROUP BY class, name, stratum) AS p ON p.stratum IS s.stratum
  WHERE s.control_windows > 0 AND s.test_windows > 0
  GROUP BY class, name
  LIMIT -1),
both AS (
  SELECT class, name, sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns,
         trace_stddev(time_ns, control_windows) FILTER (WHERE side = 0) AS control_stddev,
         trace_stddev(time_ns, test_windows) FILTER (WHERE side = 1) AS test_stddev,
         control_windows, test_windows, control_steps, test_steps, strata
  FROM part CROSS JOIN windows
  WHERE class IS NOT NULL
  GROUP BY class, name),
compared AS (
  SELECT *, (test_ns * control_windows - control_ns * test_windows)
              / (1000.0 * control_windows * test_windows) AS diff_time
  FROM both),
divided AS (
  SELECT *, CASE WHEN strata = 1 OR diff_time IS NULL THEN diff_time
                 ELSE coalesce((SELECT ns / 1000 FROM within AS w WHERE w.class = d.class AND w.name IS d.name), 0.0)
            END AS diff_within
  FROM compared AS d)
SELECT class, name, control_ns / (1000.0 * control_windows) AS control_time,
       test_ns / (1000.0 * test_windows) AS test_time, diff_time, control_ns, test_ns,
       CASE WHEN control_steps > 0 THEN control_windows END AS control_steps,
       CASE WHEN test_steps > 0 THEN test_windows END AS test_steps,
       coalesce(control_stddev, CASE WHEN control_windows > 1 THEN 0 END) / 1000.0 AS control_stddev,
       coalesce(test_stddev, CASE WHEN test_windows > 1 THEN 0 END) / 1000.0 AS test_stddev,
       diff_within, diff_time - diff_within AS diff_mix,
       (SELECT trace_only_rank(o.rank, o.diff_time, divided.diff_time)
        FROM own_diff AS o
        WHERE o.class = divided.class AND o.name IS divided.name) AS only_rank
FROM divided
ORDER BY abs(diff_time) DESC, class, name;
