#!/usr/bin/env python3
"""Generate the data of examples/runs.md: five runs per side of one program, in turns.

    generate_runs.py [OUTDIR]            write OUTDIR/runs.csv, OUTDIR/{control,test}/0{1-5}/rank0.pt.trace.json.gz
    generate_runs.py --check [OUTDIR]    exit 1 if the files there are not these

OUTDIR is examples/runs by default. Nothing is a recording, and the traces say so. The program is that of
generate_joins.py. Each run has its own luck, as runs have: its kernels take a factor of their time, which differs by
RUN (a standard deviation of logarithms) from run to run, and by STEP from step to step. Planted:

  1. in test, layer_norm's kernel takes 15 % longer
  2. of the optimizer's kernel, runs differ by 8 %; it is the same program
  3. control's and test's first runs differ by luck: that pair alone looks as if the optimizer had changed
"""
import csv
import datetime
import io
import random

from generate_joins import A100, ADAM, KERNELS, LAYER_NORM, MS, document, main, trace

RUNS, RUN, STEP = 5, 0.006, 0.01
WIDE, SLOWER = 0.08, 1.15
SEED = 5  # one whose first pair is as in 3
START = int(datetime.datetime(2025, 6, 2, 9, 15, tzinfo=datetime.timezone.utc).timestamp()) * 1000 * MS
BETWEEN = 90_000 * MS  # from the start of a run to that of the next


def run(side, luck):
    """What its kernels are: each time a function of the step."""
    noise = {}
    for name, (operators, ns) in KERNELS.items():
        factor = luck.lognormvariate(0, WIDE if name == ADAM
                                     else RUN) * (SLOWER if name == LAYER_NORM and side == "test" else 1)
        noise[name] = (operators, lambda number, ns=ns * factor: round(ns * luck.lognormvariate(0, STEP)))
    return noise


def turns():
    """(side, number of the run) in their order: control, test, test, control, control, ..."""
    for number in range(1, RUNS + 1):
        yield from ((side, number) for side in (("control", "test"), ("test", "control"))[(number + 1) % 2])


def generate():
    """The name in the folder, and the bytes, of each file."""
    luck, rows = random.Random(SEED), [["number", "side", "run", "start", "seconds", "status"]]
    for at, (side, number) in enumerate(turns()):
        start = START + at * BETWEEN
        rows.append([at + 1, side, f"{side}/{number:02}", start // (1000 * MS), 41, 0])
        yield f"{side}/{number:02}/rank0.pt.trace.json.gz", document(
            trace(f"{side}{number}", run(side, luck)), start, A100, "generate_runs.py")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    yield "runs.csv", text.getvalue().encode()


if __name__ == "__main__":
    main(generate, "runs", "examples/runs.md")
