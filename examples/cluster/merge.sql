-- Adds one shard, attached as `shard`, to a database with the same tables. finish.sql comes after the last one.
-- job_rows is in a database of its own, `aside`, which is not kept.

CREATE TEMP TABLE new_files AS SELECT * FROM shard.files;
UPDATE new_files SET file_id = NULL, first_id = NULL;

INSERT INTO main.files SELECT * FROM new_files;
INSERT INTO main.steps SELECT * FROM shard.steps;
INSERT INTO main.ops SELECT * FROM shard.ops;
INSERT INTO main.step_time SELECT * FROM shard.step_time;
INSERT INTO aside.job_rows
SELECT r.side, (SELECT max(file_id) FROM main.files), r.kind, r.rank, r.iteration, r.start_ns, r.end_ns, r.event,
       r.queued_behind, r.process_group, r.process_group_ranks, r.name, r.waits_for_all
FROM shard.job_rows AS r;
INSERT INTO main.left_out SELECT * FROM shard.left_out;
INSERT INTO main.inputs SELECT * FROM shard.inputs WHERE NOT EXISTS (SELECT 1 FROM shard.left_out);

DROP TABLE new_files;
