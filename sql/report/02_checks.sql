-- 02_checks: Whether the traces can be compared
-- Layout prose
-- Of all
-- With shared/steps
found AS MATERIALIZED (
  SELECT topic, item, control_value AS control, test_value AS test, matters, why,
         upper(substr(why, 1, 1)) || substr(why, 2) AS sentence
  FROM trace_comparability(:control, :test, :control_each, :test_each, :control_iteration, :test_iteration, :clock, 0,
                           :steps)
  LIMIT -1),
unlinked AS MATERIALIZED (
  SELECT 'control' AS word, total(time_ns) AS time, total(time_ns) FILTER (WHERE op IS NULL) AS alone
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  WHERE kernel IS NOT NULL
  UNION ALL
  SELECT 'test', total(time_ns), total(time_ns) FILTER (WHERE op IS NULL)
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)
  WHERE kernel IS NOT NULL),
said(place, bad, strong, text) AS (
  SELECT -1, 1, 'Ranks left out.', upper(substr(:ranks_out, 1, 1)) || substr(:ranks_out, 2) || '.'
  WHERE :ranks_out IS NOT NULL
  UNION ALL
  SELECT -2, matters <> 'no', CASE matters WHEN 'yes' THEN 'Cannot be trusted.' WHEN 'maybe' THEN 'Incomplete.'
                                           ELSE 'Read with care:' END, sentence || '.'
  FROM found
  WHERE topic = 'health'
  UNION ALL
  SELECT 0, 1, 'Load of the host.', upper(substr(:load, 1, 1)) || substr(:load, 2) || '.' WHERE :load IS NOT NULL
  UNION ALL
  SELECT 0.5, 1, 'A step left out.',
         'Step ' || iteration || ' of ' || side || ' takes ' || printf('%.*f', :digits, ms / :size) || ' ' || :unit
         || '; '
         || CASE WHEN :ranks > 0 THEN 'rank ' || rank || ' has ' ELSE '' END || 'more of '
         || coalesce(trace_label(name),
                     CASE WHEN class LIKE '%unrecorded' THEN 'time in which nothing is recorded' ELSE class END)
         || ' than others. It is in no number of this page.'
  FROM trace_long_steps(CASE WHEN coalesce(:control_left_out, :test_left_out) IS NOT NULL THEN :control END, :test,
                        :control_rank, :test_rank, :control_asked, :test_asked, :clock, :steps)
  WHERE is_left_out
  UNION ALL
  SELECT 1, matters = 'yes', CASE matters WHEN 'yes' THEN 'Different devices.' ELSE 'Same device:' END,
         CASE matters WHEN 'yes'
              THEN control || ' / ' || test || '. How much of the difference is the hardware, these traces cannot say.'
              ELSE control END
  FROM found
  WHERE topic = 'device' AND item = 'name' AND control IS NOT NULL AND test IS NOT NULL
  UNION ALL
  SELECT 2, matters = 'yes', CASE matters WHEN 'yes' THEN 'No device work.' ELSE 'Only the host:' END,
         CASE matters WHEN 'yes' THEN why || '.'
              ELSE 'neither side has device work, so the parts are what the host was in' END
  FROM found
  WHERE topic = 'device' AND item = 'work' AND :judged <> 'cannot'
    AND (matters = 'yes' OR (control = 0 AND coalesce(:clock, 'device') <> 'host'))
  UNION ALL
  SELECT 3, matters <> 'no', CASE matters WHEN 'no' THEN 'Same ranks:' ELSE 'Different ranks.' END,
         CASE WHEN matters = 'no' THEN control
              WHEN control LIKE 'rank %' AND test LIKE 'rank %'
                   THEN 'Control’s ' || control || ' is compared with test’s ' || test || '.'
              ELSE 'Control has ' || control || ', test ' || test || '.' END
  FROM found
  WHERE topic = 'ranks' AND item = 'compared'
  UNION ALL
  SELECT 4, matters <> 'no', CASE matters WHEN 'no' THEN 'Ranks:' ELSE 'Ranks missing.' END,
         CASE matters WHEN 'no' THEN 'all recorded'
              ELSE 'Recorded: ' || control || ' in control, ' || test
                   || ' in test. Who waits for whom in a collective, one rank cannot say.' END
  FROM found
  WHERE topic = 'ranks' AND item = 'recorded' AND control IS NOT NULL AND test IS NOT NULL
  UNION ALL
  SELECT 5, few, CASE WHEN few THEN 'Few steps.' ELSE 'Steps:' END,
         CASE WHEN max(control, test) = 0 OR matters = 'yes' THEN sentence
                || CASE matters WHEN 'yes' THEN '.' ELSE '. profiler.step() marks them.' END
              WHEN few THEN control || ' in control, ' || test || ' in test: too few to tell how much steps vary.'
              WHEN control = test THEN control || ' per side'
              ELSE control || ' in control, ' || test || ' in test; means over them' END
         || CASE WHEN NOT few AND coalesce(:control_iteration, 'steady') = 'steady'
                      AND coalesce(:test_iteration, 'steady') = 'steady'
                 THEN ', without the first and the last' ELSE '' END
  FROM (SELECT *, min(control, test) = 0 OR EXISTS (SELECT 1 FROM found WHERE item = 'few' AND topic = 'steps') AS few
        FROM found
        WHERE topic = 'steps' AND item = 'number')
  UNION ALL
  SELECT 6, 1, 'A long step.', 'Step ' || max(longest) || ' of ' || CASE side WHEN 0 THEN 'control' ELSE 'test' END
         || ' takes ' || printf('%.*f', :digits, max(ms) / :size) || ' ' || :unit
         || ', the median is ' || printf('%.*f', :digits, trace_quantile(ms, 0.5) / :size) || '.'
  FROM (SELECT *, CASE WHEN ms = max(ms) OVER (PARTITION BY side) THEN iteration END AS longest FROM step)
  WHERE side IN (SELECT test IS NOT NULL FROM found WHERE topic = 'steps' AND item = 'longest')
  GROUP BY side
  UNION ALL
  SELECT 7, matters = 'yes', CASE matters WHEN 'yes' THEN 'Recorded in another way.' ELSE 'Not the same:' END,
         CASE matters WHEN 'yes' THEN sentence || '.' ELSE why END
  FROM found
  WHERE topic IN ('profiler', 'options', 'modules') AND matters <> 'no' AND control IS NOT NULL AND test IS NOT NULL
  UNION ALL
  SELECT 8, 0, 'Not the same:', why
  FROM found
  WHERE (topic IN ('versions', 'time') OR item = 'backend') AND matters = 'maybe'
    AND control IS NOT NULL AND test IS NOT NULL
  UNION ALL
  SELECT 9, alone > 0.02 * time,
         CASE WHEN alone > 0.02 * time THEN 'Work without an operator.' ELSE 'Work without an operator:' END,
         printf('%.0f', max(1, 100 * alone / time)) || ' % of the device time of ' || word
         || CASE WHEN alone > 0.02 * time THEN ' has no recorded launch, or one outside of every operator.'
                 ELSE ' or less' END
  FROM unlinked
  WHERE alone > 0
  UNION ALL
  SELECT 10, 1, 'Not read.', substr(problems, instr(problems, 'cannot read '), 200)
  FROM (SELECT problems FROM trace_files(:control) UNION ALL SELECT problems FROM trace_files(:test))
  WHERE problems LIKE '%"cannot read %'
  UNION ALL
  SELECT 10, max(matters = 'yes'), CASE max(matters = 'yes') WHEN 1 THEN 'Problems in files.' ELSE 'Whole files:' END,
         CASE max(matters = 'yes') WHEN 1 THEN coalesce(sum(control), 0) || ' of control, ' || coalesce(sum(test), 0)
                                        || ' of test: cut short, or with events that were skipped.'
              ELSE 'none cut short, no event skipped' END
  FROM found
  WHERE topic = 'files'
  GROUP BY topic)
SELECT CASE WHEN bad THEN 'warn' ELSE 'check' END AS block, strong, text, NULL AS diff
FROM said
ORDER BY bad DESC, place, text
