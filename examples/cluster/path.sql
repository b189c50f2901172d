-- Fills job_step_time and job_step_diff of a merged database from temp.answers (side, rank, iteration, class, name,
-- time_ns): what all files of job_asked say. sql/database/diffs.sql runs in between, on tables in temp that hide those
-- of the database; to it, a job is one rank.
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

-- The own steps of the ranks, which tell what differs on one rank only (Q8).
CREATE TEMP TABLE own_step_time AS
SELECT side, rank, iteration, class, name, time_ns FROM main.step_time WHERE is_steady;

-- diffs.sql

DELETE FROM main.job_step_diff;
INSERT INTO main.job_step_diff SELECT * FROM temp.step_diff ORDER BY rowid;
