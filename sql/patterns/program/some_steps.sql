-- some_steps: a few steps are long: something runs in them alone
-- Rank: 35
-- Said: always
-- Evidence: an operator runs more often in fewer than half of the steps of a side than in its other steps, while the
--   other side runs it equally often in all steps or never; these steps take 1.2 times the mean of the others
-- Not: steps that compile
WITH asked(side, rank) AS (
  SELECT 1, test_rank FROM pair
  WHERE test_left_out > 0
     OR EXISTS (SELECT 1 FROM op WHERE name GLOB 'aten::*' AND t <> round(t) AND c = round(c))
  UNION ALL SELECT 0, control_rank FROM pair
  WHERE control_left_out > 0
     OR EXISTS (SELECT 1 FROM op WHERE name GLOB 'aten::*' AND c <> round(c) AND t = round(t))),
e AS (
  SELECT side, name, iteration, count(*) AS runs
  FROM asked
  CROSS JOIN trace_events(CASE side WHEN 1 THEN :test ELSE :control END, asked.rank, NULL, NULL, NULL, :steps)
  WHERE name GLOB 'aten::*' OR name GLOB '*compile*'
  GROUP BY 1, 2, 3),
s AS (
  SELECT side, iteration, sum(time) AS us
  FROM asked CROSS JOIN trace_step_time(CASE side WHEN 1 THEN :test ELSE :control END, asked.rank,
    CASE side WHEN 1 THEN :test_iteration ELSE :control_iteration END, 'op', :clock, NULL, :steps)
  GROUP BY 1, 2),
w AS (SELECT side, count(*) AS n, sum(us) AS us FROM s GROUP BY side),
o AS (
  SELECT side, name, count(*) AS n, sum(runs - least) AS runs, avg(us) AS us FROM (
    SELECT e.*, s.us, CASE WHEN count(*) OVER of = w.n THEN min(runs) OVER of ELSE 0 END AS least
    FROM e JOIN s USING (side, iteration) JOIN w USING (side) WINDOW of AS (PARTITION BY side, name))
  WHERE runs > least GROUP BY 1, 2)
SELECT printf('%d of %d steps%s run more operators: %s, %d times', o.n, w.n,
              CASE side WHEN 1 THEN '' ELSE ' of control' END, name, runs),
       'saving, logging or evaluation: less often, or in another thread', NULL
FROM o JOIN w USING (side) LEFT JOIN op USING (name)
WHERE NOT EXISTS (SELECT 1 FROM e WHERE name NOT GLOB 'aten::*') AND 2 * o.n < w.n
  AND o.us > 1.2 * (w.us - o.n * o.us) / (w.n - o.n)
  AND (CASE side WHEN 1 THEN c = round(c) ELSE t = round(t) END) IS NOT 0
ORDER BY side DESC, o.n DESC, runs DESC, name LIMIT 1
