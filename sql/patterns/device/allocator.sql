-- allocator: the allocator asks the device for memory in steps
-- Rank: 26
-- Said: always
-- Evidence: cudaMalloc and cudaFree changed in number
WITH n AS (
  SELECT total(c) AS c, total(t) AS t, total(ct) AS ct, total(tt) AS tt,
         total(t) FILTER (WHERE name GLOB '*Free') AS free FROM op
  WHERE name IN ('cudaMalloc', 'cudaFree', 'hipMalloc', 'hipFree', 'cudaHostAlloc', 'cudaFreeHost', 'cuMemCreate',
    'cuMemUnmap'))
SELECT printf('device memory is allocated %s often: %g -> %g calls per step, %.1f -> %.1f ms',
              CASE WHEN t > c THEN 'more' ELSE 'less' END, c, t, ct / 1000, tt / 1000),
       CASE WHEN t < c THEN NULL
         WHEN free > 0 THEN 'memory is full: a smaller batch, or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True'
            ELSE 'sizes vary: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; skip warm-up steps' END, cause.id
FROM n LEFT JOIN cause ON cause.name IN ('cudaMalloc', 'cudaFree', 'hipMalloc', 'hipFree', 'cudaHostAlloc')
  OR cause.text GLOB '*cudaFree*' OR cause.text GLOB '*cudaMalloc*'
WHERE abs(t - c) >= 0.5 AND max(c, t) > 1.2 * min(c, t) AND (SELECT NOT control_of_host AND NOT test_of_host
  FROM pair) AND abs(tt - ct) > (SELECT 20 * control_ms FROM pair)
