-- trace_verdict: whether a step is slower or faster in another trace, beside how much steps vary.
-- Family: the answer
-- Question: One run a side: is a step slower, or do steps just vary?
--
-- Parameters
--   :control            trace required baseline trace
--   :test               trace required trace to compare with the baseline
--   :control_rank       ranks|job      integer, JSON array, 'all' or 'job', all ranks as one;
--                                      default 'job' if both have several ranks, else the lowest
--   :test_rank          ranks|job      the same for test
--   :control_iteration  iterations     integer, JSON array, 'all', 'steady' (without first and last),
--                                      'first' or a phase; default 'steady'
--   :test_iteration     iterations     the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :steps              steps          which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   verdict             TEXT     in words (rules 2 to 5), such as 'slower here'
--   control_ms          REAL     ms, mean of the steps that are kept
--   test_ms             REAL     ms, the same for test
--   diff_ms             REAL     ms, test minus control
--   control_median_ms   REAL     ms, median of these steps
--   test_median_ms      REAL     ms, the same for test
--   control_low_ms      REAL     ms, the shortest of them
--   control_high_ms     REAL     ms, the longest of them
--   test_low_ms         REAL     ms, the same for test
--   test_high_ms        REAL     ms, the same for test
--   control_steps       INTEGER  steps that are kept, of all ranks; 0 without steps
--   test_steps          INTEGER  the same for test
--   slow_steps          INTEGER  of test's steps those that are longer than all of control's (rule 4)
--   control_ranks       INTEGER  ranks; 1 for a job
--   test_ranks          INTEGER  the same for test
--   control_lowest      INTEGER  the lowest of them
--   test_lowest         INTEGER  the same for test
--   control_iterations  TEXT     what to give to other functions so that they take the same steps
--   test_iterations     TEXT     the same for test
--   control_left_out    TEXT     JSON array of the steps that are left out (rule 1); NULL: none
--   test_left_out       TEXT     the same for test
--   control_of_host     INTEGER  1 if control has no device work, and its steps are those of the host
--   test_of_host        INTEGER  the same for test
--   strata              INTEGER  how many different phases and sizes the steps have
-- Grain: one row.
-- Rules:
--   1. Outliers are left out of both means and of what is said of parts: of four or more steps, those that are longer
--      than the median by five median absolute deviations and by half of it, the longest first, at most a tenth of
--      the steps, but one. Steps of several strata (A13), and steps that are asked for as 'all' or by number, are all
--      kept. A step is the mean over its ranks here.
--   2. Of steps of one stratum, medians decide: 'slower here' or 'faster here', unless it is one of these. 'nothing
--      to compare': a side has no events. 'no difference': every part of the step takes the same time. 'no clear
--      difference': the medians differ by less than 0.5 %, or by less than the longer of the ranges from the shortest
--      to the longest step of a side while these ranges overlap, or the other way than the means.
--   3. 'here': one recording a side says nothing about another one. trace_ab compares several.
--   4. 'slower in some steps': a quarter to three quarters of test's steps, two or more, are longer than all of
--      control's by more than control's steps differ and by 2 %, the others are not longer than these, and each side
--      has four steps or more.
--   5. Of steps of several strata, sizes decide. A stratum with eight steps or more on each side is slower if its
--      median is longer in test by 0.5 % or more, and test's step is the longer one in nine of ten pairs of a step of
--      control and one of test; equal ones count half. It is 'slower at like sizes' if strata are slower, none is
--      faster likewise, and the differences of means at like sizes (A13.1) add up to 0 or more; 'slower at some
--      sizes' if less than three quarters of test's steps in strata with eight or more are in those that are slower.
--      'faster at like sizes' and 'faster at some sizes' likewise; else 'no clear difference'.
WITH asked AS MATERIALIZED (
  SELECT control_chosen, test_chosen, control_job, test_job
  FROM trace_compared_ranks(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :steps)
  LIMIT -1),
iteration AS MATERIALIZED (
  SELECT side, iteration, sum(ms) AS total, sum(ns) AS ns, count(*) AS windows, avg(ms) AS ms, min(ms) AS low,
         max(ms) AS high, count(DISTINCT rank) AS ranks, min(rank) AS lowest, max(of_host) AS of_host,
         min(stratum) AS stratum, max(stratum) AS last_stratum
  FROM (SELECT 0 AS side, min(rank) AS rank, iteration, sum(time_ns) / 1e6 AS ms, sum(time_ns) AS ns,
               max(class IN ('call', 'host', 'unrecorded')) AS of_host, coalesce(max(stratum), '') AS stratum
        FROM asked
        CROSS JOIN trace_step_time(:control, control_chosen, :control_iteration, 'annotation', :clock, NULL, :steps)
        GROUP BY CASE WHEN NOT control_job THEN rank END, iteration
        UNION ALL
        SELECT 1, min(rank), iteration, sum(time_ns) / 1e6, sum(time_ns), max(class IN ('call', 'host', 'unrecorded')),
               coalesce(max(stratum), '')
        FROM asked CROSS JOIN trace_step_time(:test, test_chosen, :test_iteration, 'annotation', :clock, NULL, :steps)
        GROUP BY CASE WHEN NOT test_job THEN rank END, iteration)
  GROUP BY side, iteration
  LIMIT -1),
