-- recompile: torch.compile compiles again inside of steps
-- Rank: 5
-- Said: always
-- Alike: within
-- Evidence: its own events, such as dynamo and compile_file, in steps of one side, with 5 % of the step or more
WITH n AS (
  SELECT max(ct) AS ct, max(tt) AS tt FROM op
  WHERE name IN ('dynamo', '_compile.compile_inner', 'entire_frame_compile', 'backend_compile', 'inductor_compile',
    'compile_file')
     OR name GLOB '*compile_inner (dynamo_timed)' OR name GLOB 'compile_fx* (dynamo_timed)'
       OR name GLOB 'compile_file (dynamo_timed)')
SELECT CASE WHEN tt > ct THEN printf('torch.compile compiles again in these steps: %.0f ms per step', tt / 1000)
            ELSE printf('torch.compile compiled in the steps of control: %.0f ms per step', ct / 1000) END,
       CASE WHEN tt > ct
         THEN 'TORCH_LOGS=recompiles says why; torch._dynamo.mark_dynamic, dynamic=True, or pad the shapes'
         ELSE 'record control later' END,
       cause.id
FROM n LEFT JOIN cause ON (cause.diff_time > 0) = (tt > ct) AND (cause.name IN ('dynamo', '_compile.compile_inner')
  OR cause.name GLOB '*compile*' OR cause.name GLOB '*CompiledFunction*' OR cause.name GLOB 'TorchDynamo*')
WHERE abs(tt - ct) > 50 * (SELECT max(control_ms, test_ms) FROM pair) AND max(ct, tt) > 3 * min(ct, tt)
