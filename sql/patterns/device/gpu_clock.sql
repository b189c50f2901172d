-- gpu_clock: all kernels take longer, or shorter, by one factor
-- Rank: 69
-- Said: a tenth
-- Evidence: trace_clock_factor finds one factor, of all ranks or of one, and the devices have one name
-- Not: why the clock differs
WITH n AS (
  SELECT total(outcome = 'one factor') AS n, count(*) AS ranks,
         avg(factor) FILTER (WHERE outcome = 'one factor') AS factor,
         min(rank) FILTER (WHERE outcome = 'one factor') AS rank
  FROM clock WHERE (SELECT is_sure AND NOT other_device FROM pair))
SELECT printf('%sall kernels take %.2f times as long, as with another clock',
              CASE WHEN n = ranks THEN '' ELSE printf('on rank %d ', n.rank) END, factor),
       'nvidia-smi -q -d CLOCK,PERFORMANCE: power or heat may slow it; nvidia-smi -lgc fixes the clock', cause.id
FROM n LEFT JOIN cause ON cause.class IN ('compute', 'comm') AND cause.added = 0 AND cause.removed = 0 AND (n = ranks
  OR cause.rank = n.rank)
WHERE (n = ranks OR n = 1) AND max(factor, 1 / factor) < 3.5
