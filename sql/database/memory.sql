-- Tables of the snapshots of PyTorch's allocator in temp.memory_input. `make db` creates them if CONTROL_MEMORY or
-- TEST_MEMORY is given:
--
--   CREATE TEMP TABLE memory_input (side TEXT, path TEXT);

-- memory_peak(path, NULL, 'all')
CREATE TABLE memory_parts (
  side TEXT NOT NULL, rank INTEGER NOT NULL, device INTEGER NOT NULL, phase TEXT NOT NULL, function TEXT, op TEXT,
  bytes INTEGER NOT NULL, blocks INTEGER NOT NULL);
INSERT INTO memory_parts
SELECT side, rank, device, phase, function, op, bytes, blocks
FROM temp.memory_input CROSS JOIN memory_peak(path, NULL, 'all');

-- memory_diff(control, test, NULL, 'all'); without rows if one side is missing
CREATE TABLE memory_part_diffs (
  rank INTEGER, device INTEGER, phase TEXT NOT NULL, function TEXT, op TEXT, control_bytes INTEGER NOT NULL,
  test_bytes INTEGER NOT NULL, diff_bytes INTEGER NOT NULL, control_blocks INTEGER NOT NULL,
  test_blocks INTEGER NOT NULL, diff_from_blocks INTEGER NOT NULL, diff_from_size INTEGER NOT NULL);
INSERT INTO memory_part_diffs
SELECT d.rank, d.device, d.phase, d.function, d.op, d.control_bytes, d.test_bytes, d.diff_bytes, d.control_blocks,
       d.test_blocks, d.diff_from_blocks, d.diff_from_size
FROM temp.memory_input AS c
CROSS JOIN temp.memory_input AS t
CROSS JOIN memory_diff(c.path, t.path, NULL, 'all') AS d
WHERE c.side = 'control' AND t.side = 'test';

DROP TABLE temp.memory_input;
