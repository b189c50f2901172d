-- What shards have besides the tables of sql/database/tables.sql. Merged databases keep all but job_rows.

-- trace_job_ranks; file_id is that of `files` once merged.
CREATE TABLE job_rows (
  side TEXT NOT NULL, file_id INTEGER, kind TEXT NOT NULL, rank INTEGER NOT NULL, iteration INTEGER, start_ns INTEGER,
  end_ns INTEGER, event INTEGER, queued_behind INTEGER, process_group TEXT, process_group_ranks TEXT, name TEXT,
  waits_for_all INTEGER);

-- Files of which the other tables have no rows, and why.
CREATE TABLE left_out (side TEXT NOT NULL, file TEXT NOT NULL, rank INTEGER, reason TEXT NOT NULL);

-- What a shard was made of, and by which tracediff. size and mtime_ns are NULL if there was no such file.
CREATE TABLE inputs (side TEXT NOT NULL, file TEXT NOT NULL, size INTEGER, mtime_ns INTEGER, made_by TEXT NOT NULL);

-- A file asks for the others of its rank.
CREATE INDEX files_by_rank ON files (side, rank);

-- Of merged databases. trace_job_path(trace, 'job', 'all'); is_steady as in the other tables.
CREATE TABLE job_path (
  side TEXT NOT NULL, iteration INTEGER, is_steady INTEGER NOT NULL, seq INTEGER NOT NULL, rank INTEGER NOT NULL,
  ts REAL, dur REAL, waiting_rank INTEGER, collective TEXT, process_group TEXT, queued TEXT, ts_ns INTEGER,
  dur_ns INTEGER, not_matched INTEGER, not_tied INTEGER);

-- The steps of each job: those of its lowest rank.
CREATE VIEW job_steps AS
SELECT side, rank, iteration, max(is_steady) AS is_steady, max(stratum) AS stratum
FROM step_time
WHERE (side, rank) IN (SELECT side, min(rank) FROM step_time GROUP BY side)
GROUP BY side, rank, iteration;

-- What is asked of each file that the path goes over: the stretches, as trace_job_parts takes them.
CREATE TABLE job_asked (side TEXT NOT NULL, file TEXT NOT NULL, stretches TEXT NOT NULL, PRIMARY KEY (side, file));

-- Filled when all have answered: trace_step_time(trace, 'job', 'all'), trace_step_diff(control, test, 'job', 'job').
CREATE TABLE job_step_time (
  side TEXT NOT NULL, rank INTEGER NOT NULL, iteration INTEGER, is_steady INTEGER NOT NULL, class TEXT, name TEXT,
  time REAL, time_ns INTEGER, stratum TEXT);
CREATE TABLE job_step_diff (
  class TEXT NOT NULL, name TEXT, control_time REAL, test_time REAL, diff_time REAL,
  control_ns INTEGER, test_ns INTEGER, control_steps INTEGER, test_steps INTEGER,
  control_stddev REAL, test_stddev REAL, diff_within REAL, diff_mix REAL, only_rank INTEGER);
