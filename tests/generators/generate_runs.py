#!/usr/bin/env python3
"""Generates the data of examples/runs.md: five runs per side of one program, in turns.

    generate_runs.py [OUTDIR]            writes OUTDIR/runs.csv, OUTDIR/{control,test}/0{1-5}/rank0.pt.trace.json.gz
    generate_runs.py --check [OUTDIR]    exits with 1 if the files there differ

OUTDIR is examples/runs by default. Nothing is recorded, and the traces say so. generate_joins.py
has the program. Each run has a random effect: a factor for its kernels' times that varies with RUN (a standard
deviation of logarithms) between runs, and with STEP between steps. Planted:

    1. in test, layer_norm's kernel takes 15 % longer
    2. the optimizer's kernel varies by 8 % between runs of the same program
    3. the first runs of control and test differ by chance: in that pair alone, the optimizer seems to have changed
"""
import csv
import datetime
import io
import random

from generate_joins import A100, ADAM, KERNELS, LAYER_NORM, MS, document, main, trace

RUNS, RUN, STEP = 5, 0.006, 0.01
WIDE, SLOWER = 0.08, 1.15
SEED = 5  # one whose first pair fits 3
START = int(datetime.datetime(2025, 6, 2, 9, 15, tzinfo=datetime.timezone.utc).timestamp()) * 1000 * MS
BETWEEN = 90_000 * MS  # between the starts of consecutive runs


def run(side, luck):
    """Its kernels, each a function of the step."""
    noise = {}
    for name, (operators, ns) in KERNELS.items():
        factor = luck.lognormvariate(0, WIDE if name == ADAM
                                     else RUN) * (SLOWER if name == LAYER_NORM and side == "test" else 1)
        noise[name] = (operators, lambda number, ns=ns * factor: round(ns * luck.lognormvariate(0, STEP)))
    return noise


def turns():
    """(side, number of the run) in order: control, test, test, control, control, ..."""
    for number in range(1, RUNS + 1):
        yield from ((side, number) for side in (("control", "test"), ("test", "control"))[(number + 1) % 2])


def generate():
    """The name in the folder and the bytes of each file."""
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
