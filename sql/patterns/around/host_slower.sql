-- host_slower: the same operators take longer on the host, all by about one factor, and the device waits for them
-- Rank: 91
-- Said: a tenth
-- Evidence: trace_host_factor finds one factor; idle time of the device makes up half of the difference
WITH may AS (
  SELECT 1 FROM pair WHERE NOT of_host AND NOT other_device AND is_sure AND alike > 0.8
    AND (SELECT total(diff_time) FROM cause WHERE kind IN ('host late', 'queued', 'not recorded')) / gap > 0.5)
SELECT printf('the host is %.2f times as %s throughout', max(factor, 1 / factor), CASE WHEN factor > 1 THEN 'slow'
  ELSE 'fast' END),
       'another CPU or clock, other processes, cores too few: pin the process, check the load', cause.id
FROM trace_host_factor(CASE WHEN EXISTS (SELECT 1 FROM may) THEN :control END, :test) AS load
LEFT JOIN cause ON cause.kind IN ('host late', 'queued', 'not recorded') AND (cause.diff_time > 0) = (factor > 1)
WHERE load.kind = 'host' AND outcome = 'one factor'
