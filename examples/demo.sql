-- A real diff: what `make demo` prints.
SELECT printf('%.60s', name) AS name, counts_change, control_counts, test_counts,
       round(diff_duration_per_step, 1) AS us_per_step
FROM trace_diff('examples/cpu/control', 'examples/cpu/test',
                NULL, NULL, 'steady', 'steady')
ORDER BY abs(diff_duration_per_step) DESC
LIMIT 12;
