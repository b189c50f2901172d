-- Fills job_step_time and job_step_diff of a merged database from temp.answers (side, rank, iteration, class, name,
-- time_ns): what all files of job_asked say. sql/database/diffs.sql runs in between, on tables in temp that hide those of
-- the database; to it, a job is one rank.
DELETE FROM main.job_step_time;
INSERT INTO main.job_step_time
SELECT a.side, a.rank, a.iteration, s.is_steady, class, name, sum(time_ns) / 1000.0, sum(time_ns), s.stratum
FROM temp.answers AS a JOIN main.job_steps AS s ON s.side = a.side AND s.iteration IS a.iteration
GROUP BY a.side, a.rank, a.iteration, class, name;

CREATE TEMP TABLE step_time AS
SELECT side, 0 AS rank, iteration, is_steady, class, name, sum(time_ns) AS time_ns, stratum
FROM main.job_step_time
GROUP BY side, iteration, class, name;
CREATE TEMP TABLE ops AS SELECT * FROM main.ops WHERE 0;
CREATE TEMP TABLE diff AS SELECT * FROM main.diff WHERE 0;
CREATE TEMP TABLE step_diff AS SELECT * FROM main.step_diff WHERE 0;

-- diffs.sql

-- Q8, as sql/tracediff/trace_step_diff.sql has it: the own steps of the ranks that both jobs have.
CREATE TEMP TABLE shared AS
SELECT rank, max(windows) FILTER (WHERE side = 'control') AS control_windows,
       max(windows) FILTER (WHERE side = 'test') AS test_windows
FROM (SELECT side, rank, count(*) AS windows
      FROM (SELECT DISTINCT side, rank, iteration FROM main.step_time WHERE is_steady)
      GROUP BY side, rank)
GROUP BY rank
HAVING count(*) = 2;
CREATE TEMP TABLE own_diff AS
SELECT class, name, rank, sum(CASE side WHEN 'test' THEN time_ns / (1000.0 * test_windows)
                                        ELSE -time_ns / (1000.0 * control_windows) END) AS diff_time
FROM main.step_time CROSS JOIN temp.shared USING (rank)
WHERE is_steady AND class <> 'comm' AND (SELECT count(*) FROM temp.shared) > 1
GROUP BY class, name, rank;
CREATE INDEX temp.own_diff_of ON own_diff (class, name);

DELETE FROM main.job_step_diff;
INSERT INTO main.job_step_diff
SELECT class, name, control_time, test_time, diff_time, control_ns, test_ns, control_steps, test_steps, control_stddev,
       test_stddev, diff_within, diff_mix,
       (SELECT trace_only_rank(o.rank, o.diff_time, d.diff_time)
        FROM own_diff AS o
        WHERE o.class = d.class AND o.name IS d.name)
FROM temp.step_diff AS d
ORDER BY d.rowid;
