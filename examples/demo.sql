-- What `make demo` prints: why a step of the test run is slower than one of the control run.
-- examples/gpu is generated (tests/generate_gpu_pair.py plants the differences); with your own
-- traces, name their directories in the two statements below.
CREATE TEMP TABLE part AS SELECT * FROM trace_step_diff('examples/gpu/control', 'examples/gpu/test');
CREATE TEMP TABLE kernel AS
SELECT * FROM trace_diff('examples/gpu/control', 'examples/gpu/test', NULL, NULL, 'steady', 'steady', 'GPU');
.mode list
.headers off
SELECT char(10) || printf('A step of examples/gpu takes %.1f us in control and %.1f us in test, %+.1f us. Where does that come from?',
                          sum(control_time), sum(test_time), sum(diff_time))
FROM part;
.mode box
SELECT CASE WHEN number > 8 THEN '' WHEN class = 'compute' THEN 'computing' WHEN class = 'comm' THEN 'communicating'
            WHEN class = 'memory' THEN 'copying' ELSE 'waiting' END AS "the device is",
       CASE WHEN number <= 8 THEN trace_short_name(name) ELSE count(*) || ' other parts' END AS "for",
       round(sum(control_time), 1) AS control_us, round(sum(test_time), 1) AS test_us, round(sum(diff_time), 1) AS diff_us,
       trace_bar(sum(diff_time), (SELECT max(abs(diff_time)) FROM part), 6) AS change
FROM (SELECT *, row_number() OVER (ORDER BY abs(diff_time) DESC) AS number FROM part)
GROUP BY min(number, 9)
ORDER BY min(number, 9);
.mode list
SELECT char(10) || printf('%d kernels and copies changed. The largest changes, a step:', count(*))
FROM kernel
WHERE diff_duration <> 0;
.mode box
SELECT substr(trace_short_name(name), 1, 60) AS name, counts_change AS change, control_counts AS control, test_counts AS test,
       round(diff_duration_per_step, 1) AS diff_us
FROM kernel
WHERE diff_duration <> 0
ORDER BY abs(diff_duration_per_step) DESC
LIMIT 5;
.mode list
SELECT char(10) || 'More: examples/tour.sql is a session, and SELECT text FROM tracediff_help(''trace_step_diff'') explains a function.';
