-- 00_held: What several sections read, computed once and kept until the page is made
-- Layout held
SELECT 1
FROM (SELECT 1)
     LEFT JOIN trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps) AS control_path
     LEFT JOIN trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps) AS test_path
     LEFT JOIN trace_step_causes(:control, :test, :control_rank, :test_rank, :control_iteration,
                                 :test_iteration, :clock, :steps) AS cause
     LEFT JOIN trace_step_time(:control, :control_rank, 'all', 'annotation', :clock, :steps) AS control_time
     LEFT JOIN trace_step_time(:test, :test_rank, 'all', 'annotation', :clock, :steps) AS test_time
     LEFT JOIN trace_ops(:control, :control_rank, coalesce(:control_iteration, 'steady'), NULL, :steps) AS control_ops
     LEFT JOIN trace_ops(:test, :test_rank, coalesce(:test_iteration, 'steady'), NULL, :steps) AS test_ops
     LEFT JOIN trace_diff_by(:control, :test, 'kernel', :control_rank, :test_rank, coalesce(:control_iteration, 'steady'),
                             coalesce(:test_iteration, 'steady'), 'GPU', NULL, :steps) AS kernel
     LEFT JOIN trace_files(:control) AS control_file
     LEFT JOIN trace_files(:test) AS test_file
LIMIT 1
