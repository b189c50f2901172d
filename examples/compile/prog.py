# One run of six steps, recorded as a structured log (TORCH_TRACE=OUT) and as a profiler trace (OUT/rank0.json).
# python prog.py OUT PROGRAM control|test
import os, sys, time, json
out, program, side = sys.argv[1:4]
test = side == "test"
rank = int(os.environ.get("RANK", "0")); world = int(os.environ.get("WORLD_SIZE", "1"))
import torch
import torch._dynamo
from torch.profiler import profile, ProfilerActivity
if world > 1:
    import torch.distributed as dist
    dist.init_process_group("gloo")
torch.manual_seed(0)
B = "inductor" if program in ("recompile", "cache", "backward") else "eager"

def relu(x): return torch.relu(x)
def gelu(x): return torch.nn.functional.gelu(x)

def inner(x, act):
    return act(x * 2 + 1)

def late(x, y):
    return (x * (5.5 if test else 2.5) + y).relu()

def broken(x):
    y = x.sin()
    if test: print("mean", end="\r", flush=True)     # a graph break
    return (y + 1).sum()

def many(x, k):
    return (x + k).sum()

def give_up(gm, inputs):
    if test: raise RuntimeError("the backend gave up")
    return gm.forward

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
x = torch.randn(64, 64)
warm = lambda: step(0)
if program in ("recompile", "ranks"):              # in step 3 another function is passed
    f = torch.compile(inner, backend=B)
    def step(i): f(x, gelu if test and i == 3 and (world == 1 or rank == 1) else relu)
elif program == "shape":                           # from step 2 on, other sizes: one compile with a dynamic size
    f = torch.compile(inner, backend=B)
    def step(i): f(torch.randn(64 + (8 * i if test and i > 1 else 0), 64), relu)
elif program == "break":                           # first called in step 2
    f = torch.compile(broken, backend=B)
    def step(i): f(x) if i > 1 else x.sin()
elif program == "cache":                           # first called in step 3; the code of test is not in the cache
    f = torch.compile(late, backend=B)
    def step(i): f(x, x) if i > 2 else x.sin()
elif program == "fail":                            # first called in step 2; the backend raises
    torch._dynamo.config.suppress_errors = True
    f = torch.compile(inner, backend=give_up)
    def step(i): f(x, relu) if i > 1 else x.sin()
elif program == "limit":                           # more values than the recompile limit of 8
    f = torch.compile(many, backend=B, dynamic=False)
    def step(i):
        for j in range(3): f(x, (3 * i + j if test else 0))
elif program == "backward":                        # in step 3 a smaller batch
    f = torch.compile(model, backend=B)
    def step(i):
        model.zero_grad()
        f(x if not (test and i == 3) else x[:48].contiguous()).sum().backward()
if program not in ("break", "cache", "fail"):
    for _ in range(2): step(0)
with profile(activities=[ProfilerActivity.CPU]) as prof:
    for i in range(6):
        t0 = time.time_ns()
        with torch.profiler.record_function(f"ProfilerStep#{i}"):
            step(i)
            time.sleep(0.002)
            if world > 1: dist.barrier()
        mark = {"rank": rank, "step": i, "start_ns": t0, "end_ns": time.time_ns()}
        print(json.dumps(mark), file=open(f"{out}.marks", "a"))
prof.export_chrome_trace(f"{out}/rank{rank}.json")
if world > 1: dist.destroy_process_group()
