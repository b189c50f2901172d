-- 00_facts: Parameters of the other sections
-- Layout facts
-- Columns
--   control_rank   any      compared ranks, from trace_compared_ranks
--   test_rank      any      the same for test
--   control_iteration  any  as the argument, without the outliers of trace_verdict
--   test_iteration  any     the same for test
--   control_asked  any      the steps as in the argument
--   test_asked     any      the same for test
--   control_each   any      compared ranks for functions that do not take 'job'
--   test_each      any      the same for test
--   control_ranks  any      ranks of sections about all ranks: the ranks with the chosen phase
--   test_ranks     any      the same for test
--   ranks          INTEGER  number of ranks of two jobs; else 0
--   control_job    INTEGER  1 if the ranks of control are compared as one job (Q1), else 0
--   test_job       INTEGER  the same for test
--   of_host        INTEGER  1 if a side has no device work, else 0
--   recorded       INTEGER  number of recorded ranks of the side with fewer ranks
--   ranks_out      TEXT     ranks left out of the jobs (Q1.4) and the reasons, in words; NULL: none
--   unit           TEXT     unit of times on the page: 'ms', or 's' from 10,000 ms on
--   size           REAL     ms per unit
--   digits         INTEGER  decimals of times
--   least          REAL     ms; a smaller value rounds to 0
--   per            TEXT     'step', or 'whole trace' if neither side has steps
--   clock_used     TEXT     'device' or 'host'
--   judged         TEXT     verdict, a code of trace_verdict
--   judgement      TEXT     the same in words
--   is_apart       INTEGER  see trace_verdict
--   load           TEXT     see trace_verdict
--   control_ms     REAL     ms, mean step of control
--   test_ms        REAL     ms, the same for test
--   diff_ms        REAL     ms, test minus control
--   control_windows  INTEGER  number of steps or whole files that means are over
--   test_windows   INTEGER  the same for test
--   control_steps  INTEGER  number of steps used, of all ranks; 0: whole traces
--   test_steps     INTEGER  the same for test
--   control_range  TEXT     shortest and longest step
--   test_range     TEXT     the same for test
--   control_left_out  TEXT  JSON array of the steps left out as outliers; NULL: none
--   test_left_out  TEXT     the same for test
--   shown          INTEGER  argument of trace_step_causes: 10, so that the shown causes hold most of the answer (L3);
--                           NULL if they do so without merging
--   strata         INTEGER  number of strata of the steps used (A13)
--   control_peak   INTEGER  bytes at the peak of control's allocator (M7); NULL without snapshots
--   test_peak      INTEGER  the same for test
--   memory_unit    TEXT     unit of bytes on the page: 'GB', 'MB' or 'kB'
--   memory_size    REAL     bytes per unit
--   memory_digits  INTEGER  decimals of bytes
-- Rules:
--   1. Steps, verdict and decimals come from trace_verdict.
--   2. Bytes have two decimals, or three if the peaks differ by less than a tenth of the unit.
WITH compared AS MATERIALIZED (
  SELECT r.control_chosen AS c_rank, r.test_chosen AS t_rank, r.control_ranks AS c_each, r.test_ranks AS t_each,
         r.control_job, r.test_job, r.ranks, r.why AS ranks_out, v.*,
         CASE v.unit WHEN 's' THEN 1000.0 ELSE 1.0 END AS size
  FROM trace_compared_ranks(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                            :steps) AS r
  CROSS JOIN trace_verdict(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :clock,
                           :steps) AS v
  LIMIT -1),
of_phase AS MATERIALIZED ( -- ranks with a steady step of the chosen phase or stratum (T23)
  SELECT side, '[' || group_concat(DISTINCT rank) || ']' AS ranks
  FROM (SELECT side, rank, iteration, lower(asked) IN (phase, stratum) AS is_asked, count(*) OVER of_file AS steps,
               min(iteration) OVER of_file AS first, max(iteration) OVER of_file AS last
        FROM (SELECT 0 AS side, file, rank, iteration, phase, stratum, :control_iteration AS asked
              FROM trace_steps(CASE WHEN lower(:control_iteration) NOT IN ('all', 'steady', 'first') THEN :control END,
                               :steps)
              UNION
              SELECT 1, file, rank, iteration, phase, stratum, :test_iteration
              FROM trace_steps(CASE WHEN lower(:test_iteration) NOT IN ('all', 'steady', 'first') THEN :test END,
                               :steps))
        WINDOW of_file AS (PARTITION BY side, file))
  WHERE is_asked AND (steps < 3 OR iteration NOT IN (first, last))
  GROUP BY side),
