-- trace_collectives: collectives matched across ranks, with transfer time, bandwidth, and the rank that the others wait
--                    for.
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
--   name           TEXT     stable name on the lowest rank
--   seq            INTEGER  0-based index within its process group and step, by start
--   rank_count     INTEGER  number of ranks that take part
--   transfer       REAL     us, the shortest duration among the ranks, which has no wait
--   max_wait       REAL     us, the longest duration minus transfer; for collectives of the host, which overlap,
--                           without time covered by an earlier one of the rank
--   last_rank      INTEGER  rank that starts last, for which the others wait; NULL: none
--   spread_end     REAL     us from the first end to the last, on one clock
--   collective     TEXT     'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'broadcast', 'reduce',
--                           'gather', 'scatter', 'send', 'recv', 'send_recv' or 'barrier'; NULL, like the next columns,
--                           if not known or on the host
--   bytes          INTEGER  bytes of one rank, the largest of them
--   group_size     INTEGER  number of ranks of the group, recorded or not
--   dtype          TEXT     element type as PyTorch names it
--   algbw_gbs      REAL     GB/s, bytes divided by transfer; NULL: not known, or several ranks without a last_rank
--   busbw_gbs      REAL     GB/s, bus bandwidth: load of each link, comparable between collectives and group sizes
--   with_waits     INTEGER  1 if some ranks of the group are not recorded, so that transfer may include waits for them,
--                           else 0; NULL without a bandwidth
--   algorithm      TEXT     algorithm in the kernel's name, such as RING, TREE or NVLS
--   protocol       TEXT     protocol in the kernel's name: LL, LL128 or SIMPLE; since NCCL 2.19 always LL
--   channels       INTEGER  NCCL channels: the first number of the kernel's grid
-- Grain: one row per iteration, process group and seq, in this order.
-- Rules: W1 to W8. Collectives of gloo and MPI, which run on the host, only if no device runs collectives.
-- With shared/collectives
selected AS MATERIALIZED (
  SELECT row_number() OVER () AS about, file, event, rank, iteration, name, process_group, collective,
         collective_bytes AS bytes, group_size, dtype, algorithm, protocol, channels
  FROM trace_kernel_owners(:trace, coalesce(:ranks, 'all'), :iterations, NULL, :steps)
  WHERE kernel_type = 'COMMUNICATION'
  LIMIT -1),
timed AS MATERIALIZED (
  SELECT file, event, ts_ns, dur_ns
  FROM trace_events(CASE WHEN EXISTS (SELECT 1 FROM selected) THEN :trace END, coalesce(:ranks, 'all'))
  WHERE device = 'GPU' AND ts_ns IS NOT NULL AND trace_kernel_type(name, cat) = 'COMMUNICATION'
  LIMIT -1),
device_collective AS (
  SELECT 0 AS side, rank, iteration, coalesce(process_group, name) AS process_group, name, ts_ns AS start_ns,
         ts_ns + dur_ns AS end_ns, bytes, about
  FROM selected
  CROSS JOIN timed USING (event, file)),
clock AS MATERIALIZED (
  SELECT 0 AS side, rank, coalesce(iteration, 'none') AS step, offset_ns
  FROM trace_job_clocks(:trace, :ranks, 'all', :steps)
  LIMIT -1),
-- collectives of the host, if no device runs collectives
chosen AS MATERIALIZED (
  SELECT rank, coalesce(iteration, 'none') AS step
  FROM trace_job_clocks(CASE WHEN NOT EXISTS (SELECT 1 FROM selected) THEN :trace END, :ranks, :iterations, :steps)
  LIMIT -1),
host_collective AS (
  SELECT 0 AS side, rank, iteration, process_group, name, start_ns, end_ns, event,
         (rank, coalesce(iteration, 'none')) IN (SELECT rank, step FROM chosen) AS is_chosen
  FROM trace_job_ranks(CASE WHEN NOT EXISTS (SELECT 1 FROM selected) THEN :trace END, :ranks, :steps)
  WHERE kind = 'host_collective' AND process_group IS NOT NULL),
rated AS (
  SELECT m.*, s.collective, s.group_size, s.dtype, s.algorithm, s.protocol, s.channels,
         CASE WHEN last_rank IS NOT NULL OR rank_count = 1 THEN m.bytes / (1000 * transfer) END AS algbw_gbs,
         (s.group_size - 1.0) / s.group_size AS others
  FROM matched AS m
  LEFT JOIN selected AS s USING (about))
SELECT iteration, process_group, name, seq, rank_count, transfer, max_wait, last_rank, spread_end, collective, bytes,
       group_size, dtype, algbw_gbs,
       algbw_gbs * CASE WHEN collective = 'all_reduce' THEN 2 * others
                        WHEN collective IN ('all_gather', 'reduce_scatter', 'all_to_all', 'gather', 'scatter')
                        THEN others
                        ELSE 1 END AS busbw_gbs,
       CASE WHEN algbw_gbs IS NOT NULL THEN rank_count < coalesce(group_size, 2) END AS with_waits,
       algorithm, protocol, channels
FROM rated
ORDER BY iteration, process_group, seq;
