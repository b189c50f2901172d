-- each_rank: the ranks of two jobs one by one; else one row, with the ranks that are compared. A query that begins so
-- has a CTE `asked`, with `c_ranks` and `t_ranks`, the ranks of both sides, and `is_job`.
WITH each_rank AS MATERIALIZED (
  SELECT r.rank, r.rank AS c_each, r.rank AS t_each
  FROM asked CROSS JOIN (SELECT DISTINCT rank FROM trace_files(:control) WHERE rank IS NOT NULL) AS r
  WHERE is_job AND (c_ranks IN ('all', r.rank)
                    OR instr(replace(replace(c_ranks, '[', ','), ']', ','), ',' || r.rank || ','))
  UNION ALL
  SELECT NULL, c_ranks, t_ranks FROM asked WHERE NOT is_job
  LIMIT -1),
