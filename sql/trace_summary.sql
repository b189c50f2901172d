-- trace_summary: why a step is slower or faster, in at most twelve lines of text.
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array or 'all'; default the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all' or 'steady'; default 'steady'
--   :test_iteration     any            the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
-- Columns
--   line        INTEGER  from 1
--   kind        TEXT     'verdict', 'coverage', 'caution', 'cause' or 'rest'
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
--      more than 1.15 times the median of its side, less than 90 % of the time of operators of both
--      sides is at shapes of both sides, a file has problems (work without a launch is none here).
--   3. Causes are those of trace_step_causes of 1 % of the difference or more, as many as there is
--      room for.
--   4. Numbers have as many decimals as the difference needs for three digits, at most 3; as the step
--      does if the difference is less than 0.5 % of it. Shares of an unclear difference are not said.
WITH step AS MATERIALIZED (
  SELECT 0 AS side, rank, iteration, sum(time_ns) / 1e6 AS ms,
         max(class IN ('call', 'host', 'unrecorded')) AS of_host
  FROM trace_step_time(:control, :control_rank, :control_iteration, 'annotation', :clock)
  GROUP BY rank, iteration
  UNION ALL
  SELECT 1, rank, iteration, sum(time_ns) / 1e6, max(class IN ('call', 'host', 'unrecorded'))
  FROM trace_step_time(:test, :test_rank, :test_iteration, 'annotation', :clock)
  GROUP BY rank, iteration),
steps AS MATERIALIZED (
  SELECT side, count(*) AS windows, count(iteration) AS steps, avg(ms) AS mean, min(ms) AS low,
         max(ms) AS high, trace_quantile(ms, 0.5) AS median, count(DISTINCT rank) AS ranks,
         min(rank) AS rank, max(of_host) AS of_host
  FROM step
  GROUP BY side),
file AS (
  SELECT 0 AS side, rank, world_size, device, problems, skipped FROM trace_files(:control)
  UNION ALL
  SELECT 1, rank, world_size, device, problems, skipped FROM trace_files(:test)),
files AS MATERIALIZED (
  SELECT file.side, max(world_size) AS world, count(DISTINCT file.rank) AS recorded,
         group_concat(DISTINCT device) FILTER (WHERE file.rank IN (
           SELECT rank FROM step WHERE step.side = file.side)) AS device,
         sum(skipped > 0 OR length(problems) - length(replace(problems, '"what"', ''))
             > 6 * ((problems LIKE '%"device work launched before the recording"%')
                    + (problems LIKE '%"device work without a launch"%'))) AS bad
  FROM file
  WHERE file.rank IS NOT NULL
  GROUP BY file.side),
cause AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY abs(diff_time) DESC) AS place
  FROM trace_step_causes(:control, :test, :control_rank, :test_rank, :control_iteration,
                         :test_iteration, :clock)
  LIMIT -1),
means AS (
  SELECT c.mean AS c, t.mean AS t, t.mean - c.mean AS d,
         max(c.mean, t.mean) >= 10000 AS in_seconds,
         (SELECT coalesce(max(abs(diff_time)), 0) FROM cause) = 0 AS identical
  FROM steps AS c CROSS JOIN steps AS t
  WHERE c.side = 0 AND t.side = 1),
unit AS (
  SELECT *, CASE WHEN in_seconds THEN 's' ELSE 'ms' END AS name,
         CASE WHEN in_seconds THEN 1000.0 ELSE 1.0 END AS size,
         CASE WHEN abs(d) < 0.005 * c THEN c ELSE abs(d) END
           / CASE WHEN in_seconds THEN 1000 ELSE 1 END AS digits_of
  FROM means),
style AS MATERIALIZED (
  SELECT *, CASE WHEN digits_of >= 100 THEN 0 WHEN digits_of >= 10 THEN 1 WHEN digits_of >= 1 THEN 2
                 ELSE 3 END AS digits,
         CASE WHEN digits_of >= 100 THEN 0.5 WHEN digits_of >= 10 THEN 0.05 WHEN digits_of >= 1 THEN 0.005
              ELSE 0.0005 END * size AS least, 100.0 * d / nullif(c, 0) AS percent
  FROM unit),
