-- 12_tables: All the numbers
-- Section tables Tables
-- Layout prose
WITH side(word, has) AS (
  SELECT 'control', total(module GLOB 'nn.Module: *') > 0
  FROM trace_step_path(CASE :level WHEN 'module' THEN :control END, :control_rank, :control_iteration, :clock,
                       'trace', :steps)
  UNION ALL
  SELECT 'test', total(module GLOB 'nn.Module: *') > 0
  FROM trace_step_path(CASE :level WHEN 'module' THEN :test END, :test_rank, :test_iteration, :clock, 'trace', :steps))
SELECT 'note' AS block, NULL AS strong,
       :unit || ' per ' || :per || ', by the ' || :clock_used || '’s clock unless a table says '
       || 'otherwise, the largest changes first. Names are shortened; a copy as CSV has them whole.' AS text,
       NULL AS diff
UNION ALL
SELECT 'note', NULL, 'Parts of the step are by module, but no modules were recorded in ' || words
       || ': there, names are those of operators.', NULL
FROM (SELECT group_concat(word, ' and in ') AS words FROM side WHERE NOT has AND :level = 'module')
WHERE words IS NOT NULL
