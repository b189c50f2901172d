-- The same model on other hardware: a TimeSformer that classifies videos, control on an H100,
-- test on an MI300. One recorded step each; the files are named themselves, for the folders
-- hold other models, too.
--
-- The traces: AMD's TraceLens, 2 MB, tests/traces/{h100,mi300} of
-- https://github.com/AMD-AGI/TraceLens (commit 171dd747). Every figure below is read from
-- them; name other traces, and the story is theirs.
--
--   .load ./dist/tracediff
--   .parameter set :control "'TraceLens/tests/traces/h100/facebook_timesformer*.json.gz'"
--   .parameter set :test "'TraceLens/tests/traces/mi300/facebook_timesformer*.json.gz'"
--   .read examples/other_hardware.sql
.headers off
.mode list
CREATE TEMP TABLE part AS SELECT *, class LIKE 'idle%' AS idle FROM trace_step_diff(:control, :test);
SELECT printf('The step takes %.1f ms in control and %.1f ms in test, %+.1f ms. By class:',
              sum(control_time) / 1000, sum(test_time) / 1000, sum(diff_time) / 1000)
FROM part;
.mode box
SELECT class, round(sum(control_time) / 1000, 1) AS control_ms, round(sum(test_time) / 1000, 1) AS test_ms,
       round(sum(diff_time) / 1000, 1) AS diff_ms
FROM part
GROUP BY class
ORDER BY abs(sum(diff_time)) DESC;
.mode list
SELECT printf('The device''s own work changes by %+.1f ms, its waiting by %+.1f ms', work, waiting)
       || CASE WHEN work * waiting < 0 THEN ': they cancel in part.' ELSE '.' END
       || printf(' It waits for %.0f %% of the step in control and %.0f %% in test.', control_share, test_share)
FROM (SELECT total(diff_time) FILTER (WHERE NOT idle) / 1000 AS work,
             total(diff_time) FILTER (WHERE idle) / 1000 AS waiting,
             100 * total(control_time) FILTER (WHERE idle) / sum(control_time) AS control_share,
             100 * total(test_time) FILTER (WHERE idle) / sum(test_time) AS test_share FROM part);
.mode box
SELECT class, name, round(control_time / 1000, 1) AS control_ms, round(test_time / 1000, 1) AS test_ms,
       round(diff_time / 1000, 1) AS diff_ms
FROM part
LIMIT 6;
.mode list
SELECT 'Operators by their shapes, those that take longer in test:';
.mode box
SELECT key, round(control_counts) AS control_counts, round(test_counts) AS test_counts,
       round(diff_device_time / 1000, 1) AS diff_ms
FROM trace_diff_by(:control, :test, 'op,shapes')
WHERE diff_device_time > 1000
LIMIT 4;
.mode list
SELECT CASE WHEN max(control_share, test_share) > 50
       THEN 'Both devices mostly wait: compare them by compute alone, and mend what they wait for first.'
       ELSE 'The devices mostly work: their operators say how they compare.' END
FROM (SELECT total(control_time) FILTER (WHERE idle) * 100 / sum(control_time) AS control_share,
             total(test_time) FILTER (WHERE idle) * 100 / sum(test_time) AS test_share FROM part);
DROP TABLE part;
