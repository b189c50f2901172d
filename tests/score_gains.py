#!/usr/bin/python3
"""What trace_undo and trace_what_if predict for the recordings of record_gains.py, beside what was recorded.

usage: score_gains.py FOLDER > predicted.csv      a row for each experiment and run: us a step, mean of the steady steps
       score_gains.py --table FOLDER              the table of examples/gains.md, of runs.csv and predicted.csv in it

undone is the step of test without the causes that are the planted thing: less what undoing each brings. applied is the
step of control with the planted thing, which takes as long as it does in test; empty where trace_what_if has no words
for it.
"""
import csv
import glob
import json
import os
import statistics
import sys

from support import connect

NEXT = "enumerate(DataLoader)%"
FORWARD = "DistributedDataParallel.forward"
# experiment: the names of the causes that are what was planted
CAUSES = {
    "operator": ["aten::sort"], "loop": ["aten::mul", "aten::add"],
    "heads": ["aten::matmul", "aten::select", "aten::stack", "between aten::matmul and aten::select"],
    "sleep": ["between aten::mean and aten::ones_like"], "loader": [NEXT], "rank_operator": ["aten::sort"],
    "rank_loader": [NEXT], "hidden": ["aten::mul", "aten::add"],
    "transfer": ["gloo:all_reduce",
                 "between c10d::allreduce_ and aten::div_", "c10d::allreduce_", "aten::div_"]}
BETWEEN = ["between forward and backward"]
# the same on a GPU; ALL: what was planted is no operator by itself
ALL = ["%"]
GPU_CAUSES = {
    "attention": ["aten::softmax", "%SoftmaxBackward0", "%ToCopyBackward0"], "copies": ["aten::clone", "%CloneBackward0"],
    "sort": ["aten::sort"], "float32": ALL, "width": ALL, "checks": ["aten::item", "aten::isfinite", "aten::all"],
    "pageable": ["aten::to"], "prefetch": ["aten::to"], "checkpoint": ALL, "neighbour": ALL, "hidden": BETWEEN,
    "sleep": BETWEEN, "loop": ["aten::mul", "aten::add"],
    "optimizer": ["aten::mul_", "Optimizer.step#AdamW.step", "cudaLaunchKernel", "waiting for the host%"],
    "loader": [NEXT], "graphed": ALL, "compiled": ALL}
# experiment: the rank, the event that takes longer, and the change that sets it, of which the time is left out
CHANGES = {
    "operator": (0, "aten::sort", {"what": "host", "top_op": "aten::sort"}, "set_us"),
    "sleep": (0, None, {"what": "host", "name": "between aten::mean and aten::ones_like"}, "add_us"),
    "loader": (0, NEXT, {"what": "host", "annotation": NEXT}, "set_us"),
    "rank_operator": (1, "aten::sort", {"what": "host", "rank": 1, "top_op": "aten::sort"}, "set_us"),
    "rank_loader": (1, NEXT, {"what": "host", "rank": 1, "annotation": NEXT}, "set_us"),
    "hidden": (1, FORWARD, {"what": "host", "rank": 1, "annotation": FORWARD}, "add_us")}
SLEPT = 3000  # us

STEP = "SELECT avg(simulated_ns) / 1e3 FROM trace_what_if(?, ?)"
GAIN = "SELECT coalesce(sum(gain_alone), 0) FROM trace_undo(?, ?) WHERE {}"
LENGTH = """SELECT sum(dur) / count(DISTINCT iteration) FROM trace_events(?) WHERE ranks = ? AND name LIKE ?
    AND depth = (SELECT min(depth) FROM trace_events(?) WHERE ranks = ? AND name LIKE ?)"""


def scored(db, experiment, *sides):
    """The steps of control and test of a pair, and of each what is predicted from the other one; us."""
    def value(sql, *arguments):
        return db.execute(sql, arguments).fetchone()[0]

    control, test = (value(STEP, side, "[]") for side in sides)
    names = CAUSES[experiment]
    undone = test - value(GAIN.format(" OR ".join(["name LIKE ?"] * len(names))), *sides, *names)
    applied = None
    if experiment in CHANGES:
        rank, name, change, how = CHANGES[experiment]
        lengths = [value(LENGTH, *[side, rank, name] * 2) for side in sides] if name else [0, SLEPT]
        time = lengths[1] if how == "set_us" else lengths[1] - lengths[0]
        applied = value(STEP, sides[0], json.dumps([{**change, how: round(time, 3)}]))
    return [control, test, undone, applied]


def score(folder):
    db, table = connect(), csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["experiment", "run", "control_us", "test_us", "undone_us", "applied_us"])
    for experiment in CAUSES:
        for path in sorted(glob.glob(os.path.join(folder, experiment, "test", "*"))):
            run = os.path.basename(path)
            sides = (os.path.join(folder, experiment, side, run) for side in ("control", "test"))
            found = scored(db, experiment, *sides)
            table.writerow([experiment, run] + ["" if each is None else f"{each:.1f}" for each in found])


def read(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def print_table(folder):
    """The recorded steps, of rank 0 of all runs, and the median of the predictions of the runs; in ms."""
    recorded, predicted = read(folder, "runs.csv"), read(folder, "predicted.csv")
    print("| experiment | steps of control | test, undone | inside | gain | predicted | steps of test "
          "| control, applied | inside |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---|")
    for experiment in dict.fromkeys(row["experiment"] for row in predicted):
        rows = [row for row in predicted if row["experiment"] == experiment]

        def middle(name, less=None):
            found = [float(row[f"{name}_us"]) - float(row[f"{less}_us"] if less else 0) for row in rows
                     if row[f"{name}_us"]]
            return statistics.median(found) / 1e3 if found else None

        cells = [f"`{experiment}`"]
        for side, guess in (("control", "undone"), ("test", "applied")):
            of = [row for row in recorded if (row["experiment"], row["side"], row["rank"]) == (experiment, side, "0")]
            low, high = min(float(row["lowest_ms"]) for row in of), max(float(row["highest_ms"]) for row in of)
            now = middle(guess)
            cells.append(f"{middle(side):.2f} ({low:.2f} to {high:.2f})")
            cells += ["", ""] if now is None else [f"{now:.2f}", "yes" if low <= now <= high else "no"]
            if side == "control":
                gain, found = middle("test") - middle("control"), middle("test", "undone")
                cells += [f"{gain:.2f}", f"{found:.2f}" + f" ({100 * (found / gain - 1):+.0f} %)" * (gain > 0.2)]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        print_table(sys.argv[2])
    else:
        score(sys.argv[1])
