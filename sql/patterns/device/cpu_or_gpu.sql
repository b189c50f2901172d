-- cpu_or_gpu: one side has no work on a device
-- Rank: 2
-- Said: always
-- Evidence: trace_verdict: the steps of one side are host steps
SELECT CASE WHEN test_of_host THEN 'test has no work on a device, control has'
  ELSE 'control has no work on a device, test has' END,
       'model.to(''cuda''); activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]', cause.id
FROM pair LEFT JOIN cause
WHERE control_of_host <> test_of_host
