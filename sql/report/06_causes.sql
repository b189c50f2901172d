-- 06_causes: Why: the largest causes, with their evidence
-- Section causes Causes
-- Layout causes
-- Empty There is no difference to explain.
-- With steps
cause AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY abs(diff_time) DESC, text, kind, class, area, name) AS place, kind, class, area,
         name, added, removed, names, text, control_time / 1000 AS c, test_time / 1000 AS t, diff_time / 1000 AS d
  FROM trace_step_causes(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                         :clock, :steps)
  LIMIT -1),
shown AS MATERIALIZED (
  SELECT *
  FROM cause
  WHERE place <= 7 AND abs(d) >= 0.01 * abs(:diff_ms) AND abs(d) >= :least),
labeled AS (
  SELECT class, area, top_op, op, kernel, time_ns / 1e6 / :control_windows AS c, 0.0 AS t,
         kernels * 1.0 / :control_windows AS cn, 0.0 AS tn
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  UNION ALL
  SELECT class, area, top_op, op, kernel, 0.0, time_ns / 1e6 / :test_windows,
         0.0, kernels * 1.0 / :test_windows
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)),
placed AS MATERIALIZED (
  SELECT class, c, t, cn, tn, kernel,
         CASE WHEN class IN ('compute', 'comm', 'memory') THEN area END AS area,
         CASE WHEN class = 'comm' THEN kernel WHEN class IN ('idle_call', 'idle_launch', 'call') THEN op
              WHEN class IN ('compute', 'memory') THEN coalesce(top_op, kernel) ELSE top_op END AS name
  FROM labeled
  WHERE class IS NOT NULL),
named AS (
  SELECT class, area, name, sum(c) = 0 AS added, sum(t) = 0 AS removed, sum(t) - sum(c) AS d
  FROM placed
  GROUP BY class, area, name),
single AS (
  SELECT class, area, name, place
  FROM cause
  WHERE kind IN ('changed', 'communication') OR (kind = 'host late' AND name IS NOT NULL)),
owned AS (
  SELECT named.*, (SELECT place FROM single
                   WHERE single.class = named.class AND single.area IS named.area AND single.name IS named.name) AS own
  FROM named),
member AS MATERIALIZED (
  SELECT shown.place, owned.*, row_number() OVER (PARTITION BY shown.place ORDER BY abs(owned.d) DESC, owned.name) AS n
  FROM shown JOIN owned ON CASE
    WHEN own IS NOT NULL THEN own = shown.place
    WHEN shown.kind = 'replaced' THEN owned.class = shown.class AND owned.area IS shown.area
    ELSE shown.kind = 'host late' AND owned.class IN ('idle_host', 'idle_call', 'idle_launch') END),
members AS MATERIALIZED (
  SELECT place, count(*) AS names, group_concat(CASE WHEN n <= 6 AND abs(d) >= :least THEN trace_label(name) || ' '
           || replace(printf('%+.*f', :digits, d / :size), '-', '−') END, ', ') AS listed,
         count(*) FILTER (WHERE n > 6 OR abs(d) < :least) AS more, sum(removed) AS removed,
         sum(NOT removed AND NOT added AND d < 0) AS less
  FROM (SELECT * FROM member ORDER BY place, n)
  GROUP BY place),
key AS (
  SELECT 'annotation,' || CASE WHEN EXISTS (SELECT 1 FROM cause WHERE area LIKE 'nn.Module%') THEN 'module,' ELSE '' END
         || 'top_op,kernel,kernel_type' AS keys),
own_work AS MATERIALIZED (
  SELECT place, member.class, kernel, sum(cn) AS cn, sum(tn) AS tn, sum(c) AS c, sum(t) AS t
  FROM member JOIN placed ON placed.name IS member.name AND placed.class = member.class AND placed.area IS member.area
  WHERE kernel IS NOT NULL
  GROUP BY place, kernel),
-- operators of traces without device work, and whether one before them on their thread holds their start
hosted AS (
  SELECT CASE WHEN EXISTS (SELECT 1 FROM shown WHERE class = 'host') THEN :control END AS control,
         CASE WHEN EXISTS (SELECT 1 FROM shown WHERE class = 'host') THEN :test END AS test),
operator AS (
  SELECT 0 AS side, file, rank, iteration, pid, tid, event, name, ts_ns, dur_ns
  FROM hosted CROSS JOIN trace_events(hosted.control, NULL, 'all', NULL, NULL, :steps)
  WHERE cat IN ('cpu_op', 'Operator') AND dur_ns IS NOT NULL
  UNION ALL
  SELECT 1, file, rank, iteration, pid, tid, event, name, ts_ns, dur_ns
  FROM hosted CROSS JOIN trace_events(hosted.test, NULL, 'all', NULL, NULL, :steps)
  WHERE cat IN ('cpu_op', 'Operator') AND dur_ns IS NOT NULL),
