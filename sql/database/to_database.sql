-- Writes one or two traces into ordinary tables, which any program that reads SQLite can query without
-- the extension. `make db CONTROL=traces/a TEST=traces/b OUT=perf.db` runs it in the shell (database.sh).
--
-- Elsewhere: load the extension, name the traces, and run five files in one transaction:
--
--   CREATE TEMP TABLE input (side TEXT, path TEXT, with_args INTEGER);
--   INSERT INTO temp.input VALUES ('control', 'traces/a', 0), ('test', 'traces/b', 0);
--
--   sql/database/tables.sql, sql/database/summaries.sql, sql/database/to_database.sql, sql/database/diffs.sql,
--   sql/database/views.sql
--
-- 1. One side is enough; the tables of diffs are empty then.
-- 2. The comment of a table or view names the call that returns its rows. ORDER BY rowid returns them in the order of
--    the call; in tables with both sides, for each side.
-- 3. No table or view has the name of a function, because it would hide the function. The names of HTA's analyses begin
--    with hta_.
-- 4. CAST gives the columns of views a type that programs can see (from SQLite 3.41). DuckDB runs views itself, where
--    REAL would be 32 bits wide and the quotient of integers would not be an integer.
-- 5. Values have the declared type. pid, tid and value can be numbers or text, so they are TEXT.

INSERT INTO collectives
SELECT side, c.* FROM temp.input CROSS JOIN trace_collectives(path, 'all', 'all') AS c;

-- trace_metadata
CREATE TABLE metadata (side TEXT NOT NULL, file TEXT NOT NULL, rank INTEGER, key TEXT NOT NULL, value TEXT);
INSERT INTO metadata
SELECT side, m.* FROM temp.input CROSS JOIN trace_metadata(path) AS m;

-- The events, in tables that keep each name, thread and owner once; the views below join them.

CREATE TABLE names (
  name_id INTEGER PRIMARY KEY, name TEXT, short_name TEXT, stable_name TEXT, device TEXT NOT NULL, cat TEXT,
  kernel_type TEXT);
INSERT INTO names
SELECT NULL, name, trace_short_name(name), trace_stable_name(name), device, cat,
       CASE device WHEN 'GPU' THEN trace_kernel_type(name, cat) END
FROM (SELECT DISTINCT name, device, cat FROM temp.input CROSS JOIN trace_events(path))
ORDER BY name, device, cat;
CREATE INDEX names_by_name ON names (name, device, cat);

CREATE TABLE threads (thread_id INTEGER PRIMARY KEY, pid TEXT, tid TEXT);
INSERT INTO threads
SELECT NULL, pid, tid
FROM (SELECT DISTINCT CAST(pid AS TEXT) AS pid, CAST(tid AS TEXT) AS tid
      FROM temp.input CROSS JOIN trace_events(path))
ORDER BY pid, tid;
CREATE INDEX threads_by_tid ON threads (pid, tid);

-- parent_id and link_id are the id of another event. is_counted is 1 for events that HTA's analyses count (T13).
CREATE TABLE event_rows (
  id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL REFERENCES files (file_id), iteration INTEGER,
  name_id INTEGER NOT NULL REFERENCES names (name_id), thread_id INTEGER NOT NULL REFERENCES threads (thread_id),
  stream INTEGER, correlation INTEGER, link_id INTEGER, parent_id INTEGER, depth INTEGER, ph TEXT, ts_ns INTEGER,
  dur_ns INTEGER, self_ns INTEGER, is_counted INTEGER NOT NULL);
INSERT INTO event_rows
SELECT first_id + event, file_id, iteration, name_id, thread_id, stream, correlation, first_id + link,
       first_id + parent, depth, ph, ts_ns, dur_ns, CAST(round(self_dur * 1000) AS INTEGER), 0
FROM temp.input
CROSS JOIN trace_events(path) AS e
CROSS JOIN files AS f ON f.side = input.side AND f.file = e.file AND f.rank = e.rank
CROSS JOIN names AS n ON n.name IS e.name AND n.device = e.device AND n.cat IS e.cat
CROSS JOIN threads AS t ON t.pid IS CAST(e.pid AS TEXT) AND t.tid IS CAST(e.tid AS TEXT);
UPDATE event_rows SET is_counted = 1
WHERE id IN (SELECT first_id + event
             FROM temp.input
             CROSS JOIN trace_events(path, 'all', 0) AS e
             CROSS JOIN files AS f ON f.side = input.side AND f.file = e.file AND f.rank = e.rank);
