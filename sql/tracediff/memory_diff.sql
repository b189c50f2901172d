-- memory_diff: the difference between the memory peaks of two allocator snapshots, grouped by keys; the rows add up
--              to it.
-- Family: memory
-- Question: Which phases and operators hold more memory at the peak?
--
-- Parameters
--   :control  trace required baseline snapshot: directory, file, pattern or JSON array of these
--   :test     trace required snapshot to compare with the baseline
--   :keys     TEXT           one or more, separated by commas, of phase, annotation, function, place, op, top_op and
--                            node; default 'phase,function,op'
--   :ranks    ranks|worst    integer, JSON array, 'all' or 'worst' (the rank with the highest peak of each side);
--                            default the lowest
--
-- Columns
--   rank              INTEGER  rank; NULL if the sides have different ranks
--   device            INTEGER  number of the device; NULL if the sides have different devices
--   phase             TEXT     phase as in memory_allocations, or 'cached and rounded': reserved but not requested
--   annotation        TEXT     innermost annotation; NULL, like the other keys, if it is not in `keys`
--   function          TEXT     file and name of the user's innermost frame
--   place             TEXT     file, line and name of the user's innermost frame
--   op                TEXT     operator that allocates
--   top_op            TEXT     outermost operator
--   node              TEXT     autograd node, such as AddmmBackward0
--   control_bytes     INTEGER  bytes at the peak of control
--   test_bytes        INTEGER  the same for test
--   diff_bytes        INTEGER  bytes, test minus control
--   control_blocks    INTEGER  number of allocations at the peak of control
--   test_blocks       INTEGER  the same for test
--   diff_from_blocks  INTEGER  bytes, the part of diff_bytes due to more or fewer allocations, at control's
--                              mean size
--   diff_from_size    INTEGER  bytes, the part of diff_bytes due to larger or smaller allocations
--
-- Grain: one row per rank, device and value of the keys at either peak, largest difference first; the row
-- 'cached and rounded' is the last one of its device.
-- Rules:
-- 1. If a side has several ranks, equal ranks are compared. If each side has one, the two are compared. The nth used
--    device of a rank is compared with the nth used device of the other side, pinned memory of the host (device -1)
--    with pinned memory.
-- 2. Without 'cached and rounded', the rows add up to the difference between the peaks. With it, they add up to the
--    difference between the memory reserved at the peaks.
WITH
side AS (
  SELECT 0 AS side, rank, device,
         dense_rank() OVER (PARTITION BY rank, device < 0 ORDER BY device) * (device >= 0) AS nth,
         phase, annotation, function, place, op, top_op, node, bytes, blocks
  FROM memory_peak(:control, :keys, :ranks)
  UNION ALL
  SELECT 1, rank, device, dense_rank() OVER (PARTITION BY rank, device < 0 ORDER BY device) * (device >= 0),
         phase, annotation, function, place, op, top_op, node, bytes, blocks
  FROM memory_peak(:test, :keys, :ranks)),
joined AS (
  SELECT *, (SELECT max(ranks) > 1 FROM (SELECT count(DISTINCT rank) AS ranks FROM side GROUP BY side)) AS by_rank
  FROM side),
summed AS (
  SELECT CASE min(rank) WHEN max(rank) THEN min(rank) END AS rank,
         CASE min(device) WHEN max(device) THEN min(device) END AS device,
         nth, phase, annotation, function, place, op, top_op, node,
         sum(CASE side WHEN 0 THEN bytes ELSE 0 END) AS b1, sum(CASE side WHEN 1 THEN bytes ELSE 0 END) AS b2,
         sum(CASE side WHEN 0 THEN blocks ELSE 0 END) AS n1, sum(CASE side WHEN 1 THEN blocks ELSE 0 END) AS n2
  FROM joined
  GROUP BY CASE WHEN by_rank THEN rank END, nth, phase, annotation, function, place, op, top_op, node),
-- quotient and remainder of b1 / n1, so that no product overflows 64 bits
parted AS (
  SELECT *, CASE WHEN n1 > 0 AND n2 > 0 THEN (n2 - n1) * (b1 / n1) END AS whole,
         CASE WHEN n1 > 0 THEN (n2 - n1) * (b1 % n1) END AS rest
  FROM summed)
SELECT rank, device, phase, annotation, function, place, op, top_op, node, b1 AS control_bytes, b2 AS test_bytes,
       b2 - b1 AS diff_bytes, n1 AS control_blocks, n2 AS test_blocks,
       coalesce(whole + CASE WHEN rest < 0 THEN -((n1 - 2 * rest) / (2 * n1)) ELSE (n1 + 2 * rest) / (2 * n1) END,
                b2 - b1) AS diff_from_blocks,
       b2 - b1
         - coalesce(whole + CASE WHEN rest < 0 THEN -((n1 - 2 * rest) / (2 * n1)) ELSE (n1 + 2 * rest) / (2 * n1) END,
                    b2 - b1) AS diff_from_size
FROM parted
ORDER BY parted.rank, nth, parted.phase IS 'cached and rounded', abs(b2 - b1) DESC, parted.phase, parted.annotation,
         parted.function, parted.place, parted.op, parted.top_op, parted.node;
