#!/usr/bin/env python3
"""Generates examples/counters: a run measured with CUPTI's range profiler.

    generate_counters.py [OUTDIR]            writes OUTDIR/rank0.pt.trace.json.gz
    generate_counters.py --check [OUTDIR]    exits with 1 if the file there differs

OUTDIR is examples/counters by default. The file is generated, not recorded, and says so. generate_joins.py
has the program. Kineto writes such runs without kernels, but with their launches and a range per kernel. Ranges are
spread evenly over the run, whenever their kernels ran, and CUPTI does not know the name of one.
"""
import datetime

from generate_joins import A100, ADAM, KERNELS, LAYER_NORM, MS, document, main, trace

START = int(datetime.datetime(2025, 6, 2, 9, 15, tzinfo=datetime.timezone.utc).timestamp()) * 1000 * MS
FFMA, FADD = (f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ("ffma", "fadd"))
# kernel: its instructions; for layer_norm they depend on the number of the launch
COUNTERS = {name: {FFMA: 65536 * (place + 1), FADD: 1024 * (place + 1)} for place, name in enumerate(KERNELS)}
GROWS, NAMELESS = LAYER_NORM, ADAM


def counters(name, number):
    return {**COUNTERS[name], FADD: COUNTERS[name][FADD] + (number if name == GROWS else 0)}


def events():
    made = [event for event in trace("counters", KERNELS) if event["pid"]]
    launches = [event for event in made if event["name"] == "cudaLaunchKernel"]
    each = max(event["ts"] + event["dur"] for event in made) // len(launches)
    for place in range(len(launches)):
        number, name = divmod(place, len(KERNELS))
        name = list(KERNELS)[name]
        made.append({"ph": "X", "cat": "cuda_profiler_range", "pid": 0, "tid": 0, "ts": place * each, "dur": each,
                     "name": "__missing__" if name == NAMELESS and number == 0 else name,
                     "args": counters(name, number)})
    return made


def generate():
    """The name in the folder and the bytes of the file."""
    yield "rank0.pt.trace.json.gz", document(events(), START, A100, "generate_counters.py")


if __name__ == "__main__":
    main(generate, "counters", "examples/counters")
