-- Why did torch.compile change the step? Control is eager, test compiled: one rank each.
--
-- The traces: HolisticTraceAnalysis, tests/data/trace_diff/{control,test}, 3 MB, from
-- https://github.com/facebookresearch/HolisticTraceAnalysis (commit f4d0062). Every figure
-- below is read from them; name other directories, and the story is theirs.
--
--   .load ./dist/tracediff
--   .parameter set :control "'HolisticTraceAnalysis/tests/data/trace_diff/control'"
--   .parameter set :test "'HolisticTraceAnalysis/tests/data/trace_diff/test'"
--   .read examples/torch_compile.sql
.headers off
.mode list
CREATE TEMP TABLE part AS SELECT * FROM trace_step_diff(:control, :test);
CREATE TEMP TABLE class AS
SELECT class, round(sum(control_time) / 1000, 1) AS control_ms, round(sum(test_time) / 1000, 1) AS test_ms,
       round(sum(diff_time) / 1000, 1) AS diff_ms, class LIKE 'idle%' AS idle
FROM part GROUP BY class;
SELECT printf('The step takes %.1f ms in control and %.1f ms in test, %+.1f ms (%d and %d steps). By class:',
              sum(control_time) / 1000, sum(test_time) / 1000, sum(diff_time) / 1000, max(control_steps),
              max(test_steps))
FROM part;
.mode box
SELECT class, control_ms, test_ms, diff_ms FROM class ORDER BY abs(diff_ms) DESC;
.mode list
SELECT printf('Work of the device changes by %+.1f ms, waiting by %+.1f ms: ', total(diff_ms) FILTER (WHERE NOT idle),
              total(diff_ms) FILTER (WHERE idle))
       || CASE WHEN abs(total(diff_ms) FILTER (WHERE idle)) < abs(total(diff_ms) FILTER (WHERE NOT idle)) / 2
          THEN 'launches are not what costs. Which operators?' ELSE 'what the host does counts. Which parts?' END
FROM class;
.mode box
SELECT class, trace_short_name(name) AS name, round(control_time / 1000, 1) AS control_ms,
       round(test_time / 1000, 1) AS test_ms, round(diff_time / 1000, 1) AS diff_ms
FROM part
LIMIT 8;
.mode list
SELECT printf('What only test has takes %.1f ms, what only control has took %.1f ms, and the rest changes by %+.1f ms.',
              total(test_time) FILTER (WHERE control_time = 0) / 1000,
              total(control_time) FILTER (WHERE test_time = 0) / 1000,
              total(diff_time) FILTER (WHERE control_time <> 0 AND test_time <> 0) / 1000)
FROM part WHERE class IN ('compute', 'comm', 'memory');
SELECT 'Of what both have and what is new, are there more runs, or longer ones?';
.mode box
SELECT key, round(control_counts, 1) AS control_counts, round(test_counts, 1) AS test_counts,
       round(diff_device_time / 1000, 1) AS diff_ms, round(diff_from_counts / 1000, 1) AS from_counts_ms,
       round(diff_from_mean / 1000, 1) AS from_mean_ms
FROM trace_diff_by(:control, :test, 'op')
ORDER BY abs(diff_device_time) DESC
LIMIT 4;
.mode list
SELECT printf('So look first at %s: %+.1f ms of the %+.1f ms.', trace_short_name(name), diff_time / 1000, total / 1000)
FROM part, (SELECT sum(diff_time) AS total FROM part)
ORDER BY CASE WHEN total < 0 THEN -diff_time ELSE diff_time END DESC
LIMIT 1;
DROP TABLE part;
DROP TABLE class;
