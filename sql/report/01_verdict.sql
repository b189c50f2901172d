-- 01_verdict: The difference, its kinds and causes, and how sure it is
-- Layout prose
-- Of all
WITH kinds(class, what) AS (
  VALUES ('compute', 'compute'), ('comm', 'exposed communication'), ('memory', 'copies'),
         ('idle_host', 'waiting for the host'), ('idle_call', 'waiting for the host'),
         ('idle_launch', 'waiting for the host'), ('idle_wait', 'launch latency'),
         ('idle_unrecorded', 'idle, not recorded'), ('host', 'operators of the host'),
         ('call', 'calls of the host'), ('unrecorded', 'not recorded')),
cause AS MATERIALIZED (
  SELECT *, diff_time / 1000 AS ms
  FROM trace_step_causes(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                         :clock, :shown, :steps)
  LIMIT -1),
part AS (
  SELECT class, -total(time_ns) / 1e6 / :control_windows AS ms
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  GROUP BY class
  UNION ALL
  SELECT class, total(time_ns) / 1e6 / :test_windows
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)
  GROUP BY class),
kind AS (
  SELECT what, sum(ms) AS ms
  FROM part JOIN kinds USING (class)
  GROUP BY what),
told_kind AS (
  SELECT what, ms, row_number() OVER (ORDER BY abs(ms) DESC, what) AS place, count(*) OVER () AS count
  FROM kind
  WHERE abs(ms) >= 0.03 * abs(:diff_ms) AND abs(ms) >= :least AND :judged NOT IN ('same', 'nothing', 'cannot')),
-- compares equal sizes, if the steps have several strata
alike AS MATERIALIZED (
  SELECT class, name, diff_within / 1000 AS within, diff_mix / 1000 AS mix
  FROM trace_step_diff(CASE WHEN :strata > 1 THEN :control END, :test, :control_rank, :test_rank, :control_iteration,
                       :test_iteration, 'op', :clock, NULL, NULL, :steps)
  LIMIT -1),
headline AS MATERIALIZED ( -- with several strata, the verdict compares equal sizes
  SELECT CASE WHEN :strata > 1 AND :judged <> 'unclear' THEN (SELECT sum(within) FROM alike) ELSE :diff_ms END AS ms
  LIMIT -1),
told_alike AS (
  SELECT coalesce(trace_label(name), 'without a name') AS text, within,
         row_number() OVER (ORDER BY abs(within) DESC, class, name) AS place, count(*) OVER () AS count
  FROM alike
  WHERE abs(within) >= :least),
told_cause AS (
  SELECT text, ms, ms * :diff_ms < 0 AS against,
         row_number() OVER (PARTITION BY ms * :diff_ms < 0 ORDER BY abs(ms) DESC, text) AS place,
         count(*) FILTER (WHERE ms * :diff_ms > 0) OVER () AS count
  FROM cause
  WHERE abs(ms) >= :least AND abs(ms) >= 0.01 * abs(:diff_ms) AND :strata = 1
    AND :judged NOT IN ('same', 'nothing', 'cannot')),
