-- The collectives of each rank (W1, W2), as sql/trace_collectives.sql has them before it matches them. Runs after
-- sql/database/summaries.sql, which says what temp.input is.
INSERT INTO collective_parts
WITH selected AS MATERIALIZED (
  SELECT side, file, event, rank, iteration, name
  FROM temp.input CROSS JOIN trace_kernel_owners(path, 'all', 'all')
  WHERE kernel_type = 'COMMUNICATION'
  LIMIT -1),
described AS MATERIALIZED (
  SELECT side, file, event, ts_ns, dur_ns,
         coalesce(args ->> '$."Process Group Name"', args ->> '$."Process Group Description"',
                  args ->> '$."Process Group Ranks"') AS process_group
  FROM temp.input CROSS JOIN trace_events(path)
  WHERE device = 'GPU' AND ts_ns IS NOT NULL AND trace_kernel_type(name, cat) = 'COMMUNICATION'
  LIMIT -1)
SELECT side, rank, iteration, coalesce(process_group, name), name,
       row_number() OVER (PARTITION BY side, rank, iteration, coalesce(process_group, name)
                          ORDER BY ts_ns, dur_ns, name) - 1,
       ts_ns, dur_ns
FROM selected
CROSS JOIN described USING (side, event, file);
