"""Record two steps on a CPU, with all three files: trace.json.gz, execution_trace.json.gz and memory.raw.json.gz."""
import gzip
import os
import sys
import warnings

import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, record_function

os.chdir(sys.argv[1] if len(sys.argv) > 1 else ".")
warnings.simplefilter("ignore", FutureWarning)  # later versions of PyTorch may lack export_memory_timeline
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 16))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

observer = ExecutionTraceObserver().register_callback("execution_trace.json")
with profile(activities=[ProfilerActivity.CPU], execution_trace_observer=observer,
             record_shapes=True, profile_memory=True, with_stack=True) as profiler:  # all for the memory timeline
    for _ in range(2):
        with record_function("forward"):
            loss = model(torch.randn(32, 64)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        profiler.step()

profiler.export_chrome_trace("trace.json.gz")
profiler.export_memory_timeline("memory.raw.json.gz", device="cpu")
with open("execution_trace.json", "rb") as file, gzip.open("execution_trace.json.gz", "wb") as packed:
    packed.write(file.read())
os.remove("execution_trace.json")
