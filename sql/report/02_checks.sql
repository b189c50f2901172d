-- 02_checks: Whether the traces can be compared
-- Layout prose
-- With steps
file AS MATERIALIZED (
  SELECT 0 AS side, rank, world_size, device, problems, skipped FROM trace_files(:control) WHERE rank IS NOT NULL
  UNION ALL
  SELECT 1, rank, world_size, device, problems, skipped FROM trace_files(:test) WHERE rank IS NOT NULL),
side AS MATERIALIZED (
  SELECT side, CASE side WHEN 0 THEN 'control' ELSE 'test' END AS word, count(iteration) AS steps,
         count(DISTINCT iteration) AS numbers, count(DISTINCT rank) AS ranks, min(rank) AS rank,
         trace_quantile(ms, 0.5) AS median, max(of_host) AS of_host
  FROM step
  GROUP BY side),
files AS MATERIALIZED (
  SELECT side, max(world_size) AS world, count(DISTINCT rank) AS recorded,
         (SELECT group_concat(device, ', ')
          FROM (SELECT DISTINCT device FROM file AS other WHERE other.side = file.side AND device IS NOT NULL
                AND rank IN (SELECT rank FROM step WHERE step.side = file.side) ORDER BY device)) AS device,
         sum(skipped > 0 OR length(problems) - length(replace(problems, '"what"', ''))
             > 6 * ((problems LIKE '%"device work launched before the recording"%')
                    + (problems LIKE '%"device work without a launch"%'))) AS bad
  FROM file
  GROUP BY side),
both AS MATERIALIZED (
  SELECT c.steps AS c_steps, t.steps AS t_steps, c.numbers AS c_numbers, t.numbers AS t_numbers, c.ranks AS c_ranks,
         t.ranks AS t_ranks, c.rank AS c_rank, t.rank AS t_rank, cf.world AS c_world, tf.world AS t_world,
         cf.recorded AS c_recorded, tf.recorded AS t_recorded, cf.device AS c_device, tf.device AS t_device,
         cf.bad AS c_bad, tf.bad AS t_bad, c.of_host AS c_host, t.of_host AS t_host
  FROM side AS c CROSS JOIN side AS t CROSS JOIN files AS cf CROSS JOIN files AS tf
  WHERE c.side = 0 AND t.side = 1 AND cf.side = 0 AND tf.side = 1),
unlinked AS MATERIALIZED (
  SELECT 'control' AS word, total(time_ns) AS time, total(time_ns) FILTER (WHERE op IS NULL) AS alone
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  WHERE kernel IS NOT NULL
  UNION ALL
  SELECT 'test', total(time_ns), total(time_ns) FILTER (WHERE op IS NULL)
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)
  WHERE kernel IS NOT NULL),
