-- What did four DataLoader workers bring? ResNet-50 on one GPU, control without workers, test
-- with four.
--
-- The traces: the samples of Kineto's TensorBoard plugin, 2 MB, tb_plugin/samples/
-- resnet50_num_workers_{0,4} of https://github.com/pytorch/kineto (commit be239c044d2f). Every
-- figure below is read from them; name other directories, and the story is theirs.
--
--   .load ./dist/tracediff
--   .parameter set :control "'kineto/tb_plugin/samples/resnet50_num_workers_0'"
--   .parameter set :test "'kineto/tb_plugin/samples/resnet50_num_workers_4'"
--   .read examples/dataloader_workers.sql
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
SELECT printf('The device works %.1f ms in control and %.1f ms in test. It waits %.1f ms and %.1f ms: for what?',
              total(control_time) FILTER (WHERE NOT idle) / 1000, total(test_time) FILTER (WHERE NOT idle) / 1000,
              total(control_time) FILTER (WHERE idle) / 1000, total(test_time) FILTER (WHERE idle) / 1000)
FROM part;
.mode box
SELECT class, name, round(control_time / 1000, 1) AS control_ms, round(test_time / 1000, 1) AS test_ms,
       round(diff_time / 1000, 1) AS diff_ms
FROM part
WHERE idle
LIMIT 6;
.mode list
SELECT printf('What is still waited for in test, %.1f ms of a step of %.1f ms?',
              total(test_time) FILTER (WHERE idle) / 1000, sum(test_time) / 1000)
FROM part;
.mode box
SELECT class, name, round(test_time / 1000, 1) AS ms
FROM part
WHERE idle
ORDER BY test_time DESC
LIMIT 4;
.mode list
SELECT printf('The steady steps change by %+.1f ms, the first step, by the host''s clock, by %+.1f ms%s.',
              steady, first,
              CASE WHEN steady * first < 0 THEN ': alone it would tell the opposite' ELSE '' END)
FROM (SELECT (SELECT sum(diff_time) FROM part) / 1000 AS steady, sum(diff_time) / 1000 AS first
      FROM trace_step_diff(:control, :test)
      WHERE clock = 'host' AND control_iteration = (SELECT min(iteration) FROM trace_steps(:control))
        AND test_iteration = (SELECT min(iteration) FROM trace_steps(:test)));
DROP TABLE part;
