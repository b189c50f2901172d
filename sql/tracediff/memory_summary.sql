-- memory_summary: why a run takes more memory than another, in at most twelve lines.
-- Family: memory
-- Question: Why does a run take more memory, by allocator snapshots?
--
-- Parameters
--   :control  trace required baseline snapshot: directory, file, pattern or JSON array of these
--   :test     trace required snapshot to compare with the baseline
--   :ranks    ranks|worst    integer, JSON array, 'all' or 'worst'; with several ranks, the rank with the highest
--                            peak of each side is used; default the lowest
--   :parts    INTEGER        maximum number of causes; default 5
--
-- Columns
--   line           INTEGER  number of the line, from 1
--   kind           TEXT     'verdict', 'peak', 'host', 'cause', 'rest', 'caution' or 'reserved'
--   text           TEXT     the line
--   control_bytes  INTEGER  bytes in control; NULL for lines about no bytes
--   test_bytes     INTEGER  the same for test
--   diff_bytes     INTEGER  bytes, test minus control
--   phase          TEXT     phase of a cause, from memory_diff; NULL for other lines
--   function       TEXT     function of a cause, likewise
--   op             TEXT     operator of a cause, likewise
--   control_blocks INTEGER  of a cause or the rest: number of allocations at the peak of control; else NULL
--   test_blocks    INTEGER  the same for test
--
-- Grain: one row per line. The lines of kind 'cause' and 'rest' add up to the verdict.
-- Rules:
-- 1. The summary covers one rank of each side, by default the lowest, and its device with the highest peak.
-- 2. Causes are the rows of memory_diff that differ most, without blocks that only moved between names (M11). All
--    other rows are one line.
-- 3. A snapshot without events and segments has a peak of 0 bytes. If it has segments but no events, its peak is not
--    known, and there are no causes.
-- 4. Cautions: no events; events lost from the ring buffer; no frames; most of the peak was allocated before the first
--    event; peaks in different phases; different ranks; different devices; problems (M3.4, M4, M6). At most three are
--    shown, or two beside a line of kind 'host'. A snapshot does not record the length of its ring buffer. But a block
--    with frames was recorded, so if no event allocates it, that event is lost.
-- 5. Bytes are in MB, or in GB if a peak is 1 GB or more; in kB or B if these would show 0.00.
-- 6. A cause that is too long is cut at the end of a word, and ends in '...'.
-- 7. Pinned memory of the host (M3.4) has a line of kind 'host', with the peak of each side.
-- 8. Reserved memory is never less than the peak, even if segments were not recorded (M7). A snapshot does not record
--    how much memory its device has.
WITH
-- NULL: the side has no device
rank AS MATERIALIZED (
  SELECT (SELECT rank
          FROM memory_peak(:control, 'phase', :ranks)
          GROUP BY rank, device
          ORDER BY device < 0, sum(CASE phase WHEN 'cached and rounded' THEN 0 ELSE bytes END) DESC, rank
          LIMIT 1) AS control_rank,
         (SELECT rank
          FROM memory_peak(:test, 'phase', :ranks)
          GROUP BY rank, device
          ORDER BY device < 0, sum(CASE phase WHEN 'cached and rounded' THEN 0 ELSE bytes END) DESC, rank
          LIMIT 1) AS test_rank
  LIMIT -1),
device AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY side ORDER BY device < 0, peak_bytes DESC, device) AS place,
         count(device) FILTER (WHERE device >= 0) OVER (PARTITION BY side) AS devices
  FROM (SELECT 0 AS side, f.rank, f.device, f.events, f.peak_bytes, f.peak_event, f.peak_reserved, f.frames, f.problems
        FROM rank CROSS JOIN memory_files(:control, control_rank) AS f
        WHERE control_rank IS NOT NULL
        UNION ALL
        SELECT 1, f.rank, f.device, f.events, f.peak_bytes, f.peak_event, f.peak_reserved, f.frames, f.problems
        FROM rank CROSS JOIN memory_files(:test, test_rank) AS f
        WHERE test_rank IS NOT NULL
        UNION ALL
        SELECT side, NULL, NULL, 0, 0, -1, 0, 0, '[]'
        FROM rank CROSS JOIN (SELECT 0 AS side UNION ALL SELECT 1)
        WHERE CASE side WHEN 0 THEN control_rank ELSE test_rank END IS NULL)
  LIMIT -1),
peak AS MATERIALIZED (
  SELECT d.*,
         CASE d.peak_event WHEN -1 THEN 'before the first event'
         ELSE 'in ' || (SELECT a.phase
                        FROM memory_allocations(CASE d.side WHEN 0 THEN :control ELSE :test END, d.rank) AS a
                        WHERE a.device = d.device AND a.alloc_event = d.peak_event) END AS phase,
         coalesce((SELECT sum(p.bytes)
                   FROM memory_peak(CASE d.side WHEN 0 THEN :control ELSE :test END, 'phase', d.rank) AS p
                   WHERE p.device = d.device AND p.phase = 'before'), 0) AS before
  FROM device AS d
  WHERE place = 1
  LIMIT -1),
