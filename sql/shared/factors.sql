-- factors: the common factor of what is compared (trace_clock_factor, rule 4). A query that begins so has a
-- CTE `compared` with `ratio`, the factor of a thing, and `time`, of which the weight is made.
WITH RECURSIVE
-- none has more than a fifth of the weight: the longest ones have what is left for each of the five
weighed AS MATERIALIZED (
  SELECT *, sum(weight) OVER (ORDER BY ratio ROWS UNBOUNDED PRECEDING) AS up_to,
         sum(weight) OVER (ORDER BY ratio DESC ROWS UNBOUNDED PRECEDING) AS from_it,
         sum(weight) OVER () * 0.999999999999 AS weights -- so that rounding does not miss the half of equal weights
  FROM (SELECT *,
               min(time,
                   coalesce(min(rest / (6 - place)) FILTER (WHERE place <= 5 AND time * (6 - place) <= rest) OVER (),
                            min(time) OVER ())) AS weight
        FROM (SELECT *, row_number() OVER longest AS place,
                     sum(time) OVER (ORDER BY time DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS rest
              FROM compared
              WINDOW longest AS (ORDER BY time DESC ROWS UNBOUNDED PRECEDING)))
  LIMIT -1),
-- the square root of the product of both medians, by Newton's method from their mean
root(turn, factor, product, low, high) AS (
  SELECT 0, (lower + upper) / 2, lower * upper, low, high
  FROM (SELECT min(ratio) FILTER (WHERE 2 * up_to >= weights) AS lower,
               max(ratio) FILTER (WHERE 2 * from_it >= weights) AS upper,
               min(ratio) FILTER (WHERE 4 * up_to >= weights) AS low,
               max(ratio) FILTER (WHERE 4 * from_it >= weights) AS high
        FROM weighed)
  UNION ALL
  SELECT turn + 1, (factor + product / factor) / 2, product, low, high FROM root WHERE turn < 40),
-- NULL if nothing is compared; away: the factor or its inverse, whichever is greater
common AS MATERIALIZED (
  SELECT factor, max(factor, 1 / factor) AS away, low, high FROM root WHERE turn = 40 LIMIT -1),
