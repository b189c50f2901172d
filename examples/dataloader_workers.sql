-- What did four DataLoader workers bring? ResNet-50 on one GPU, control without workers,
-- test with four.
--
--   .load ./dist/tracediff
--   .parameter set :control "'resnet50_workers_0'"
--   .parameter set :test "'resnet50_workers_4'"
--   .read examples/dataloader_workers.sql
.mode box
.print The step takes 42.9 ms less, 177.9 -> 135.0 ms. By class:
SELECT class, round(sum(control_time) / 1000, 1) AS control_ms, round(sum(test_time) / 1000, 1) AS test_ms,
       round(sum(diff_time) / 1000, 1) AS diff_ms
FROM trace_step_diff(:control, :test)
GROUP BY class
ORDER BY abs(sum(diff_time)) DESC;
.print The device computes as long as before. All of the difference is time in which it waited for
.print the host: 71.6 -> 22.8 ms. What was the host doing?
SELECT class, name, round(control_time / 1000, 1) AS control_ms, round(test_time / 1000, 1) AS test_ms,
       round(diff_time / 1000, 1) AS diff_ms
FROM trace_step_diff(:control, :test)
WHERE class LIKE 'idle%'
LIMIT 6;
.print Loading images, in the DataLoader itself and in the operators it calls (copy_, div, _cat, to).
.print Workers do that now. What is still waited for?
SELECT name, round(test_time / 1000, 1) AS ms
FROM trace_step_diff(:control, :test)
WHERE class = 'idle_host'
ORDER BY test_time DESC
LIMIT 4;
.print Conclusion: the workers pay. What is left of idle_host is the host launching small operators.
.print And why steady steps: by the first step alone the same pair looks slower.
SELECT round(sum(diff_time) / 1000, 1) AS first_step_diff_ms
FROM trace_step_diff(:control, :test)
WHERE clock = 'host' AND control_iteration = (SELECT min(iteration) FROM trace_steps(:control))
  AND test_iteration = (SELECT min(iteration) FROM trace_steps(:test));
