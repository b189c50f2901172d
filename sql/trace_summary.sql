-- trace_summary: why a step is slower or faster, in at most twelve lines of text.
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array or 'all'; default the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all', 'steady' or a phase (T23); default 'steady'
--   :test_iteration     any            the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :steps              TEXT           which events are steps (T20); default 'auto'
-- Columns
--   line        INTEGER  from 1
--   kind        TEXT     'verdict', 'coverage', 'mix', 'caution', 'cause' or 'rest'
--   text        TEXT     at most 100 characters
--   class       TEXT     of a cause, as trace_step_causes has it
--   name        TEXT     of a cause, in full
--   control_ms  REAL     ms a step in control
--   test_ms     REAL     ms a step in test
--   diff_ms     REAL     ms a step, test minus control: those of causes and rest sum to the verdict's
--   share       REAL     part of the difference
-- Grain: one row per line.
-- Rules:
--   1. The verdict is 'no difference' if all causes are 0, and 'no clear difference' if the difference
--      is less than 0.5 % of control's step, or less than the larger range of the steps of a side while
--      the ranges overlap. One recording a side says nothing about another one.
--   2. Cautions are the first four of these: kernels are slower or faster by one factor (trace_clock_factor), which
--      explains half of the difference up to one and a half times of it, on equal devices; then what
--      matters ('yes') in trace_comparability, line by line.
--   3. Causes are those of trace_step_causes of 1 % of the difference or more, as many as there is
--      room for.
--   4. If the steps are of several strata (A13), 'mix' says what part of the difference steps of like sizes have,
--      and what comes from another mix of requests. The causes are then the parts of trace_step_diff, whose
--      diff_ms is diff_within, and the mix as a whole.
--   5. Numbers have as many decimals as the difference needs for three digits, at most 3; as the step
--      does if the difference is less than 0.5 % of it. Shares of an unclear difference are not said.
WITH step AS MATERIALIZED (
  SELECT 0 AS side, rank, iteration, sum(time_ns) / 1e6 AS ms,
         max(class IN ('call', 'host', 'unrecorded')) AS of_host, coalesce(max(stratum), '') AS stratum
  FROM trace_step_time(:control, :control_rank, :control_iteration, 'annotation', :clock, :steps)
  GROUP BY rank, iteration
  UNION ALL
  SELECT 1, rank, iteration, sum(time_ns) / 1e6, max(class IN ('call', 'host', 'unrecorded')),
         coalesce(max(stratum), '')
  FROM trace_step_time(:test, :test_rank, :test_iteration, 'annotation', :clock, :steps)
  GROUP BY rank, iteration),
steps AS MATERIALIZED (
  SELECT side, count(iteration) AS steps, avg(ms) AS mean, min(ms) AS low, max(ms) AS high,
         trace_quantile(ms, 0.5) AS median, count(DISTINCT rank) AS ranks, min(rank) AS rank,
         max(of_host) AS of_host
  FROM step
  GROUP BY side
  LIMIT -1),
mixed AS MATERIALIZED (
  SELECT count(DISTINCT stratum) > 1 AS is_mixed FROM step),
-- like with like, if the steps are of several strata
alike AS MATERIALIZED (
  SELECT d.*
  FROM mixed
  CROSS JOIN trace_step_diff(CASE WHEN is_mixed THEN :control END, :test, :control_rank, :test_rank,
                             :control_iteration, :test_iteration, 'op', :clock, :steps) AS d
  LIMIT -1),
cause AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY abs(diff_time) DESC) AS place
  FROM (SELECT class, name, kind, text, control_time, test_time, diff_time, share
        FROM mixed
        CROSS JOIN trace_step_causes(CASE WHEN NOT is_mixed THEN :control END, :test, :control_rank, :test_rank,
                                     :control_iteration, :test_iteration, :clock, :steps)
        UNION ALL
        SELECT class, name,
               CASE class WHEN 'idle_host' THEN 'host late' WHEN 'idle_call' THEN 'host late'
                          WHEN 'idle_launch' THEN 'host late' WHEN 'idle_wait' THEN 'queued'
                          WHEN 'idle_unrecorded' THEN 'not recorded' ELSE 'like sizes' END,
               coalesce(trace_label(name), 'without a name') || ', at like sizes', control_time, test_time,
               diff_within, NULL
        FROM alike
        WHERE diff_within <> 0 OR diff_time <> 0
        UNION ALL
        SELECT 'mix', NULL, 'mix', 'another mix of requests', NULL, NULL, mix, NULL
        FROM (SELECT sum(diff_mix) AS mix, max(abs(diff_mix)) AS largest FROM alike)
        WHERE largest > 0)
  LIMIT -1),