both AS MATERIALIZED (
  SELECT c.peak_bytes AS b1, t.peak_bytes AS b2, max(c.peak_reserved, c.peak_bytes) AS r1,
         max(t.peak_reserved, t.peak_bytes) AS r2,
         c.peak_reserved < c.peak_bytes OR t.peak_reserved < t.peak_bytes AS unrecorded, c.phase AS p1, t.phase AS p2,
         c.peak_event AS e1, t.peak_event AS e2, c.events AS n1, t.events AS n2, c.before AS o1, t.before AS o2,
         c.frames AS f1, t.frames AS f2, c.devices AS d1, t.devices AS d2, c.device AS device1, t.device AS device2,
         c.problems AS q1, t.problems AS q2, c.rank AS rank1, t.rank AS rank2,
         c.events = 0 AND c.device IS NOT NULL AS u1, t.events = 0 AND t.device IS NOT NULL AS u2,
         CASE WHEN max(c.peak_bytes, t.peak_bytes) >= 1000000000 THEN 1e9
              WHEN max(c.peak_bytes, t.peak_bytes) BETWEEN 5 AND 4999 THEN 1e3
              WHEN max(c.peak_bytes, t.peak_bytes) BETWEEN 1 AND 4 THEN 1.0
              ELSE 1e6 END AS size
  FROM peak AS c CROSS JOIN peak AS t
  WHERE c.side = 0 AND t.side = 1
  LIMIT -1),
host AS MATERIALIZED (
  SELECT h1, h2, CASE WHEN max(h1, h2) >= 1000000000 THEN 1e9 ELSE 1e6 END AS size,
         CASE WHEN max(h1, h2) >= 1000000000 THEN 'GB' ELSE 'MB' END AS unit
  FROM (SELECT total(peak_bytes) FILTER (WHERE side = 0) AS h1, total(peak_bytes) FILTER (WHERE side = 1) AS h2,
               max(place) AS place
        FROM device
        WHERE device = -1)
  WHERE place > 1
  LIMIT -1),
-- the blocks of both peaks by name and size; the numbers of the devices may differ
block AS MATERIALIZED (
  SELECT phase, function, op, size, sum(cn) AS cn, sum(tn) AS tn
  FROM (SELECT a.phase, a.function, a.op, a.bytes AS size, 1 AS cn, 0 AS tn
        FROM both CROSS JOIN memory_allocations(:control, rank1) AS a
        WHERE a.device = device1 AND a.at_peak
        UNION ALL
        SELECT a.phase, a.function, a.op, a.bytes, 0, 1
        FROM both CROSS JOIN memory_allocations(:test, rank2) AS a
        WHERE a.device = device2 AND a.at_peak)
  GROUP BY phase, function, op, size
  LIMIT -1),
-- more: blocks of a name, test minus control; surplus: the same for one size; may: number of blocks of that
-- size that may have moved, largest first (M11.1)
surplus AS (
  SELECT *, sum(tn - cn) OVER (PARTITION BY phase, function, op) AS more, tn - cn AS surplus
  FROM block),
