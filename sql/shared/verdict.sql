-- verdict: how a step differs, how its times are written, and whether the difference is clear: `judged`, a row with
-- which trace_summary and the report begin. Rules 5 and 9 are those of trace_summary.
-- Columns
--   c_rank               any      the ranks of control that are compared, for functions that take 'job'
--   t_rank               any      the same of test
--   c_ranks              any      the same ranks for functions that do not
--   t_ranks              any      the same of test
--   control_job          INTEGER  1 if control is taken as a job (Q1), else 0
--   test_job             INTEGER  the same of test
--   is_job               INTEGER  1 if both are
--   ranks                INTEGER  ranks of the jobs; NULL: no side is one
--   ranks_out            TEXT     the ranks that are left out of the jobs (Q1.4), in words
--   verdict              TEXT     this column and those that follow are those of trace_verdict
--   control_ms           REAL
--   test_ms              REAL
--   diff_ms              REAL
--   control_median_ms    REAL
--   test_median_ms       REAL
--   control_low_ms       REAL
--   control_high_ms      REAL
--   test_low_ms          REAL
--   test_high_ms         REAL
--   control_steps        INTEGER
--   test_steps           INTEGER
--   slow_steps           INTEGER
--   control_ranks        INTEGER
--   test_ranks           INTEGER
--   control_lowest       INTEGER
--   test_lowest          INTEGER
--   control_iterations   TEXT
--   test_iterations      TEXT
--   control_left_out     TEXT
--   test_left_out        TEXT
--   control_of_host      INTEGER
--   test_of_host         INTEGER
--   strata               INTEGER
--   unit                 TEXT     of times: 'ms', or 's' from 10,000 ms on
--   size                 REAL     ms in a unit
--   digits               INTEGER  decimals of times (rule 5)
--   least                REAL     ms: what is less rounds to 0
--   load                 TEXT     another load of the host (L7), in words; NULL: none
--   load_ms              REAL     what load makes of the difference, if it is one factor (L7.4); else NULL
--   is_waiting           INTEGER  beside load: 1 if waits, gaps and calls make half of the difference
--   is_other_work        INTEGER  beside load: 1 if other work was done (rule 9)
--   judgement            TEXT     the verdict in words: 'test ...' if the difference is clear
-- With shared/each_rank
asked AS MATERIALIZED (
  SELECT control_chosen AS c_rank, test_chosen AS t_rank, control_ranks AS c_ranks, test_ranks AS t_ranks,
         control_job, test_job, control_job AND test_job AS is_job, ranks, why AS ranks_out
  FROM trace_compared_ranks(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :steps)
  LIMIT -1),
written AS MATERIALIZED (
  SELECT *,
         CASE WHEN digits_of >= 100 THEN 0 WHEN digits_of >= 10 THEN 1 WHEN digits_of >= 1 THEN 2 ELSE 3 END AS digits
  FROM (SELECT *, CASE WHEN abs(diff_ms) < 0.005 * control_ms THEN control_ms ELSE abs(diff_ms) END / size AS digits_of
        FROM (SELECT asked.*, v.*, CASE WHEN max(control_ms, test_ms) >= 10000 THEN 's' ELSE 'ms' END AS unit,
                     CASE WHEN max(control_ms, test_ms) >= 10000 THEN 1000.0 ELSE 1.0 END AS size
              FROM asked
              CROSS JOIN trace_verdict(:control, :test, c_rank, t_rank, :control_iteration, :test_iteration, :clock,
                                       :steps) AS v))
  LIMIT -1),
loaded AS MATERIALIZED (
  SELECT w.*, size * CASE digits WHEN 0 THEN 0.5 WHEN 1 THEN 0.05 WHEN 2 THEN 0.005 ELSE 0.0005 END AS least,
         f.text AS load, CASE f.outcome WHEN 'one factor' THEN f.explained_time / 1000 END AS load_ms
  FROM written AS w
  LEFT JOIN trace_host_factor(CASE WHEN control_of_host AND test_of_host
                                        AND verdict NOT IN ('no difference', 'nothing to compare')
                                   THEN :control END,
                              :test, c_ranks, t_ranks, control_iterations, test_iterations, :steps) AS f
    ON f.kind = 'host'
  LIMIT -1),
explained AS MATERIALIZED (
  SELECT *,
         CASE WHEN load IS NOT NULL AND verdict <> 'no clear difference' THEN
           (SELECT 2 * total(diff_time) / 1000 / diff_ms >= 1
            FROM trace_step_causes(:control, :test, c_rank, t_rank, control_iterations, test_iterations, :clock,
                                   NULL, :steps)
            WHERE kind = 'not recorded' OR class = 'call' OR name LIKE 'enumerate(DataLoader)%') END AS is_waiting,
         CASE WHEN load IS NOT NULL AND verdict <> 'no clear difference' THEN
           EXISTS (SELECT 1
                   FROM trace_work_diff(:control, :test, c_ranks, t_ranks, control_iterations, test_iterations, :steps))
           OR EXISTS (SELECT 1
                      FROM each_rank
                      CROSS JOIN trace_host_factor(:control, :test, c_each, t_each, control_iterations, test_iterations,
                                                   :steps) AS f
                      WHERE f.kind = 'other' AND f.beyond_time / diff_ms >= 500) END AS is_other_work
  FROM loaded
  LIMIT -1),
judged AS MATERIALIZED (
  SELECT *, CASE WHEN verdict IN ('nothing to compare', 'no difference', 'no clear difference') THEN verdict
                 WHEN verdict = 'slower in some steps' AND (load IS NULL OR is_waiting)
                   THEN 'test is slower here in ' || slow_steps || ' of ' || test_steps || ' steps'
                 WHEN load IS NULL OR is_waiting THEN 'test is ' || verdict
                 WHEN is_other_work THEN 'test does other work' ELSE 'no clear difference' END AS judgement
  FROM explained
  LIMIT -1),
