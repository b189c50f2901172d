-- A session with tracediff: sqlite3 < examples/tour.sql, started in the directory
-- above this one; or line by line. README.md and examples/README.md show what it prints.

-- Why is a step of the test run slower?
.load ./dist/tracediff
SELECT text FROM trace_summary('examples/gpu/control', 'examples/gpu/test');

-- In parts that add up to the difference, us per step:
.mode box
SELECT class, trace_short_name(name) AS name, round(control_time, 1) AS control,
       round(test_time, 1) AS test, round(diff_time, 1) AS diff
FROM trace_step_diff('examples/gpu/control', 'examples/gpu/test')
LIMIT 4;

-- What is there, and is it whole?
.mode box
SELECT file, rank, steps, rows, problems FROM trace_files('examples/gpu/control');

-- What changed on the device, in the steps between the first and the last?
SELECT trace_label(name) AS kernel, counts_change, control_counts AS control, test_counts AS test,
       round(diff_duration_per_step, 1) AS us_per_step
FROM trace_diff('examples/gpu/control', 'examples/gpu/test')
WHERE device_type = 'GPU' AND diff_duration <> 0
LIMIT 4;

-- Two servers' traces: what is slower in steps of like size?
SELECT trace_label(name) AS op, round(diff_time, 1) AS diff, round(diff_within, 1) AS within, round(diff_mix, 1) AS mix
FROM trace_step_diff('examples/serving/control', 'examples/serving/test')
ORDER BY abs(diff_within) DESC
LIMIT 1;

-- Five runs per side: which kernels differ, and what could have been seen?
SELECT trace_short_name(name) AS name, round(diff_pct, 1) AS percent, round(detectable, 1) AS detectable, verdict
FROM trace_ab('examples/runs/control/*', 'examples/runs/test/*')
WHERE device = 'GPU'
LIMIT 3;

-- Copies: more of them, or slower ones?
SELECT key, control_counts AS control, test_counts AS test, round(diff_device_time, 1) AS diff,
       round(diff_from_counts, 1) AS from_counts, round(diff_from_mean, 1) AS from_mean
FROM trace_diff_by('examples/gpu/control', 'examples/gpu/test', 'op,shapes')
WHERE key LIKE 'aten::copy_%';

-- More work, or slower work?
SELECT key, round(control_gbs) AS control_gbs, round(test_gbs) AS test_gbs, round(diff_device_time, 1) AS diff,
       round(diff_from_bytes, 1) AS more_work, round(diff_from_gbs, 1) AS lower_rate
FROM trace_diff_by('examples/gpu/control', 'examples/gpu/test', 'op')
WHERE key IN ('aten::native_layer_norm', 'aten::mm');

-- As a picture, from control's step to test's.
SELECT writefile('build/step.html', visualize_step_diff(
         text, NULL, control_time, test_time)) > 0 AS written
FROM trace_step_causes('examples/gpu/control', 'examples/gpu/test');

-- Rank against rank: which one do the others wait for, and why?
SELECT kind, trace_short_name(name) AS name, round(control_time, 1) AS rank_0,
       round(test_time, 1) AS rank_1, round(diff_time, 1) AS diff
FROM trace_step_causes('examples/gpu/test', 'examples/gpu/test', 0, 1)
WHERE abs(diff_time) >= 1;

-- Where in the program? The step as a tree.
SELECT substr('      ', 1, 2 * depth) || substr(trace_short_name(name), 1, 50) AS name, side,
       round(control_time, 1) AS control, round(test_time, 1) AS test, round(diff_time, 1) AS diff
FROM trace_tree_diff('examples/gpu/control', 'examples/gpu/test')
WHERE depth <= 2 AND abs(diff_time) >= 90;

-- As folded stacks for flamegraph.pl, inferno and speedscope: ns per step of test.
.mode list
SELECT printf('%s %.0f', path, 1000 * test_self_time) AS stack
FROM trace_tree_diff('examples/gpu/control', 'examples/gpu/test')
WHERE test_self_ns > 0
LIMIT 3;

