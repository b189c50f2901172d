#!/usr/bin/env python3
"""Generates the data of examples/joins.md: traces of seven runs, a table of the runs, and samples of two GPUs.

    generate_joins.py [OUTDIR]            writes OUTDIR/runs.csv, OUTDIR/gpu.csv, OUTDIR/runs/*/rank0.pt.trace.json.gz
    generate_joins.py --check [OUTDIR]    exits with 1 if the files there differ

OUTDIR is examples/joins by default. Nothing is recorded, and the traces say so. A step loads a batch, copies it, runs
KERNELS one after another and waits for them; a run has 8 steps, the first of which starts workers. Planted:

    1. d20a9c4 fuses the optimizer: 12 ms per step less
    2. 7f3e5b8 makes layer_norm's kernel 19 ms longer; c8846ae repairs it
    3. runs of cluster beta are on faster GPUs
    4. 5a90d13 changes nothing, but the clock of GPU 0 falls from 1410 to 1005 MHz for 0.9 s: kernels that start in
       that period take 1410/1005 of their time, to the nanosecond; copies do not

The host's time varies between runs by up to 0.3 ms per step. Samples have the format of nvidia-smi, every 100 ms, in
local time of UTC+2; GPU 1 is not throttled, and lacks one sample.
"""
import argparse
import csv
import datetime
import gzip
import io
import json
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
US, MS = 1_000, 1_000_000
STEPS = range(20, 28)
FULL, THROTTLED = 1410, 1005            # MHz
THROTTLING = range(900 * MS, 1_800 * MS)    # ns after the first sample
LEAD, PERIOD, SAMPLES = 150 * MS, 100 * MS, 26   # the first sample is LEAD before the first step
ZONE = datetime.timezone(datetime.timedelta(hours=2))
A100, H100 = "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3"
HEADER = ["timestamp", "index", "utilization.gpu [%]", "power.draw [W]", "clocks.current.sm [MHz]"]

# kernel: the operators around its launch, and its ns at the full clock, or a function that gives the ns of a step
KERNELS = {
    "ampere_sgemm_128x64_tn": (("aten::linear", "aten::addmm"), 60 * MS),
    "void at::native::vectorized_layer_norm_kernel<float, float>(int)": (("aten::layer_norm",
                                                                          "aten::native_layer_norm"), 12 * MS),
    "ampere_sgemm_128x64_nt": (("autograd::engine::evaluate_function: AddmmBackward0", "aten::mm"), 110 * MS),
    "multi_tensor_apply_kernel<AdamFunctor>": (("Optimizer.step#AdamW.step", "aten::_foreach_addcdiv_"), 30 * MS)}
LAYER_NORM, ADAM = list(KERNELS)[1], list(KERNELS)[3]
FUSED = {ADAM: None, "multi_tensor_apply_kernel<FusedAdamFunctor>": (("Optimizer.step#AdamW.step",
                                                                      "aten::_fused_adamw_"), 18 * MS)}
SLOWER = {LAYER_NORM: (KERNELS[LAYER_NORM][0], 31 * MS)}
FASTER = {"ampere_sgemm_128x64_tn": (("aten::linear", "aten::addmm"), 28 * MS),
          "ampere_sgemm_128x64_nt": (("autograd::engine::evaluate_function: AddmmBackward0", "aten::mm"), 52 * MS)}
# revision, date, cluster, differences from KERNELS
RUNS = [("41c07d2", "2025-06-02", "alpha", {}),
        ("9be11f0", "2025-06-03", "alpha", {}),
        ("b77c310", "2025-06-03", "beta", FASTER),
        ("d20a9c4", "2025-06-04", "alpha", FUSED),
        ("7f3e5b8", "2025-06-05", "alpha", {**FUSED, **SLOWER}),
        ("c8846ae", "2025-06-06", "alpha", FUSED),
        ("5a90d13", "2025-06-07", "alpha", FUSED),
        ("e02f6a9", "2025-06-07", "beta", {**FASTER, **FUSED})]
MEASURED = "5a90d13"        # the run with the samples


def clock_at(ns):
    """MHz of GPU 0, at a time in ns after the first step's start."""
    return THROTTLED if ns + LEAD in THROTTLING else FULL


