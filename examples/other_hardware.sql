-- The same model on other hardware: a TimeSformer that classifies videos, control on an
-- H100, test on an MI300. One recorded step each; the files are named themselves, for the
-- folders hold other models, too.
--
--   .load ./dist/tracediff
--   .parameter set :control "'h100/facebook_timesformer*'"
--   .parameter set :test "'mi300/facebook_timesformer*'"
--   .read examples/other_hardware.sql
.mode box
.print Nearly the same time:
SELECT round(sum(control_time) / 1000, 1) AS control_ms, round(sum(test_time) / 1000, 1) AS test_ms,
       round(sum(diff_time) / 1000, 1) AS diff_ms
FROM trace_step_diff(:control, :test);
.print And yet:
SELECT class, round(sum(control_time) / 1000, 1) AS control_ms, round(sum(test_time) / 1000, 1) AS test_ms,
       round(sum(diff_time) / 1000, 1) AS diff_ms
FROM trace_step_diff(:control, :test)
GROUP BY class
ORDER BY abs(sum(diff_time)) DESC;
.print The MI300 computes less long, and the host before it is slower: the two cancel. Most of both
.print runs is neither: the device waits while the host decodes and normalises frames.
SELECT class, name, round(control_time / 1000, 1) AS control_ms, round(test_time / 1000, 1) AS test_ms,
       round(diff_time / 1000, 1) AS diff_ms
FROM trace_step_diff(:control, :test)
LIMIT 6;
.print Operators by their shapes: what is slower on the MI300, though its sum is smaller?
SELECT key, round(control_counts) AS control_counts, round(test_counts) AS test_counts,
       round(diff_device_time / 1000, 1) AS diff_ms
FROM trace_diff_by(:control, :test, 'op,shapes')
WHERE diff_device_time > 1000
LIMIT 4;
.print Conclusion: compare devices by compute alone, and mend the input pipeline first on both.