-- For a differential flame graph: ns per step of both.
SELECT printf('%s %.0f %.0f', path, 1000 * control_self_time, 1000 * test_self_time) AS stack
FROM trace_tree_diff('examples/gpu/control', 'examples/gpu/test')
WHERE control_self_ns <> test_self_ns AND path LIKE 'step;device idle;%'
LIMIT 3;
.mode box

-- Is that more than the noise of the steps?
SELECT class, trace_short_name(name) AS name,
       round(control_time, 1) AS rank_0, round(control_stddev, 1) AS stddev_0,
       round(test_time, 1) AS rank_1, round(test_stddev, 1) AS stddev_1
FROM trace_step_diff('examples/gpu/test', 'examples/gpu/test', 0, 1)
WHERE abs(diff_time) > 3 * max(control_stddev, test_stddev);

-- All ranks side by side:
SELECT rank, sum(time_ns) FILTER (WHERE class = 'compute') / count(DISTINCT iteration) / 1000 AS compute,
       sum(time_ns) FILTER (WHERE class = 'comm') / count(DISTINCT iteration) / 1000 AS comm,
       sum(time_ns) FILTER (WHERE class LIKE 'idle%') / count(DISTINCT iteration) / 1000 AS idle
FROM trace_step_time('examples/gpu/test', 'all')
GROUP BY rank;

-- A trace without device work, by the user's annotations:
SELECT class, name, round(control_time, 1) AS control, round(test_time, 1) AS test,
       round(diff_time, 1) AS diff
FROM trace_step_diff('examples/cpu/control', 'examples/cpu/test')
WHERE level = 'annotation'
LIMIT 5;

-- Arguments go by name too. Which operators came and went?
SELECT change, name, control_counts, test_counts
FROM ops_diff('examples/gpu/control', 'examples/gpu/test')
WHERE control_iteration = 'steady' AND test_iteration = 'steady'
  AND device_type = 'CPU' AND change IN ('added', 'deleted');

-- An all-reduce that is longer on one rank than on the other is not slow: it
-- waits.
SELECT rank, sum(counts) AS calls, round(sum(total_duration), 1) AS us
FROM trace_ops('examples/gpu/test', 'all')
WHERE device_type = 'GPU' AND name LIKE 'nccl%'
GROUP BY rank;

-- Every event is a row, and every kernel knows its launch. How far ahead of the
-- device does the host run?
WITH event AS MATERIALIZED (
  SELECT file, event, link, device, stream, ts FROM trace_events('examples/gpu/test'))
SELECT work.stream, count(*) AS launches,
       round(avg(work.ts - call.ts), 1) AS us_from_launch_to_start
FROM event AS work
JOIN event AS call ON call.file = work.file AND call.event = work.link
WHERE work.device = 'GPU' AND work.stream < 100
GROUP BY work.stream;

-- Where does the device's time go?
SELECT rank, round(idle_time, 1) AS idle, round(compute_time, 1) AS compute,
       round(non_compute_time, 1) AS other_work, idle_time_pctg
FROM temporal_breakdown('examples/gpu/test');

-- What do the streams of rank 0 wait for? host_wait is time in which nothing had been
-- launched.
SELECT stream, idle_category, idle_time, round(idle_time_ratio, 3) AS ratio
FROM idle_time_breakdown('examples/gpu/test', 0)
WHERE idle_time > 0;

-- How much of it runs at the same time?
SELECT kernel_type, sum AS us, percentage FROM gpu_kernel_type_breakdown('examples/gpu/test');

-- An analysis of two traces, side by side:
SELECT kernel_type, sum(sum) FILTER (WHERE side = 0) AS control,
       sum(sum) FILTER (WHERE side = 1) AS test,
       round(sum(CASE side WHEN 1 THEN sum ELSE -sum END), 1) AS diff
FROM (SELECT 0 AS side, * FROM gpu_kernel_type_breakdown('examples/gpu/control')
      UNION ALL
      SELECT 1, * FROM gpu_kernel_type_breakdown('examples/gpu/test'))
GROUP BY kernel_type
ORDER BY abs(diff) DESC;

-- Which call is an event nested in, and what were its shapes? parent is the event around it
-- on its thread, args is JSON.
SELECT parent.name AS inside, event.name, event.depth, event.dur, event.self_dur,
       event.args ->> '$."Input Dims"' AS shapes
