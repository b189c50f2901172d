-- serving_mix: the requests are others: phases or sizes of steps have other shares
-- Rank: 90
-- Said: always
-- Evidence: the part of the difference that comes from other shares (trace_step_diff.diff_mix) is half of it or more
WITH n AS (
  SELECT total(diff_mix) AS mix, total(diff_within) AS within
  FROM trace_step_diff(CASE WHEN (SELECT strata > 1 AND alike > 0.8 FROM pair) THEN :control END, :test, :control_rank,
    :test_rank,
                       :control_iteration, :test_iteration, 'op', :clock, NULL, NULL, :steps))
SELECT printf('the requests are others: their mix makes %+.3f ms per step', mix / 1000),
       'compare steps of one phase and size', NULL
FROM n WHERE abs(mix) >= 0.5 * abs(mix + within) AND abs(mix) > (SELECT 10 * control_ms FROM pair)
