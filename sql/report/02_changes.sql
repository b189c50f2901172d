-- 02_changes: What was changed, and what to do about it
-- Layout table
-- SQL
--   SELECT sentence, time_ms, share, advice, causes
--   FROM trace_diagnoses(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :clock,
--                        NULL, :steps);
-- Rules:
--   1. Diagnoses come from trace_diagnoses, in its order (DG2). The table is left out if there are none.
SELECT sentence AS "change", time_ms AS "difference|diff", advice AS "what to do"
FROM trace_diagnoses(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :clock, NULL,
                     :steps)
WHERE pattern IS NOT NULL AND causes IS NOT NULL
ORDER BY time_ms IS NULL, abs(time_ms) DESC, pattern
