-- memory_summary: why a run takes more memory than another, in at most twelve lines.
--
-- Parameters
--   :control  TEXT required  baseline snapshot: directory, file, pattern or JSON array of these (M1)
--   :test     TEXT required  snapshot to compare with the baseline
--
-- Columns
--   line           INTEGER  number of the line
--   kind           TEXT     verdict, peak, cause, rest, caution or reserved
--   text           TEXT     what it says
--   control_bytes  INTEGER  bytes in control
--   test_bytes     INTEGER  bytes in test
--   diff_bytes     INTEGER  test minus control
--   phase          TEXT     of a cause, its row of memory_diff
--   function       TEXT     the same
--   op             TEXT     the same
--
-- Grain: a line. The lines of kind cause and rest add up to the verdict.
-- Rules:
-- 1. It is about the lowest rank of each side and of its devices the one with the highest peak.
-- 2. At most five causes are the rows of memory_diff that differ most; the rest is one line.
-- 3. Cautions: what was there before the first event may be most of the peak, as the ring of events was full; no frames; other
--    devices; peaks in different phases; what M4 and M6 count. At most three are shown.
WITH
rank AS MATERIALIZED (
  SELECT (SELECT min(rank) FROM memory_peak(:control, 'phase')) AS control_rank,
         (SELECT min(rank) FROM memory_peak(:test, 'phase')) AS test_rank
  LIMIT -1),
device AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY side ORDER BY peak_bytes DESC, device) AS place, count(*) OVER (PARTITION BY side) AS devices,
         dense_rank() OVER (PARTITION BY side ORDER BY device) AS nth
  FROM (SELECT 0 AS side, f.device, f.events, f.peak_bytes, f.peak_event, f.peak_reserved, f.frames, f.problems
        FROM rank CROSS JOIN memory_files(:control, control_rank) AS f
        UNION ALL
        SELECT 1, f.device, f.events, f.peak_bytes, f.peak_event, f.peak_reserved, f.frames, f.problems
        FROM rank CROSS JOIN memory_files(:test, test_rank) AS f)
  LIMIT -1),
peak AS MATERIALIZED (
  SELECT d.*, CASE d.peak_event WHEN -1 THEN 'before'
              ELSE (SELECT a.phase FROM rank CROSS JOIN memory_allocations(CASE d.side WHEN 0 THEN :control ELSE :test END) AS a
                    WHERE a.rank = CASE d.side WHEN 0 THEN control_rank ELSE test_rank END
                      AND a.device = d.device AND a.alloc_event = d.peak_event LIMIT 1) END AS phase,
         (SELECT sum(p.bytes) FROM memory_peak(CASE d.side WHEN 0 THEN :control ELSE :test END, 'phase') AS p
          WHERE p.device = d.device AND p.phase = 'before') AS before
  FROM device AS d
  WHERE place = 1
  LIMIT -1),
both AS MATERIALIZED (
  SELECT c.peak_bytes AS b1, t.peak_bytes AS b2, c.peak_reserved AS r1, t.peak_reserved AS r2, c.phase AS p1, t.phase AS p2,
         c.peak_event AS e1, t.peak_event AS e2, c.events AS n1, t.events AS n2, c.before AS o1, t.before AS o2, c.frames AS f1,
         t.frames AS f2, c.devices AS d1, t.devices AS d2, c.device AS device1, t.device AS device2, c.problems AS q1, t.problems AS q2,
         c.nth AS nth1, t.nth AS nth2, CASE WHEN max(c.peak_bytes, t.peak_bytes) >= 1000000000 THEN 1e9 ELSE 1e6 END AS size,
         CASE WHEN max(c.peak_bytes, t.peak_bytes) >= 1000000000 THEN 'GB' ELSE 'MB' END AS unit
  FROM peak AS c CROSS JOIN peak AS t
  WHERE c.side = 0 AND t.side = 1
  LIMIT -1),
-- the parts of both peaks, which may be of devices with different numbers
part AS (
  SELECT p.phase, p.function, p.op, sum(-p.sign * p.bytes * (p.sign < 0)) AS c, sum(p.sign * p.bytes * (p.sign > 0)) AS t,
         sum(p.sign * p.bytes) AS d
  FROM (SELECT -1 AS sign, k.phase, k.function, k.op, k.bytes
        FROM both CROSS JOIN memory_peak(:control) AS k
        WHERE k.device = device1 AND k.phase <> 'cached and rounded'
        UNION ALL
        SELECT 1, k.phase, k.function, k.op, k.bytes
        FROM both CROSS JOIN memory_peak(:test) AS k
        WHERE k.device = device2 AND k.phase <> 'cached and rounded') AS p
  GROUP BY p.phase, p.function, p.op),
ranked AS (
  SELECT *, row_number() OVER (ORDER BY abs(d) DESC, phase, function, op) AS number
  FROM part),