judged AS MATERIALIZED (
  SELECT style.*, c.low > t.high AS all_shorter, t.low > c.high AS all_longer,
         CASE WHEN identical THEN 'no difference'
              WHEN abs(d) < 0.005 * style.c OR (c.low <= t.high AND t.low <= c.high
                AND abs(d) < max(c.high - c.low, t.high - t.low)) THEN 'no clear difference'
              WHEN d > 0 THEN 'test is slower' ELSE 'test is faster' END AS verdict,
         CASE WHEN c.steps = 1 THEN '1 step' WHEN c.steps > 0 THEN c.steps || ' steps'
              WHEN t.steps > 0 THEN 'a whole trace' ELSE 'whole traces' END AS c_steps,
         CASE WHEN t.steps > 0 THEN t.steps WHEN c.steps > 0 THEN 'a whole trace' END AS t_steps,
         CASE WHEN c.steps = 0 AND t.steps = 0 THEN 'a trace' ELSE 'a step' END AS per,
         printf('%.*f', digits, c.low / size) AS c_low, printf('%.*f', digits, c.high / size) AS c_high,
         printf('%.*f', digits, t.low / size) AS t_low, printf('%.*f', digits, t.high / size) AS t_high,
         CASE WHEN c.ranks > 1 THEN c.ranks || ' ranks' || CASE t.ranks WHEN c.ranks THEN ''
                                                            ELSE ' and ' || t.ranks END
              WHEN t.ranks > 1 THEN '1 rank and ' || t.ranks
              WHEN c.rank = t.rank THEN 'rank ' || c.rank
              ELSE 'ranks ' || c.rank || ' and ' || t.rank END AS ranks,
         CASE WHEN (c.of_host AND t.of_host) OR :clock = 'host' THEN 'host' ELSE 'device' END AS clock
  FROM style CROSS JOIN steps AS c CROSS JOIN steps AS t
  WHERE c.side = 0 AND t.side = 1),
own AS MATERIALIZED (
  SELECT 0 AS side, op, shapes, sum(dur) AS time
  FROM trace_kernel_owners(:control, :control_rank, :control_iteration)
  GROUP BY op, shapes
  UNION ALL
  SELECT 1, op, shapes, sum(dur)
  FROM trace_kernel_owners(:test, :test_rank, :test_iteration)
  GROUP BY op, shapes),
shaped AS (
  SELECT op, count(DISTINCT side) AS sides, sum(time) AS time
  FROM own
  WHERE op IS NOT NULL AND shapes IS NOT NULL
  GROUP BY op, shapes),
common AS (
  SELECT sum(time) AS time, sum(time) FILTER (WHERE sides = 2) AS same
  FROM shaped
  WHERE op IN (SELECT op FROM own WHERE shapes IS NOT NULL GROUP BY op HAVING count(DISTINCT side) = 2)),
side(side, word) AS (VALUES (0, 'control'), (1, 'test')),
caution AS (
  SELECT 1 AS kind, side.word || ' has no steps: its whole trace is compared with a step' AS text
  FROM steps JOIN side USING (side)
  WHERE steps = 0 AND EXISTS (SELECT 1 FROM steps AS other WHERE other.steps > 0)
  UNION ALL
  SELECT 2, side.word || ' has no device work: its host is compared with a device'
  FROM steps JOIN side USING (side)
  WHERE of_host AND EXISTS (SELECT 1 FROM steps AS other WHERE NOT other.of_host)
  UNION ALL
  SELECT 3, 'devices differ: ' || c.device || ' / ' || t.device
  FROM files AS c CROSS JOIN files AS t
  WHERE c.side = 0 AND t.side = 1 AND c.device <> t.device
  UNION ALL
  SELECT 4, 'rank ' || sc.rank || coalesce(' of ' || c.world, '') || ' is compared with rank ' || st.rank
         || coalesce(' of ' || t.world, '')
         || CASE WHEN c.recorded = 1 AND t.recorded = 1 AND max(c.world, t.world) > 1
                 THEN '; no other rank is recorded' ELSE '' END
  FROM files AS c CROSS JOIN files AS t CROSS JOIN steps AS sc CROSS JOIN steps AS st
  WHERE c.side = 0 AND t.side = 1 AND sc.side = 0 AND st.side = 1 AND sc.ranks = 1 AND st.ranks = 1
    AND (sc.rank <> st.rank OR c.world <> t.world)
  UNION ALL
  SELECT 5, CASE WHEN c.recorded = t.recorded THEN c.recorded ELSE c.recorded || ' and ' || t.recorded END
         || ' of ' || c.world || ' ranks recorded: who waits for whom is not known'
  FROM files AS c CROSS JOIN files AS t CROSS JOIN steps AS sc CROSS JOIN steps AS st
  WHERE c.side = 0 AND t.side = 1 AND sc.side = 0 AND st.side = 1
    AND c.world = t.world AND min(c.recorded, t.recorded) < c.world
    AND NOT (sc.ranks = 1 AND st.ranks = 1 AND sc.rank <> st.rank)
  UNION ALL
  SELECT 6, side.word || ' has ' || CASE steps WHEN 1 THEN '1 step' ELSE '2 steps' END
         || ': too few to tell how much steps vary'
  FROM steps JOIN side USING (side)
  WHERE steps IN (1, 2)
  UNION ALL
  SELECT 7, 'step ' || iteration || ' of ' || side.word || ' takes ' || printf('%.*f', digits, ms / size)
         || ' ' || name || ', its median is ' || printf('%.*f', digits, median / size)
  FROM judged CROSS JOIN (SELECT side, iteration, max(ms) AS ms FROM step GROUP BY side) AS longest
       JOIN steps USING (side) JOIN side USING (side)
  WHERE ms > 1.15 * median AND steps > 2
  UNION ALL
  SELECT 8, printf('%.0f', 100 * coalesce(same, 0) / time)
         || ' % of common operators'' time is at common shapes: same model?'
  FROM common
  WHERE coalesce(same, 0) < 0.9 * time
  UNION ALL
  SELECT 9, side.word || ': ' || bad || CASE bad WHEN 1 THEN ' file has' ELSE ' files have' END
         || ' problems (trace_files)'
  FROM files JOIN side USING (side)
  WHERE bad > 0),
