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
-- With shared/collectives
selected AS MATERIALIZED (
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
device_collective AS (
  SELECT 0 AS side, rank, iteration, coalesce(process_group, name) AS process_group, name, ts_ns AS start_ns,
         ts_ns + dur_ns AS end_ns
  FROM selected
  CROSS JOIN described USING (event, file)),
clock AS MATERIALIZED (
  SELECT 0 AS side, rank, coalesce(iteration, 'none') AS step, offset_ns
  FROM trace_job_clocks(:trace, :ranks, 'all', :steps)
  LIMIT -1),
-- those of the host, where no device runs any
chosen AS MATERIALIZED (
  SELECT rank, coalesce(iteration, 'none') AS step
  FROM trace_job_clocks(CASE WHEN NOT EXISTS (SELECT 1 FROM selected) THEN :trace END, :ranks, :iterations, :steps)
  LIMIT -1),
host_collective AS (
  SELECT 0 AS side, rank, iteration, process_group, name, start_ns, end_ns, event,
         (rank, coalesce(iteration, 'none')) IN (SELECT rank, step FROM chosen) AS is_chosen
  FROM trace_job_ranks(CASE WHEN NOT EXISTS (SELECT 1 FROM selected) THEN :trace END, :ranks, :steps)
  WHERE kind = 'host_collective' AND process_group IS NOT NULL)
SELECT iteration, process_group, name, seq, rank_count, transfer, max_wait, last_rank, spread_end
FROM matched
ORDER BY iteration, process_group, seq;