FROM trace_events('examples/cpu/test') AS event
JOIN trace_events('examples/cpu/test') AS parent
  ON parent.file = event.file AND parent.event = event.parent
WHERE event.name = 'aten::addmm' AND event.rank = 0
ORDER BY event.dur DESC
LIMIT 3;

-- Which rank do the others wait for, what takes it longer, and did it before?
SELECT rank, round(wait_caused, 1) AS wait_caused, round(control_wait_caused, 1) AS before,
       class, name, round(diff_time, 1) AS longer, round(control_diff_time, 1) AS longer_before
FROM potential_stragglers('examples/gpu/test')
WHERE control = 'examples/gpu/control'
LIMIT 1;

-- On which rank is the path of a job, if ranks wait for each other on the host?
SELECT rank, round(sum(dur) / 1000 / 5, 1) AS ms_a_step
FROM trace_job_path('examples/gloo/three/loader')
GROUP BY rank;

-- What changed on the critical path of a step?
SELECT kind, trace_label(name) AS name, round(control_time, 1) AS control, round(test_time, 1) AS test,
       round(diff_time, 1) AS diff
FROM critical_path_diff('examples/gpu/control', 'examples/gpu/test')
LIMIT 3;

-- Is the device starved by the host?
SELECT class, round(sum(control_time), 1) AS control, round(sum(test_time), 1) AS test, round(sum(diff_time), 1) AS diff
FROM trace_step_diff('examples/gpu/control', 'examples/gpu/test')
GROUP BY class
HAVING class LIKE 'idle%';

-- Which calls of CUDA are made more or less often per step?
SELECT name, control_counts_per_step AS control, test_counts_per_step AS test
FROM trace_diff('examples/gpu/control', 'examples/gpu/test')
WHERE device_type = 'CPU' AND name LIKE 'cuda%' AND diff_counts <> 0;

-- How much memory, of a trace with profile_memory=True?
SELECT args ->> '$."Device Type"' AS type, args ->> '$."Device Id"' AS device,
       max(args ->> '$."Total Allocated"') AS allocated, max(args ->> '$."Total Reserved"') AS reserved
FROM trace_events('examples/recorded/trace.json.gz')
WHERE phases = 'i' AND name = '[memory]'
GROUP BY type, device;

-- Does a collective move more bytes, or is the network slower?
WITH both AS (
  SELECT 0 AS side, * FROM trace_collectives('examples/gpu/control')
  UNION ALL SELECT 1, * FROM trace_collectives('examples/gpu/test'))
SELECT collective, process_group, seq, round(avg(transfer) FILTER (WHERE side = 0), 1) AS control,
       round(avg(transfer) FILTER (WHERE side = 1), 1) AS test,
       round(avg(bytes) FILTER (WHERE side = 1) / avg(bytes) FILTER (WHERE side = 0), 2) AS times_the_bytes,
       round(avg(busbw_gbs) FILTER (WHERE side = 0), 1) AS control_gbs,
       round(avg(busbw_gbs) FILTER (WHERE side = 1), 1) AS test_gbs
FROM both
GROUP BY collective, process_group, seq;

-- How near to the peak of the device are operators, and which peak bounds them?
SELECT op, round(control_flops_pct, 1) AS control_flops_pct, round(test_flops_pct, 1) AS test_flops_pct,
       round(control_gbs_pct, 1) AS control_gbs_pct, test_bound
FROM trace_diff_by('examples/h200/attention/control', 'examples/h200/attention/test', 'op')
WHERE control_gbs IS NOT NULL
ORDER BY control_device_time DESC
LIMIT 3;

-- What would a fix bring? At most the time on the critical path.
SELECT kind, trace_label(name) AS name,
       round(total(dur) FILTER (WHERE seq IS NOT NULL) / count(DISTINCT iteration), 1) AS on_path,
       round(total(dur) FILTER (WHERE seq IS NULL) / count(DISTINCT iteration), 1) AS off_path,
       round(min(slack) FILTER (WHERE seq IS NULL), 1) AS least_slack
