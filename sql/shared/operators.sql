-- operators: the operators that run on the host, those of both sides with their factors, and the common factor of these
-- (trace_host_factor).
-- With shared/factors
ran AS MATERIALIZED (
  SELECT name, shapes, types,
         control_events AS c_counts, test_events AS t_counts, control_self_time AS c, test_self_time AS t
  FROM trace_diff_by(:control, :test, 'name,cat,shapes,types', :control_rank, :test_rank,
                     :control_iteration, :test_iteration, 'CPU', 2, :steps)
  WHERE cat IN ('cpu_op', 'Operator')
  LIMIT -1),
-- shapes and types that only one side has recorded tell nothing
known AS MATERIALIZED (
  SELECT max(c_counts > 0 AND shapes IS NOT NULL) AND max(t_counts > 0 AND shapes IS NOT NULL) AS shapes,
         max(c_counts > 0 AND types IS NOT NULL) AND max(t_counts > 0 AND types IS NOT NULL) AS types
  FROM ran
  LIMIT -1),
operator AS MATERIALIZED (
  SELECT ran.name, CASE WHEN known.shapes THEN ran.shapes END AS shapes,
         CASE WHEN known.types THEN ran.types END AS types,
         sum(c_counts) AS c_counts, sum(t_counts) AS t_counts, sum(c) AS c, sum(t) AS t
  FROM known CROSS JOIN ran
  GROUP BY 1, 2, 3
  LIMIT -1),
-- counts are whole numbers of executions, so sums of their means differ by rounding at most
compared AS MATERIALIZED (
  SELECT *, c_counts AS counts, t / c AS ratio, c + t AS time
  FROM operator
  WHERE c > 0 AND t > 0 AND abs(c_counts - t_counts) < 1e-9 * c_counts
  LIMIT -1),
