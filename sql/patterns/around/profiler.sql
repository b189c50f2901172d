-- profiler: the profiler itself records more on one side
-- Rank: 92
-- Said: always
-- Evidence: options of the profiler that make the host slower: with_stack, profile_memory, with_modules. A trace
--   records the options that are on
WITH n AS (
  SELECT item, coalesce(control_value, 0) AS c, coalesce(test_value, 0) AS t FROM note
  WHERE topic = 'options' AND item IN ('with_stack', 'profile_memory', 'with_modules'))
SELECT 'the profiler records more in ' || CASE WHEN t > c THEN 'test' ELSE 'control' END || ': '
       || group_concat(item, ', '), 'record both sides with the same options', NULL
FROM n WHERE c <> t GROUP BY t > c