FROM critical_path('examples/gpu/test')
WHERE off_path = 1 AND kind IN ('host', 'kernel') AND name IS NOT NULL
GROUP BY kind, trace_label(name)
ORDER BY on_path DESC
LIMIT 3;

-- After an upgrade of PyTorch: kernels by full names, by short names, and time without names.
SELECT 'full' AS names, sum(counts_change = 'added') AS added, sum(counts_change = 'deleted') AS deleted,
       round(sum(diff_duration_per_step), 1) AS us_per_step
FROM trace_diff('examples/gpu/control', 'examples/gpu/test')
WHERE device_type = 'GPU' AND use_short_name = 0
UNION ALL
SELECT 'short', sum(counts_change = 'added'), sum(counts_change = 'deleted'), round(sum(diff_duration_per_step), 1)
FROM trace_diff('examples/gpu/control', 'examples/gpu/test')
WHERE device_type = 'GPU' AND use_short_name = 1;

SELECT key, round(control_device_time, 1) AS control, round(test_device_time, 1) AS test,
       round(diff_device_time, 1) AS diff
FROM trace_diff_by('examples/gpu/control', 'examples/gpu/test', 'annotation,kernel_type')
WHERE device_type = 'GPU'
LIMIT 4;

-- The ten largest changes of duration, on real traces:
SELECT name, round(control_total_duration) AS control,
       round(test_total_duration) AS test, round(diff_duration) AS diff
FROM top_duration_changes('examples/cpu/control', 'examples/cpu/test')
WHERE control_iteration = 'steady' AND test_iteration = 'steady';

-- Of what changes, a bar: to the right what grew, to the left what shrank.
SELECT name, trace_bar(diff_duration, max(abs(diff_duration)) OVER ()) AS duration
FROM top_duration_changes('examples/cpu/control', 'examples/cpu/test')
WHERE control_iteration = 'steady' AND test_iteration = 'steady'
LIMIT 6;

-- Pages to look at, HTA's two figures and all at once:
SELECT writefile('build/durations.html', visualize_duration_diff(
         key, control_device_time + control_self_time, test_device_time + test_self_time)) > 0 AS written
FROM (SELECT *
      FROM trace_diff_by('examples/cpu/control', 'examples/cpu/test', 'name')
      ORDER BY abs(diff_device_time + diff_self_time) DESC
      LIMIT 10);
SELECT writefile('build/counts.html', visualize_counts_diff(
         name, control_counts, test_counts)) > 0 AS written
FROM top_count_increases('examples/cpu/control', 'examples/cpu/test')
WHERE control_iteration = 'steady' AND test_iteration = 'steady';

SELECT writefile('build/report.html', html) > 0 AS written
FROM trace_diff_report('examples/gpu/control', 'examples/gpu/test');

-- To hand a result to a tool that cannot load extensions, make it an ordinary
-- table:
CREATE TABLE changes AS
SELECT * FROM trace_diff('examples/cpu/control', 'examples/cpu/test');
SELECT count(*) AS names, sum(counts_change = 'added') AS added,
       sum(counts_change = 'deleted') AS deleted
FROM changes;

.read sql/database/tables.sql
CREATE TEMP TABLE input (side TEXT, path TEXT, with_args INTEGER);
INSERT INTO input VALUES ('control', 'examples/gpu/control', 0), ('test', 'examples/gpu/test', 0);
.read sql/database/summaries.sql
.read sql/database/to_database.sql
.read sql/database/diffs.sql
.read sql/database/views.sql

SELECT class, substr(name, 1, 40) AS name, round(control_time, 1) AS control,
       round(test_time, 1) AS test, round(diff_time, 1) AS diff
FROM step_diff
LIMIT 4;

SELECT side, iteration, datetime(ts_utc) AS begun, round(dur, 1) AS us
FROM steps
WHERE rank = 0 AND iteration IN (11, 12);

SELECT op, count(*) FILTER (WHERE side = 'control') AS control,
       count(*) FILTER (WHERE side = 'test') AS test,
       round(sum(CASE side WHEN 'test' THEN dur ELSE -dur END), 1) AS diff_us
FROM kernel_owners
WHERE rank = 0
GROUP BY op
ORDER BY abs(diff_us) DESC
LIMIT 4;
