-- The tables with additive rows: INSERT ... SELECT merges databases of single ranks. summaries.sql fills them,
-- to_database.sql fills `collectives`, diffs.sql derives `diff` and `step_diff`, and views.sql adds indexes and views.
--
-- 1. Columns have the names and units of the function in the comment: us are REAL, columns with the suffix _ns are
--    INTEGER. side is 'control' or 'test'.
-- 2. Columns with the suffix _epoch are seconds since 1970, columns with _utc the same as ISO-8601 text. If the clock
--    of a trace does not count from 1970, its dates are in 1970.
-- 3. is_steady is 1 for the rows that iterations 'steady' selects (T12): all rows of a trace without steps.

-- Keys: content, layout, created_utc, tracediff, sqlite, control, test (paths as they were given).
CREATE TABLE about (key TEXT PRIMARY KEY NOT NULL, value TEXT);

-- trace_files. origin_ns is the zero of `ts` (T2); first_id the `id` in `events` of the file's event 0.
CREATE TABLE files (
  file_id INTEGER PRIMARY KEY, side TEXT NOT NULL, file TEXT NOT NULL, rank INTEGER, rank_source TEXT,
  world_size INTEGER, backend TEXT, device TEXT, steps INTEGER, first_step INTEGER, last_step INTEGER,
  events INTEGER, rows INTEGER, skipped INTEGER, problems TEXT, start_unix_ns INTEGER, start_ns INTEGER,
  end_ns INTEGER, size INTEGER, json_size INTEGER, start_epoch REAL, start_utc TEXT, first_id INTEGER,
  origin_ns INTEGER, label TEXT, tp INTEGER, pp INTEGER, dp INTEGER, ep INTEGER);

-- trace_steps
CREATE TABLE steps (
  side TEXT NOT NULL, rank INTEGER NOT NULL, iteration INTEGER NOT NULL, is_steady INTEGER NOT NULL,
  ts REAL, dur REAL, file TEXT NOT NULL, ts_ns INTEGER, dur_ns INTEGER, name TEXT, phase TEXT, batch_size INTEGER,
  padded_size INTEGER, tokens INTEGER, stratum TEXT, ts_epoch REAL, ts_utc TEXT);

-- trace_ops(trace, 'all', 'all'), with the type of device work (K1 to K4).
CREATE TABLE ops (
  side TEXT NOT NULL, rank INTEGER NOT NULL, iteration INTEGER, is_steady INTEGER NOT NULL,
  device TEXT NOT NULL, cat TEXT, name TEXT NOT NULL, short_name TEXT NOT NULL, kernel_type TEXT,
  counts INTEGER NOT NULL, total_ns INTEGER NOT NULL, self_ns INTEGER NOT NULL,
  min_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL);

-- trace_step_time(trace, 'all', 'all')
CREATE TABLE step_time (
  side TEXT NOT NULL, rank INTEGER NOT NULL, iteration INTEGER, is_steady INTEGER NOT NULL,
  class TEXT, name TEXT, time REAL, time_ns INTEGER, stratum TEXT);

-- trace_collectives(trace, 'all', 'all'); merged summaries lack `collective` and the columns after it
CREATE TABLE collectives (
  side TEXT NOT NULL, iteration INTEGER, process_group TEXT, name TEXT, seq INTEGER NOT NULL,
  rank_count INTEGER NOT NULL, transfer REAL, max_wait REAL, last_rank INTEGER, spread_end REAL, collective TEXT,
  bytes INTEGER, group_size INTEGER, dtype TEXT, algbw_gbs REAL, busbw_gbs REAL, with_waits INTEGER, algorithm TEXT,
  protocol TEXT, channels INTEGER);

-- trace_diff(control, test, 'all', 'all', 'steady', 'steady', 'ALL', 0): full names
CREATE TABLE diff (
  name TEXT NOT NULL, control_counts INTEGER, test_counts INTEGER,
  control_total_duration REAL, test_total_duration REAL, diff_counts INTEGER, diff_duration REAL,
  counts_change_categories TEXT, counts_change TEXT, diff_duration_pct REAL, diff_self_duration REAL,
  diff_duration_per_step REAL, control_counts_per_step REAL, test_counts_per_step REAL,
  control_duration_per_step REAL, test_duration_per_step REAL, device TEXT);

-- trace_step_diff(control, test); for merged summaries trace_step_diff(control, test, 'all', 'all')
CREATE TABLE step_diff (
  class TEXT NOT NULL, name TEXT, control_time REAL, test_time REAL, diff_time REAL,
  control_ns INTEGER, test_ns INTEGER, control_steps INTEGER, test_steps INTEGER,
  control_stddev REAL, test_stddev REAL, diff_within REAL, diff_mix REAL, only_rank INTEGER);
