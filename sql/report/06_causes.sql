-- 06_causes: Why: the largest causes, with their evidence
-- Section causes Causes
-- Layout causes
-- Empty There is no difference to explain.
-- With shared/steps
cause AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY abs(diff_time) DESC, text, kind, class, area, name) AS place,
         count(*) OVER (PARTITION BY class, name) AS alike, kind, class, area, name, instances, only_in, rank, text,
         control_time / 1000 AS c, test_time / 1000 AS t, diff_time / 1000 AS d
  FROM trace_step_causes(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                         :clock, :shown, :steps)
  LIMIT -1),
labeled AS MATERIALIZED (
  SELECT class, area, family, top_name, op, kernel, time_ns / 1e6 / :control_windows AS c, 0.0 AS t,
         kernels * 1.0 / :control_windows AS cn, 0.0 AS tn
  FROM trace_step_path(:control, :control_rank, :control_iteration, :clock, 'trace', :steps)
  WHERE class IS NOT NULL
  UNION ALL
  SELECT class, area, family, top_name, op, kernel, 0.0, time_ns / 1e6 / :test_windows,
         0.0, kernels * 1.0 / :test_windows
  FROM trace_step_path(:test, :test_rank, :test_iteration, :clock, 'trace', :steps)
  WHERE class IS NOT NULL
  LIMIT -1),
of_several AS ( -- families with several areas
  SELECT family FROM labeled WHERE class IN ('compute', 'comm', 'memory') GROUP BY family HAVING min(area) < max(area)),
-- as the causes name them (L2.1); level: the name of the area in the tree
named AS (
  SELECT class, kernel, c, t, cn, tn, CASE WHEN is_device THEN area END AS area,
         CASE WHEN is_device THEN family END AS family,
         CASE WHEN family IN (SELECT family FROM of_several) THEN family ELSE area END AS level,
         CASE WHEN class = 'comm' THEN kernel WHEN is_device THEN coalesce(top_name, kernel)
              WHEN (SELECT max(op GLOB 'cuda[A-Z]*') FROM labeled) THEN substr(replace(' ' || own, ' hip', ' cuda'), 2)
              ELSE own END AS name
  FROM (SELECT *, class IN ('compute', 'comm', 'memory') AS is_device,
               CASE WHEN class IN ('idle_call', 'idle_launch', 'idle_unrecorded', 'call', 'unrecorded') THEN op
                    ELSE top_name END AS own
        FROM labeled)),
placed AS MATERIALIZED (
  SELECT class, area, family, max(level) AS level, name, kernel, sum(c) AS c, sum(t) AS t, sum(cn) AS cn, sum(tn) AS tn
  FROM named
  GROUP BY class, area, family, name, kernel),
-- what the causes are made of. A part that is a cause of its own belongs to that alone
member AS MATERIALIZED (
  SELECT shown.place, placed.*
  FROM placed
  LEFT JOIN cause AS own ON own.class = placed.class AND own.name IS placed.name
    AND (own.area IS placed.family OR own.area IS placed.area)
    AND (own.kind IN ('changed', 'communication')
         OR (own.kind IN ('host late', 'not recorded') AND own.name IS NOT NULL))
  JOIN cause AS shown ON shown.place <= 7 AND CASE
    WHEN own.place IS NOT NULL THEN own.place = shown.place
    WHEN shown.kind = 'replaced' THEN placed.class = shown.class
         AND (shown.area IS placed.family OR shown.area IS placed.area)
    WHEN shown.kind = 'merged' THEN placed.class = shown.class
      AND coalesce(placed.name = shown.name, shown.area IN (placed.family, placed.area), 0)
    ELSE shown.kind = 'host late' AND placed.class IN ('idle_host', 'idle_call', 'idle_launch') END),
members AS (
  SELECT place, count(*) AS parts, group_concat(CASE WHEN n <= 6 AND abs(d) >= :least THEN trace_label(name) || ' '
           || replace(printf('%+.*f', :digits, d / :size), '-', '−') END, ', ') AS listed,
         count(*) FILTER (WHERE n > 6 OR abs(d) < :least) AS more, sum(removed) AS removed, total(d) AS d,
         min(level) AS level
  FROM (SELECT place, name, sum(t) = 0 AS removed, sum(t) - sum(c) AS d, min(level) AS level,
               row_number() OVER (PARTITION BY place ORDER BY abs(sum(t) - sum(c)) DESC, name) AS n
        FROM member
        GROUP BY place, class, family, name
        ORDER BY place, n)
  GROUP BY place),
