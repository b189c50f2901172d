-- After the last shard: what one process checks and matches when it has all files before it.
-- diffs.sql and views.sql of sql/database come after it.

-- A file that another shard has is not left out, and is left out once.
DELETE FROM left_out
WHERE (side, file) IN (SELECT side, file FROM files)
  OR rowid NOT IN (SELECT min(rowid) FROM left_out GROUP BY side, file);

-- Several files of a rank: none may have a step of another, and each must have steps (T8). One that has no steps would
-- have no rows beside those that do (T12).
CREATE TEMP TABLE several AS
SELECT side, rank, file, iteration
FROM steps
WHERE (side, rank) IN (SELECT side, rank FROM files GROUP BY side, rank HAVING count(*) > 1);

INSERT INTO left_out
SELECT a.side, a.file, a.rank, 'step ' || min(a.iteration) || ' is also in ' || min(b.file)
FROM several AS a JOIN several AS b USING (side, rank, iteration)
WHERE a.file <> b.file
GROUP BY a.side, a.rank, a.file
UNION ALL
SELECT side, file, rank,
       coalesce('it has no steps, and ' || (SELECT min(o.file) FROM files AS o
                                            WHERE o.side = f.side AND o.rank = f.rank AND o.file <> f.file)
                  || ' is also of rank ' || rank,
                'it has no steps, but other files of its side have')
FROM files AS f
WHERE steps = 0
  AND (side IN (SELECT side FROM files WHERE steps > 0)
       OR (side, rank) IN (SELECT side, rank FROM files GROUP BY side, rank HAVING count(*) > 1));

-- Of these ranks nothing counts.
CREATE TEMP TABLE refused AS
SELECT DISTINCT side, rank FROM left_out JOIN files USING (side, file, rank);
INSERT INTO left_out
SELECT side, file, rank, 'another file of its rank is left out'
FROM files
WHERE (side, rank) IN refused AND (side, file) NOT IN (SELECT side, file FROM left_out);
DELETE FROM files WHERE (side, rank) IN refused;
DELETE FROM steps WHERE (side, rank) IN refused;
DELETE FROM ops WHERE (side, rank) IN refused;
DELETE FROM step_time WHERE (side, rank) IN refused;
DELETE FROM aside.job_rows WHERE (side, rank) IN refused;

-- The other ranks of several files: what is outside of steps adds up, and ts counts from the earliest file (T2).
DELETE FROM several WHERE (side, rank) IN refused;
CREATE TEMP TABLE outside AS
SELECT side, rank, NULL, max(is_steady), device, cat, name, short_name, kernel_type,
       sum(counts), sum(total_ns), sum(self_ns), min(min_ns), max(max_ns)
FROM ops
WHERE iteration IS NULL AND (side, rank) IN (SELECT side, rank FROM several)
GROUP BY side, rank, device, cat, name;
DELETE FROM ops WHERE iteration IS NULL AND (side, rank) IN (SELECT side, rank FROM several);
INSERT INTO ops SELECT * FROM outside;

CREATE TEMP TABLE origin AS
SELECT side, rank, min(origin_ns) AS ns
FROM files
WHERE (side, rank) IN (SELECT side, rank FROM several)
GROUP BY side, rank;
UPDATE files SET origin_ns = ns FROM origin AS o WHERE o.side = files.side AND o.rank = files.rank;
UPDATE steps SET ts = (ts_ns - ns) / 1000.0 FROM origin AS o WHERE o.side = steps.side AND o.rank = steps.rank;

-- The path of each job (Q7.3). A stretch that goes over two steps of its rank is in two pieces.
CREATE INDEX steps_by_number ON steps (side, rank, iteration);
CREATE TEMP TABLE piece AS
SELECT side, value ->> 'iteration' AS iteration, value ->> 'seq' AS seq, value ->> 'rank' AS rank,
       value ->> 'ts_ns' AS ts_ns,
       value ->> 'dur_ns' AS dur_ns, value ->> 'waiting_rank' AS waiting_rank, value ->> 'collective' AS collective,
       value ->> 'process_group' AS process_group, value ->> 'queued' AS queued, value ->> 'not_matched' AS not_matched,
       value ->> 'not_tied' AS not_tied, value ->> 'own_iteration' AS own_iteration, value AS stretch
FROM (SELECT column1 AS side,
             (SELECT trace_job_schedule(r.kind, r.rank, f.file, r.iteration, r.start_ns, r.end_ns, r.event,
                                        r.queued_behind, r.process_group, r.process_group_ranks, r.name,
                                        r.waits_for_all)
              FROM aside.job_rows AS r CROSS JOIN files AS f USING (file_id)
              WHERE r.side = column1) AS schedule
      FROM (VALUES ('control'), ('test')))
