-- trace_collective_rates: collectives by process group: number, transfer time and bandwidth.
-- Family: ranks and the job
-- Question: Which process group is slow on the network?
--
-- Parameters
--   :trace       trace required directory, file, pattern or JSON array of these
--   :ranks       ranks          integer, JSON array or 'all'; default 'all'
--   :iterations  iterations     integer, JSON array, 'all', 'steady' (without first and last), 'first' or a phase;
--                               default 'steady'
--   :steps       steps          which events are steps: 'auto', 'profiler', a LIKE pattern or a JSON array of these;
--                               default 'auto'
-- Columns
--   process_group  TEXT     name of the process group (see trace_job_ranks)
--   group_ranks    TEXT     JSON array of its recorded ranks
--   name           TEXT     stable name on the lowest rank
--   collective     TEXT     kind of collective (see trace_collectives); NULL: not known
--   calls          INTEGER  number of collectives
--   transfer       REAL     us, sum over all calls of the shortest duration, which has no wait
--   bytes          INTEGER  bytes of one rank, sum over all calls; NULL if any call's bytes are not known
--   group_size     INTEGER  number of ranks of the group, recorded or not
--   algbw_gbs      REAL     GB/s, bytes divided by transfer
--   busbw_gbs      REAL     GB/s, bus bandwidth: load of each link
--   with_waits     INTEGER  1 if some ranks of the group are not recorded, so that transfer may include waits for them
--   algorithm      TEXT     algorithm in the kernel's name; NULL: none or several
--   protocol       TEXT     protocol in the kernel's name; NULL: none or several
--   channels       INTEGER  NCCL channels: the first number of the kernel's grid; NULL: none or several
-- Grain: one row per process group, group_ranks and name, in this order.
-- Rules: W5 to W9. Only collectives of the device.
WITH selected AS MATERIALIZED (
  SELECT file, event, rank, iteration, name, collective, collective_bytes AS bytes, group_size, algorithm, protocol,
         channels
  FROM trace_kernel_owners(:trace, coalesce(:ranks, 'all'), :iterations, NULL, :steps)
  WHERE kernel_type = 'COMMUNICATION'
  LIMIT -1),
placed AS MATERIALIZED (
  SELECT file, event, process_group, coalesce(process_group_ranks, '') AS members, start_ns, end_ns
  FROM trace_job_ranks(CASE WHEN EXISTS (SELECT 1 FROM selected) THEN :trace END, :ranks, :steps)
  WHERE kind = 'collective'
  LIMIT -1),
numbered AS (
  SELECT rank, iteration, process_group, members, name, collective, bytes, group_size, algorithm, protocol, channels,
         end_ns - start_ns AS dur_ns,
         row_number() OVER (PARTITION BY rank, iteration, process_group, members ORDER BY start_ns, end_ns, name) AS seq
  FROM selected
  CROSS JOIN placed USING (event, file)),
matched AS (
  SELECT process_group, members, json_group_array(rank) AS ranks, min(name) AS name, min(collective) AS collective,
         count(*) AS rank_count, min(dur_ns) AS dur_ns,
         CASE WHEN count(bytes) = count(*) THEN max(bytes) END AS bytes, max(group_size) AS group_size,
         CASE WHEN min(algorithm) = max(algorithm) THEN min(algorithm) END AS algorithm,
         CASE WHEN min(protocol) = max(protocol) THEN min(protocol) END AS protocol,
         CASE WHEN min(channels) = max(channels) THEN min(channels) END AS channels
  FROM (SELECT * FROM numbered ORDER BY rank)
  GROUP BY iteration, process_group, members, seq),
summed AS (
  SELECT process_group, max(ranks) AS group_ranks, name, min(collective) AS collective, count(*) AS calls,
         sum(dur_ns) AS dur_ns, CASE WHEN count(bytes) = count(*) THEN sum(bytes) END AS bytes,
         max(group_size) AS group_size,
         max(coalesce(group_size, rank_count) > rank_count) AS with_waits,
         CASE WHEN count(DISTINCT algorithm) = 1 THEN min(algorithm) END AS algorithm,
         CASE WHEN count(DISTINCT protocol) = 1 THEN min(protocol) END AS protocol,
         CASE WHEN count(DISTINCT channels) = 1 THEN min(channels) END AS channels
  FROM matched
  GROUP BY process_group, members, name)
SELECT process_group, group_ranks, name, collective, calls, dur_ns / 1000.0 AS transfer, bytes, group_size,
       CASE WHEN dur_ns > 0 THEN 1.0 * bytes / dur_ns END AS algbw_gbs,
       CASE WHEN dur_ns > 0 THEN 1.0 * bytes / dur_ns END
         * CASE WHEN collective = 'all_reduce' THEN 2 * (group_size - 1.0) / group_size
                WHEN collective IN ('all_gather', 'reduce_scatter', 'all_to_all', 'gather', 'scatter')
                THEN (group_size - 1.0) / group_size
                ELSE 1 END AS busbw_gbs,
       with_waits, algorithm, protocol, channels
FROM summed
ORDER BY process_group, group_ranks, name