-- each side, and the other one as t_
sides AS MATERIALIZED (
  SELECT c.*, t.steps AS t_steps, t.mean AS t_mean, t.low AS t_low, t.high AS t_high, t.ranks AS t_ranks,
         t.rank AS t_rank, t.of_host AS t_of_host, CASE c.side WHEN 0 THEN 'control' ELSE 'test' END AS word,
         t.mean - c.mean AS d, CASE c.side WHEN 0 THEN c.mean ELSE t.mean END AS base,
         CASE WHEN max(c.mean, t.mean) >= 10000 THEN 's' ELSE 'ms' END AS unit,
         (SELECT coalesce(max(abs(diff_time)), 0) FROM cause) = 0 AS identical
  FROM steps AS c JOIN steps AS t ON t.side = 1 - c.side
  LIMIT -1),
sized AS MATERIALIZED (
  SELECT *, CASE unit WHEN 's' THEN 1000.0 ELSE 1.0 END AS size,
         CASE WHEN abs(d) < 0.005 * base THEN base ELSE abs(d) END
           / CASE unit WHEN 's' THEN 1000 ELSE 1 END AS digits_of
  FROM sides
  LIMIT -1),
judged AS MATERIALIZED (
  SELECT *, CASE WHEN digits_of >= 100 THEN 0 WHEN digits_of >= 10 THEN 1 WHEN digits_of >= 1 THEN 2
                 ELSE 3 END AS digits,
         CASE WHEN digits_of >= 100 THEN 0.5 WHEN digits_of >= 10 THEN 0.05 WHEN digits_of >= 1 THEN 0.005
              ELSE 0.0005 END * size AS least, 100.0 * d / nullif(mean, 0) AS percent,
         CASE WHEN identical THEN 'no difference'
              WHEN abs(d) < 0.005 * mean OR (low <= t_high AND t_low <= high
                AND abs(d) < max(high - low, t_high - t_low)) THEN 'no clear difference'
              WHEN d > 0 THEN 'test is slower' ELSE 'test is faster' END AS verdict
  FROM sized
  LIMIT -1),
matter AS MATERIALIZED (
  SELECT min(line) OVER (PARTITION BY topic, item) AS line, item, CASE WHEN control_value IS NULL THEN 1 ELSE 0 END AS side, why
  FROM trace_comparability(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :clock, 1,
                           :steps)
  WHERE matters = 'yes'
  LIMIT -1),
-- whether another clock explains half of the difference or more, if it may
clocked AS MATERIALIZED (
  SELECT printf('x%.2f', factor) AS factor
  FROM judged
  CROSS JOIN trace_clock_factor(
    CASE WHEN side = 0 AND abs(percent) >= 1 AND coalesce(:clock, 'device') <> 'host' AND NOT of_host AND NOT t_of_host
              AND NOT EXISTS (SELECT 1 FROM matter WHERE why LIKE 'devices differ: %') THEN :control END,
    :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :steps) AS f
  WHERE kind = 'step' AND outcome = 'one factor' AND 2 * explained_time / diff_time BETWEEN 1 AND 3
  LIMIT -1),
rule(number) AS (VALUES (-1), (0), (0.5), (1)),
said AS MATERIALIZED (
  SELECT number, digits, mean, t_mean, d, CASE number
    WHEN -1 THEN verdict || CASE WHEN (SELECT is_mixed FROM mixed) THEN ' over all sizes: ' ELSE ': ' END || printf('%.*f', digits, mean / size) || ' -> '
      || printf('%.*f', digits, t_mean / size) || ' ' || unit || ' '
      || CASE WHEN steps = 0 AND t_steps = 0 THEN 'a trace' ELSE 'a step' END || ', '
      || CASE WHEN abs(d) < least THEN '0 ' || unit
              ELSE printf('%+.*f', digits, d / size) || ' ' || unit
                   || coalesce(' (' || CASE WHEN abs(percent) >= 9.95 THEN printf('%+.0f', percent)
                                            WHEN abs(percent) >= 0.995 THEN printf('%+.1f', percent)
                                            ELSE printf('%+.2f', percent) END || ' %)', '') END
    WHEN 0 THEN
      CASE WHEN steps = 1 THEN '1 step' WHEN steps > 0 THEN steps || ' steps'
           WHEN t_steps > 0 THEN 'a whole trace' ELSE 'whole traces' END
      || ' of ' || printf('%.*f', digits, low / size)
      || replace('-' || printf('%.*f', digits, high / size), '-' || printf('%.*f', digits, low / size), '')
      || ' ' || unit
      || coalesce(', ' || CASE WHEN t_steps > 0 THEN t_steps WHEN steps > 0 THEN 'a whole trace' END
                  || ' of ', ' and ')
      || printf('%.*f', digits, t_low / size)
      || replace('-' || printf('%.*f', digits, t_high / size), '-' || printf('%.*f', digits, t_low / size), '')
      || CASE WHEN identical THEN ': all parts are equal' WHEN t_low > high THEN ': all of test''s are longer'
              WHEN low > t_high THEN ': all of test''s are shorter' ELSE ': they overlap' END
      || '; ' || CASE WHEN ranks > 1 THEN ranks || ' ranks' || CASE t_ranks WHEN ranks THEN ''
                                                                ELSE ' and ' || t_ranks END
                      WHEN t_ranks > 1 THEN '1 rank and ' || t_ranks
                      WHEN rank = t_rank THEN 'rank ' || rank
                      ELSE 'ranks ' || rank || ' and ' || t_rank END
      || CASE WHEN (of_host AND t_of_host) OR :clock = 'host' THEN ', host clock' ELSE ', device clock' END
    WHEN 0.5 THEN (SELECT 'at like sizes ' || printf('%+.*f', digits, within / 1000 / size) || ' ' || unit
                          || coalesce(' (' || printf('%+.1f', within / 10 / nullif(mean, 0)) || ' %)', '')
                          || '; from another mix of requests ' || printf('%+.*f', digits, mix / 1000 / size)
                          || ' ' || unit
                   FROM (SELECT sum(diff_within) AS within, sum(diff_mix) AS mix FROM alike)
                   WHERE within IS NOT NULL)
    WHEN 1 THEN (SELECT CASE WHEN d > 0 THEN 'kernels are slower by one factor (' ELSE 'kernels are faster by one factor (' END
                        || factor || '): look at the clock before the code'
                 FROM clocked)
    END AS text
  FROM judged CROSS JOIN rule
  WHERE side = 0
  UNION ALL
  SELECT 1 + line, NULL, NULL, NULL, NULL, CASE item
    WHEN 'longest' THEN
      'step ' || (SELECT iteration FROM step WHERE step.side = matter.side ORDER BY ms DESC, rank, iteration)
      || ' of ' || word || ' takes ' || printf('%.*f', digits, high / size) || ' ' || unit
      || ', its median is ' || printf('%.*f', digits, median / size)
    ELSE why END
  FROM matter CROSS JOIN judged USING (side)
  LIMIT -1),