caution AS (
  SELECT number, text
  FROM (SELECT 1 AS number, 'the ring of events was full in ' || CASE WHEN n1 % 1000 = 0 AND n1 > 0 AND n2 % 1000 = 0 AND n2 > 0 THEN 'both'
                                                                      WHEN n1 % 1000 = 0 AND n1 > 0 THEN 'control' ELSE 'test' END
               || ': what was before has no frames; record with a larger max_entries' AS text,
               (n1 > 0 AND n1 % 1000 = 0) OR (n2 > 0 AND n2 % 1000 = 0) AS holds
        FROM both
        UNION ALL
        SELECT 2, 'no frames in ' || CASE WHEN f1 = 0 AND f2 = 0 THEN 'both' WHEN f1 = 0 THEN 'control' ELSE 'test' END
               || ': record with context=''all''', f1 = 0 OR f2 = 0
        FROM both
        UNION ALL
        SELECT 3, printf('what was before is %.0f %% of the peak of control, %.0f %% of that of test',
                         100.0 * coalesce(o1, 0) / max(b1, 1), 100.0 * coalesce(o2, 0) / max(b2, 1)),
               2 * max(coalesce(o1, 0), 0) > b1 OR 2 * max(coalesce(o2, 0), 0) > b2
        FROM both
        UNION ALL
        SELECT 4, 'the peak is in ' || coalesce(p1, 'unknown') || ' in control, in ' || coalesce(p2, 'unknown') || ' in test', p1 IS NOT p2
        FROM both
        UNION ALL
        SELECT 5, 'only device ' || device1 || CASE device2 WHEN device1 THEN '' ELSE ' and ' || device2 END
               || ', with the highest peak, is compared: there are ' || d1 || CASE d2 WHEN d1 THEN '' ELSE ' and ' || d2 END, d1 > 1 OR d2 > 1
        FROM both
        UNION ALL
        SELECT 6, 'the file contradicts itself: see problems of memory_files()', q1 <> '[]' OR q2 <> '[]'
        FROM both)
  WHERE holds
  ORDER BY number
  LIMIT 3),
line AS (
  SELECT 1 AS place, 0 AS number, 'verdict' AS kind,
         CASE WHEN b2 = b1 THEN 'the peak is the same: ' || printf('%.2f %s', b1 / size, unit)
              ELSE printf('the peak is %s: %.2f -> %.2f %s, %+.2f %s', CASE WHEN b2 > b1 THEN 'higher' ELSE 'lower' END, b1 / size, b2 / size,
                          unit, (b2 - b1) / size, unit)
                   || CASE WHEN b1 > 0 THEN printf(' (%+.1f %%)', 100.0 * (b2 - b1) / b1) ELSE '' END END AS text,
         b1 AS control_bytes, b2 AS test_bytes, b2 - b1 AS diff_bytes, NULL AS phase, NULL AS function, NULL AS op
  FROM both
  UNION ALL
  SELECT 2, 0, 'peak', printf('it is in %s after event %d of %d in control, in %s after event %d of %d in test', coalesce(p1, 'unknown'), e1, n1,
                              coalesce(p2, 'unknown'), e2, n2), NULL, NULL, NULL, NULL, NULL, NULL
  FROM both
  UNION ALL
  SELECT 3, r.number, 'cause',
         substr(printf('%+9.2f %s  %s', d / size, unit, r.phase) || coalesce('  ' || r.function, '') || coalesce('  ' || r.op, ''), 1, 100),
         c, t, d, r.phase, r.function, r.op
  FROM ranked AS r CROSS JOIN both
  WHERE r.number <= 5 AND d <> 0
  UNION ALL
  SELECT 4, 0, 'rest', printf('%+9.2f %s  %d other part%s', sum(d) / size, unit, count(*), CASE count(*) WHEN 1 THEN '' ELSE 's' END),
         sum(c), sum(t), sum(d), NULL, NULL, NULL
  FROM ranked AS r CROSS JOIN both
  WHERE r.number > 5 AND d <> 0
  HAVING count(*) > 0
  UNION ALL
  SELECT 5, number, 'caution', 'caution: ' || text, NULL, NULL, NULL, NULL, NULL, NULL
  FROM caution
  UNION ALL
  SELECT 6, 0, 'reserved',
         printf('fits in 80 GB? reserved at the peak is %.2f -> %.2f GB: %s', r1 / 1e9, r2 / 1e9,
                CASE WHEN r2 <= 80000000000 THEN 'yes' ELSE 'no' END || CASE WHEN (r1 <= 80000000000) <> (r2 <= 80000000000)
                  THEN ', unlike control' ELSE '' END), r1, r2, r2 - r1, NULL, NULL, NULL
  FROM both)
SELECT row_number() OVER (ORDER BY place, number) AS line, kind, text, control_bytes, test_bytes, diff_bytes, phase, function, op
FROM line
ORDER BY 1;
