-- trace_collectives: collectives matched across ranks: how long they transfer, and which rank the others wait for.
-- Family: ranks and the job
-- Question: How long does each collective wait, for whom, and transfer?
--
-- Parameters
--   :trace       trace required directory, file, pattern or JSON array of these
--   :ranks       ranks          integer, JSON array or 'all'; default 'all'
--   :iterations  iterations     integer, JSON array, 'all', 'steady' (without first and last), 'first' or a phase;
--                               default 'steady'
--   :steps       steps          which events are steps: 'auto', 'profiler', a LIKE pattern or a JSON array of these;
--                               default 'auto'
-- Columns
--   iteration      INTEGER  number of the step; NULL outside of every step
--   process_group  TEXT     name of the process group, else its description, its ranks or the name of the collective
--   name           TEXT     stable name, on the lowest rank
--   seq            INTEGER  0-based index within its process group and step, by start
--   rank_count     INTEGER  ranks that take part
--   transfer       REAL     us, the shortest duration: that of a rank that does not wait
--   max_wait       REAL     us, the longest duration minus transfer; of collectives of the host, which overlap, without
--                           what an earlier one of the rank covers
--   last_rank      INTEGER  rank that starts last, for which the others wait; NULL if there is none
--   spread_end     REAL     us, from the first end to the last, by one clock
-- Grain: one row per iteration, process group and seq, in this order.
-- Rules: W1 to W4. Those of gloo and MPI, which hosts run, only where no device runs any.
WITH selected AS MATERIALIZED (
  SELECT file, event, rank, iteration, name
  FROM trace_kernel_owners(:trace, coalesce(:ranks, 'all'), :iterations, NULL, :steps)
  WHERE kernel_type = 'COMMUNICATION'
  LIMIT -1),
described AS MATERIALIZED (
  SELECT file, event, ts_ns, dur_ns,
         coalesce(args ->> '$."Process Group Name"', args ->> '$."Process Group Description"',
                  args ->> '$."Process Group Ranks"') AS process_group
  FROM trace_events(CASE WHEN EXISTS (SELECT 1 FROM selected) THEN :trace END, coalesce(:ranks, 'all'))
  WHERE device = 'GPU' AND ts_ns IS NOT NULL AND trace_kernel_type(name, cat) = 'COMMUNICATION'
  LIMIT -1),
clock AS MATERIALIZED (
  SELECT rank, coalesce(iteration, 'none') AS step, offset_ns
  FROM trace_job_clocks(:trace, :ranks, 'all', :steps)
  LIMIT -1),
-- those of the host, where no device runs any; busy_ns: the latest end of those of the rank that started before
chosen AS MATERIALIZED (
  SELECT iteration, rank
  FROM trace_job_clocks(CASE WHEN NOT EXISTS (SELECT 1 FROM selected) THEN :trace END, :ranks, :iterations, :steps)
  LIMIT -1),
of_host AS (
  SELECT iteration, process_group, name, rank, start_ns AS ts_ns, end_ns - start_ns AS dur_ns,
         max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns, event
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_ns
  FROM trace_job_ranks(CASE WHEN NOT EXISTS (SELECT 1 FROM selected) THEN :trace END, :ranks, :steps)
  WHERE kind = 'host_collective' AND process_group IS NOT NULL),
collective AS (
  SELECT iteration, coalesce(process_group, name) AS process_group, name, rank, ts_ns, dur_ns, NULL AS busy_ns,
         0 AS on_host
  FROM selected
  CROSS JOIN described USING (event, file)
  UNION ALL
  SELECT of_host.*, 1
  FROM of_host JOIN chosen ON chosen.iteration IS of_host.iteration AND chosen.rank = of_host.rank),
numbered AS (
  SELECT iteration, process_group, name, c.rank, ts_ns - coalesce(offset_ns, 0) AS ts_ns, dur_ns,
         max(0, coalesce(busy_ns - ts_ns, 0)) AS busy_ns, on_host,
         row_number() OVER (PARTITION BY c.rank, iteration, process_group ORDER BY ts_ns, dur_ns, name) - 1 AS seq
  FROM collective AS c
  LEFT JOIN clock ON clock.rank = c.rank AND clock.step = coalesce(iteration, 'none')),
placed AS (
  SELECT *, row_number() OVER (collective ORDER BY rank) AS from_lowest,
         row_number() OVER (collective ORDER BY ts_ns DESC, rank) AS from_last
  FROM numbered
  WINDOW collective AS (PARTITION BY iteration, process_group, seq))
SELECT iteration, process_group, max(name) FILTER (WHERE from_lowest = 1) AS name, seq,
       count(*) AS rank_count, min(dur_ns) / 1000.0 AS transfer,
       max(0, max(dur_ns - busy_ns) - min(dur_ns)) / 1000.0 AS max_wait,
       CASE WHEN count(*) > 1 AND max(ts_ns + dur_ns) - min(ts_ns + dur_ns)
                                  <= max(min(dur_ns), (max(dur_ns - busy_ns) - min(dur_ns)) / 2 * max(on_host))
            THEN max(rank) FILTER (WHERE from_last = 1) END AS last_rank,
       (max(ts_ns + dur_ns) - min(ts_ns + dur_ns)) / 1000.0 AS spread_end
FROM placed
GROUP BY iteration, process_group, seq
ORDER BY iteration, process_group, seq;
