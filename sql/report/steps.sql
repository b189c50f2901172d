-- steps: The steps that are used, and all steps with their lengths: where sections begin that say `With steps`
WITH used AS MATERIALIZED (
  SELECT DISTINCT 0 AS side, rank, iteration
  FROM trace_ops(:control, :control_rank, coalesce(:control_iteration, 'steady'), NULL, :steps)
  UNION ALL
  SELECT DISTINCT 1, rank, iteration
  FROM trace_ops(:test, :test_rank, coalesce(:test_iteration, 'steady'), NULL, :steps)),
timed AS MATERIALIZED (
  SELECT 0 AS side, rank, iteration, total(time_ns) / 1e6 AS ms, max(class IN ('call', 'host', 'unrecorded')) AS of_host,
         coalesce(max(stratum), '') AS stratum
  FROM trace_step_time(:control, :control_rank, 'all', 'annotation', :clock, :steps)
  GROUP BY rank, iteration
  UNION ALL
  SELECT 1, rank, iteration, total(time_ns) / 1e6, max(class IN ('call', 'host', 'unrecorded')), coalesce(max(stratum), '')
  FROM trace_step_time(:test, :test_rank, 'all', 'annotation', :clock, :steps)
  GROUP BY rank, iteration),
step AS MATERIALIZED (
  SELECT timed.*
  FROM timed JOIN used ON used.side = timed.side AND used.rank = timed.rank AND used.iteration IS timed.iteration),
