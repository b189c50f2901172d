-- 00_facts: What other sections take as parameters
-- Layout facts
-- Columns
--   unit           TEXT     of times on the page: 'ms', or 's' from 10,000 ms on
--   size           REAL     ms in a unit
--   digits         INTEGER  decimals of times
--   least          REAL     ms: what is less rounds to 0
--   per            TEXT     'step', or 'whole trace' if neither side has steps
--   clock_used     TEXT     'device' or 'host'
--   verdict        TEXT     'identical', 'unclear', 'clear', 'few' or 'overlap'; 'empty' if a side has no events
--   control_ms     REAL     mean length of a step
--   test_ms        REAL     the same
--   diff_ms        REAL     test minus control
--   control_windows  INTEGER  what means are over: steps, or whole files
--   test_windows   INTEGER  the same
--   control_steps  INTEGER  steps used, of all ranks; 0: whole traces
--   test_steps     INTEGER  the same
--   control_range  TEXT     shortest and longest step
--   test_range     TEXT     the same
--   strata         INTEGER  strata of the steps used (A13)
--   control_ranks  TEXT     the ranks that sections about all ranks take: those that have the phase that was asked for
--   test_ranks     TEXT     the same
-- Rules:
--   1. Times have as many decimals as the difference needs for three digits, at most 3; as the step
--      does if the difference is less than 0.5 % of it.
--   2. A difference is unclear if it is less than 0.5 % of control's step, or less than the larger
--      range of the steps of a side while the ranges overlap. It is clear if the ranges do not overlap
--      and each side has three steps or more.
-- With steps
-- the ranks that have a steady step of the phase or the stratum that was asked for (T23)
listed AS (
  SELECT side, rank, iteration, phase, stratum, count(*) OVER of_file AS steps, min(iteration) OVER of_file AS first,
         max(iteration) OVER of_file AS last
  FROM (SELECT DISTINCT 0 AS side, file, rank, iteration, phase, stratum FROM trace_steps(:control, :steps)
        UNION ALL
        SELECT DISTINCT 1, file, rank, iteration, phase, stratum FROM trace_steps(:test, :steps))
  WINDOW of_file AS (PARTITION BY side, file)),
of_phase AS MATERIALIZED (
  SELECT side, '[' || group_concat(DISTINCT rank) || ']' AS ranks
  FROM listed
  WHERE lower(CASE side WHEN 0 THEN :control_iteration ELSE :test_iteration END) IN (phase, stratum)
    AND (steps < 3 OR iteration NOT IN (first, last))
  GROUP BY side),
steps AS MATERIALIZED (
  SELECT side, count(*) AS windows, count(iteration) AS steps, avg(ms) AS mean, min(ms) AS low, max(ms) AS high,
         max(of_host) AS of_host
  FROM step
  GROUP BY side),
means AS (
  SELECT c.mean AS c, t.mean AS t, c.windows AS c_windows, t.windows AS t_windows, t.mean - c.mean AS d, c.low AS c_low, c.high AS c_high, t.low AS t_low,
         t.high AS t_high, coalesce(c.steps, 0) AS c_steps, coalesce(t.steps, 0) AS t_steps,
         c.of_host AND t.of_host AS of_host, max(c.mean, t.mean) >= 10000 AS in_seconds,
         NOT EXISTS (SELECT 1
                     FROM trace_step_causes(:control, :test, :control_rank, :test_rank,
                                            :control_iteration, :test_iteration, :clock, :steps)
                     WHERE diff_time <> 0) AS identical
  FROM (SELECT 1) LEFT JOIN steps AS c ON c.side = 0 LEFT JOIN steps AS t ON t.side = 1),
unit AS (
  SELECT *, CASE WHEN in_seconds THEN 1000.0 ELSE 1.0 END AS size,
         CASE WHEN abs(d) < 0.005 * c THEN c ELSE abs(d) END
           / CASE WHEN in_seconds THEN 1000 ELSE 1 END AS digits_of
  FROM means),
style AS (
  SELECT *, CASE WHEN digits_of >= 100 THEN 0 WHEN digits_of >= 10 THEN 1 WHEN digits_of >= 1 THEN 2
                 ELSE 3 END AS digits
  FROM unit)
SELECT CASE WHEN in_seconds THEN 's' ELSE 'ms' END AS unit, size, digits,
       size * CASE digits WHEN 0 THEN 0.5 WHEN 1 THEN 0.05 WHEN 2 THEN 0.005 ELSE 0.0005 END AS least,
       CASE WHEN c_steps = 0 AND t_steps = 0 THEN 'whole trace' ELSE 'step' END AS per,
       CASE WHEN of_host OR :clock = 'host' THEN 'host' ELSE 'device' END AS clock_used,
       CASE WHEN d IS NULL THEN 'empty'
            WHEN identical THEN 'identical'
            WHEN abs(d) < 0.005 * c
              OR (c_low <= t_high AND t_low <= c_high AND abs(d) < max(c_high - c_low, t_high - t_low))
              THEN 'unclear'
            WHEN min(c_steps, t_steps) < 3 THEN 'few'
            WHEN c_low > t_high OR t_low > c_high THEN 'clear'
            ELSE 'overlap' END AS verdict,
       c AS control_ms, t AS test_ms, d AS diff_ms, c_windows AS control_windows,
       t_windows AS test_windows, c_steps AS control_steps, t_steps AS test_steps,
       printf('%.*f', digits, c_low / size)
         || CASE WHEN c_high - c_low >= 0.0005 THEN '–' || printf('%.*f', digits, c_high / size) ELSE '' END
         AS control_range,
       printf('%.*f', digits, t_low / size)
         || CASE WHEN t_high - t_low >= 0.0005 THEN '–' || printf('%.*f', digits, t_high / size) ELSE '' END
         AS test_range, (SELECT count(DISTINCT stratum) FROM step) AS strata,
       coalesce((SELECT ranks FROM of_phase WHERE side = 0), 'all') AS control_ranks,
       coalesce((SELECT ranks FROM of_phase WHERE side = 1), 'all') AS test_ranks
FROM style
