-- 1_step_diff: Why a step takes longer or shorter, on the lowest rank
-- Figure visualize_step_diff
-- Parameters
--   :control  TEXT required  baseline trace
--   :test     TEXT required  trace to compare with the baseline
SELECT class, name, control_time, test_time
FROM trace_step_diff(:control, :test)