CREATE INDEX event_rows_by_name ON event_rows (name_id);
CREATE INDEX event_rows_by_time ON event_rows (ts_ns);

-- For inputs with args: JSON, unchanged from the file (T6).
CREATE TABLE event_args (id INTEGER PRIMARY KEY REFERENCES event_rows (id), args TEXT NOT NULL);
INSERT INTO event_args
SELECT first_id + event, args
FROM (SELECT side AS of_side, path FROM temp.input WHERE with_args)
CROSS JOIN trace_events(path) AS e
CROSS JOIN files AS f ON f.side = of_side AND f.file = e.file AND f.rank = e.rank
WHERE args IS NOT NULL;

-- trace_events(trace), and ids to join by
CREATE VIEW events AS
SELECT e.id, f.side, f.rank, e.iteration, n.device, n.cat, n.name, n.short_name, n.kernel_type,
       CAST((e.ts_ns - f.origin_ns) / 1000.0 AS DOUBLE) AS ts, CAST(e.dur_ns / 1000.0 AS DOUBLE) AS dur, t.pid,
       t.tid, e.stream, e.correlation, CAST(e.link_id - f.first_id AS BIGINT) AS link,
       CAST(e.parent_id - f.first_id AS BIGINT) AS parent, e.depth,
       CAST(e.self_ns / 1000.0 AS DOUBLE) AS self_dur, e.ph, a.args, f.file,
       CAST(e.id - f.first_id AS BIGINT) AS event, e.ts_ns, e.dur_ns, CAST(e.ts_ns / 1e9 AS DOUBLE) AS ts_epoch,
       e.link_id, e.parent_id, e.is_counted
FROM event_rows AS e
JOIN files AS f ON f.file_id = e.file_id
JOIN names AS n ON n.name_id = e.name_id
JOIN threads AS t ON t.thread_id = e.thread_id
LEFT JOIN event_args AS a ON a.id = e.id;

-- The same with dates as text, for DuckDB, which lacks SQLite's strftime.
CREATE VIEW events_utc AS
SELECT *, CAST(strftime('%Y-%m-%dT%H:%M:%S', ts_ns / 1000000000 - (ts_ns % 1000000000 < 0), 'unixepoch')
            || printf('.%06dZ', (ts_ns % 1000000000 + 1000000000) % 1000000000 / 1000) AS TEXT) AS ts_utc
FROM events;

-- The owners of device work: each combination of labels once.
CREATE TABLE owners (
  owner_id INTEGER PRIMARY KEY, op TEXT, top_op TEXT, module TEXT, annotation TEXT, shapes TEXT, types TEXT);
CREATE TABLE kernel_owner_rows (
  id INTEGER PRIMARY KEY REFERENCES event_rows (id), owner_id INTEGER NOT NULL REFERENCES owners (owner_id),
  graph_position INTEGER, gpu_annotation TEXT, op_id INTEGER, flops INTEGER, bytes INTEGER,
  collective TEXT, process_group TEXT, group_size INTEGER, dtype TEXT,
  collective_bytes INTEGER, algorithm TEXT, protocol TEXT, channels INTEGER);

CREATE TEMP TABLE owned AS
SELECT first_id + event AS id, op, top_op, module, annotation, shapes, types, graph_position, gpu_annotation,
       first_id + op_event AS op_id, flops, bytes, collective, process_group, group_size, dtype,
       collective_bytes, algorithm, protocol, channels
FROM temp.input
CROSS JOIN trace_kernel_owners(path, 'all', 'all') AS k
CROSS JOIN files AS f ON f.side = input.side AND f.file = k.file AND f.rank = k.rank;
INSERT INTO owners
SELECT DISTINCT NULL, op, top_op, module, annotation, shapes, types FROM temp.owned
ORDER BY op, top_op, module, annotation, shapes, types;
CREATE INDEX owners_by_op ON owners (op, top_op, shapes);
INSERT INTO kernel_owner_rows
SELECT k.id, o.owner_id, k.graph_position, k.gpu_annotation, k.op_id, k.flops, k.bytes, k.collective,
       k.process_group, k.group_size, k.dtype, k.collective_bytes, k.algorithm, k.protocol, k.channels
