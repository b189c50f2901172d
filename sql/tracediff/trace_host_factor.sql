-- trace_host_factor: whether operators that do the same work are all slower on the host, as on a loaded machine.
-- Family: the answer
-- Question: Is the whole host slower alike, as on a loaded machine?
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array or 'all'; default the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all', 'steady' (without first and last),
--                                      'first' or a phase; default 'steady'
--   :test_iteration     any            the same for test
--   :steps              TEXT           which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   kind            TEXT     'host', then its parts: an 'operator' that is compared, 'other' for all others
--   outcome         TEXT     of the host: 'one factor', 'load differs', 'no change' or 'too few operators'
--   name            TEXT     stable name of the operator
--   shapes          TEXT     JSON, its Input Dims
--   types           TEXT     JSON, its Input type
--   counts          REAL     executions of the operator a step, on each side
--   factor          REAL     self time in test by that in control; of the host the weighted median
--   low             REAL     of the host: a quarter of the weight has this factor or less
--   high            REAL     of the host: a quarter of the weight has this factor or more
--   operators       INTEGER  of the host: operators that are compared
--   share           REAL     of the host: the part of the self time of both sides that these have
--   control_time    REAL     us a step in control, self time
--   test_time       REAL     us a step in test, self time
--   diff_time       REAL     us a step, test minus control
--   explained_time  REAL     us a step: what the factor makes of control_time, if the outcome is 'one factor'; else 0
--   rest_time       REAL     us a step: diff_time without explained_time
--   text            TEXT     of the host: the outcome in words; NULL if it is not about load
--   beyond_time     REAL     us a step: of 'other' the part of diff_time that load does not explain
-- Grain: one row for the host, one per operator that is compared, one for all other operators; operators by |rest_time|
-- descending, then by name, shapes, types.
-- Rules: L7. As trace_clock_factor has it for kernels; the factor of an operator is that of its means.
-- Facts
--   outcome     of the host
--   factor      the weighted median
--   away        the factor or its inverse, whichever is greater
--   low         a quarter of the weight has this factor or less
--   high        a quarter of the weight has this factor or more
--   operators   operators that are compared
--   c_compared  us a step in control that these have
--   t_compared  the same in test
--   c           us a step in control
--   t           the same in test
-- With shared/operators
host AS MATERIALIZED (
  SELECT *, CASE WHEN operators < 3 OR c_compared < 0.1 * c OR t_compared < 0.1 * t THEN 'too few operators'
                 WHEN away >= 1.15 AND high / low < away THEN 'one factor'
                 WHEN away >= 1.15 OR (low <= 1 / 1.15 AND high >= 1.15) THEN 'load differs'
                 ELSE 'no change' END AS outcome
  FROM common
  CROSS JOIN (SELECT count(*) AS operators, total(c) AS c_compared, total(t) AS t_compared FROM compared)
  CROSS JOIN (SELECT total(c) AS c, total(t) AS t, count(*) AS names FROM operator)
  WHERE names > 0
  LIMIT -1)
SELECT * FROM host;

-- With shared/operators
line AS (
  SELECT 0 AS place, 'host' AS kind, :outcome AS outcome, NULL AS name, NULL AS shapes, NULL AS types, NULL AS counts,
         :factor AS factor, :low AS low, :high AS high, :operators AS operators,
         (:c_compared + :t_compared) / nullif(:c + :t, 0) AS share, :c AS c, :t AS t,
         CASE :outcome WHEN 'one factor' THEN :c_compared * (:factor - 1) ELSE 0.0 END AS explained,
         CASE :outcome
           WHEN 'one factor' THEN 'the host is ' || printf(CASE WHEN :away >= 9.95 THEN '%.0f' ELSE '%.1f' END, :away)
             || CASE WHEN :factor > 1 THEN ' times as slow' ELSE ' times as fast' END || ' throughout: machine load?'
           WHEN 'load differs' THEN 'the load of the host differs (x '
             || printf(CASE WHEN :low >= 9.95 THEN '%.0f' WHEN :low < 0.095 THEN '%.2f' ELSE '%.1f' END, :low)
             || ' to x '
             || printf(CASE WHEN :high >= 9.95 THEN '%.0f' WHEN :high < 0.095 THEN '%.2f' ELSE '%.1f' END, :high)
             || ' by operator)' END AS text, NULL AS beyond
  WHERE :outcome IS NOT NULL
  UNION ALL
  SELECT 1, 'operator', NULL, name, shapes, types, counts, ratio, NULL, NULL, NULL, NULL, c, t,
         CASE :outcome WHEN 'one factor' THEN c * (:factor - 1) ELSE 0.0 END, NULL, NULL
  FROM compared
  UNION ALL
  SELECT 2, 'other', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, c, t, 0.0, NULL,
         t - c - max(c * (min(:low, 1) - 1), min(c * (max(:high, 1) - 1), t - c))
  FROM (SELECT :c - :c_compared AS c, :t - :t_compared AS t)
  WHERE :outcome IS NOT NULL)
SELECT kind, outcome, name, shapes, types, counts, factor, low, high, operators, share, c AS control_time,
       t AS test_time, t - c AS diff_time, explained AS explained_time, t - c - explained AS rest_time, text,
       beyond AS beyond_time
FROM line
ORDER BY place, abs(rest_time) DESC, name, shapes, types;