said(place, bad, strong, text) AS (
  SELECT 1, c_device <> t_device, CASE WHEN c_device <> t_device THEN 'Different devices.' ELSE 'Same device:' END,
         CASE WHEN c_device <> t_device
              THEN c_device || ' / ' || t_device || '. How much of the difference is the hardware, these traces cannot say.'
              ELSE c_device END
  FROM both
  WHERE c_device IS NOT NULL AND t_device IS NOT NULL
  UNION ALL
  SELECT 2, 1, 'No device work.', CASE WHEN c_host THEN 'control' ELSE 'test' END
         || ' has no device work: its host is compared with a device.'
  FROM both
  WHERE c_host <> t_host
  UNION ALL
  SELECT 2, 0, 'Only the host:', 'neither side has device work, so the parts are what the host was in'
  FROM both
  WHERE c_host AND t_host AND coalesce(:clock, 'device') <> 'host'
  UNION ALL
  SELECT 3, differ, CASE WHEN differ THEN 'Different ranks.' ELSE 'Same ranks:' END,
         CASE WHEN c_ranks = 1 AND t_ranks = 1
              THEN CASE WHEN differ THEN 'Control’s rank ' || c_rank || coalesce(' of ' || c_world, '') || ' is compared with test’s rank '
                          || t_rank || coalesce(' of ' || t_world, '') || '.'
                        ELSE 'rank ' || c_rank || coalesce(' of ' || c_world, '') END
              WHEN differ THEN 'Control has ' || c_ranks || coalesce(' of ' || c_world, '') || ', test '
                || t_ranks || coalesce(' of ' || t_world, '') || '.'
              ELSE c_ranks || coalesce(' of ' || c_world, '') END
  FROM (SELECT *, c_world IS NOT t_world OR CASE WHEN c_ranks = 1 AND t_ranks = 1 THEN c_rank <> t_rank ELSE c_ranks <> t_ranks END
                  AS differ FROM both)
  UNION ALL
  SELECT 4, missing, CASE WHEN missing THEN 'Ranks missing.' ELSE 'Ranks:' END,
         CASE WHEN missing THEN 'Recorded: ' || c_recorded || ' of ' || c_world || ' in control, ' || t_recorded || ' of ' || t_world
                                || ' in test. Who waits for whom in a collective, one rank cannot say.'
              ELSE 'all recorded' END
  FROM (SELECT *, c_recorded < c_world OR t_recorded < t_world AS missing FROM both
        WHERE c_world IS NOT NULL AND t_world IS NOT NULL)
  UNION ALL
  SELECT 5, few, CASE WHEN few THEN 'Few steps.' ELSE 'Steps:' END,
         CASE WHEN c_steps = 0 AND t_steps = 0 THEN 'No steps are marked: whole traces are compared. profiler.step() marks them.'
              WHEN min(c_steps, t_steps) = 0 THEN CASE c_steps WHEN 0 THEN 'Control' ELSE 'Test' END
                || ' has no steps: its whole trace is compared with a step.'
              WHEN few THEN c_numbers || ' in control, ' || t_numbers || ' in test: too few to tell how much steps vary.'
              WHEN c_numbers = t_numbers THEN c_numbers || ' a side' ELSE c_numbers || ' in control, ' || t_numbers || ' in test; means over them' END
         || CASE WHEN NOT few AND coalesce(:control_iteration, 'steady') = 'steady' AND coalesce(:test_iteration, 'steady') = 'steady'
                 THEN ', without the first and the last' ELSE '' END
  FROM (SELECT *, min(c_numbers, t_numbers) < 3 AS few FROM both)
  UNION ALL
  SELECT 6, 1, 'A long step.', 'Step ' || iteration || ' of ' || word || ' takes ' || printf('%.*f', :digits, ms / :size) || ' ' || :unit
         || ', the median is ' || printf('%.*f', :digits, median / :size) || '.'
  FROM (SELECT side, iteration, max(ms) AS ms FROM step GROUP BY side) JOIN side USING (side)
  WHERE ms > 1.15 * median AND steps > 2 AND :strata = 1
  UNION ALL
  SELECT 9, alone > 0.02 * time, CASE WHEN alone > 0.02 * time THEN 'Work without an operator.' ELSE 'Work without an operator:' END,
         printf('%.0f', max(1, 100 * alone / time)) || ' % of the device time of ' || word
         || CASE WHEN alone > 0.02 * time THEN ' has no recorded launch, or one outside of every operator.' ELSE ' or less' END
  FROM unlinked
  WHERE alone > 0
  UNION ALL
  SELECT 10, 1, 'Not read.', substr(problems, instr(problems, 'cannot read '), 200)
  FROM (SELECT problems FROM trace_files(:control) UNION ALL SELECT problems FROM trace_files(:test))
  WHERE problems LIKE '%"cannot read %'
  UNION ALL
  SELECT 10, c_bad + t_bad > 0, CASE WHEN c_bad + t_bad > 0 THEN 'Problems in files.' ELSE 'Whole files:' END,
         CASE WHEN c_bad + t_bad > 0 THEN c_bad || ' of control, ' || t_bad || ' of test: trace_files lists them.'
              ELSE 'none cut short, no event skipped' END
  FROM both)
SELECT CASE WHEN bad THEN 'warn' WHEN place = 11 THEN 'note' ELSE 'check' END AS block, strong, text, NULL AS diff
FROM (SELECT * FROM said
      UNION ALL
      SELECT 11, 0, NULL, 'Whether operators have the same shapes on both sides, trace_summary tells.')
ORDER BY bad DESC, place, text