FROM temp.owned AS k
CROSS JOIN owners AS o ON o.op IS k.op AND o.top_op IS k.top_op AND o.shapes IS k.shapes
  AND o.module IS k.module AND o.annotation IS k.annotation AND o.types IS k.types;
DROP TABLE temp.owned;

-- trace_kernel_owners(trace, 'all', 'all')
CREATE VIEW kernel_owners AS
SELECT e.id, f.side, f.rank, e.iteration, f.file, CAST(e.id - f.first_id AS BIGINT) AS event,
       n.stable_name AS name, n.cat, n.kernel_type, e.stream,
       CAST((e.ts_ns - f.origin_ns) / 1000.0 AS DOUBLE) AS ts, CAST(e.dur_ns / 1000.0 AS DOUBLE) AS dur,
       CAST(e.link_id - f.first_id AS BIGINT) AS launch, o.op, o.top_op, o.module, o.annotation, o.shapes,
       o.types, k.graph_position, k.gpu_annotation, CAST(k.op_id - f.first_id AS BIGINT) AS op_event,
       k.flops, k.bytes, k.collective, k.process_group, k.group_size, k.dtype, k.collective_bytes, k.algorithm,
       k.protocol, k.channels
FROM kernel_owner_rows AS k
JOIN event_rows AS e ON e.id = k.id
JOIN files AS f ON f.file_id = e.file_id
JOIN names AS n ON n.name_id = e.name_id
JOIN owners AS o ON o.owner_id = k.owner_id;

-- The diffs that cannot be derived from the tables above.

-- trace_summary(control, test)
CREATE TABLE summary (
  line INTEGER PRIMARY KEY, kind TEXT, text TEXT, class TEXT, name TEXT, control_ms REAL, test_ms REAL,
  diff_ms REAL, share REAL, rank INTEGER, gain_ms REAL, hidden_by TEXT, code TEXT,
  words TEXT, advice TEXT);
INSERT INTO summary
SELECT d.* FROM temp.input AS c CROSS JOIN temp.input AS t CROSS JOIN trace_summary(c.path, t.path) AS d
WHERE c.side = 'control' AND t.side = 'test';

INSERT INTO step_diff
SELECT d.* FROM temp.input AS c CROSS JOIN temp.input AS t CROSS JOIN trace_step_diff(c.path, t.path) AS d
WHERE c.side = 'control' AND t.side = 'test';

-- trace_step_causes(control, test), of the steps that trace_verdict keeps: the causes of summary, one by one
CREATE TABLE step_causes (
  kind TEXT, class TEXT, area TEXT, name TEXT, added INTEGER, removed INTEGER, names INTEGER,
  control_time REAL, test_time REAL, diff_time REAL, control_ns INTEGER, test_ns INTEGER, share REAL,
  instances INTEGER, only_in TEXT, changes REAL, rank INTEGER, text TEXT, replaced TEXT,
  recomputed TEXT, cause INTEGER, ranks TEXT, changing INTEGER, calls_time REAL, bytes_time REAL,
  bandwidth_time REAL, overlap_time REAL, control_calls REAL, test_calls REAL, control_bytes REAL,
  test_bytes REAL, control_gbs REAL, test_gbs REAL);
INSERT INTO step_causes
SELECT d.* FROM temp.input AS c CROSS JOIN temp.input AS t
CROSS JOIN trace_verdict(c.path, t.path) AS v
CROSS JOIN trace_step_causes(c.path, t.path, NULL, NULL, v.control_iterations, v.test_iterations) AS d
WHERE c.side = 'control' AND t.side = 'test';

-- trace_tree_diff(control, test), of the same steps
CREATE TABLE tree_diff (
  path TEXT, depth INTEGER, name TEXT, class TEXT, side TEXT, control_time REAL, test_time REAL, diff_time REAL,
  control_self_time REAL, test_self_time REAL, diff_self_time REAL, control_ns INTEGER, test_ns INTEGER,
  control_self_ns INTEGER, test_self_ns INTEGER, control_kernels REAL, test_kernels REAL, only_rank INTEGER);
