-- What `make demo` prints: why a step of the test run is slower than one of the control run.
-- examples/gpu is generated (tests/generators/generate_gpu_pair.py plants the differences); with your own
-- traces, name their directories in the two statements below.
CREATE TEMP TABLE kernel AS
SELECT * FROM trace_diff('examples/gpu/control', 'examples/gpu/test')
WHERE device_type = 'GPU';
.mode list
.headers off
SELECT char(10) || 'examples/gpu: why is a step of the test run slower?' || char(10);
SELECT text FROM trace_summary('examples/gpu/control', 'examples/gpu/test');
SELECT char(10) || printf('%d kernels and copies changed. The largest changes per step:', count(*))
FROM kernel
WHERE diff_duration <> 0;
.mode box
SELECT substr(trace_short_name(name), 1, 60) AS name, counts_change AS change, control_counts AS control,
       test_counts AS test, round(diff_duration_per_step, 1) AS diff_us
FROM kernel
WHERE diff_duration <> 0
ORDER BY abs(diff_duration_per_step) DESC
LIMIT 5;
.mode list
SELECT char(10) || 'More: examples/tour.sql is a session, '
         || 'and SELECT text FROM tracediff_help(''trace_step_diff'') explains a function.';