-- the areas of a family one by one
instances AS (
  SELECT place,
         group_concat(CASE WHEN n <= 40 THEN trace_label(area) || ' '
                                || CASE WHEN abs(d) < max(:least / 100, 0.0005 * :size) THEN '0'
           ELSE replace(printf('%+.*f', min(3, :digits + 2), d / :size), '-', '−') END END, ', ')
           || CASE WHEN max(n) > 40 THEN ', and ' || (max(n) - 40) || ' more' ELSE '' END AS one_by_one
  FROM (SELECT place, area, sum(t) - sum(c) AS d,
               row_number() OVER (PARTITION BY place ORDER BY abs(sum(t) - sum(c)) DESC, length(area), area) AS n
        FROM member
        GROUP BY place, area
        ORDER BY place, n)
  GROUP BY place),
-- the kernels, and those that take longest on each side, of all and of those that multiply matrices
device AS (
  SELECT place, sum(cn) AS cn, sum(tn) AS tn, 1000 * sum(c) / nullif(sum(cn), 0) AS c_mean,
         1000 * sum(t) / nullif(sum(tn), 0) AS t_mean, max(c) AS c_most, max(t) AS t_most,
         max(c_kernel) AS c_kernel, max(t_kernel) AS t_kernel, total(c) FILTER (WHERE is_matrix) AS c_matrix,
         total(t) FILTER (WHERE is_matrix) AS t_matrix, trace_short_name(max(c_matrix)) AS c_short,
         trace_short_name(max(t_matrix)) AS t_short
  FROM (SELECT *, first_value(kernel) OVER (PARTITION BY place ORDER BY c DESC, kernel) AS c_kernel,
               first_value(kernel) OVER (PARTITION BY place ORDER BY t DESC, kernel) AS t_kernel,
               first_value(kernel) OVER (PARTITION BY place ORDER BY is_matrix DESC, c DESC, kernel) AS c_matrix,
               first_value(kernel) OVER (PARTITION BY place ORDER BY is_matrix DESC, t DESC, kernel) AS t_matrix
        FROM (SELECT place, kernel, sum(cn) AS cn, sum(tn) AS tn, sum(c) AS c, sum(t) AS t,
                     kernel LIKE '%gemm%' OR kernel LIKE '%cutlass%' OR kernel LIKE '%xmma%' AS is_matrix
              FROM member
              WHERE kernel IS NOT NULL
              GROUP BY place, kernel))
  GROUP BY place),
-- runs of operators of traces without device work, which no operator before them on their thread holds
operator AS (
  SELECT 0 AS side, file, rank, iteration, pid, tid, event, name, ts_ns, dur_ns
  FROM trace_events(CASE WHEN :of_host THEN :control END, 'all', NULL, NULL, NULL, :steps)
  WHERE cat IN ('cpu_op', 'Operator') AND dur_ns IS NOT NULL
  UNION ALL
  SELECT 1, file, rank, iteration, pid, tid, event, name, ts_ns, dur_ns
  FROM trace_events(CASE WHEN :of_host THEN :test END, 'all', NULL, NULL, NULL, :steps)
  WHERE cat IN ('cpu_op', 'Operator') AND dur_ns IS NOT NULL),
