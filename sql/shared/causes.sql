-- causes: The shown causes with their parts and counts, in the CTE `wide`, one row per cause.
-- Columns
--   place      INTEGER  from 1, largest first
--   cause, kind, class, name, instances, only_in, rank, text    as in trace_step_causes
--   c, t, d    REAL     ms per step: control, test, difference
--   alike      INTEGER  number of causes of this class and name
--   parts      INTEGER  number of names in it; removed: number of names that test lacks
--   listed     TEXT     the largest names, with their differences; more: number of other names
--   one_by_one TEXT     its areas, with their differences
--   cn, tn     REAL     kernels per step, or executions for causes of the host; c_mean, t_mean: us, their mean
--   c_kernel, t_kernel  the longest kernel; c_most, t_most: ms per step of this kernel
--   c_matrix, t_matrix  ms per step of matrix multiplications; c_short, t_short: short name of the longest
-- With shared/steps
cause AS MATERIALIZED (
  SELECT *
  FROM (SELECT row_number() OVER (ORDER BY abs(diff_time) DESC, text, kind, class, area, name) AS place, cause,
               count(*) OVER (PARTITION BY class, name) AS alike, kind, class, name, instances, only_in, rank, text,
               control_time / 1000 AS c, test_time / 1000 AS t, diff_time / 1000 AS d
        FROM trace_step_causes(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                               :clock, :shown, :steps))
  WHERE place <= 7 AND abs(d) >= 0.01 * abs(:diff_ms) AND abs(d) >= :least AND :judged <> 'same'
  LIMIT -1),
part AS MATERIALIZED (
  SELECT place, p.class, family, p.name, area, kernel, control_time / 1000 AS c, test_time / 1000 AS t,
         diff_time / 1000 AS d, control_kernels AS cn, test_kernels AS tn
  FROM trace_cause_parts(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :clock,
                         :shown, :steps) AS p
  JOIN cause USING (cause)
  LIMIT -1),
named AS (
  SELECT place, count(*) AS parts, sum(removed) AS removed, count(*) FILTER (WHERE n > 6 OR abs(d) < :least) AS more,
         group_concat(CASE WHEN n <= 6 AND abs(d) >= :least THEN trace_label(name) || ' '
                                || replace(printf('%+.*f', :digits, d / :size), '-', '−') END, ', ') AS listed
  FROM (SELECT place, name, sum(t) = 0 AS removed, sum(d) AS d,
               row_number() OVER (PARTITION BY place ORDER BY abs(sum(d)) DESC, name) AS n
        FROM part
        GROUP BY place, class, family, name
        ORDER BY place, n)
  GROUP BY place),
-- each area of a family
instances AS (
  SELECT place,
         group_concat(CASE WHEN n <= 40 THEN trace_label(area) || ' '
                                || CASE WHEN abs(d) < max(:least / 100, 0.0005 * :size) THEN '0'
           ELSE replace(printf('%+.*f', min(3, :digits + 2), d / :size), '-', '−') END END, ', ')
           || CASE WHEN max(n) > 40 THEN ', and ' || (max(n) - 40) || ' more' ELSE '' END AS one_by_one
  FROM (SELECT place, area, sum(d) AS d,
               row_number() OVER (PARTITION BY place ORDER BY abs(sum(d)) DESC, length(area), area) AS n
        FROM part
        GROUP BY place, area
        ORDER BY place, n)
  GROUP BY place),
-- the kernels, and the longest kernel of each side, overall and among matrix multiplications
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
              FROM part
              WHERE kernel IS NOT NULL
              GROUP BY place, kernel))
  GROUP BY place),
-- executions of operators in traces without device work, except operators nested in another one of these
operator AS (
  SELECT side, rank, iteration, name, dur_ns,
         ts_ns < max(ts_ns + dur_ns) OVER (PARTITION BY side, file, pid, tid ORDER BY ts_ns, dur_ns DESC, event
                                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_inner
  FROM (SELECT 0 AS side, file, rank, iteration, cat, pid, tid, event, name, ts_ns, dur_ns
        FROM trace_events(CASE WHEN :of_host THEN :control END, 'all', NULL, NULL, NULL, :steps)
        UNION ALL
        SELECT 1, file, rank, iteration, cat, pid, tid, event, name, ts_ns, dur_ns
        FROM trace_events(CASE WHEN :of_host THEN :test END, 'all', NULL, NULL, NULL, :steps))
  WHERE cat IN ('cpu_op', 'Operator') AND dur_ns IS NOT NULL),
host AS (
  SELECT trace_stable_name(o.name) AS name, total(o.side = 0) / :control_windows / max(1, :ranks) AS cn,
         total(o.side = 1) / :test_windows / max(1, :ranks) AS tn,
         avg(CASE o.side WHEN 0 THEN dur_ns END) / 1e3 AS c_mean,
         avg(CASE o.side WHEN 1 THEN dur_ns END) / 1e3 AS t_mean
  FROM operator AS o
  JOIN step ON step.side = o.side AND step.iteration IS o.iteration AND coalesce(step.rank, o.rank) = o.rank
  WHERE is_inner IS NOT 1
  GROUP BY 1),
wide AS MATERIALIZED (
  SELECT cause.*, parts, removed, listed, more, one_by_one, coalesce(device.cn, host.cn) AS cn,
         coalesce(device.tn, host.tn) AS tn, coalesce(device.c_mean, host.c_mean) AS c_mean,
         coalesce(device.t_mean, host.t_mean) AS t_mean, c_most, t_most, c_kernel, t_kernel, c_matrix, t_matrix,
         c_short, t_short
  FROM cause
  LEFT JOIN named USING (place)
  LEFT JOIN instances ON instances.place = cause.place AND cause.instances > 1
  LEFT JOIN device ON device.place = cause.place
  LEFT JOIN host ON cause.class = 'host' AND host.name = cause.name
  LIMIT -1),
