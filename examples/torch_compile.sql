-- Why did torch.compile make the step slower? HTA's own sample pair: control eager, test
-- compiled, one rank each, four steady steps on the device's clock.
--
--   .load ./dist/tracediff
--   .parameter set :control "'hta/trace_diff/control'"
--   .parameter set :test "'hta/trace_diff/test'"
--   .read examples/torch_compile.sql
.mode box
.print The step takes 40.9 ms longer, 77.1 -> 117.9 ms. By class:
SELECT class, round(sum(control_time) / 1000, 1) AS control_ms, round(sum(test_time) / 1000, 1) AS test_ms,
       round(sum(diff_time) / 1000, 1) AS diff_ms
FROM trace_step_diff(:control, :test)
GROUP BY class
ORDER BY abs(sum(diff_time)) DESC;
.print The device computes 38.5 ms more and copies 13.0 ms more; the host is no longer in the way
.print (idle_host falls from 7.5 ms to 0.1). So it is no launch overhead. Which operators?
SELECT class, trace_short_name(name) AS name, round(control_time / 1000, 1) AS control_ms,
       round(test_time / 1000, 1) AS test_ms, round(diff_time / 1000, 1) AS diff_ms
FROM trace_step_diff(:control, :test)
LIMIT 8;
.print The compiled graph (CompiledFunction and its backward, 44.3 ms) does the work of the operators
.print that shrink or go (mm, bmm, add, addmm ...), and takes longer than they did together. And
.print aten::copy_ takes 12.8 ms more. Other copies, or slower ones?
SELECT key, round(control_counts, 1) AS control_counts, round(test_counts, 1) AS test_counts,
       round(diff_device_time / 1000, 1) AS diff_ms, round(diff_from_counts / 1000, 1) AS from_counts_ms,
       round(diff_from_mean / 1000, 1) AS from_mean_ms
FROM trace_diff_by(:control, :test, 'op')
WHERE control_iteration = 'steady' AND test_iteration = 'steady' AND key IN ('aten::copy_', 'CompiledFunction');
.print More copies, and smaller ones on average: the graph breaks and casts around the compiled part.
.print Conclusion: look at what the compiler generates, and at the copies at its borders, not at the host.
