-- other_gpu: the two traces are of different devices
-- Rank: 95
-- Said: always
-- Alike: no
-- Evidence: the names of the devices
SELECT printf('other device: %s -> %s', control_value, test_value),
       'compare on one device, or operator by operator', cause.id
FROM note LEFT JOIN cause ON cause.class IN ('compute', 'memory', 'comm') AND cause.kind = 'changed'
  AND (SELECT alike > 0.5 FROM pair)
WHERE topic = 'device' AND item = 'name' AND NOT same AND control_value <> '' AND test_value <> ''