middle AS MATERIALIZED (
  SELECT side, trace_quantile(ms, 0.5) AS median, count(iteration) AS steps
  FROM iteration
  GROUP BY side
  LIMIT -1),
spread AS MATERIALIZED (
  SELECT side, median, steps, trace_quantile(abs(ms - median), 0.5) AS deviation
  FROM middle CROSS JOIN iteration USING (side)
  GROUP BY side
  LIMIT -1),
placed AS (
  SELECT iteration.*, steps, ms > median + 5 * deviation AND 2 * ms > 3 * median AS is_long,
         row_number() OVER (PARTITION BY side ORDER BY ms DESC, iteration) AS place,
         min(stratum) OVER () AS first_stratum, max(last_stratum) OVER () AS all_strata
  FROM spread CROSS JOIN iteration USING (side)),
marked AS MATERIALIZED (
  SELECT *, is_long AND steps >= 4 AND place <= max(1, steps / 10) AND first_stratum = all_strata
              AND coalesce(lower(CASE side WHEN 0 THEN :control_iteration ELSE :test_iteration END), 'steady') <> 'all'
              AND coalesce(CASE side WHEN 0 THEN :control_iteration ELSE :test_iteration END,
                           'steady') NOT GLOB '[[0-9-]*' AS is_out
  FROM placed
  LIMIT -1),
side AS MATERIALIZED (
  SELECT side, sum(total) FILTER (WHERE NOT is_out) / sum(windows) FILTER (WHERE NOT is_out) AS mean,
         trace_quantile(ms, 0.5) FILTER (WHERE NOT is_out) AS median, min(low) FILTER (WHERE NOT is_out) AS low,
         max(high) FILTER (WHERE NOT is_out) AS high,
         coalesce(sum(windows) FILTER (WHERE NOT is_out AND iteration IS NOT NULL), 0) AS steps, max(ranks) AS ranks,
         min(lowest) AS lowest, max(of_host) AS of_host, sum(ns) AS ns, sum(windows) AS windows,
         '[' || group_concat(iteration) FILTER (WHERE NOT is_out) || ']' AS kept,
         '[' || group_concat(iteration) FILTER (WHERE is_out) || ']' AS left_out
  FROM (SELECT * FROM marked ORDER BY side, iteration)
  GROUP BY side
  LIMIT -1),
pair AS MATERIALIZED (
  SELECT max(mean) FILTER (WHERE side = 0) AS c_mean, max(mean) FILTER (WHERE side = 1) AS t_mean,
         max(median) FILTER (WHERE side = 0) AS c_median, max(median) FILTER (WHERE side = 1) AS t_median,
         max(low) FILTER (WHERE side = 0) AS c_low, max(low) FILTER (WHERE side = 1) AS t_low,
         max(high) FILTER (WHERE side = 0) AS c_high, max(high) FILTER (WHERE side = 1) AS t_high,
         max(steps) FILTER (WHERE side = 0) AS c_steps, max(steps) FILTER (WHERE side = 1) AS t_steps,
         max(ranks) FILTER (WHERE side = 0) AS c_ranks, max(ranks) FILTER (WHERE side = 1) AS t_ranks,
         max(lowest) FILTER (WHERE side = 0) AS c_lowest, max(lowest) FILTER (WHERE side = 1) AS t_lowest,
         max(of_host) FILTER (WHERE side = 0) AS c_of_host, max(of_host) FILTER (WHERE side = 1) AS t_of_host,
         max(kept) FILTER (WHERE side = 0) AS c_kept, max(kept) FILTER (WHERE side = 1) AS t_kept,
         max(left_out) FILTER (WHERE side = 0) AS c_out, max(left_out) FILTER (WHERE side = 1) AS t_out,
         max(ns) FILTER (WHERE side = 0) AS c_ns, max(ns) FILTER (WHERE side = 1) AS t_ns,
         max(windows) FILTER (WHERE side = 0) AS c_windows, max(windows) FILTER (WHERE side = 1) AS t_windows
  FROM side
  LIMIT -1),
-- of test's steps those that are longer than all of control's (rule 4), and those that are not; is_equal: else parts
-- differ
judged AS MATERIALIZED (
  SELECT pair.*, c_ns * t_windows = t_ns * c_windows AS is_equal, count(DISTINCT stratum) AS strata,
         count(*) FILTER (WHERE side = 1 AND NOT is_out AND ms > 2 * c_high - c_low AND ms > 1.02 * c_high) AS slow,
         count(*) FILTER (WHERE side = 1 AND NOT is_out AND ms <= c_high) AS within
  FROM pair LEFT JOIN marked
  LIMIT -1),