spare AS (
  SELECT *, min(abs(surplus), abs(more) - coalesce(sum(abs(surplus)) OVER larger, 0)) AS may
  FROM surplus
  WHERE sign(surplus) = sign(more) AND surplus <> 0
  WINDOW larger AS (PARTITION BY phase, function, op ORDER BY size DESC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
-- moved: number of these that moved to or from other names of the phase (M11.2); earlier: moved ones of earlier names
near AS (
  SELECT *, max(0, min(may, coalesce(sum(may) FILTER (WHERE more < 0) OVER every, 0) - earlier,
                       coalesce(sum(may) FILTER (WHERE more > 0) OVER every, 0) - earlier)) AS moved
  FROM (SELECT *, coalesce(sum(may) OVER (PARTITION BY size, phase, more > 0 ORDER BY may, function, op
                                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS earlier
        FROM spare
        WHERE may > 0)
  WINDOW every AS (PARTITION BY size, phase)),
-- farther: the same for the rest, if one of the two phases is not known (M11.3)
far AS (
  SELECT *, max(0, min(may, coalesce(sum(may) FILTER (WHERE more < 0) OVER every, 0) - earlier,
                       coalesce(sum(may) FILTER (WHERE more > 0) OVER every, 0) - earlier,
                       coalesce(sum(may) FILTER (WHERE hidden) OVER every, 0) - earlier)) AS farther
  FROM (SELECT *, coalesce(sum(may) OVER (PARTITION BY size, more > 0 ORDER BY NOT hidden, may, phase, function, op
                                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS earlier
        FROM (SELECT phase, function, op, size, more, may - moved AS may, moved,
                     phase IN ('before', 'unknown') AS hidden
              FROM near))
  WINDOW every AS (PARTITION BY size)),
-- moved blocks have test's name on both sides (M11.4)
part AS (
  SELECT phase, function, op, sum(size * cn) AS c, sum(size * tn) AS t, sum(size * (tn - cn)) AS d, sum(cn) AS cn,
         sum(tn) AS tn
  FROM (SELECT phase, function, op, size, cn, tn FROM block
        UNION ALL
        SELECT phase, function, op, size, sign(more) * (moved + farther), 0 FROM far)
  GROUP BY phase, function, op),
-- are there blocks with frames but without an event?
lost AS (
  SELECT total(cn) > 0 AS lost1, total(tn) > 0 AS lost2
  FROM block
  WHERE phase = 'before' AND coalesce(function, op) IS NOT NULL),
ranked AS (
  SELECT *, row_number() OVER (ORDER BY abs(d) DESC, phase, function, op) AS number
  FROM part),
caution AS (
  SELECT number, text
  FROM (SELECT number,
               CASE number
                 WHEN 1 THEN 'no events in '
                             || CASE WHEN n1 = 0 AND n2 = 0 THEN 'both' WHEN n1 = 0 THEN 'control' ELSE 'test' END
                             || ': call torch.cuda.memory._record_memory_history() before the run'
                 WHEN 2 THEN 'events are lost from the ring in '
                             || CASE WHEN n1 > 0 AND lost1 AND n2 > 0 AND lost2 THEN 'both'
                                     WHEN n1 > 0 AND lost1 THEN 'control' ELSE 'test' END
                             || ': record with a larger max_entries'
                 WHEN 3 THEN 'no frames in ' || CASE WHEN n1 * n2 > 0 AND f1 = 0 AND f2 = 0 THEN 'both'
                                                     WHEN n1 > 0 AND f1 = 0 THEN 'control' ELSE 'test' END
                             || ': record with context=''all'''
                 WHEN 4 THEN printf('%.0f %% of control''s peak was allocated before the recording began,'
                                    || ' %.0f %% of test''s', 100.0 * o1 / max(b1, 1), 100.0 * o2 / max(b2, 1))
                 WHEN 5 THEN 'the peak is ' || p1 || ' in control, ' || p2 || ' in test'
                 WHEN 6 THEN 'rank ' || rank1 || ' of control is compared with rank ' || rank2 || ' of test'
                 WHEN 7 THEN 'only device ' || coalesce(device1, device2)
                             || CASE WHEN device1 <> device2 THEN ' and ' || device2 ELSE '' END
                             || ', with the highest peak, is compared: there are ' || d1
                             || CASE d2 WHEN d1 THEN '' ELSE ' and ' || d2 END
                 ELSE CASE WHEN q1 || q2 LIKE '%is not read"%' THEN 'a file has keys that are not read'
                           ELSE 'a file contradicts itself' END || ': see the problems in memory_files' END AS text,
               CASE number
                 WHEN 1 THEN n1 = 0 OR n2 = 0
                 WHEN 2 THEN (n1 > 0 AND lost1) OR (n2 > 0 AND lost2)
                 WHEN 3 THEN (n1 > 0 AND f1 = 0) OR (n2 > 0 AND f2 = 0)
                 WHEN 4 THEN NOT u1 AND NOT u2 AND (2 * o1 > b1 OR 2 * o2 > b2)
                 WHEN 5 THEN NOT u1 AND NOT u2 AND p1 <> p2
                 WHEN 6 THEN rank1 <> rank2
                 WHEN 7 THEN d1 > 1 OR d2 > 1
                 ELSE q1 <> '[]' OR q2 <> '[]' END AS holds
        FROM both CROSS JOIN lost
        CROSS JOIN (SELECT 1 AS number UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
                    UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8))
  WHERE holds
  ORDER BY number
  LIMIT (SELECT 3 - count(*) FROM host)),
-- the text is before, amount (bytes with a sign) and after; top: bytes that determine the unit
line AS (
  SELECT 1 AS place, 0 AS number, 'verdict' AS kind,
         CASE WHEN u1 OR u2
              THEN printf('the peak of %s is not known', CASE WHEN u1 AND u2 THEN 'control and of test'
                                                              WHEN u1 THEN 'control' ELSE 'test' END)
              WHEN b2 = b1 THEN printf('the peak is the same: %.2f %s', b1 / size, unit)
              ELSE printf('the peak is %s: %.2f -> %.2f %s, ',
                          CASE WHEN b2 > b1 THEN 'higher' ELSE 'lower' END, b1 / size,
                          b2 / size, unit) END AS before,
         CASE WHEN NOT u1 AND NOT u2 THEN nullif(b2 - b1, 0) END AS amount, size AS top,
         CASE WHEN b1 > 0 THEN printf(' (%+.1f %%)', 100.0 * (b2 - b1) / b1) END AS after,
         CASE WHEN NOT u1 THEN b1 END AS control_bytes, CASE WHEN NOT u2 THEN b2 END AS test_bytes,
         CASE WHEN NOT u1 AND NOT u2 THEN b2 - b1 END AS diff_bytes, NULL AS phase, NULL AS function, NULL AS op,
         NULL AS cn, NULL AS tn
  FROM (SELECT *, CASE size WHEN 1e9 THEN 'GB' WHEN 1e6 THEN 'MB' WHEN 1e3 THEN 'kB' ELSE 'B' END AS unit FROM both)
  UNION ALL
  SELECT 2, 0, 'peak',
         printf('it is %s%s of %d in control, %s%s of %d in test', p1,
                CASE e1 WHEN -1 THEN '' ELSE ' after event ' || e1 END, n1,
                p2, CASE e2 WHEN -1 THEN '' ELSE ' after event ' || e2 END, n2), NULL, NULL, NULL,
         NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM both
  WHERE NOT u1 AND NOT u2
  UNION ALL
  SELECT 2, 1, 'host', printf('pinned memory of the host at its peak: %.2f -> %.2f %s, ', h1 / size, h2 / size, unit),
         CAST(h2 - h1 AS INTEGER), size, CASE WHEN h1 > 0 THEN printf(' (%+.1f %%)', 100.0 * (h2 - h1) / h1) END,
         CAST(h1 AS INTEGER), CAST(h2 AS INTEGER), CAST(h2 - h1 AS INTEGER), NULL, NULL, NULL, NULL, NULL
  FROM host
  UNION ALL
  SELECT 3, r.number, 'cause', '', d, size,
         '  ' || CASE r.phase WHEN 'before' THEN 'allocated before the recording began' ELSE r.phase END
           || coalesce('  ' || r.function, '') || coalesce('  ' || r.op, ''),
         c, t, d, r.phase, r.function, r.op, cn, tn
  FROM ranked AS r CROSS JOIN both
  WHERE r.number <= coalesce(:parts, 5) AND d <> 0 AND NOT u1 AND NOT u2
  UNION ALL
  SELECT 4, 0, 'rest', '', sum(d), size,
         printf('  %d other part%s', count(*), CASE count(*) WHEN 1 THEN '' ELSE 's' END),
         sum(c), sum(t), sum(d), NULL, NULL, NULL, sum(cn), sum(tn)
  FROM ranked AS r CROSS JOIN both
  WHERE r.number > coalesce(:parts, 5) AND d <> 0 AND NOT u1 AND NOT u2
  GROUP BY NULL
  UNION ALL
  SELECT 5, number, 'caution', 'caution: ' || text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM caution
  UNION ALL
  SELECT 6, 0, 'reserved',
         printf('reserved at the peak: %s%.2f -> %.2f GB', CASE WHEN unrecorded THEN 'at least ' ELSE '' END, r1 / 1e9,
                r2 / 1e9),
         NULL, NULL, NULL, r1, r2, r2 - r1, NULL, NULL, NULL, NULL, NULL
  FROM both
  WHERE NOT u1 AND NOT u2),
sized AS (
  SELECT *, CASE WHEN amount = 0 OR abs(amount) >= 0.005 * top THEN top WHEN abs(amount) >= 5000 THEN 1e6
                 WHEN abs(amount) >= 5 THEN 1e3 ELSE 1.0 END AS size
  FROM line),
worded AS (
  SELECT *, before || CASE WHEN amount IS NULL THEN ''
                           ELSE printf('%+*.*f %s', 9 * (before = ''), 2 * (size > 1), amount / size,
                                       CASE size WHEN 1e9 THEN 'GB' WHEN 1e6 THEN 'MB' WHEN 1e3 THEN 'kB' ELSE 'B' END)
                                || coalesce(after, '') END AS body
  FROM sized),
cut AS (
  SELECT *, CASE WHEN kind <> 'cause' OR length(body) <= 100 THEN body
                 WHEN length(words) > 70 THEN rtrim(words, ' .,;:(<_#-/') || '...'
                 ELSE substr(body, 1, 97) || '...' END AS text
  FROM (SELECT *, rtrim(substr(body, 1, 97),
                        '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') AS words
        FROM worded))
SELECT row_number() OVER (ORDER BY place, number) AS line, kind, text, control_bytes, test_bytes, diff_bytes,
       phase, function, op, cn AS control_blocks, tn AS test_blocks
FROM cut
ORDER BY 1;
