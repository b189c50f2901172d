-- nccl_kernel: NCCL runs other kernels for the same collectives. The sentence has their names without ncclDevKernel_
-- Rank: 51
-- Said: always
-- Evidence: the same number of NCCL kernels with other names: algorithm (RING, TREE), protocol (LL, LL128, SIMPLE) or
--   type
-- Not: the protocol, in new versions of NCCL: one name may stand for all protocols
WITH k AS (
  SELECT replace(replace(trace_short_name(name), 'ncclDevKernel_', ''), 'ncclKernel_', '') AS name, sum(c) AS c,
         sum(t) AS t
  FROM kernel WHERE name GLOB 'nccl*' GROUP BY 1),
n AS (SELECT sum(c) AS c, sum(t) AS t, max(min(c, t)) AS common, max(name) FILTER (WHERE c > 0) AS was,
  max(name) FILTER (WHERE t > 0) AS is_now FROM k)
SELECT printf('NCCL kernels: %s -> %s', was, is_now),
       'NCCL_ALGO, NCCL_PROTO, the version of NCCL, NCCL_DEBUG=INFO', cause.id
FROM n LEFT JOIN cause ON cause.kind = 'communication'
WHERE c = t AND c > 0 AND common = 0
