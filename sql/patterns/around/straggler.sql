-- straggler: one rank holds up the job
-- Rank: 70
-- Said: a tenth
-- Evidence: causes in one rank's own steps alone make up half of the difference or more
WITH n AS (SELECT rank, sum(diff_time) AS us FROM cause WHERE rank IS NOT NULL GROUP BY rank
  ORDER BY abs(sum(diff_time)) DESC LIMIT 1)
SELECT printf('rank %d %s: ', n.rank, CASE WHEN us > 0 THEN 'holds up the job' ELSE 'held up the job in control' END)
       || (SELECT replace(text, printf(', only on rank %d', x.rank), '') FROM cause AS x WHERE x.rank = n.rank
         ORDER BY abs(diff_time) DESC),
       printf('look at rank %d: its data, its GPU, its machine', n.rank), cause.id
FROM n LEFT JOIN cause ON cause.rank = n.rank
WHERE us / (SELECT gap FROM pair WHERE is_sure AND alike > 0.95) BETWEEN 0.5 AND 1.25
