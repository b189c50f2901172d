-- 00_held: The functions that several sections read. Their rows are kept while a cursor on them is open (S10). The
-- cursors here read nothing (S7) and stay open until the page is complete.
-- Layout held
SELECT 1
FROM (SELECT 1)
     LEFT JOIN trace_files(NULL) AS files
     LEFT JOIN trace_step_time(NULL) AS times
     LEFT JOIN trace_step_path(NULL) AS paths
     LEFT JOIN trace_step_causes(NULL, NULL) AS causes
     LEFT JOIN trace_steps(NULL) AS steps
     LEFT JOIN trace_collectives(NULL) AS collectives
     LEFT JOIN trace_diff_by(NULL, NULL, NULL) AS diffs
     LEFT JOIN memory_summary(NULL, NULL) AS memory
LIMIT 1
