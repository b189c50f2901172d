-- What shards have besides the tables of sql/database/tables.sql. Merged databases keep left_out.

-- Collectives of a rank, not yet matched across ranks (W1, W2).
CREATE TABLE collective_parts (
  side TEXT NOT NULL, rank INTEGER NOT NULL, iteration INTEGER, process_group TEXT NOT NULL, name TEXT NOT NULL,
  seq INTEGER NOT NULL, ts_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL);

-- Files of which the other tables have no rows, and why.
CREATE TABLE left_out (side TEXT NOT NULL, file TEXT NOT NULL, rank INTEGER, reason TEXT NOT NULL);

-- What a shard was made of, and by which tracediff. size and mtime_ns are NULL if there was no such file.
CREATE TABLE inputs (side TEXT NOT NULL, file TEXT NOT NULL, size INTEGER, mtime_ns INTEGER, made_by TEXT NOT NULL);

-- A file asks for the others of its rank.
CREATE INDEX files_by_rank ON files (side, rank);
