-- 11_memory_phases: The same by phase, and memory reserved beyond it
-- Layout table kinds
-- Of memory
-- SQL
--   SELECT phase, sum(control_bytes) AS control_bytes, sum(test_bytes) AS test_bytes, sum(diff_bytes) AS diff_bytes
--   FROM memory_diff(:control_memory, :test_memory, 'phase', 'worst')
--   GROUP BY phase;
-- Rules:
--   1. With several devices, the section shows the device with the highest peak.
WITH device AS MATERIALIZED (
  SELECT 0 AS side, device, max(peak_bytes) FROM memory_files(:control_memory, 'worst')
  WHERE device >= 0
  UNION ALL
  SELECT 1, device, max(peak_bytes) FROM memory_files(:test_memory, 'worst')
  WHERE device >= 0),
part AS (
  SELECT p.phase, p.bytes AS c, 0 AS t, p.blocks AS cn, 0 AS tn
  FROM device CROSS JOIN memory_peak(:control_memory, 'phase', 'worst') AS p
  WHERE device.side = 0 AND p.device = device.device
  UNION ALL
  SELECT p.phase, 0, p.bytes, 0, p.blocks
  FROM device CROSS JOIN memory_peak(:test_memory, 'phase', 'worst') AS p
  WHERE device.side = 1 AND p.device = device.device),
phases(place, phase, means) AS (
  VALUES (1, 'before', 'allocated before the recording began, or lost from the ring of events'),
         (2, 'forward', 'allocated in neither of the next two: the forward pass, and the rest of the program'),
         (3, 'backward', 'allocated by the engine of autograd'),
         (4, 'optimizer', 'allocated by an optimizer of torch.optim'),
         (5, 'unknown', 'allocated without frames'),
         (7, 'cached and rounded', 'reserved, and not asked for: free blocks, and the ends of blocks')),
line AS (
  SELECT place, phase, means, sum(c) AS c, sum(t) AS t, sum(cn) AS cn, sum(tn) AS tn, NULL AS style
  FROM part JOIN phases USING (phase)
  GROUP BY place, phase, means
  UNION ALL
  SELECT 6, 'peak', NULL, :control_peak, :test_peak, sum(cn), sum(tn), 'sum' FROM part
  UNION ALL
  SELECT 8, 'reserved at the peak', NULL, sum(c), sum(t), NULL, NULL, 'sum' FROM part)
SELECT CASE style WHEN 'sum' THEN phase END AS "phase|head", CASE WHEN style IS NULL THEN phase END AS "|tag",
       means AS "what it means|text", c AS "control|time", t AS "test|time", t - c AS "difference|diff",
       cn AS "blocks, control|count", tn AS "blocks, test|count", style AS "|row"
FROM line
ORDER BY place
