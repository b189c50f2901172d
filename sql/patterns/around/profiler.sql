-- profiler: the profiler itself records more on one side
-- Rank: 92
-- Said: always
-- Evidence: options of the profiler that make the host slower: with_stack, profile_memory, with_modules. A trace names
--   those that are on
SELECT 'the profiler records more in ' || CASE WHEN coalesce(test_value, 0) > coalesce(control_value, 0) THEN 'test'
  ELSE 'control' END
       || ': ' || group_concat(item, ', '), 'record both sides with the same options', NULL
FROM note WHERE topic = 'options' AND item IN ('with_stack', 'profile_memory', 'with_modules')
  AND coalesce(control_value, 0) <> coalesce(test_value, 0)
GROUP BY coalesce(test_value, 0) > coalesce(control_value, 0)
