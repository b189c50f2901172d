-- 11_tables: All the numbers
-- Section tables Tables
-- Layout prose
SELECT 'note' AS block, NULL AS strong, :unit || ' a ' || :per || ', by the ' || :clock_used || '’s clock unless a table says '
       || 'otherwise, the largest changes first. Names are shortened; a copy as CSV has them whole.' AS text, NULL AS diff