said(part, place, block, strong, text, diff) AS (
  SELECT 1, 1, 'h1', NULL, CASE :judged
           WHEN 'nothing' THEN 'Nothing to compare'
           WHEN 'cannot' THEN 'These traces cannot be compared'
           WHEN 'same' THEN 'No difference: ' || printf('%.*f', :digits, :control_ms / :size) || ' '
             || :unit || ' per ' || :per || ' on both sides'
           ELSE CASE WHEN :judged <> 'unclear' THEN '' WHEN :strata > 1 THEN 'No clear difference over all sizes: '
                     ELSE 'No clear difference: ' END
             || CASE WHEN abs(ms) < :least THEN '0' ELSE
                  replace(printf('%+.*f', :digits, ms / :size), '-', '−') END || ' ' || :unit || ' per ' || :per
             || CASE WHEN :control_ms > 0 AND abs(ms) >= :least THEN
                  CASE WHEN ms >= 9.995 * :control_ms THEN printf(' (× %,d)', round((:control_ms + ms) / :control_ms))
                       ELSE replace(printf(CASE WHEN abs(ms) >= 0.0995 * :control_ms
                                                     THEN ' (%+.0f'||char(160)||'%%)'
                                                WHEN abs(ms) >= 0.00995 * :control_ms
                                                     THEN ' (%+.1f'||char(160)||'%%)'
                                                ELSE ' (%+.2f'||char(160)||'%%)' END, 100 * ms / :control_ms),
                                    '-', '−') END ELSE '' END
             || CASE :judged WHEN 'unclear' THEN '' ELSE ': ' || :judgement END
           END, NULL
  FROM headline
  UNION ALL
  SELECT 2, 1, 'bars', NULL, NULL, NULL WHERE :judged NOT IN ('nothing', 'cannot')
  UNION ALL
  SELECT 2.5, 1, 'lead', NULL, 'At like sizes: ', (SELECT sum(within) FROM alike) WHERE :strata > 1
  UNION ALL
  SELECT 2.5, 2, NULL, NULL, ' ' || :unit || '; from another mix of requests: ', (SELECT sum(mix) FROM alike)
  WHERE :strata > 1
  UNION ALL
  SELECT 2.5, 3, NULL, NULL, ' ' || :unit || '.', NULL WHERE :strata > 1
  UNION ALL
  SELECT 2.6, place, CASE place WHEN 1 THEN 'lead' END, NULL,
         CASE place WHEN 1 THEN 'Largest at like sizes: ' ELSE '; ' END || text || ' ', within
  FROM told_alike
  WHERE place <= 3
  UNION ALL
  SELECT 2.6, 4, NULL, NULL, ' ' || :unit || '.', NULL FROM told_alike WHERE place = 1
  UNION ALL
  SELECT 3, 2 * place - 1, CASE place WHEN 1 THEN 'lead' END, NULL,
         CASE place WHEN 1 THEN 'In kinds of time: ' ELSE ', ' END || what || ' ', ms
  FROM told_kind
  UNION ALL
  SELECT 3, 2 * count, NULL, NULL, ' ' || :unit || '.', NULL
  FROM told_kind
  WHERE place = count
  UNION ALL
  SELECT 4, place, CASE place WHEN 1 THEN 'lead' END, NULL,
         CASE place WHEN 1 THEN 'Largest causes: ' ELSE '; ' END || text || ' ', ms
  FROM told_cause
  WHERE NOT against AND place <= 3
  UNION ALL
  SELECT 5, 1, CASE count WHEN 0 THEN 'lead' END, NULL,
         CASE count WHEN 0 THEN 'The other way: ' ELSE ' ' || :unit || '; the other way, ' END || text || ' ', ms
  FROM told_cause
  WHERE against AND place = 1
  UNION ALL
  SELECT 6, 1, NULL, NULL, ' ' || :unit || '.', NULL
  WHERE EXISTS (SELECT 1 FROM told_cause)
  UNION ALL
  SELECT 7, 1, 'p', NULL, CASE :judged
           WHEN 'cannot' THEN 'A recording is impossible or incomplete, so a difference of times would say nothing '
             || 'about the program. Record again, or compare by the host’s clock (clock = ''host'') if only '
             || 'device work is missing.'
           WHEN 'nothing' THEN 'A side has no events that count, so there is no step to compare.'
           WHEN 'same' THEN CASE WHEN :control = :test THEN
             'Control and test are the same path, so every part is equal.'
             ELSE 'Every part of the step takes the same time on both sides, to the nanosecond.' END
           ELSE CASE
             WHEN :judged = 'unclear' THEN
               CASE WHEN :load IS NOT NULL
                         THEN 'Beside the load of the host, nothing changed that is longer than steps vary'
                    WHEN min(:control_steps, :test_steps) < 3 THEN 'The difference is small and steps are few'
                    ELSE 'The difference is smaller than the steps of a side vary, or less than 0.5 %' END
             WHEN :strata > 1 THEN 'Steps of ' || :strata || ' sizes are compared size by size: where test is '
               || CASE WHEN ms > 0 THEN 'slower, its step is the longer' ELSE 'faster, its step is the shorter' END
               || ' one in nine of ten pairs of a size or more'
             WHEN :control_steps = 0 AND :test_steps = 0
               THEN 'Whole traces are compared, because no steps are marked: how much a step varies is not known'
             WHEN min(:control_steps, :test_steps) < 3
               THEN 'Few steps: ' || :control_steps || ' of control, ' || :test_steps
                 || ' of test, so how much a step varies is not known'
             WHEN :is_apart THEN 'The steps agree: every one of test’s ' || :test_steps || ' is '
               || CASE WHEN :diff_ms > 0 THEN 'longer' ELSE 'shorter' END || ' than every one of control’s '
               || :control_steps
             ELSE 'The steps overlap: some of test’s ' || :test_steps || ' are within the range of control’s '
               || :control_steps END
             || ' (control ' || :control_range || ', test ' || :test_range || ' ' || :unit || ').'
           END, NULL
  FROM headline
  UNION ALL
  SELECT 7, 2, NULL, NULL, ' One recording per side: what differs from run to run is not in these numbers.', NULL
  WHERE :judged NOT IN ('nothing', 'same', 'cannot')
  UNION ALL
  SELECT 7, 3, 'p', NULL, 'A job of ' || :ranks
           || ' ranks: times are those of its critical path across all ranks, so they contain no wait '
         || 'for another rank.', NULL
  WHERE :ranks > 0 AND :judged NOT IN ('nothing', 'cannot')
  UNION ALL
  SELECT 8, 1, 'p', 'Memory:', replace(replace(replace(text, ' -> ', ' → '), ', -', ', −'), '(-', '(−') || '.', NULL
  FROM memory_summary(:control_memory, :test_memory, 'worst', 10)
  WHERE kind = 'verdict')
SELECT block, strong, text, diff
FROM said
ORDER BY part, place