CROSS JOIN json_each(schedule);

INSERT INTO job_path
SELECT p.side, p.iteration, s.is_steady, seq, p.rank, (first - f.ns) / 1000.0, length / 1000.0,
       waiting_rank, collective, process_group, queued, first, length, not_matched, not_tied
FROM (SELECT *, min(ts_ns) AS first, sum(dur_ns) AS length FROM piece GROUP BY side, iteration, seq) AS p
JOIN job_steps AS s ON s.side = p.side AND s.iteration IS p.iteration
JOIN (SELECT side, rank, min(origin_ns) AS ns FROM files GROUP BY side, rank) AS f ON f.side = s.side
  AND f.rank = s.rank
ORDER BY p.side, first, p.iteration, seq;

INSERT INTO job_asked
SELECT side, file, json_group_array(json(stretch))
FROM (SELECT side, stretch,
             coalesce((SELECT file FROM steps AS s
                       WHERE s.side = p.side AND s.rank = p.rank AND s.iteration = p.own_iteration),
                      (SELECT file FROM files AS f WHERE f.side = p.side AND f.rank = p.rank)) AS file
      FROM piece AS p)
GROUP BY side, file;

-- Collectives have the times of one clock: that of the lowest rank (Q3). Those of the host are matched where no device
-- runs any (W1).
CREATE TEMP TABLE clock (side TEXT, rank INTEGER, step, offset_ns INTEGER); -- the types let its index be used
INSERT INTO clock
SELECT side, value ->> 'rank', coalesce(value ->> 'iteration', 'none'), value ->> 'offset_ns'
FROM (SELECT column1 AS side,
             (SELECT trace_job_offsets(r.kind, r.rank, f.file, r.iteration, r.start_ns, r.end_ns, r.event,
                                       r.queued_behind, r.process_group, r.process_group_ranks, r.name, r.waits_for_all)
              FROM aside.job_rows AS r CROSS JOIN files AS f USING (file_id)
              WHERE r.side = column1 AND r.kind NOT IN ('exposed', 'host_wait')) AS offsets
      FROM (VALUES ('control'), ('test')))
CROSS JOIN json_each(offsets);
DELETE FROM clock WHERE coalesce(offset_ns, 0) = 0;
CREATE INDEX temp.clock_of ON clock (side, rank, step);

INSERT INTO collectives (side, iteration, process_group, name, seq, rank_count, transfer, max_wait, last_rank,
                         spread_end)
-- With shared/collectives
device_collective AS (
  SELECT side, rank, iteration, process_group, name, start_ns, end_ns, NULL AS bytes, NULL AS about
  FROM aside.job_rows
  WHERE kind = 'collective'),
host_collective AS (
  SELECT side, rank, iteration, process_group, name, start_ns, end_ns, event, 1 AS is_chosen
  FROM aside.job_rows
  WHERE kind = 'host_collective' AND process_group IS NOT NULL
    AND side NOT IN (SELECT side FROM aside.job_rows WHERE kind = 'collective'))
SELECT side, iteration, process_group, name, seq, rank_count, transfer, max_wait, last_rank, spread_end
FROM matched
ORDER BY side, iteration, process_group, seq;

-- Files that are left out are files with a problem.
INSERT INTO files (side, file, rank, problems)
SELECT side, file, rank, json_array(json_object('what', reason, 'count', 1, 'first_byte', NULL))
FROM left_out
ORDER BY side, file;

-- Ranks without rows, of those that one side has or the job had, and why.
CREATE VIEW missing_ranks AS
WITH RECURSIVE upto(side, rank, world_size) AS (
  SELECT side, 0, max(world_size) FROM files GROUP BY side
  UNION ALL
  SELECT side, rank + 1, world_size FROM upto WHERE rank + 1 < world_size),
expected AS (
  SELECT side, rank FROM upto WHERE rank < world_size
  UNION
  SELECT s.side, f.rank FROM files AS f CROSS JOIN (SELECT DISTINCT side FROM files) AS s WHERE f.rank IS NOT NULL)
SELECT side, rank,
       (SELECT min(file || ': ' || reason) FROM left_out AS l WHERE l.side = e.side AND l.rank = e.rank) AS reason
FROM expected AS e
WHERE (side, rank) NOT IN (SELECT side, rank FROM files WHERE rank IS NOT NULL AND (side, file) NOT IN (
                             SELECT side, file FROM left_out))
ORDER BY side, rank;
