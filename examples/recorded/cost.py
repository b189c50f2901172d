"""What the options of PyTorch's profiler cost: CPU time of a step and of a Python call, and size of a step's trace.

usage: OMP_NUM_THREADS=1 python cost.py

The model is small, so that the host decides how long a step takes. The rounds are in turns; the median step counts.
"""
import os
import statistics
import tempfile
import time
import torch

WAYS = {"no profiler": None, "record_shapes": {}, "and with_modules": {"with_modules": True},
        "and with_stack": {"with_stack": True},
        "and profile_memory": {"profile_memory": True}}
ROUNDS, STEPS = 6, 10

torch.set_num_threads(1)
model = torch.nn.Sequential(*(torch.nn.TransformerEncoderLayer(128, 4, 512, dropout=0, batch_first=True)
                              for _ in range(6)))
optimizer = torch.optim.AdamW(model.parameters())
batch = torch.randn(4, 32, 128)


def step():
    begun = time.process_time()
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
    return time.process_time() - begun


def call():
    pass


def microseconds_a_call(count=20000):
    begun = time.process_time()
    for _ in range(count):
        call()
    return 1e6 * (time.process_time() - begun) / count


def profiled(options, path):
    with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=2, active=STEPS, repeat=1),
                                record_shapes=True,
                                on_trace_ready=lambda profiler: profiler.export_chrome_trace(path),
                                **options) as profiler:
        times = []
        for _ in range(3 + STEPS):
            times.append(step())
            profiler.step()
    return times[3:]


times, sizes = {way: [] for way in WAYS}, {}
with tempfile.TemporaryDirectory() as folder:
    for _ in range(ROUNDS):
        for way, options in WAYS.items():
            path = os.path.join(folder, "trace.json")
            times[way] += [step() for _ in range(STEPS)] if options is None else profiled(options, path)
            sizes[way] = 0 if options is None else os.path.getsize(path) / STEPS
with torch.profiler.profile(with_stack=True):
    traced = microseconds_a_call()
first = statistics.median(times["no profiler"])
for way in WAYS:
    middle = statistics.median(times[way])
    print(f"{way:20}{1000 * middle:6.1f} ms per step  x {middle / first:4.2f}  {sizes[way] / 1e6:4.1f} MB per step")
print(f"an empty Python call takes {microseconds_a_call():.2f} us, with_stack {traced:.2f} us")