memory AS MATERIALIZED (
  SELECT control_bytes AS c, test_bytes AS t, max(control_bytes, test_bytes) AS most
  FROM memory_summary(:control_memory, :test_memory, 'worst', 10)
  WHERE kind = 'verdict')
SELECT c_rank AS control_rank, t_rank AS test_rank, control_iterations AS control_iteration,
       test_iterations AS test_iteration, :control_iteration AS control_asked, :test_iteration AS test_asked,
       c_each AS control_each, t_each AS test_each,
       CASE WHEN control_job THEN c_each
            ELSE coalesce((SELECT ranks FROM of_phase WHERE side = 0), 'all') END AS control_ranks,
       CASE WHEN test_job THEN t_each
            ELSE coalesce((SELECT ranks FROM of_phase WHERE side = 1), 'all') END AS test_ranks,
       CASE WHEN control_job AND test_job AND ranks > 1 THEN ranks ELSE 0 END AS ranks, control_job, test_job,
       coalesce(max(control_of_host, test_of_host), 0) AS of_host,
       (SELECT min(n)
        FROM (SELECT count(DISTINCT rank) AS n FROM trace_files(:control)
              UNION ALL
              SELECT count(DISTINCT rank) FROM trace_files(:test))) AS recorded,
       ranks_out, unit, size, digits,
       size * CASE digits WHEN 0 THEN 0.5 WHEN 1 THEN 0.05 WHEN 2 THEN 0.005 ELSE 0.0005 END AS least,
       CASE WHEN control_steps = 0 AND test_steps = 0 THEN 'whole trace' ELSE 'step' END AS per,
       CASE WHEN (control_of_host AND test_of_host) OR :clock = 'host' THEN 'host' ELSE 'device' END AS clock_used,
       judged, judgement, is_apart, load, control_ms, test_ms, diff_ms,
       (SELECT max(step_count)
        FROM trace_step_path(:control, c_rank, control_iterations, :clock, 'trace', :steps)) AS control_windows,
       (SELECT max(step_count)
        FROM trace_step_path(:test, t_rank, test_iterations, :clock, 'trace', :steps)) AS test_windows,
       control_steps, test_steps,
       printf('%.*f', digits, control_low_ms / size)
         || CASE WHEN control_high_ms - control_low_ms < 0.0005 THEN ''
                 ELSE '–' || printf('%.*f', digits, control_high_ms / size) END AS control_range,
       printf('%.*f', digits, test_low_ms / size)
         || CASE WHEN test_high_ms - test_low_ms < 0.0005 THEN ''
                 ELSE '–' || printf('%.*f', digits, test_high_ms / size) END AS test_range,
       control_left_out, test_left_out,
       (SELECT CASE WHEN 4 * total(changes) FILTER (WHERE place <= 10) < 3 * total(changes) THEN 10 END
        FROM (SELECT changes, row_number() OVER (ORDER BY changes DESC) AS place
              FROM trace_step_causes(:control, :test, c_rank, t_rank, control_iterations, test_iterations, :clock, NULL,
                                     :steps))) AS shown,
       strata, memory.c AS control_peak, memory.t AS test_peak,
       CASE WHEN most >= 1e9 THEN 'GB' WHEN most >= 1e6 THEN 'MB' WHEN most >= 0 THEN 'kB' END AS memory_unit,
       CASE WHEN most >= 1e9 THEN 1e9 WHEN most >= 1e6 THEN 1e6 WHEN most >= 0 THEN 1e3 END AS memory_size,
       2 + (10 * abs(memory.t - memory.c) < CASE WHEN most >= 1e9 THEN 1e9 WHEN most >= 1e6 THEN 1e6
                                                 ELSE 1e3 END) AS memory_digits
FROM compared LEFT JOIN memory
