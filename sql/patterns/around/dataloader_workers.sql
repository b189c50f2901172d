-- dataloader_workers: the DataLoader has worker processes on one side only
-- Rank: 10
-- Said: always
-- Evidence: the iterator of the DataLoader: _SingleProcessDataLoaderIter against _MultiProcessingDataLoaderIter
WITH n AS (
  SELECT total(c) FILTER (WHERE name GLOB '*_SingleProcessDataLoaderIter*') > 0 AS sc,
    total(t) FILTER (WHERE name GLOB '*_SingleProcessDataLoaderIter*') > 0 AS st,
         total(c) FILTER (WHERE name GLOB '*_MultiProcessingDataLoaderIter*') > 0 AS mc,
           total(t) FILTER (WHERE name GLOB '*_MultiProcessingDataLoaderIter*') > 0 AS mt
  FROM op),
w AS (SELECT total(control_time) / 1000 AS c_ms, total(test_time) / 1000 AS t_ms FROM cause
  WHERE name GLOB '*DataLoader*')
SELECT printf('the DataLoader has %s: %.1f -> %.1f ms', CASE WHEN mt THEN 'worker processes now'
  ELSE 'no worker processes any more' END, c_ms, t_ms),
       CASE WHEN mt THEN NULL ELSE 'DataLoader(num_workers=4, persistent_workers=True)' END, cause.id
FROM n, w LEFT JOIN cause ON cause.name GLOB '*DataLoader*'
WHERE sc = mt AND mc = st AND sc <> st
