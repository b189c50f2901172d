-- cuda_graphs: CUDA graphs are replayed where control launched kernels, or the reverse
-- Rank: 40
-- Said: always
-- Alike: within
-- Evidence: calls of cudaGraphLaunch on one side only, and fewer launches of kernels there
WITH n AS (
  SELECT total(c) FILTER (WHERE name GLOB '*GraphLaunch') AS gc, total(t) FILTER (WHERE name GLOB '*GraphLaunch') AS gt,
         total(c) FILTER (WHERE name GLOB '*LaunchKernel*') AS lc,
           total(t) FILTER (WHERE name GLOB '*LaunchKernel*') AS lt FROM op)
SELECT CASE WHEN gt > 0 THEN printf('CUDA graphs are replayed: %g per step, other launches %g -> %g', gt, lc, lt)
            ELSE printf('CUDA graphs are not replayed any more: %g -> 0 per step, launches %g -> %g', gc, lc, lt) END,
       CASE WHEN gt > 0 THEN NULL
         ELSE 'torch.compile(mode=''reduce-overhead''); in a server: is this batch size captured?' END,
       cause.id
FROM n LEFT JOIN cause ON cause.kind IN ('host late', 'queued')
WHERE (gc > 0) <> (gt > 0) AND CASE WHEN gt > 0 THEN lt < 0.8 * lc ELSE lc < 0.8 * lt END
