-- 06_causes: Why: the largest causes, with their evidence
-- Section causes Causes
-- Layout causes
-- Empty There is no difference to explain.
-- With shared/causes
whole AS (
  SELECT key AS name, control_device_time / 1000 AS c_whole, test_device_time / 1000 AS t_whole
  FROM trace_diff_by(CASE WHEN :ranks = 0 THEN :control END, :test, 'kernel', :control_each, :test_each,
                     :control_iteration, :test_iteration, 'GPU', NULL, :steps)),
met AS MATERIALIZED (
  SELECT 0 AS side, iteration, trace_stable_name(name) AS name, transfer, max_wait
  FROM trace_collectives(CASE WHEN :recorded > 1 THEN :control END, :control_ranks, :control_iteration, :steps)
  UNION ALL
  SELECT 1, iteration, trace_stable_name(name), transfer, max_wait
  FROM trace_collectives(CASE WHEN :recorded > 1 THEN :test END, :test_ranks, :test_iteration, :steps)),
collective AS MATERIALIZED (
  SELECT max(steps) FILTER (WHERE side = 0) AS c_steps, max(steps) FILTER (WHERE side = 1) AS t_steps,
         max(transfer / steps) FILTER (WHERE side = 0) AS c_transfer,
         max(transfer / steps) FILTER (WHERE side = 1) AS t_transfer,
         max(wait / steps) FILTER (WHERE side = 0) AS c_wait, max(wait / steps) FILTER (WHERE side = 1) AS t_wait
  FROM (SELECT side, 1.0 * max(1, count(DISTINCT iteration)) AS steps, sum(transfer) / 1000 AS transfer,
               sum(max_wait) / 1000 AS wait
        FROM met
        GROUP BY side)),
counted AS ( -- collectives of the host are not kernels
  SELECT wide.*, collective.*, CASE WHEN class = 'comm' AND cn = 0 AND tn = 0
           THEN (SELECT count(*) FROM met WHERE side = 0 AND met.name = wide.name) / coalesce(c_steps, 1)
           ELSE cn END AS c_runs,
         CASE WHEN class = 'comm' AND cn = 0 AND tn = 0
           THEN (SELECT count(*) FROM met WHERE side = 1 AND met.name = wide.name) / coalesce(t_steps, 1)
           ELSE tn END AS t_runs
  FROM wide CROSS JOIN collective),
told AS (
  SELECT *, CASE class WHEN 'memory' THEN 'copies' WHEN 'comm' THEN 'collectives' WHEN 'host' THEN 'runs'
                 ELSE 'kernels' END AS noun,
         printf('%.*f', c_runs <> round(c_runs), c_runs) AS c_often,
         printf('%.*f', t_runs <> round(t_runs), t_runs) AS t_often,
         CASE WHEN c_mean >= 1000 THEN printf('%.2f ms', c_mean / 1000)
              WHEN cn > 0 THEN printf('%.1f µs', c_mean) END AS c_long,
         CASE WHEN t_mean >= 1000 THEN printf('%.2f ms', t_mean / 1000)
              WHEN tn > 0 THEN printf('%.1f µs', t_mean) END AS t_long,
         printf('%.*f', :digits, c / :size) AS c_text, printf('%.*f', :digits, t / :size) AS t_text,
         ' ' || :unit || ' per ' || :per AS a_step
  FROM counted),
