-- anomaly: autograd's anomaly mode checks every gradient for NaN
-- Rank: 12
-- Said: always
-- Evidence: only one side has aten::isnan inside the autograd engine's functions, AccumulateGrad aside: ten or more per
--   step, in five functions or more, and hardly elsewhere
-- Not: the user's own checks of parameters or losses, or in hooks
WITH n AS (
  SELECT total(t - c) AS d, min(total(c), total(t)) AS least, count(DISTINCT top_op) AS functions,
         (SELECT total(max(c, t)) FROM op WHERE name = 'aten::isnan') AS whole
  FROM under WHERE name = 'aten::isnan' AND top_op GLOB 'autograd::engine*Backward*')
SELECT CASE WHEN d > 0 THEN printf('autograd''s anomaly mode is on: %g checks for NaN per step', d)
            ELSE printf('autograd''s anomaly mode is off: it checked for NaN %g times per step', -d) END,
       CASE WHEN d > 0 THEN 'remove torch.autograd.set_detect_anomaly(True), or use it only to look for a NaN' END,
         cause.id
FROM n LEFT JOIN cause ON cause.kind = 'synchronized' OR cause.name IN (SELECT top_op FROM under
  WHERE name = 'aten::isnan')
WHERE least = 0 AND abs(d) >= 10 AND functions >= 5 AND abs(d) > 0.7 * whole