nested AS (
  SELECT *, ts_ns < max(ts_ns + dur_ns) OVER (PARTITION BY side, file, pid, tid ORDER BY ts_ns, dur_ns DESC, event
                                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_inner
  FROM operator),
host AS (
  SELECT name, total(runs) FILTER (WHERE side = 0) / :control_windows / max(1, :ranks) AS cn,
         total(runs) FILTER (WHERE side = 1) / :test_windows / max(1, :ranks) AS tn,
         sum(time / runs) FILTER (WHERE side = 0) AS c_mean, sum(time / runs) FILTER (WHERE side = 1) AS t_mean
  FROM (SELECT nested.side, trace_stable_name(name) AS name, count(*) AS runs, sum(dur_ns) / 1e3 AS time
        FROM nested JOIN step ON step.side = nested.side AND step.iteration IS nested.iteration
          AND coalesce(step.rank, nested.rank) = nested.rank
        WHERE is_inner IS NOT 1
        GROUP BY 1, 2)
  GROUP BY name),
whole AS (
  SELECT key AS name, control_device_time / 1000 AS c_whole, test_device_time / 1000 AS t_whole
  FROM trace_diff_by(CASE WHEN :ranks = 0 THEN :control END, :test, 'kernel', :control_each, :test_each,
                     :control_iteration, :test_iteration, 'GPU', NULL, :steps)),
collective AS (
  SELECT sum(transfer) FILTER (WHERE side = 0) / steps AS c_transfer,
         sum(max_wait) FILTER (WHERE side = 0) / steps AS c_wait,
         sum(transfer) FILTER (WHERE side = 1) / t_steps AS t_transfer,
         sum(max_wait) FILTER (WHERE side = 1) / t_steps AS t_wait
  FROM (SELECT *, 1000.0 * max(CASE side WHEN 0 THEN number END) OVER () AS steps,
               1000.0 * max(CASE side WHEN 1 THEN number END) OVER () AS t_steps
        FROM (SELECT *, dense_rank() OVER (PARTITION BY side ORDER BY iteration) AS number
              FROM (SELECT 0 AS side, iteration, transfer, max_wait
                    FROM trace_collectives(CASE WHEN :recorded > 1 THEN :control END, :control_ranks,
                                           :control_iteration, :steps)
                    UNION ALL
                    SELECT 1, iteration, transfer, max_wait
                    FROM trace_collectives(CASE WHEN :recorded > 1 THEN :test END, :test_ranks, :test_iteration,
                                           :steps))))),
wide AS MATERIALIZED (
  SELECT cause.*, parts, listed, more, members.removed, members.d AS members_d, one_by_one,
         coalesce(device.cn, host.cn) AS cn, coalesce(device.tn, host.tn) AS tn,
         coalesce(device.c_mean, host.c_mean) AS c_mean, coalesce(device.t_mean, host.t_mean) AS t_mean,
         c_most, t_most, c_kernel, t_kernel, c_matrix, t_matrix, c_short, t_short, c_whole, t_whole, collective.*,
         replace(replace(replace(coalesce(level, cause.area), '%', '%25'), ';', '%3B'), char(10), '%0A') AS frame,
         CASE WHEN cause.kind IN ('changed', 'merged') AND cause.name <> coalesce(level, cause.area)
              THEN replace(replace(replace(cause.name, '%', '%25'), ';', '%3B'), char(10), '%0A') || ';'
              ELSE '' END AS inner_frame
  FROM cause CROSS JOIN collective
  LEFT JOIN members USING (place)
  LEFT JOIN instances ON instances.place = cause.place AND cause.instances > 1
  LEFT JOIN device ON device.place = cause.place
  LEFT JOIN host ON cause.class = 'host' AND host.name = cause.name
  LEFT JOIN whole ON cause.kind = 'communication' AND cause.alike = 1 AND whole.name = cause.name
  WHERE cause.place <= 7 AND abs(cause.d) >= 0.01 * abs(:diff_ms) AND abs(cause.d) >= :least
    AND :judged <> 'same'),
told AS (
  SELECT *, CASE class WHEN 'memory' THEN 'opies' WHEN 'comm' THEN 'ollectives' WHEN 'host' THEN 'uns'
                 ELSE 'ernels' END AS noun,
         CASE class WHEN 'compute' THEN 'K' WHEN 'host' THEN 'R' ELSE 'C' END AS big,
         CASE class WHEN 'compute' THEN 'k' WHEN 'host' THEN 'r' ELSE 'c' END AS small,
         CASE WHEN cn = round(cn) THEN printf('%d', cn) ELSE printf('%.1f', cn) END AS c_runs,
         CASE WHEN tn = round(tn) THEN printf('%d', tn) ELSE printf('%.1f', tn) END AS t_runs,
         CASE WHEN c_mean >= 1000 THEN printf('%.2f ms', c_mean / 1000)
              WHEN cn > 0 THEN printf('%.1f µs', c_mean) END AS c_long,
         CASE WHEN t_mean >= 1000 THEN printf('%.2f ms', t_mean / 1000)
              WHEN tn > 0 THEN printf('%.1f µs', t_mean) END AS t_long
  FROM wide),
item AS (
  SELECT place, d, text AS title, n, CASE n
         WHEN 0 THEN 'Only rank ' || rank || ' differs so in its own steps.'
         WHEN 1 THEN CASE WHEN only_in LIKE '%","%'
           THEN 'Nearly all of it is in '
                || trim(replace(replace(only_in, '","', ', '), 'nn.Module: ', ''), '["]') || '.' END
         WHEN 2 THEN CASE WHEN kind = 'moved'
           THEN 'Other ranks come last: where they are about equally late, a small step puts '
                || 'the work of another one on the path. No rank differs so in its own steps.' END
         WHEN 3 THEN CASE WHEN (kind = 'replaced' OR (kind = 'merged' AND name IS NULL)) AND abs(members_d - d) < :least
           THEN 'Net of ' || listed || ' ' || :unit
                || CASE WHEN more > 0 THEN ', and ' || more || ' smaller' ELSE '' END || '.'
                || CASE WHEN kind = 'replaced' AND removed > 0 THEN ' Gone: ' || removed || ' of ' || parts || '.'
                        ELSE '' END END
         WHEN 4 THEN CASE WHEN cn = tn THEN 'As many ' || small || noun || ' as before: ' || c_runs || ' a ' || :per
                          ELSE big || noun || ' a ' || :per || ': ' || c_runs || ' → ' || t_runs END
           || CASE WHEN class = 'comm' THEN '.' ELSE '; their mean'
                || CASE class WHEN 'memory' THEN ', what is not hidden,' ELSE '' END
                || CASE WHEN c_long IS NULL THEN ' is ' || t_long WHEN t_long IS NULL THEN ' was ' || c_long
                        WHEN c_long = t_long THEN ' stays ' || c_long ELSE ' goes ' || c_long || ' → ' || t_long END
                || CASE WHEN cn = tn AND c_mean > 0 AND c_long <> t_long
                        THEN replace(printf(' (%+.0f %%)', 100 * (t_mean / c_mean - 1)), '-', '−')
                        ELSE '' END || '.' END
         WHEN 5 THEN CASE WHEN coalesce(c_whole, t_whole) IS NOT NULL
           THEN 'Whole, they run ' || printf('%.*f', :digits, c_whole / :size) || ' → '
                || printf('%.*f', :digits, t_whole / :size) || ' ' || :unit || '; of that '
                || printf('%.*f', :digits, c / :size) || ' → ' || printf('%.*f', :digits, t / :size) || ' ' || :unit
                || ' is not hidden behind compute.' END
         WHEN 6 THEN CASE WHEN kind = 'communication' AND :recorded < 2
             THEN 'One rank is recorded: a slow transfer and waiting for another rank look the same here.'
           WHEN kind = 'communication'
             THEN 'Of all collectives, transfer takes ' || printf('%.*f', :digits, c_transfer / :size) || ' → '
                  || printf('%.*f', :digits, t_transfer / :size) || ' ' || :unit || ', waiting for the last rank '
                  || printf('%.*f', :digits, c_wait / :size) || ' → '
                  || printf('%.*f', :digits, t_wait / :size) || ' ' || :unit
                  || CASE WHEN :ranks > 0 THEN ', which is no part of this.' ELSE '.' END END
         WHEN 7 THEN CASE WHEN class = 'compute' AND abs(t_matrix - c_matrix) >= 0.1 * abs(d)
             AND c_matrix > 0 AND t_matrix > 0
           THEN 'Matrix kernels take ' || printf('%.*f', :digits, c_matrix / :size) || ' → '
                || printf('%.*f', :digits, t_matrix / :size) || ' ' || :unit
                || CASE WHEN c_short <> t_short THEN ', mostly ' || c_short || ' → ' || t_short ELSE '' END || '.' END
         WHEN 8 THEN CASE WHEN class = 'compute' AND kind = 'changed' AND c_kernel <> t_kernel
             AND instr(c_kernel, '<') > 0 AND trace_short_name(c_kernel) = trace_short_name(t_kernel)
           THEN 'Another variant of its largest kernel, ' || trace_short_name(c_kernel) || ': '
                || substr(c_kernel, instr(c_kernel, '<'), 60) || ' ' || printf('%.*f', :digits, c_most / :size)
                || ' ' || :unit || ' → '
                || substr(t_kernel, instr(c_kernel, '<'), 60) || ' ' || printf('%.*f', :digits, t_most / :size)
                || ' ' || :unit || '.' END
         WHEN 9 THEN CASE WHEN kind = 'host late' AND name IS NULL
           THEN 'Mostly at ' || listed || ' ' || :unit
                || CASE WHEN more > 0 THEN ', and ' || more || ' more places' ELSE '' END || '.' END
         WHEN 10 THEN CASE WHEN name IS NULL OR class IN ('compute', 'comm', 'memory') THEN NULL
             WHEN c = 0 THEN 'Only test has it: ' || printf('%.*f', :digits, t / :size)
               || ' ' || :unit || ' a ' || :per || '.'
             WHEN t = 0 THEN 'Only control has it: ' || printf('%.*f', :digits, c / :size)
               || ' ' || :unit || ' a ' || :per || '.'
             ELSE 'In control ' || printf('%.*f', :digits, c / :size)
               || ', in test ' || printf('%.*f', :digits, t / :size)
               || ' ' || :unit || ' a ' || :per || CASE WHEN t >= 10.995 * c THEN printf(' (× %,d).', round(t / c))
                    ELSE replace(printf(' (%+.0f %%).', 100 * (t / c - 1)), '-', '−') END END
         WHEN 11 THEN CASE kind WHEN 'host late' THEN 'The device had nothing to run: the host had not launched it yet.'
             WHEN 'queued' THEN 'The kernel was launched, and the device had not begun it.'
             WHEN 'not recorded' THEN 'Nothing is recorded of the host: Python between operators, or another thread. '
               || 'Record with_stack to see it.' END
         WHEN 50 THEN one_by_one
         WHEN 100 THEN CASE
             WHEN class IN ('compute', 'comm', 'memory') OR (class LIKE 'idle%' AND name IS NOT NULL) THEN
               'SELECT path, ' || times || ',' || char(10) || '       control_kernels, test_kernels' || char(10)
               || 'FROM trace_tree_diff' || '(:control, :test, :control_rank, :test_rank,' || char(10)
               || '                     :control_iteration, :test_iteration, :clock, :steps)' || char(10) || 'WHERE '
               || CASE WHEN frame IS NULL OR class LIKE 'idle%' THEN 'class = ' || quote(class)
                         || coalesce(' AND name IN (' || quote(name) || ', ' || quote(trace_short_name(name))
                                     || ')', '')
                       ELSE 'substr(path || '';'', 1, ' || length('step;' || frame || ';' || inner_frame) || ') = '
                         || quote('step;' || frame || ';' || inner_frame)
                         || CASE WHEN inner_frame <> '' THEN '' ELSE ' AND class = ' || quote(class) END END || ';'
             WHEN kind IN ('merged', 'moved') THEN
               'SELECT text, ' || times || char(10)
               || 'FROM trace_step_causes' || '(:control, :test, :control_rank, :test_rank,' || char(10)
               || '                       :control_iteration, :test_iteration, :clock, :steps)' || char(10)
               || CASE kind WHEN 'moved' THEN 'WHERE kind = ''moved'';' ELSE 'WHERE class = ' || quote(class) || ';' END
             ELSE
               'SELECT class, name, ' || times || char(10)
               || 'FROM trace_step_diff' || '(:control, :test, :control_rank, :test_rank,' || char(10)
               || '                     :control_iteration, :test_iteration, ''top_op'', :clock, :steps)' || char(10)
               || 'WHERE '
               || CASE kind WHEN 'host late' THEN 'class IN (''idle_host'', ''idle_call'', ''idle_launch'')'
                            WHEN 'queued' THEN 'class = ''idle_wait'''
                            WHEN 'not recorded' THEN 'class IN (''idle_unrecorded'', ''unrecorded'')'
                            ELSE 'class = ' || quote(class) END
               || CASE WHEN name IS NULL THEN '' ELSE ' AND name = ' || quote(name) END || ';' END END AS text
  FROM told
  CROSS JOIN (SELECT 'control_time / 1000 AS control_ms, test_time / 1000 AS test_ms, diff_time / 1000 AS diff_ms'
                     AS times)
  CROSS JOIN (SELECT 0 AS n UNION ALL VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (50), (100)))
SELECT place, d AS diff,
       CASE WHEN :judged = 'unclear' THEN '' WHEN d * :diff_ms < 0 THEN 'against it'
            WHEN abs(d) >= 9.995 * abs(:diff_ms) THEN printf('× %,d of the change', round(d / :diff_ms))
            ELSE printf('%.0f', 100 * d / :diff_ms) || ' % of the change' END AS share,
       title, CASE n WHEN 50 THEN 'instances' WHEN 100 THEN 'sql' ELSE 'evidence' END AS item, text
FROM item
WHERE text IS NOT NULL
ORDER BY place, n
