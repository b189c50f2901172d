-- kernel_rate: an operator does the same work on the device at another rate
-- Rank: 83
-- Said: always
-- Evidence: trace_diff_by: an operator of a tenth of the difference has the same executions, FLOPs and bytes, but takes
--   1.25 times as long, while the other kernels that run as often do not
-- Not: why, such as another layout or kernel; of a job, only the lowest rank is measured
WITH may AS (
  SELECT DISTINCT cause_op.name, control_rank AS cr, test_rank AS tr
  FROM pair CROSS JOIN cause CROSS JOIN cause_op USING (id)
  WHERE is_clear AND NOT other_device AND class = 'compute' AND added = 0 AND removed = 0
    AND abs(diff_time) > 0.1 * abs(gap)),
n AS (
  SELECT may.name, control_flops IS NOT NULL AND control_bound IS NOT 'memory' AS of_flops, control_tflops AS cf,
         test_tflops AS tf, control_flops_pct AS cfp, test_flops_pct AS tfp, control_gbs AS cb, test_gbs AS tb,
         control_gbs_pct AS cbp, test_gbs_pct AS tbp
  FROM (SELECT DISTINCT cr, tr FROM may) AS r CROSS JOIN trace_diff_by(:control, :test, 'top_op', r.cr, r.tr,
    :control_iteration, :test_iteration, 'GPU', NULL, :steps) AS w
  JOIN may ON may.name = replace(w.top_op, 'autograd::engine::evaluate_function: ', '')
  WHERE control_counts = test_counts AND control_flops IS test_flops AND control_bytes = test_bytes
    AND max(control_device_time, test_device_time) > 1.25 * min(control_device_time, test_device_time)
    AND (SELECT max(total(k.ct), total(k.tt)) <= 1.25 * min(total(k.ct), total(k.tt)) FROM kernel AS k
         WHERE k.c = k.t AND k.type = 'COMPUTATION' AND k.top_op IS NOT w.top_op)
  ORDER BY abs(diff_device_time) DESC, w.top_op LIMIT 1)
SELECT CASE WHEN of_flops THEN printf('%s %.4g -> %.4g TFLOP/s', name, cf, tf)
            ELSE printf('%s %.4g -> %.4g GB/s', name, cb, tb) END
       || CASE WHEN iif(of_flops, cfp, cbp) IS NULL THEN ''
            ELSE printf(' (%.0f -> %.0f %% of the peak)', iif(of_flops, cfp, cbp), iif(of_flops, tfp, tbp)) END,
       'versions, memory layout and alignment choose its kernels: compare these', NULL
FROM n
