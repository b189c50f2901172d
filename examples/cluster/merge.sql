-- Adds one shard, attached as `shard`, to a database with the same tables. finish.sql comes after the last one.
-- collective_parts is in a database of its own, `aside`, which is not kept.

CREATE TEMP TABLE new_files AS SELECT * FROM shard.files;
UPDATE new_files SET file_id = NULL, first_id = NULL;

INSERT INTO main.files SELECT * FROM new_files;
INSERT INTO main.steps SELECT * FROM shard.steps;
INSERT INTO main.ops SELECT * FROM shard.ops;
INSERT INTO main.step_time SELECT * FROM shard.step_time;
INSERT INTO aside.collective_parts SELECT * FROM shard.collective_parts;
INSERT INTO main.left_out SELECT * FROM shard.left_out;

DROP TABLE new_files;
