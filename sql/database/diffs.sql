-- Fills `diff` and, unless it has rows, `step_diff` from `ops`, `step_time`, `steps` and `files`, if both sides exist.
-- ORDER BY rowid returns the rows in the order of the functions. The only functions of the extension that this uses are
-- trace_stddev and trace_only_rank.

-- The number of steps that times are divided by (T12.2, T12.3).
CREATE TEMP TABLE step_count AS
SELECT column1 AS side,
       coalesce(nullif((SELECT count(*) FROM (SELECT DISTINCT rank, iteration FROM steps
                                              WHERE side = column1 AND is_steady)), 0),
                nullif((SELECT count(start_ns) FROM files WHERE side = column1), 0), 1) AS steps
FROM (VALUES ('control'), ('test'));

INSERT INTO diff
WITH sums AS MATERIALIZED (
  SELECT name,
         sum(CASE side WHEN 'control' THEN counts ELSE 0 END) AS control_counts,
         sum(CASE side WHEN 'test' THEN counts ELSE 0 END) AS test_counts,
         sum(CASE side WHEN 'control' THEN total_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 'test' THEN total_ns ELSE 0 END) AS test_ns,
         sum(CASE side WHEN 'control' THEN -self_ns ELSE self_ns END) AS self_ns,
         min(device) AS device, max(device) AS other_device,
         (SELECT steps FROM step_count WHERE side = 'control') AS control_steps,
         (SELECT steps FROM step_count WHERE side = 'test') AS test_steps
  FROM ops
  WHERE is_steady
  GROUP BY name)
SELECT name, control_counts, test_counts, control_ns / 1000.0, test_ns / 1000.0,
       test_counts - control_counts, (test_ns - control_ns) / 1000.0,
       CASE WHEN test_counts > control_counts THEN '+' WHEN test_counts < control_counts THEN '-' ELSE '=' END,
       CASE WHEN control_counts = 0 THEN 'added' WHEN test_counts = 0 THEN 'deleted'
            WHEN test_counts > control_counts THEN 'increased'
            WHEN test_counts < control_counts THEN 'decreased' ELSE 'same' END,
       100.0 * (test_ns - control_ns) / nullif(control_ns, 0), self_ns / 1000.0,
       (test_ns * control_steps - control_ns * test_steps) / (1000.0 * control_steps * test_steps),
       control_counts * 1.0 / control_steps, test_counts * 1.0 / test_steps,
       control_ns / (1000.0 * control_steps), test_ns / (1000.0 * test_steps),
       CASE device WHEN other_device THEN device ELSE 'both' END
FROM sums
WHERE (SELECT count(DISTINCT side) FROM files) = 2
ORDER BY abs(test_ns - control_ns) DESC, name;

-- The ranks' own steps, if step_time has the paths of two jobs. examples/cluster fills it.
CREATE TEMP TABLE IF NOT EXISTS own_step_time (side TEXT, rank INTEGER, iteration INTEGER, class TEXT, name TEXT,
                                               time_ns INTEGER);

INSERT INTO step_diff
-- Shared: trace_step_diff begins in the same way. side is 0 or 1. `part` has the time of the compared steps, `own` the
-- time of the ranks' own steps in two jobs.
WITH job_rank AS MATERIALIZED ( -- the ranks of both jobs, with their steps
  SELECT rank, max(windows) FILTER (WHERE side = 0) AS control_windows,
         max(windows) FILTER (WHERE side = 1) AS test_windows, count(*) OVER () AS ranks
  FROM (SELECT side, rank, count(*) AS windows FROM (SELECT DISTINCT side, rank, iteration FROM own)
        GROUP BY side, rank)
  GROUP BY rank
  HAVING count(*) = 2
  LIMIT -1),
own_diff AS MATERIALIZED (
  SELECT class, name, rank, (sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) * control_windows
                             - sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) * test_windows)
                              / (1000.0 * control_windows * test_windows) AS diff_time
  FROM own CROSS JOIN job_rank USING (rank)
  WHERE ranks > 1 AND class <> 'comm'
  GROUP BY class, name, rank
  LIMIT -1),
