-- steps: The used steps with their lengths, which sections of the report start from. Steps of jobs have no rank
WITH step AS MATERIALIZED (
  SELECT 0 AS side, CASE WHEN NOT :control_job THEN rank END AS rank, iteration, total(time_ns) / 1e6 AS ms
  FROM trace_step_time(:control, :control_rank, :control_iteration, 'annotation', :clock, NULL, :steps)
  GROUP BY 2, iteration
  UNION ALL
  SELECT 1, CASE WHEN NOT :test_job THEN rank END, iteration, total(time_ns) / 1e6
  FROM trace_step_time(:test, :test_rank, :test_iteration, 'annotation', :clock, NULL, :steps)
  GROUP BY 2, iteration),