-- the verdict, the coverage, the mix and at most four cautions
head AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY number, text) AS line, *
  FROM said
  WHERE text IS NOT NULL
  ORDER BY number, text
  LIMIT 6 + (SELECT is_mixed FROM mixed)),
chosen AS MATERIALIZED (
  SELECT cause.*, digits, size, unit, least, verdict, identical,
         place <= 11 - (SELECT count(*) FROM head)
           AND (abs(diff_time) >= 10 * abs(d) OR (SELECT is_mixed FROM mixed))
           AND abs(diff_time) / 1000 >= least AS is_shown
  FROM cause CROSS JOIN judged
  WHERE side = 0
  LIMIT -1),
-- the causes that are shown, and the rest as one
piece AS MATERIALIZED (
  SELECT CASE WHEN is_shown THEN place END AS place, class, name, digits, size, unit, least, verdict,
         total(control_time) / 1000 AS control_ms, total(test_time) / 1000 AS test_ms,
         total(diff_time) / 1000 AS ms, sum(share) AS share,
         CASE WHEN NOT is_shown THEN '' WHEN kind IN ('host late', 'queued', 'not recorded', 'mix') THEN kind
              WHEN class = 'comm' THEN 'communication' WHEN class = 'memory' THEN 'copies'
              WHEN class = 'compute' THEN class ELSE 'host' END AS tag,
         CASE WHEN is_shown THEN text
              ELSE count(*) || CASE count(*) WHEN 1 THEN ' smaller part' ELSE ' smaller parts' END END AS what
  FROM chosen
  WHERE is_shown OR NOT identical
  GROUP BY 1
  LIMIT -1),
line AS (
  SELECT line AS place, CASE number WHEN -1 THEN 'verdict' WHEN 0 THEN 'coverage' WHEN 0.5 THEN 'mix'
                                    ELSE 'caution' END AS kind,
         CASE WHEN number > 0.5 THEN 'caution: ' ELSE '' END || text AS text, NULL AS class, NULL AS name,
         CASE number WHEN -1 THEN mean END AS control_ms, CASE number WHEN -1 THEN t_mean END AS test_ms,
         CASE number WHEN -1 THEN d END AS diff_ms, NULL AS share
  FROM head
  UNION ALL
  SELECT CASE tag WHEN 'mix' THEN 98 ELSE coalesce(7 + place, 99) END, CASE WHEN place IS NULL THEN 'rest' ELSE 'cause' END,
         printf('%8s %-2s %6s  %-13s  %s',
                CASE WHEN abs(ms) < least THEN '0' ELSE printf('%+.*f', digits, ms / size) END, unit,
                CASE WHEN verdict LIKE 'test is%' THEN coalesce(printf('%.0f %%', 100 * share), '') ELSE '' END,
                tag, what),
         CASE WHEN place THEN class END, CASE WHEN place THEN name END, control_ms, test_ms, ms, share
  FROM piece
  UNION ALL
  SELECT 1, 'verdict', 'nothing to compare: no events in ' || empty, NULL, NULL, NULL, NULL, NULL, NULL
  FROM (SELECT group_concat(column2, ' and in ') AS empty
        FROM (VALUES (0, 'control'), (1, 'test'))
        WHERE column1 NOT IN (SELECT side FROM step))
  WHERE empty IS NOT NULL)
SELECT row_number() OVER (ORDER BY place) AS line, kind, substr(text, 1, 100) AS text, class, name,
       control_ms, test_ms, diff_ms, share
FROM line
ORDER BY line;
