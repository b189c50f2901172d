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
--   2. Cautions, the first four of: a side has no steps, or no device work, the devices differ, ranks
--      or world sizes differ, ranks were not recorded, a side has fewer than three steps, a step takes
--      more than 1.15 times the median of its side, copies to the device have shapes that one side
--      lacks, less than 90 % of the time of operators of both sides is at shapes of both sides, the
--      operators that launched device work have other types of floats, a file has problems (work
--      without a launch is none here).
--   3. Causes are those of trace_step_causes of 1 % of the difference or more, as many as there is
--      room for.
--   4. If the steps are of several strata (A13), 'mix' says what part of the difference steps of like sizes have,
--      and what comes from another mix of requests. The causes are then the parts of trace_step_diff, whose
--      diff_ms is diff_within, and the mix as a whole. The caution about long steps is left out.
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
steps AS (
  SELECT side, count(iteration) AS steps, avg(ms) AS mean, min(ms) AS low, max(ms) AS high,
         trace_quantile(ms, 0.5) AS median, count(DISTINCT rank) AS ranks, min(rank) AS rank,
         max(of_host) AS of_host
  FROM step
  GROUP BY side),
file AS (
  SELECT 0 AS side, rank, world_size, device, problems, skipped FROM trace_files(:control)
  UNION ALL
  SELECT 1, rank, world_size, device, problems, skipped FROM trace_files(:test)),
files AS (
  SELECT file.side, max(world_size) AS world, count(DISTINCT file.rank) AS recorded,
         group_concat(DISTINCT device) FILTER (WHERE file.rank IN (
           SELECT rank FROM step WHERE step.side = file.side)) AS device,
         sum(skipped > 0 OR length(problems) - length(replace(problems, '"what"', ''))
             > 6 * ((problems LIKE '%"device work launched before the recording"%')
                    + (problems LIKE '%"device work without a launch"%'))) AS bad
  FROM file
  WHERE file.rank IS NOT NULL
  GROUP BY file.side),
recorded AS MATERIALIZED (
  SELECT * FROM steps LEFT JOIN files USING (side) LIMIT -1),
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
         t.rank AS t_rank, t.of_host AS t_of_host, t.world AS t_world, t.recorded AS t_recorded,
         t.device AS t_device, CASE c.side WHEN 0 THEN 'control' ELSE 'test' END AS word,
         t.mean - c.mean AS d, CASE c.side WHEN 0 THEN c.mean ELSE t.mean END AS base,
         CASE WHEN max(c.mean, t.mean) >= 10000 THEN 's' ELSE 'ms' END AS unit,
         (SELECT coalesce(max(abs(diff_time)), 0) FROM cause) = 0 AS identical
  FROM recorded AS c JOIN recorded AS t ON t.side = 1 - c.side
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
own AS MATERIALIZED (
  SELECT 0 AS side, op, shapes, types, name LIKE 'Memcpy HtoD%' AS is_input, sum(dur) AS time
  FROM trace_kernel_owners(:control, :control_rank, :control_iteration, :steps)
  GROUP BY op, shapes, types, is_input
  UNION ALL
  SELECT 1, op, shapes, types, name LIKE 'Memcpy HtoD%' AS is_input, sum(dur)
  FROM trace_kernel_owners(:test, :test_rank, :test_iteration, :steps)
  GROUP BY op, shapes, types, is_input),
input AS (
  SELECT count(*) AS shapes, total(of_control AND of_test) AS common,
         max(of_control) AND max(of_test) AS of_both
  FROM (SELECT max(side = 0) AS of_control, max(side = 1) AS of_test
        FROM own
        WHERE is_input AND shapes IS NOT NULL
        GROUP BY shapes)),
shaped AS (
  SELECT op, max(side = 0) AS of_control, max(side = 1) AS of_test, sum(time) AS time
  FROM own
  WHERE shapes IS NOT NULL
  GROUP BY op, shapes),
