-- unrecorded: the host does something that no event shows, between two operators
-- Rank: 99
-- Said: a tenth
-- Evidence: a cause 'not recorded' between two known operators, with 20 % of the difference or more
SELECT printf('the host does something not recorded, %.1f -> %.1f ms: %s', control_time / 1000, test_time / 1000,
  trace_label(name)),
       'Python, I/O or sleep: record with with_stack=True, or put torch.profiler.record_function around the code', id
FROM cause WHERE (SELECT is_sure FROM pair) AND added = 0 AND removed = 0 AND kind = 'not recorded'
  AND name GLOB 'between*' AND diff_time / (SELECT gap FROM pair) >= 0.2 AND abs(diff_time) > 500