INSERT INTO tree_diff
SELECT d.* FROM temp.input AS c CROSS JOIN temp.input AS t
CROSS JOIN trace_verdict(c.path, t.path) AS v
CROSS JOIN trace_tree_diff(c.path, t.path, NULL, NULL, v.control_iterations, v.test_iterations) AS d
WHERE c.side = 'control' AND t.side = 'test';

-- trace_diff_by(control, test, 'op,shapes', 'all', 'all', 'steady', 'steady')
CREATE TABLE diff_by_op (
  key TEXT, key_json TEXT, control_counts REAL, test_counts REAL, control_kernels REAL, test_kernels REAL,
  control_device_time REAL, test_device_time REAL, diff_device_time REAL, diff_from_counts REAL,
  diff_from_mean REAL, control_host_time REAL, test_host_time REAL, diff_host_time REAL,
  control_self_time REAL, test_self_time REAL, diff_self_time REAL, control_flops REAL, test_flops REAL,
  control_tflops REAL, test_tflops REAL, diff_from_flops REAL, diff_from_tflops REAL, control_bytes REAL,
  test_bytes REAL, control_gbs REAL, test_gbs REAL, diff_from_bytes REAL, diff_from_gbs REAL,
  control_flops_pct REAL, test_flops_pct REAL, control_gbs_pct REAL, test_gbs_pct REAL, control_bound TEXT,
  test_bound TEXT, control_events REAL, test_events REAL, op TEXT, top_op TEXT, module TEXT, annotation TEXT,
  kernel TEXT, kernel_type TEXT, cat TEXT, stream INTEGER, shapes TEXT, types TEXT, name TEXT, grid TEXT, block TEXT,
  collective TEXT, process_group TEXT);
INSERT INTO diff_by_op
SELECT d.* FROM temp.input AS c CROSS JOIN temp.input AS t
CROSS JOIN trace_diff_by(c.path, t.path, 'op,shapes', 'all', 'all', 'steady', 'steady') AS d
WHERE c.side = 'control' AND t.side = 'test';

-- potential_stragglers(trace), with the other columns if there is a control
CREATE TABLE stragglers (
  side TEXT NOT NULL, rank INTEGER, times_last INTEGER, wait_caused REAL, class TEXT, name TEXT, time REAL,
  others_time REAL, diff_time REAL, control_wait_caused REAL, control_diff_time REAL);
INSERT INTO stragglers
SELECT i.side, s.*
FROM temp.input AS i
LEFT JOIN temp.input AS c ON c.side = 'control'
CROSS JOIN potential_stragglers(i.path, 'all', 'steady', c.path) AS s;

-- HTA's analyses for both sides: hta_NAME has the rows of NAME(trace).

CREATE TABLE hta_temporal_breakdown (
  side TEXT NOT NULL, rank INTEGER, idle_time REAL, compute_time REAL, non_compute_time REAL, kernel_time REAL,
  idle_time_pctg REAL, compute_time_pctg REAL, non_compute_time_pctg REAL, pid TEXT);
INSERT INTO hta_temporal_breakdown
SELECT side, a.* FROM temp.input CROSS JOIN temporal_breakdown(path) AS a;

CREATE TABLE hta_idle_time_breakdown (
  side TEXT NOT NULL, rank INTEGER, stream INTEGER, idle_category TEXT, idle_time REAL, idle_time_ratio REAL,
  busy_time REAL, pid TEXT);
INSERT INTO hta_idle_time_breakdown
SELECT side, a.* FROM temp.input CROSS JOIN idle_time_breakdown(path) AS a;

CREATE TABLE hta_idle_interval_stats (
  side TEXT NOT NULL, rank INTEGER, stream INTEGER, idle_category TEXT, count INTEGER, mean REAL, std REAL, min REAL,
  p25 REAL, p50 REAL, p75 REAL, max REAL, pid TEXT);
INSERT INTO hta_idle_interval_stats
SELECT side, a.* FROM temp.input CROSS JOIN idle_interval_stats(path) AS a;

