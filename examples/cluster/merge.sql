-- Adds one shard, attached as `shard`, to a database with the same tables. finish.sql comes after the last one.
-- collective_parts is in a database of its own, `aside`, which is not kept.

-- The same content is the same file, wherever it lies: what was merged before adds nothing.
CREATE TEMP TABLE fresh AS
SELECT side, rank
FROM shard.files AS s
WHERE NOT EXISTS (
  SELECT 1
  FROM main.files AS f
  WHERE f.side = s.side AND f.rank = s.rank AND f.start_ns IS s.start_ns AND f.end_ns IS s.end_ns AND f.size = s.size);

CREATE TEMP TABLE new_files AS SELECT * FROM shard.files WHERE (side, rank) IN fresh;
UPDATE new_files SET file_id = NULL, first_id = NULL;

INSERT INTO main.files SELECT * FROM new_files;
INSERT INTO main.steps SELECT * FROM shard.steps WHERE (side, rank) IN fresh;
INSERT INTO main.ops SELECT * FROM shard.ops WHERE (side, rank) IN fresh;
INSERT INTO main.step_time SELECT * FROM shard.step_time WHERE (side, rank) IN fresh;
INSERT INTO aside.collective_parts SELECT * FROM shard.collective_parts WHERE (side, rank) IN fresh;
INSERT INTO main.left_out SELECT * FROM shard.left_out;

DROP TABLE new_files;
DROP TABLE fresh;
