-- Indexes and views over the tables of tables.sql. The comment of a view names the call that returns its rows.

CREATE INDEX ops_by_step ON ops (side, rank, iteration);
CREATE INDEX step_time_by_step ON step_time (side, rank, iteration);

-- ops_diff(control, test, 'all', 'all', 'steady', 'steady')
CREATE VIEW hta_ops_diff AS
SELECT CAST(CASE counts_change WHEN 'same' THEN 'unchanged' ELSE counts_change END AS TEXT) AS change,
       name, control_counts, test_counts
FROM diff
ORDER BY CASE counts_change WHEN 'added' THEN 1 WHEN 'deleted' THEN 2 WHEN 'increased' THEN 3
                            WHEN 'decreased' THEN 4 ELSE 5 END, name;

-- compare_traces(control, test, 'all', 'all', 'steady', 'steady')
CREATE VIEW hta_compare_traces AS
SELECT name, control_counts, control_total_duration, test_counts, test_total_duration, diff_counts,
       diff_duration, counts_change_categories
FROM diff
ORDER BY control_counts = 0, name;

-- top_count_increases(control, test, 'all', 'all', 'steady', 'steady')
CREATE VIEW hta_top_count_increases AS
SELECT name, control_counts, test_counts, diff_counts, diff_duration
FROM diff
WHERE diff_counts > 0
ORDER BY diff_counts DESC, name
LIMIT 10;

-- top_duration_changes(control, test, 'all', 'all', 'steady', 'steady')
CREATE VIEW hta_top_duration_changes AS
SELECT name, control_total_duration, test_total_duration, diff_duration, diff_counts
FROM diff
WHERE name NOT LIKE 'ProfilerStep%'
ORDER BY abs(diff_duration) DESC, name
LIMIT 10;
