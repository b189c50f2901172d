-- dataloader: the step waits longer, or less, for the DataLoader
-- Rank: 11
-- Said: a tenth
-- Evidence: a cause is the DataLoader's next batch; the class of its iterator shows whether it has workers
WITH n AS (
  SELECT total(c) FILTER (WHERE name GLOB '*_SingleProcessDataLoaderIter*') AS sc,
    total(t) FILTER (WHERE name GLOB '*_SingleProcessDataLoaderIter*') AS st,
         total(c) FILTER (WHERE name GLOB '*_MultiProcessingDataLoaderIter*') AS mc,
           total(t) FILTER (WHERE name GLOB '*_MultiProcessingDataLoaderIter*') AS mt
  FROM op),
w AS (SELECT total(control_time) AS ct, total(test_time) AS tt, max(rank) AS rank, count(rank) = count(*) AS is_one
  FROM cause WHERE name GLOB '*DataLoader*' AND diff_time <> 0)
SELECT CASE WHEN tt > ct AND st > 0 THEN 'the step waits for the DataLoader, which loads in this process' 
            WHEN tt > ct THEN 'the step waits for the DataLoader: its workers do not keep up'
            ELSE 'the step waits less for the DataLoader' END || printf(': %.1f -> %.1f ms', ct / 1000, tt / 1000)
       || CASE WHEN is_one THEN printf(', on rank %d', w.rank) ELSE '' END,
       CASE WHEN tt < ct THEN NULL WHEN st > 0 THEN 'DataLoader(num_workers=4, persistent_workers=True)'
            ELSE 'more num_workers, prefetch_factor; a faster dataset or storage' END, cause.id
FROM n, w JOIN cause ON cause.name GLOB '*DataLoader*'
WHERE abs(tt - ct) > (SELECT 50 * min(control_ms, test_ms) FROM pair WHERE min(control_steps, test_steps) > 1)
  AND abs(tt - ct) > 0.25 * max(ct, tt)
  AND ((SELECT is_sure FROM pair) OR abs(tt - ct) > (SELECT 2 * (total(control_stddev) + total(test_stddev))
    FROM trace_step_diff(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration)
    WHERE name GLOB '*DataLoader*'))