def trace(revision, kernels):
    """The events of a run; times are ns after the first step's start."""
    noise, events, now, correlation = random.Random(revision), [], 0, 100

    def event(cat, name, start, end, pid=4120, tid=4120, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": end - start,
                       "args": args})

    def launch(call, cat, name, ns, scaled):
        """Launches work; returns its end. The device is idle, or busy until `free`."""
        nonlocal correlation, now
        correlation += 1
        event("cuda_runtime", call, now, now + 8 * US, correlation=correlation)
        start = max(now + 11 * US, free + 2 * US)
        end = start + (ns * FULL // clock_at(start) if scaled and revision == MEASURED else ns)
        event(cat, name, start, end, pid=0, tid=7, device=0, stream=7, correlation=correlation)
        now += 9 * US
        return end

    for number in STEPS:
        begin = free = now
        loading = (400 * MS if number == STEPS[0] else 4 * MS) + noise.randrange(300) * US
        event("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", now + 10 * US,
              now + loading)
        now += loading + 20 * US
        at = now
        now += 3 * US
        free = launch("cudaMemcpyAsync", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 2 * MS, False)
        event("cpu_op", "aten::copy_", at, now)
        for name, kernel in kernels.items():
            if kernel:
                at, (operators, ns) = now + 5 * US, kernel
                now = at + 6 * US
                free = launch("cudaLaunchKernel", "kernel", name, ns(number) if callable(ns) else ns, True)
                for depth, operator in enumerate(operators):
                    event("user_annotation" if operator.startswith("Optimizer") else "cpu_op", operator,
                          at + 2 * depth * US, now + (4 - 2 * depth) * US)
                now += 5 * US
        event("cuda_runtime", "cudaStreamSynchronize", now, free + 5 * US)
        now = free + 20 * US
        event("user_annotation", f"ProfilerStep#{number}", begin, now)
        now += 10 * US
    return sorted(events, key=lambda event: event["ts"])


def base(date):
    """ns since 1970 of a run's first step: shortly after 09:15 UTC."""
    at = datetime.datetime.fromisoformat(f"{date}T09:15:00+00:00")
    return int(at.timestamp()) * 1000 * MS + 421_337_000


def document(events, start, device, by):
    """A file in Kineto's format, except for the order of its keys."""
    for event in events:
        event["ts"], event["dur"] = event["ts"] / US, event["dur"] / US
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}],
                       "generated_by": f"tests/{by} (not a recording)",
                       "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}, "baseTimeNanoseconds": start,
                       "displayTimeUnit": "ms", "traceEvents": events}, indent=1).encode()


def table(rows, separator=","):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().replace(",", separator).encode()


def samples(start):
    """A row for each GPU and time."""
    for number in range(SAMPLES):
        local = datetime.datetime.fromtimestamp((start - LEAD + number * PERIOD) // MS / 1000, ZONE)
        low = number * PERIOD in THROTTLING
        for gpu in (0, 1):
            throttled = low and gpu == 0
            values = ["99 %", f"{212.4 if throttled else 389.7 + gpu:.2f} W", f"{THROTTLED if throttled else FULL} MHz"]
            if gpu == 1 and number == 5:
                values = ["[N/A]", "[N/A]", "[N/A]"]
            yield [f"{local:%Y/%m/%d %H:%M:%S}.{local.microsecond // 1000:03}", gpu, *values]


def generate():
    """The name in the folder and the bytes of each file."""
    yield "runs.csv", table([["revision", "date", "cluster", "path"],
                             *([revision, date, cluster, f"examples/joins/runs/{revision}"]
                               for revision, date, cluster, _ in RUNS)])
    dates = {revision: date for revision, date, *_ in RUNS}
    yield "gpu.csv", table([HEADER, *samples(base(dates[MEASURED]))], ", ")
    for revision, date, cluster, changes in RUNS:
        yield f"runs/{revision}/rank0.pt.trace.json.gz", document(
            trace(revision, {**KERNELS, **changes}), base(date), H100 if cluster == "beta" else A100,
            "generate_joins.py")


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(gzip.compress(data, 9, mtime=0) if path.endswith(".gz") else data)


def holds(path, data):
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
            return file.read() == data
    except (OSError, EOFError):
        return False


def main(generate, outdir, page):
    parser = argparse.ArgumentParser(description=f"Generate the data of {page}.")
    parser.add_argument("outdir", nargs="?", default=os.path.join(ROOT, "examples", outdir))
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the files are not these")
    options = parser.parse_args()
    files = {os.path.join(options.outdir, name): data for name, data in generate()}
    if not options.check:
        for path, data in files.items():
            write(path, data)
    elif stale := [path for path, data in files.items() if not holds(path, data)]:
        sys.exit("not what is generated: " + ", ".join(stale))


if __name__ == "__main__":
    main(generate, "joins", "examples/joins.md")