nested AS (
  SELECT *, ts_ns < max(ts_ns + dur_ns) OVER (PARTITION BY side, file, pid, tid ORDER BY ts_ns, dur_ns DESC, event
                                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_inner
  FROM operator),
outermost AS (
  SELECT side, trace_stable_name(name) AS name, count(*) AS runs, sum(dur_ns) / 1e3 AS time
  FROM nested JOIN used USING (side, rank)
  WHERE nested.iteration IS used.iteration AND is_inner IS NOT 1
  GROUP BY 1, 2),
runs AS MATERIALIZED (
  SELECT place, shown.class, total(runs) FILTER (WHERE side = 0) / :control_windows AS cn,
         total(runs) FILTER (WHERE side = 1) / :test_windows AS tn,
         sum(time / runs) FILTER (WHERE side = 0) AS c_mean, sum(time / runs) FILTER (WHERE side = 1) AS t_mean
  FROM shown JOIN outermost USING (name)
  WHERE shown.class = 'host'
  GROUP BY place
  UNION ALL
  SELECT place, class, sum(cn) AS cn, sum(tn), 1000 * sum(c) / nullif(sum(cn), 0), 1000 * sum(t) / nullif(sum(tn), 0)
  FROM own_work
  GROUP BY place),
told_runs AS (
  SELECT *, CASE class WHEN 'memory' THEN 'opies' WHEN 'comm' THEN 'ollectives' WHEN 'host' THEN 'uns' ELSE 'ernels' END AS noun,
         CASE class WHEN 'compute' THEN 'K' WHEN 'host' THEN 'R' ELSE 'C' END AS big,
         CASE class WHEN 'compute' THEN 'k' WHEN 'host' THEN 'r' ELSE 'c' END AS small,
         CASE WHEN cn = round(cn) THEN printf('%d', cn) ELSE printf('%.1f', cn) END AS c_runs,
         CASE WHEN tn = round(tn) THEN printf('%d', tn) ELSE printf('%.1f', tn) END AS t_runs,
         CASE WHEN c_mean >= 1000 THEN printf('%.2f ms', c_mean / 1000) WHEN cn > 0 THEN printf('%.1f µs', c_mean) END AS c_long,
         CASE WHEN t_mean >= 1000 THEN printf('%.2f ms', t_mean / 1000) WHEN tn > 0 THEN printf('%.1f µs', t_mean) END AS t_long
  FROM runs),
largest AS MATERIALIZED (
  SELECT place, kernel, trace_short_name(kernel) AS short, c, t,
         kernel LIKE '%gemm%' OR kernel LIKE '%cutlass%' OR kernel LIKE '%xmma%' AS is_matrix,
         row_number() OVER (PARTITION BY place ORDER BY c DESC, kernel) AS c_place,
         row_number() OVER (PARTITION BY place ORDER BY t DESC, kernel) AS t_place
  FROM own_work
  WHERE class = 'compute'),
matrix AS (
  SELECT place, sum(c) AS c, sum(t) AS t, max(c) AS c_most, max(t) AS t_most
  FROM largest
  WHERE is_matrix
  GROUP BY place),
whole AS MATERIALIZED (
  SELECT key AS name, control_device_time / 1000 AS c, test_device_time / 1000 AS t
  FROM trace_diff_by(:control, :test, 'kernel', :control_rank, :test_rank, coalesce(:control_iteration, 'steady'),
                     coalesce(:test_iteration, 'steady'), 'GPU', NULL, :steps)),
ranked AS (
  SELECT 0 AS side, count(DISTINCT rank) AS ranks FROM trace_files(:control)
  UNION ALL
  SELECT 1, count(DISTINCT rank) FROM trace_files(:test)),
several AS (
  SELECT CASE WHEN min(ranks) > 1 THEN :control END AS control, CASE WHEN min(ranks) > 1 THEN :test END AS test
  FROM ranked),
collective AS (
  SELECT 0 AS side, sum(transfer) / 1000 / count(DISTINCT iteration) AS transfer,
         sum(max_wait) / 1000 / count(DISTINCT iteration) AS wait
  FROM several CROSS JOIN trace_collectives(several.control, :control_ranks, :control_iteration, :steps)
  UNION ALL
  SELECT 1, sum(transfer) / 1000 / count(DISTINCT iteration), sum(max_wait) / 1000 / count(DISTINCT iteration)
  FROM several CROSS JOIN trace_collectives(several.test, :test_ranks, :test_iteration, :steps)),
evidence(place, n, text) AS (
  SELECT place, 1, 'Net of ' || listed || ' ' || :unit
         || CASE WHEN more > 0 THEN ', and ' || more || ' smaller' ELSE '' END || '.'
         || CASE WHEN members.removed > 0 THEN ' Gone: ' || members.removed || ' of ' || members.names || '.' ELSE '' END
  FROM members JOIN shown USING (place)
  WHERE kind = 'replaced' AND listed IS NOT NULL
  UNION ALL
  SELECT place, 2, CASE WHEN cn = tn THEN 'As many ' || small || noun || ' as before: ' || c_runs || ' a ' || :per
                        ELSE big || noun || ' a ' || :per || ': ' || c_runs || ' → ' || t_runs END
         || CASE WHEN class = 'comm' THEN '.' ELSE '; their mean' || CASE class WHEN 'memory' THEN ', what is not hidden,' ELSE '' END
              || CASE WHEN c_long IS NULL THEN ' is ' || t_long WHEN t_long IS NULL THEN ' was ' || c_long
                      WHEN c_long = t_long THEN ' stays ' || c_long ELSE ' goes ' || c_long || ' → ' || t_long END
              || CASE WHEN cn = tn AND c_mean > 0 AND c_long <> t_long
                      THEN replace(printf(' (%+.0f %%)', 100 * (t_mean / c_mean - 1)), '-', '−') ELSE '' END || '.' END
  FROM told_runs
  UNION ALL
  SELECT place, 3, 'Whole, they run ' || printf('%.*f', :digits, whole.c / :size) || ' → ' || printf('%.*f', :digits, whole.t / :size)
         || ' ' || :unit || '; of that ' || printf('%.*f', :digits, shown.c / :size) || ' → '
         || printf('%.*f', :digits, shown.t / :size) || ' ' || :unit || ' is not hidden behind compute.'
  FROM shown JOIN whole ON whole.name = shown.name
  WHERE kind = 'communication' AND 1 = (SELECT count(*) FROM single WHERE single.class = 'comm' AND single.name = shown.name)
  UNION ALL
  SELECT place, 4, 'Of all collectives, transfer takes ' || printf('%.*f', :digits, c.transfer / :size) || ' → '
         || printf('%.*f', :digits, t.transfer / :size) || ' ' || :unit || ', waiting for the last rank '
         || printf('%.*f', :digits, c.wait / :size) || ' → ' || printf('%.*f', :digits, t.wait / :size) || ' ' || :unit || '.'
  FROM shown CROSS JOIN collective AS c CROSS JOIN collective AS t
  WHERE kind = 'communication' AND c.side = 0 AND t.side = 1 AND c.transfer IS NOT NULL AND t.transfer IS NOT NULL
  UNION ALL
  SELECT place, 4, 'One rank is recorded: a slow transfer and waiting for another rank look the same here.'
  FROM shown JOIN several
  WHERE kind = 'communication' AND several.control IS NULL
  UNION ALL
  SELECT matrix.place, 5, 'Matrix kernels take ' || printf('%.*f', :digits, matrix.c / :size) || ' → '
         || printf('%.*f', :digits, matrix.t / :size) || ' ' || :unit
         || coalesce((SELECT ', mostly ' || a.short || ' → ' || b.short FROM largest AS a JOIN largest AS b USING (place)
                      WHERE a.place = matrix.place AND a.is_matrix AND b.is_matrix AND a.c = c_most AND b.t = t_most
                        AND a.short <> b.short LIMIT 1), '') || '.'
  FROM matrix JOIN shown USING (place)
  WHERE abs(matrix.t - matrix.c) >= 0.1 * abs(shown.d) AND matrix.c > 0 AND matrix.t > 0
  UNION ALL
  SELECT a.place, 6, 'Another variant of its largest kernel, ' || a.short || ': ' || substr(a.kernel, a.differ, 60) || ' '
         || printf('%.*f', :digits, a.c / :size) || ' ' || :unit || ' → ' || substr(b.kernel, a.differ, 60) || ' '
         || printf('%.*f', :digits, b.t / :size) || ' ' || :unit || '.'
  FROM (SELECT *, instr(kernel, '<') AS differ FROM largest) AS a JOIN largest AS b USING (place)
  WHERE a.c_place = 1 AND b.t_place = 1 AND a.short = b.short AND (SELECT kind FROM shown WHERE shown.place = a.place) = 'changed' AND a.kernel <> b.kernel AND a.differ > 0
  UNION ALL
  SELECT place, 7, 'Mostly at ' || listed || ' ' || :unit || CASE WHEN more > 0 THEN ', and ' || more || ' more places' ELSE '' END
         || '.'
  FROM members JOIN shown USING (place)
  WHERE kind = 'host late' AND shown.name IS NULL AND listed IS NOT NULL
  UNION ALL
  SELECT place, 7, CASE WHEN c = 0 THEN 'Only test has it: ' || printf('%.*f', :digits, t / :size) || ' ' || :unit || ' a ' || :per || '.'
                        WHEN t = 0 THEN 'Only control has it: ' || printf('%.*f', :digits, c / :size) || ' ' || :unit || ' a ' || :per || '.'
                        ELSE 'In control ' || printf('%.*f', :digits, c / :size) || ', in test ' || printf('%.*f', :digits, t / :size)
                          || ' ' || :unit || ' a ' || :per || replace(printf(' (%+.0f %%).', 100 * (t / c - 1)), '-', '−') END
  FROM shown
  WHERE name IS NOT NULL AND class NOT IN ('compute', 'comm', 'memory')
  UNION ALL
  SELECT place, 8, 'The device had nothing to run: the host had not launched it yet.'
  FROM shown
  WHERE kind = 'host late'
  UNION ALL
  SELECT place, 8, 'The kernel was launched, and the device had not begun it.'
  FROM shown
  WHERE kind = 'queued'
  UNION ALL
  SELECT place, 8, 'Nothing is recorded of the host: Python between operators, or another thread. Record with_stack to see it.'
  FROM shown
  WHERE kind = 'not recorded'),
query(place, text) AS (
  SELECT place, 'SELECT key, control_kernels, test_kernels, control_device_time, test_device_time, diff_device_time' || char(10)
         || 'FROM trace_diff_by' || '(:control, :test, ''' || keys || ''', :control_rank, :test_rank,' || char(10)
         || '                   :control_iteration, :test_iteration, ''GPU'')' || char(10)
         || 'WHERE key_json ->> ''kernel_type'' = '
         || CASE class WHEN 'compute' THEN '''COMPUTATION''' WHEN 'comm' THEN '''COMMUNICATION''' ELSE '''MEMORY''' END
         || char(10) || CASE WHEN area = 'backward' THEN '  AND key_json ->> ''annotation'' IS NULL'
              WHEN area LIKE 'nn.Module%' THEN '  AND key_json ->> ''module'' = ' || quote(area)
              WHEN area = name OR area IS NULL THEN '  AND key_json ->> ''annotation'' IS NULL'
              ELSE '  AND ' || quote(area) || ' IN (key_json ->> ''annotation'', key_json ->> ''top_op'')' END
         || CASE WHEN kind = 'replaced' THEN ''
                 WHEN class = 'comm' THEN char(10) || '  AND key_json ->> ''kernel'' = ' || quote(name)
                 ELSE char(10) || '  AND ' || quote(name) || ' IN (key_json ->> ''top_op'', key_json ->> ''kernel'')' END
         || char(10) || 'ORDER BY abs(diff_device_time) DESC;'
  FROM shown CROSS JOIN key
  WHERE class IN ('compute', 'comm', 'memory')
  UNION ALL
  SELECT place, 'SELECT class, name, control_time / 1000 AS control_ms, test_time / 1000 AS test_ms, diff_time / 1000 AS diff_ms'
         || char(10) || 'FROM trace_step_diff' || '(:control, :test, :control_rank, :test_rank,' || char(10)
         || '                     :control_iteration, :test_iteration, ''top_op'', :clock)' || char(10) || 'WHERE '
         || CASE kind WHEN 'host late' THEN 'class IN (''idle_host'', ''idle_call'', ''idle_launch'')'
                      WHEN 'queued' THEN 'class = ''idle_wait'''
                      WHEN 'not recorded' THEN 'class IN (''idle_unrecorded'', ''unrecorded'')'
                      ELSE 'class = ' || quote(class) END
         || CASE WHEN name IS NULL THEN '' ELSE ' AND name = ' || quote(name) END || ';'
  FROM shown
  WHERE class IS NULL OR class NOT IN ('compute', 'comm', 'memory')),
item(place, kind, n, text) AS (
  SELECT place, 'evidence', n, text FROM evidence
  UNION ALL
  SELECT place, 'sql', 100, text FROM query)
SELECT shown.place, d AS diff,
       CASE WHEN :verdict = 'unclear' THEN '' WHEN d * :diff_ms < 0 THEN 'against it'
            ELSE printf('%.0f', 100 * d / :diff_ms) || ' % of the change' END AS share,
       shown.text AS title, item.kind AS item, item.text
FROM shown JOIN item USING (place)
WHERE :verdict <> 'identical'
ORDER BY shown.place, n
