-- compile: torch.compile made the code of one side
-- Rank: 39
-- Said: always
-- Alike: within
-- Evidence: compiled regions, functions or kernels on one side only. They replace work that this side runs less often
WITH n AS (
  SELECT total(c) AS c, total(t) AS t FROM op
  WHERE name GLOB 'Torch-Compiled Region*' OR name GLOB 'CompiledFunction*' OR name GLOB '*CompiledFxGraph*'
     OR name GLOB 'triton_*_fused_*'),
part(word) AS (
  VALUES ('CompiledFunction'), ('Torch-Compiled'), ('CompiledFxGraph'), ('triton_'), ('TorchDynamo'))
SELECT CASE WHEN t > 0 THEN 'the model is compiled: its kernels are those of torch.compile'
            ELSE 'the model is not compiled any more' END,
       CASE WHEN t = 0 THEN 'torch.compile; TORCH_LOGS=graph_breaks tells what it leaves out' END, cause.id
FROM n LEFT JOIN cause ON cause.class IN ('compute', 'memory', 'host') AND (
  cause.id IN (SELECT id FROM cause_op JOIN part ON instr(name, word))
  OR (cause.area IS NULL OR cause.area NOT GLOB 'Optimizer*') AND (
    cause.added + cause.removed > 0
    OR cause.id IN (SELECT id FROM cause_op JOIN op USING (name) WHERE op.c <> op.t AND (op.c > op.t) = (n.t > 0))))
WHERE (c > 0) <> (t > 0)