-- of strata (rule 5): pairs in which test's step is longer; less: of control's steps those that are not longer, and
-- those that are shorter
ranked AS (
  SELECT stratum, side, 2 * count(*) FILTER (WHERE side = 0) OVER up_to
         - count(*) FILTER (WHERE side = 0) OVER equal AS less, ms
  FROM marked
  WHERE first_stratum <> all_strata
  WINDOW up_to AS (PARTITION BY stratum ORDER BY ms), equal AS (PARTITION BY stratum, ms)),
stratum AS (
  SELECT *, min(c_n, t_n) >= 8 AS is_known,
         min(c_n, t_n) >= 8 AND t_median >= 1.005 * c_median AND longer >= 0.9 AS is_slower,
         min(c_n, t_n) >= 8 AND c_median >= 1.005 * t_median AND longer <= 0.1 AS is_faster,
         (t_ms - c_ms) * (1.0 * c_n / sum(c_n) OVER () + 1.0 * t_n / sum(t_n) OVER ()) AS diff
  FROM (SELECT *, less / 2.0 / (c_n * t_n) AS longer
        FROM (SELECT stratum, count(*) FILTER (WHERE side = 0) AS c_n, count(*) FILTER (WHERE side = 1) AS t_n,
                     avg(ms) FILTER (WHERE side = 0) AS c_ms, avg(ms) FILTER (WHERE side = 1) AS t_ms,
                     trace_quantile(ms, 0.5) FILTER (WHERE side = 0) AS c_median,
                     trace_quantile(ms, 0.5) FILTER (WHERE side = 1) AS t_median,
                     sum(less) FILTER (WHERE side = 1) AS less
              FROM ranked
              GROUP BY stratum))),
sizes AS MATERIALIZED (
  SELECT total(CASE WHEN is_slower THEN t_n END) AS slower, total(CASE WHEN is_faster THEN t_n END) AS faster,
         total(CASE WHEN is_known THEN t_n END) AS known, total(diff) AS diff
  FROM stratum
  LIMIT -1),
compared AS (
  SELECT *, is_equal AND NOT EXISTS (
           SELECT 1
           FROM asked
           CROSS JOIN trace_step_causes(CASE WHEN is_equal THEN :control END, :test, control_chosen, test_chosen,
                                        :control_iteration, :test_iteration, :clock, NULL, :steps)
           WHERE diff_time <> 0) AS identical
  FROM judged)
SELECT CASE WHEN c_mean IS NULL OR t_mean IS NULL THEN 'nothing to compare'
            WHEN identical THEN 'no difference'
            WHEN strata > 1 THEN coalesce(
              (SELECT CASE WHEN slower > 0 AND faster = 0 AND diff >= 0 THEN 'slower'
                           WHEN faster > 0 AND slower = 0 AND diff <= 0 THEN 'faster' END
                      || CASE WHEN 4 * max(slower, faster) < 3 * known THEN ' at some sizes' ELSE ' at like sizes' END
               FROM sizes),
              'no clear difference')
            WHEN min(c_steps, t_steps) >= 4 AND slow >= 2 AND slow + within = t_steps / t_ranks
                 AND 4 * slow BETWEEN t_steps / t_ranks AND 3 * t_steps / t_ranks THEN 'slower in some steps'
            WHEN abs(t_median - c_median) < 0.005 * c_median OR (t_median - c_median) * (t_mean - c_mean) <= 0
                 OR (c_low <= t_high AND t_low <= c_high
                     AND abs(t_median - c_median) < max(c_high - c_low, t_high - t_low))
                 THEN 'no clear difference'
            WHEN t_median > c_median THEN 'slower here' ELSE 'faster here' END AS verdict,
       c_mean AS control_ms, t_mean AS test_ms, t_mean - c_mean AS diff_ms, c_median AS control_median_ms,
       t_median AS test_median_ms, c_low AS control_low_ms, c_high AS control_high_ms, t_low AS test_low_ms,
       t_high AS test_high_ms, c_steps AS control_steps, t_steps AS test_steps,
       CASE WHEN t_mean IS NOT NULL THEN slow END AS slow_steps, c_ranks AS control_ranks,
       t_ranks AS test_ranks, c_lowest AS control_lowest, t_lowest AS test_lowest,
       CASE WHEN c_out IS NULL THEN CAST(:control_iteration AS TEXT) ELSE c_kept END AS control_iterations,
       CASE WHEN t_out IS NULL THEN CAST(:test_iteration AS TEXT) ELSE t_kept END AS test_iterations,
       c_out AS control_left_out, t_out AS test_left_out, c_of_host AS control_of_host, t_of_host AS test_of_host,
       strata
FROM compared;
