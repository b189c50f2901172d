-- graph_breaks: the compiled model is in more regions, or fewer
-- Rank: 42
-- Said: always
-- Alike: within
-- Evidence: both sides run numbered compiled regions; the number of different regions per step differs
-- Not: a region that is called more often
WITH n AS (SELECT count(DISTINCT name) FILTER (WHERE c >= 1) AS c, count(DISTINCT name) FILTER (WHERE t >= 1) AS t
           FROM op WHERE name GLOB 'Torch-Compiled Region: [0-9]*')
SELECT printf('torch.compile runs %d regions per step, where control runs %d: graph breaks?', t, c),
       CASE WHEN t < c THEN NULL
         ELSE 'TORCH_LOGS=graph_breaks shows the lines; torch.compile(fullgraph=True) makes them errors' END,
       cause.id
FROM n LEFT JOIN cause ON cause.name GLOB 'TorchDynamo*'
WHERE c > 0 AND t > 0 AND c <> t