cautions AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY kind, text) AS place, text FROM caution ORDER BY kind, text LIMIT 4),
shown AS MATERIALIZED (
  SELECT cause.*, diff_time / 1000 AS ms
  FROM cause CROSS JOIN judged
  WHERE place <= 9 - (SELECT count(*) FROM cautions) AND abs(diff_time) >= 10 * abs(d)
    AND abs(diff_time) / 1000 >= least),
word AS (
  SELECT name AS word FROM shown WHERE class IS NOT 'comm' UNION SELECT area FROM shown),
bare AS (
  SELECT word, CASE
    WHEN word GLOB 'enumerate(DataLoader)#_SingleProcess*'
      THEN 'DataLoader next batch, in this process'
    WHEN word GLOB 'enumerate(DataLoader)#_MultiProcessing*'
      THEN 'DataLoader next batch, from workers'
    WHEN word LIKE '## % ##' THEN substr(word, 4, length(word) - 6)
    ELSE replace(replace(replace(replace(replace(word, 'autograd::engine::evaluate_function: ', ''),
      'torch::autograd::', ''), 'nn.Module: ', ''), 'Optimizer.step#', ''), 'at::native::', '') END AS bare
  FROM word),
label AS MATERIALIZED (
  SELECT word, replace(replace(CASE WHEN bare LIKE 'CppNode<%>' THEN substr(bare, 9, length(bare) - 9)
                                    ELSE bare END, char(10), ' '), char(13), ' ') AS label
  FROM bare),
told AS (
  SELECT place, class, name, control_time / 1000 AS control_ms, test_time / 1000 AS test_ms, ms, share,
         CASE WHEN kind = 'host late' THEN 'host late' WHEN kind IN ('queued', 'not recorded') THEN kind
              WHEN class = 'comm' THEN 'communication' WHEN class = 'memory' THEN 'copies'
              WHEN class = 'compute' THEN class ELSE 'host' END AS tag,
         (SELECT label FROM label WHERE word = name) AS of_name,
         (SELECT coalesce(' (' || label || ')', '') FROM label
          WHERE word = area AND area <> coalesce(name, '')) AS of_area,
         kind, area, added, removed, names,
         (SELECT count(*) FROM cause AS other WHERE other.kind = 'host late') AS late
  FROM shown),