CREATE TABLE hta_gpu_kernel_type_breakdown (side TEXT NOT NULL, kernel_type TEXT, sum REAL, percentage REAL);
INSERT INTO hta_gpu_kernel_type_breakdown
SELECT side, a.* FROM temp.input CROSS JOIN gpu_kernel_type_breakdown(path) AS a;

CREATE TABLE hta_gpu_kernel_breakdown (
  side TEXT NOT NULL, name TEXT, sum REAL, max REAL, min REAL, mean REAL, stddev REAL, kernel_type TEXT,
  rank INTEGER);
INSERT INTO hta_gpu_kernel_breakdown
SELECT side, a.* FROM temp.input CROSS JOIN gpu_kernel_breakdown(path) AS a;

CREATE TABLE hta_gpu_user_annotation_breakdown (
  side TEXT NOT NULL, name TEXT, sum REAL, max REAL, min REAL, mean REAL, stddev REAL, rank INTEGER);
INSERT INTO hta_gpu_user_annotation_breakdown
SELECT side, a.* FROM temp.input CROSS JOIN gpu_user_annotation_breakdown(path) AS a;

CREATE TABLE hta_comm_comp_overlap (
  side TEXT NOT NULL, rank INTEGER, comp_comm_overlap_pctg REAL, hidden_time REAL, exposed_time REAL, pid TEXT);
INSERT INTO hta_comm_comp_overlap
SELECT side, a.* FROM temp.input CROSS JOIN comm_comp_overlap(path) AS a;

CREATE TABLE hta_memory_bw_time_series (
  side TEXT NOT NULL, rank INTEGER, ts REAL, pid TEXT, name TEXT, memory_bw_gbps REAL);
INSERT INTO hta_memory_bw_time_series
SELECT side, a.* FROM temp.input CROSS JOIN memory_bw_time_series(path) AS a;

CREATE TABLE hta_memory_bw_summary (
  side TEXT NOT NULL, rank INTEGER, name TEXT, count INTEGER, mean REAL, std REAL, min REAL, p25 REAL, p50 REAL,
  p75 REAL, max REAL, mean_over_time REAL);
INSERT INTO hta_memory_bw_summary
WITH point AS (
  SELECT side, rank, name, memory_bw_gbps AS bw,
         lead(CAST(ts * 1000 + 0.5 AS INTEGER)) OVER (
           PARTITION BY side, rank, name ORDER BY rowid ROWS UNBOUNDED PRECEDING)
           - CAST(ts * 1000 + 0.5 AS INTEGER) AS lasts
  FROM hta_memory_bw_time_series)
SELECT side, rank, name, count(*), avg(bw), trace_stddev(bw), min(bw), trace_quantile(bw, 0.25),
       trace_quantile(bw, 0.5), trace_quantile(bw, 0.75), max(bw), sum(bw * lasts) / nullif(sum(lasts), 0)
FROM point
WHERE bw > 0
GROUP BY side, rank, name;

CREATE TABLE hta_queue_length_time_series (
  side TEXT NOT NULL, rank INTEGER, ts REAL, pid TEXT, tid TEXT, stream INTEGER, queue_length INTEGER);
INSERT INTO hta_queue_length_time_series
SELECT side, a.* FROM temp.input CROSS JOIN queue_length_time_series(path) AS a;

CREATE TABLE hta_queue_length_summary (
  side TEXT NOT NULL, rank INTEGER, stream INTEGER, count INTEGER, mean REAL, std REAL, min INTEGER, p25 REAL,
  p50 REAL, p75 REAL, max INTEGER, mean_over_time REAL, pid TEXT);
CREATE TEMP TABLE point AS
SELECT side, rank, stream, pid, queue_length,
       lead(CAST(ts * 1000 + 0.5 AS INTEGER)) OVER (
         PARTITION BY side, rank, stream, pid ORDER BY rowid ROWS UNBOUNDED PRECEDING)
         - CAST(ts * 1000 + 0.5 AS INTEGER) AS lasts
