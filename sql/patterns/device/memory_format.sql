-- memory_format: convolutions get another layout of their input, or change it more or less often
-- Rank: 24
-- Said: always
-- Evidence: kernels that transpose between NCHW and NHWC changed in number; without a device, the input
--   strides of four of five convolutions have the other layout: in NHWC, channels are one element apart
WITH n AS (
  SELECT total(c) AS c, total(t) AS t, total(ct) AS ct, total(tt) AS tt FROM kernel
  WHERE op GLOB '*onv*' AND (name GLOB '*nchwToNhwc*' OR name GLOB '*nhwcToNchw*' OR name GLOB '*nchw2nhwc*'
                             OR name GLOB '*batched_transpose*')),
may AS (
  SELECT control_rank, test_rank FROM pair
  WHERE of_host AND EXISTS (SELECT 1 FROM op WHERE name = 'aten::convolution' AND c = t)),
e AS (
  SELECT 0 AS side, args FROM may CROSS JOIN trace_events(:control, control_rank, NULL, NULL, NULL, :steps)
  WHERE name = 'aten::convolution'
  UNION ALL SELECT 1, args FROM may CROSS JOIN trace_events(:test, test_rank, NULL, NULL, NULL, :steps)
  WHERE name = 'aten::convolution'),
h AS (
  SELECT avg(at ->> '$[1]' = 1) FILTER (WHERE side = 0) AS c, avg(at ->> '$[1]' = 1) FILTER (WHERE side = 1) AS t
  FROM (SELECT side, args -> '$."Input Strides"[0]' AS at, args -> '$."Input Dims"[0]' AS dims FROM e)
  WHERE json_array_length(at) = 4 AND dims ->> '$[1]' > 1)
SELECT printf('convolutions change the layout %s often: %g -> %g times per step, %.2f -> %.2f ms',
              CASE WHEN t > c THEN 'more' ELSE 'less' END, c, t, ct / 1000, tt / 1000),
       'model and inputs .to(memory_format=torch.channels_last)', cause.id
FROM n CROSS JOIN pair
LEFT JOIN cause ON cause.class = 'compute' AND cause.id IN (SELECT id FROM cause_op WHERE name GLOB '*onv*')
WHERE abs(t - c) >= 1 AND max(c, t) > 1.5 * min(c, t) AND abs(tt - ct) > 10 * control_ms AND NOT other_device
UNION ALL
SELECT CASE WHEN c > t THEN 'convolutions compute in NCHW, where control has channels_last'
            ELSE 'convolutions compute in channels_last, where control has NCHW' END,
       CASE WHEN c > t THEN 'model and inputs .to(memory_format=torch.channels_last)' END, cause.id
FROM h LEFT JOIN cause ON cause.id IN (SELECT id FROM cause_op WHERE name GLOB '*onv*' OR name GLOB '*atch*orm*')
WHERE abs(c - t) > 0.8