item AS (
  SELECT place, d, text AS title, n, CASE n
         WHEN 0 THEN 'Only rank ' || rank || ' changed by this much.'
         WHEN 1 THEN CASE WHEN only_in LIKE '%","%' THEN 'Nearly all of it is in '
                || trim(replace(replace(only_in, '","', ', '), 'nn.Module: ', ''), '["]') || '.' END
         WHEN 2 THEN CASE WHEN kind = 'moved'
           THEN 'Other ranks come last: where they are about equally late, a small step puts '
                || 'the work of another one on the path. No rank differs so in its own steps.' END
         WHEN 3 THEN CASE WHEN kind = 'replaced' OR (kind = 'merged' AND name IS NULL) THEN 'Net of '
                          WHEN kind = 'host late' AND name IS NULL THEN 'Mostly at ' END
           || listed || ' ' || :unit
           || CASE WHEN more = 0 THEN '' ELSE ', and ' || more
                     || CASE kind WHEN 'host late' THEN ' more places' ELSE ' smaller' END END || '.'
           || CASE WHEN kind = 'replaced' AND removed > 0
                   THEN ' Test no longer runs ' || removed || ' of these ' || parts || '.' ELSE '' END
         WHEN 4 THEN CASE WHEN coalesce(c_runs + t_runs, 0) = 0 THEN NULL
                          WHEN c_runs = t_runs THEN 'As many ' || noun || ' as before: ' || c_often || ' per ' || :per
                          ELSE upper(substr(noun, 1, 1)) || substr(noun, 2) || ' per ' || :per || ': '
                               || c_often || ' → '
                            || t_often END
           || CASE WHEN class = 'comm' THEN '.' ELSE '; their mean'
                || CASE class WHEN 'memory' THEN ', where exposed,' ELSE '' END
                || CASE WHEN c_long IS NULL THEN ' is ' || t_long WHEN t_long IS NULL THEN ' was ' || c_long
                        WHEN c_long = t_long THEN ' stays ' || c_long ELSE ' goes ' || c_long || ' → ' || t_long END
                || CASE WHEN cn = tn AND c_mean > 0 AND c_long <> t_long
                        THEN replace(printf(' (%+.0f %%)', 100 * (t_mean / c_mean - 1)), '-', '−')
                        ELSE '' END || '.' END
         WHEN 5 THEN CASE WHEN kind = 'communication' AND alike = 1
           THEN (SELECT 'Whole, they run ' || printf('%.*f', :digits, c_whole / :size) || ' → '
                        || printf('%.*f', :digits, t_whole / :size) || ' ' || :unit || '; of that ' || c_text || ' → '
                        || t_text || ' ' || :unit || ' is exposed: no compute overlaps it.'
                 FROM whole WHERE whole.name = told.name) END
         WHEN 6 THEN CASE WHEN kind <> 'communication' THEN NULL WHEN :recorded < 2
             THEN 'One rank is recorded: a slow transfer and waiting for another rank look the same here.'
           ELSE 'Of all collectives, transfer takes ' || printf('%.*f', :digits, c_transfer / :size) || ' → '
             || printf('%.*f', :digits, t_transfer / :size) || ' ' || :unit || ', waiting for the last rank '
             || printf('%.*f', :digits, c_wait / :size) || ' → ' || printf('%.*f', :digits, t_wait / :size) || ' '
             || :unit || CASE WHEN :ranks > 0 THEN ', which is no part of this.' ELSE '.' END END
         WHEN 7 THEN CASE WHEN class = 'compute' AND abs(t_matrix - c_matrix) >= 0.1 * abs(d)
             AND c_matrix > 0 AND t_matrix > 0
           THEN 'Matrix kernels take ' || printf('%.*f', :digits, c_matrix / :size) || ' → '
                || printf('%.*f', :digits, t_matrix / :size) || ' ' || :unit
                || CASE WHEN c_short <> t_short THEN ', mostly ' || c_short || ' → ' || t_short ELSE '' END || '.' END
         WHEN 8 THEN CASE WHEN class = 'compute' AND kind = 'changed' AND c_kernel <> t_kernel
             AND instr(c_kernel, '<') > 0 AND trace_short_name(c_kernel) = trace_short_name(t_kernel)
           THEN 'Another variant of its largest kernel, ' || trace_short_name(c_kernel) || ': '
                || substr(c_kernel, instr(c_kernel, '<'), 60) || ' ' || printf('%.*f', :digits, c_most / :size)
                || ' ' || :unit || ' → ' || substr(t_kernel, instr(c_kernel, '<'), 60) || ' '
                || printf('%.*f', :digits, t_most / :size) || ' ' || :unit || '.' END
         WHEN 10 THEN CASE WHEN name IS NULL OR class IN ('compute', 'comm', 'memory') THEN NULL
             WHEN c = 0 THEN 'Only test has it: ' || t_text || a_step || '.'
             WHEN t = 0 THEN 'Only control has it: ' || c_text || a_step || '.'
             ELSE 'In control ' || c_text || ', in test ' || t_text || a_step
               || CASE WHEN t >= 10.995 * c THEN printf(' (× %,d).', round(t / c))
                       ELSE replace(printf(' (%+.0f %%).', 100 * (t / c - 1)), '-', '−') END END
         WHEN 11 THEN CASE kind WHEN 'host late' THEN 'The device had nothing to run: the host had not launched it yet.'
             WHEN 'queued' THEN 'The kernel was launched, and the device had not started it: launch latency.'
             WHEN 'not recorded' THEN 'Nothing is recorded on the host: Python between operators, or another thread. '
               || 'Record with_stack to see it.' END
         WHEN 50 THEN one_by_one
         ELSE 'SELECT class, name, area, kernel, control_time / 1000 AS control_ms,' || char(10)
           || '       test_time / 1000 AS test_ms, diff_time / 1000 AS diff_ms,' || char(10)
           || '       control_kernels, test_kernels' || char(10)
           || 'FROM trace_cause_parts' || '(:control, :test, :control_rank, :test_rank, :control_iteration,' || char(10)
           || '                       :test_iteration, :clock, :shown, :steps)' || char(10) || 'WHERE cause = ' || cause
           || char(10) || 'ORDER BY abs(diff_time) DESC;' END AS text
  FROM told
  CROSS JOIN (SELECT 0 AS n UNION ALL VALUES (1), (2), (3), (4), (5), (6), (7), (8), (10), (11), (50), (100)))
SELECT place, d AS diff,
       CASE WHEN :judged = 'unclear' THEN '' WHEN d * :diff_ms < 0 THEN 'the other way'
            WHEN abs(d) >= 9.995 * abs(:diff_ms) THEN printf('× %,d of the change', round(d / :diff_ms))
            ELSE printf('%.0f', 100 * d / :diff_ms) || ' % of the change' END AS share,
       title, CASE n WHEN 50 THEN 'instances' WHEN 100 THEN 'sql' ELSE 'evidence' END AS item, text
FROM item
WHERE text IS NOT NULL
ORDER BY place, n