strata AS MATERIALIZED (
  SELECT stratum, count(*) FILTER (WHERE side = 0) AS control_windows,
         count(*) FILTER (WHERE side = 1) AS test_windows,
         count(iteration) FILTER (WHERE side = 0) AS control_steps,
         count(iteration) FILTER (WHERE side = 1) AS test_steps
  FROM (SELECT DISTINCT side, rank, iteration, stratum FROM part)
  GROUP BY stratum),
windows AS MATERIALIZED (
  SELECT sum(control_windows) AS control_windows, sum(test_windows) AS test_windows,
         sum(control_steps) AS control_steps, sum(test_steps) AS test_steps, count(*) AS strata
  FROM strata),
within AS MATERIALIZED (
  SELECT class, name,
         sum((test_ns * s.control_windows - control_ns * s.test_windows)
             / (1.0 * s.control_windows * s.test_windows)
             * (s.control_windows * 1.0 / w.control_windows + s.test_windows * 1.0 / w.test_windows)) / 2 AS ns
  FROM strata AS s
  CROSS JOIN windows AS w
  CROSS JOIN (SELECT class, name, stratum, sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
                     sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns
              FROM part
              WHERE (SELECT strata FROM windows) > 1
              GROUP BY class, name, stratum) AS p ON p.stratum IS s.stratum
  WHERE s.control_windows > 0 AND s.test_windows > 0
  GROUP BY class, name
  LIMIT -1),
both AS (
  SELECT class, name, sum(CASE side WHEN 0 THEN time_ns ELSE 0 END) AS control_ns,
         sum(CASE side WHEN 1 THEN time_ns ELSE 0 END) AS test_ns,
         trace_stddev(time_ns, control_windows) FILTER (WHERE side = 0) AS control_stddev,
         trace_stddev(time_ns, test_windows) FILTER (WHERE side = 1) AS test_stddev,
         control_windows, test_windows, control_steps, test_steps, strata
  FROM part CROSS JOIN windows
  WHERE class IS NOT NULL
  GROUP BY class, name),
differing AS (
  SELECT *, (test_ns * control_windows - control_ns * test_windows)
              / (1000.0 * control_windows * test_windows) AS diff_time
  FROM both),
divided AS (
  SELECT *, CASE WHEN strata = 1 OR diff_time IS NULL THEN diff_time
                 ELSE coalesce((SELECT ns / 1000 FROM within AS w WHERE w.class = d.class AND w.name IS d.name), 0.0)
            END AS diff_within
  FROM differing AS d),
compared AS (
  SELECT class, name, control_ns / (1000.0 * control_windows) AS control_time,
         test_ns / (1000.0 * test_windows) AS test_time, diff_time, control_ns, test_ns,
         CASE WHEN control_steps > 0 THEN control_windows END AS control_steps,
         CASE WHEN test_steps > 0 THEN test_windows END AS test_steps,
         coalesce(control_stddev, CASE WHEN control_windows > 1 THEN 0 END) / 1000.0 AS control_stddev,
         coalesce(test_stddev, CASE WHEN test_windows > 1 THEN 0 END) / 1000.0 AS test_stddev,
         diff_within, diff_time - diff_within AS diff_mix,
         (SELECT trace_only_rank(o.rank, o.diff_time, divided.diff_time)
          FROM own_diff AS o
          WHERE o.class = divided.class AND o.name IS divided.name) AS only_rank
  FROM divided),
-- Own
part AS (
  SELECT side = 'test' AS side, rank, iteration, class, name, time_ns, stratum FROM step_time WHERE is_steady),
own AS (
  SELECT side = 'test' AS side, rank, iteration, class, name, time_ns FROM temp.own_step_time)
SELECT class, name, control_time, test_time, diff_time, control_ns, test_ns, control_steps, test_steps, control_stddev,
       test_stddev, diff_within, diff_mix, only_rank
FROM compared
WHERE (SELECT count(DISTINCT side) FROM files) = 2 AND NOT EXISTS (SELECT 1 FROM step_diff)
ORDER BY abs(diff_time) DESC, class, name;

DROP TABLE temp.own_step_time;
DROP TABLE temp.step_count;