common AS (
  SELECT sum(time) AS time, sum(same) AS same
  FROM (SELECT sum(time) AS time, total(time) FILTER (WHERE of_control AND of_test) AS same
        FROM shaped
        GROUP BY op
        HAVING max(of_control) AND max(of_test))),
precision AS MATERIALIZED (
  SELECT side, substr(CASE WHEN max(types GLOB '*"double"*') THEN ', float64' ELSE '' END
                      || CASE WHEN max(types GLOB '*"float"*') THEN ', float32' ELSE '' END
                      || CASE WHEN max(types GLOB '*BFloat16"*') THEN ', bfloat16' ELSE '' END
                      || CASE WHEN max(types GLOB '*Half"*') THEN ', float16' ELSE '' END
                      || CASE WHEN max(types GLOB '*Float8*') THEN ', float8' ELSE '' END, 3) AS names
  FROM (SELECT DISTINCT side, types FROM own LIMIT -1)
  GROUP BY side),
rule(number) AS (VALUES (-1), (0), (0.5), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11)),
said AS MATERIALIZED (
  SELECT *, CASE WHEN number IN (1, 2, 6, 7, 11) OR side = 0 THEN CASE number
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
    WHEN 1 THEN CASE WHEN steps = 0 AND t_steps > 0
      THEN word || ' has no steps: its whole trace is compared with a step' END
    WHEN 2 THEN CASE WHEN of_host AND NOT t_of_host
      THEN word || ' has no device work: its host is compared with a device' END
    WHEN 3 THEN CASE WHEN device <> t_device THEN 'devices differ: ' || device || ' / ' || t_device END
    WHEN 4 THEN CASE WHEN ranks = 1 AND t_ranks = 1 AND (rank <> t_rank OR world <> t_world)
      THEN 'rank ' || rank || coalesce(' of ' || world, '') || ' is compared with rank ' || t_rank
           || coalesce(' of ' || t_world, '')
           || CASE WHEN recorded = 1 AND t_recorded = 1 AND max(world, t_world) > 1
                   THEN '; no other rank is recorded' ELSE '' END END
    WHEN 5 THEN CASE WHEN world = t_world AND min(recorded, t_recorded) < world
                       AND NOT (ranks = 1 AND t_ranks = 1 AND rank <> t_rank)
      THEN CASE WHEN recorded = t_recorded THEN recorded ELSE recorded || ' and ' || t_recorded END
           || ' of ' || world || ' ranks recorded: who waits for whom is not known' END
    WHEN 6 THEN CASE WHEN steps IN (1, 2) THEN word || ' has ' || CASE steps WHEN 1 THEN '1 step'
      ELSE '2 steps' END || ': too few to tell how much steps vary' END
    WHEN 7 THEN CASE WHEN high > 1.15 * median AND steps > 2 AND NOT (SELECT is_mixed FROM mixed)
      THEN 'step ' || (SELECT iteration FROM step WHERE step.side = judged.side ORDER BY ms DESC, rank, iteration)
           || ' of ' || word || ' takes ' || printf('%.*f', digits, high / size) || ' ' || unit
           || ', its median is ' || printf('%.*f', digits, median / size) END
    WHEN 8 THEN (SELECT printf('%d of %d shapes of copies to the device are common: same input?', common, shapes)
                 FROM input
                 WHERE of_both AND common < shapes)
    WHEN 9 THEN (SELECT printf('%.0f', 100 * same / time)
                        || ' % of common operators'' time is at common shapes: same model?'
                 FROM common
                 WHERE same < 0.9 * time)
    WHEN 10 THEN (SELECT 'types of operators differ: ' || c.names || ' / ' || t.names
                  FROM precision AS c CROSS JOIN precision AS t
                  WHERE c.side = 0 AND t.side = 1 AND c.names <> t.names AND min(c.names, t.names) <> '')
    WHEN 11 THEN CASE WHEN bad > 0 THEN word || ': ' || bad
      || CASE bad WHEN 1 THEN ' file has' ELSE ' files have' END || ' problems (trace_files)' END
    END END AS text
  FROM judged CROSS JOIN rule
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