said AS (
  SELECT *, CASE kind
    WHEN 'queued' THEN 'launched, not begun'
    WHEN 'not recorded' THEN 'idle, nothing recorded of the host'
    WHEN 'communication' THEN CASE WHEN area LIKE 'nccl:%' OR area LIKE 'gloo:%' THEN area
                                   ELSE trace_short_name(name) END || ', not hidden'
    WHEN 'host late' THEN CASE WHEN class IS 'idle_launch' THEN 'launching: ' || of_name
                               ELSE 'waiting for ' || coalesce(of_name, 'the host'
                                      || CASE WHEN late > 1 THEN ', elsewhere' ELSE '' END) END
    WHEN 'replaced' THEN CASE WHEN class = 'memory' THEN 'copies of ' || of_name ELSE of_name
      || CASE WHEN added = 0 THEN ' gives way to ' || (names - removed)
              ELSE CASE WHEN added > 1 THEN ' and ' || (added - 1) || ' more take over from '
                        ELSE ' takes over from ' END || (names - added) END
      || CASE WHEN names - CASE added WHEN 0 THEN removed ELSE added END = 1 THEN ' operator'
              ELSE ' operators' END
      END || coalesce(of_area, '')
    ELSE CASE class WHEN 'memory' THEN 'copies: ' ELSE '' END
         || coalesce(of_name, 'work without a launch') || coalesce(of_area, '') END AS what
  FROM told),
rest AS (
  SELECT count(*) AS parts, total(control_time) / 1000 AS control_ms, total(test_time) / 1000 AS test_ms,
         total(diff_time) / 1000 AS ms, total(share) AS share
  FROM cause
  WHERE place NOT IN (SELECT place FROM shown)),
piece AS (
  SELECT 4 AS part, place, 'cause' AS kind, tag, what, class, name, control_ms, test_ms, ms, share
  FROM said
  UNION ALL
  SELECT 5, 1, 'rest', '', parts || CASE parts WHEN 1 THEN ' smaller part' ELSE ' smaller parts' END,
         NULL, NULL, control_ms, test_ms, ms, share
  FROM rest
  WHERE parts > 0 AND EXISTS (SELECT 1 FROM means WHERE NOT identical)),
line AS (
  SELECT 1 AS part, 1 AS place, 'verdict' AS kind,
         verdict || ': ' || printf('%.*f', digits, c / size) || ' -> ' || printf('%.*f', digits, t / size)
         || ' ' || judged.name || ' ' || per || ', '
         || CASE WHEN abs(d) < least THEN '0 ' || judged.name
                 ELSE printf('%+.*f', digits, d / size) || ' ' || judged.name
                      || coalesce(' (' || CASE WHEN abs(percent) >= 9.95 THEN printf('%+.0f', percent)
                                               WHEN abs(percent) >= 0.995 THEN printf('%+.1f', percent)
                                               ELSE printf('%+.2f', percent) END || ' %)', '') END AS text,
         NULL AS class, NULL AS name, c AS control_ms, t AS test_ms, d AS diff_ms, NULL AS share
  FROM judged
  UNION ALL
  SELECT 2, 1, 'coverage', c_steps || ' of ' || c_low || CASE WHEN c_low <> c_high THEN '-' || c_high ELSE '' END
         || ' ' || judged.name || coalesce(', ' || t_steps || ' of ', ' and ') || t_low
         || CASE WHEN t_low <> t_high THEN '-' || t_high ELSE '' END
         || CASE WHEN identical THEN ': all parts are equal' WHEN all_longer THEN ': all of test''s are longer'
                 WHEN all_shorter THEN ': all of test''s are shorter' ELSE ': they overlap' END
         || '; ' || ranks || ', ' || clock || ' clock',
         NULL, NULL, NULL, NULL, NULL, NULL
  FROM judged
  UNION ALL
  SELECT 3, place, 'caution', 'caution: ' || text, NULL, NULL, NULL, NULL, NULL, NULL
  FROM cautions
  UNION ALL
  SELECT part, place, kind,
         printf('%8s %-2s %6s  %-13s  %s',
                CASE WHEN abs(ms) < least THEN '0' ELSE printf('%+.*f', digits, ms / size) END, judged.name,
                CASE WHEN verdict LIKE 'test is%' THEN printf('%.0f %%', 100 * share) ELSE '' END, tag, what),
         class, piece.name, control_ms, test_ms, ms, share
  FROM piece CROSS JOIN judged
  UNION ALL
  SELECT 1, 1, 'verdict', 'nothing to compare: no events in ' || empty, NULL, NULL, NULL, NULL, NULL, NULL
  FROM (SELECT group_concat(word, ' and in ') AS empty
        FROM side
        WHERE NOT EXISTS (SELECT 1 FROM steps WHERE steps.side = side.side))
  WHERE empty IS NOT NULL)
SELECT row_number() OVER (ORDER BY part, place) AS line, kind, substr(text, 1, 100) AS text, class, name,
       control_ms, test_ms, diff_ms, share
FROM line
ORDER BY line;