FROM hta_queue_length_time_series;
INSERT INTO hta_queue_length_summary
SELECT side, rank, stream, count(*), avg(queue_length), trace_stddev(queue_length), min(queue_length),
       trace_quantile(queue_length, 0.25), trace_quantile(queue_length, 0.5),
       trace_quantile(queue_length, 0.75), max(queue_length),
       sum(1.0 * queue_length * lasts) / nullif(sum(lasts), 0), pid
FROM temp.point
GROUP BY side, rank, stream, pid;

CREATE TABLE hta_time_spent_blocked_on_full_queue (
  side TEXT NOT NULL, rank INTEGER, stream INTEGER, duration_at_max_queue_length REAL,
  relative_duration_at_max_queue_length REAL, pid TEXT);
INSERT INTO hta_time_spent_blocked_on_full_queue
SELECT side, rank, stream, coalesce(sum(lasts), 0) / 1000.0,
       coalesce(sum(lasts), 0) * 1.0 / (SELECT max(e.ts_ns) - min(e.ts_ns)
                                        FROM event_rows AS e
                                        JOIN files AS f ON f.file_id = e.file_id
                                        WHERE e.is_counted AND f.side = point.side AND f.rank = point.rank),
       pid
FROM temp.point
WHERE queue_length >= 1024
GROUP BY side, rank, stream, pid;
DROP TABLE temp.point;

CREATE VIEW hta_gpu_kernels_with_user_annotations AS
SELECT f.side, f.rank, CAST((e.ts_ns - f.origin_ns) / 1000.0 AS DOUBLE) AS ts,
       CAST(e.dur_ns / 1000.0 AS DOUBLE) AS dur, t.pid, t.tid, e.stream, n.name, k.gpu_annotation AS user_annotation,
       f.file, CAST(e.id - f.first_id AS BIGINT) AS event
FROM kernel_owner_rows AS k
JOIN event_rows AS e ON e.id = k.id
JOIN files AS f ON f.file_id = e.file_id
JOIN names AS n ON n.name_id = e.name_id
JOIN threads AS t ON t.thread_id = e.thread_id
WHERE e.is_counted
ORDER BY f.side, f.rank, e.ts_ns, e.dur_ns, n.name, e.stream, user_annotation, f.file, e.id;

CREATE VIEW hta_cuda_kernel_launch_stats AS
SELECT f.side, f.rank, work.correlation, CAST(call.dur_ns / 1000.0 AS DOUBLE) AS cpu_duration,
       CAST(work.dur_ns / 1000.0 AS DOUBLE) AS gpu_duration,
       CAST(CASE WHEN work.ts_ns > call.ts_ns + call.dur_ns
                 THEN work.ts_ns - call.ts_ns - call.dur_ns ELSE 0 END / 1000.0 AS DOUBLE) AS launch_delay,
       f.file, CAST(call.id - f.first_id AS BIGINT) AS launch
FROM event_rows AS work
JOIN names AS n ON n.name_id = work.name_id
JOIN event_rows AS call ON call.id = work.link_id
JOIN files AS f ON f.file_id = work.file_id
WHERE work.is_counted AND call.is_counted AND n.kernel_type IS NOT NULL
ORDER BY f.side, f.rank, call.ts_ns, f.file, call.id, work.ts_ns, work.id;

CREATE TABLE hta_aten_op_kernels_and_delay (
  side TEXT NOT NULL, rank INTEGER, aten_op_name TEXT, kernel_sequence TEXT, occurrence_count INTEGER,
  avg_aten_op_launch_delay REAL, avg_runtime_delay REAL);
INSERT INTO hta_aten_op_kernels_and_delay
SELECT side, a.* FROM temp.input CROSS JOIN aten_op_kernels_and_delay(path) AS a;

-- frequent_cuda_kernel_sequences(trace, 'aten::*', 'all', 0, 1)
CREATE TABLE hta_frequent_cuda_kernel_sequences (
  side TEXT NOT NULL, rank INTEGER, pattern TEXT, count INTEGER, gpu_kernel_duration REAL, cpu_op_duration REAL);
INSERT INTO hta_frequent_cuda_kernel_sequences
SELECT side, a.* FROM temp.input CROSS JOIN frequent_cuda_kernel_sequences(path, 'aten::*', 'all', 0, 1) AS a;
