#!/usr/bin/python3
"""The predictions of trace_undo and trace_what_if for the recordings of record_gains.py and record_gpu.py, beside the
recorded times.

    usage: score_gains.py FOLDER > predicted.csv      a row per experiment and run: us per step, mean of steady steps
           score_gains.py --table FOLDER              the table of examples/gains.md, from runs.csv and predicted.csv
           score_gains.py --gpu FOLDER, --gpu-table FOLDER    the same for recordings of a GPU

undone is the step of test minus the gains of undoing the causes that are the planted change. applied is the step of
control with the planted change, at its length in test; it is empty where trace_what_if cannot express the change. On a
GPU, causes are undone together, so each counts with its gain after those before it (E9.7).
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
# experiment: the names of the causes that are the planted change
CAUSES = {
    "operator": ["aten::sort"], "loop": ["aten::mul", "aten::add"],
    "heads": ["aten::matmul", "aten::select", "aten::stack", "between aten::matmul and aten::select"],
    "sleep": ["between aten::mean and aten::ones_like"], "loader": [NEXT], "rank_operator": ["aten::sort"],
    "rank_loader": [NEXT], "hidden": ["aten::mul", "aten::add"],
    "transfer": ["gloo:all_reduce",
                 "between c10d::allreduce_ and aten::div_", "c10d::allreduce_", "aten::div_"]}
BETWEEN = ["between forward and backward"]
# the same on a GPU; ALL: the planted change is not a single operator
ALL = ["%"]
GPU_CAUSES = {
    "attention": ["aten::softmax", "%SoftmaxBackward0", "%ToCopyBackward0"],
    "copies": ["aten::clone", "%CloneBackward0"],
    "sort": ["aten::sort"], "float32": ALL, "width": ALL, "checks": ["aten::item", "aten::isfinite", "aten::all"],
    "pageable": ["aten::to"], "prefetch": ["aten::to"], "checkpoint": ALL, "neighbour": ALL, "hidden": BETWEEN,
    "sleep": BETWEEN, "loop": ["aten::mul", "aten::add"],
    "optimizer": ["aten::mul_", "Optimizer.step#AdamW.step", "cudaLaunchKernel", "waiting for the host%"],
    "loader": [NEXT], "graphed": ALL, "compiled": ALL}
# experiment: the rank, the longer event, and the change that sets it, without the time
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
TOGETHER = """WITH undone AS (
      SELECT row_number() OVER () AS place, kind, coalesce(name, text) AS name, diff_time, gain_alone, cumulative
      FROM trace_undo(?1, ?2))
    SELECT sum(coalesce(b.cumulative, ?3) - a.cumulative), count(a.gain_alone)
    FROM undone AS a LEFT JOIN undone AS b ON b.place = a.place - 1
    WHERE a.kind IS NOT NULL AND ({})"""
LENGTH = """SELECT sum(dur) / count(DISTINCT iteration) FROM trace_events(?) WHERE ranks = ? AND name LIKE ?
    AND depth = (SELECT min(depth) FROM trace_events(?) WHERE ranks = ? AND name LIKE ?)"""


def scored(db, experiment, *sides):
    """The steps of control and test in a pair, and the prediction of each from the other, in us."""
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


def scored_on_gpu(db, experiment, *sides):
    """The same without applied; undone is None if the gain is unknown."""
    control, test = (db.execute(STEP, (side, "[]")).fetchone()[0] for side in sides)
    names = GPU_CAUSES[experiment]
    sql = TOGETHER.format(" OR ".join(f"a.name LIKE ?{4 + i}" for i in range(len(names))))
    gain, known = db.execute(sql, (*sides, test, *names)).fetchone()
    return [control, test, test - (gain or 0) if known or gain is None else None, None]


def score(folder, causes, scored):
    db, table = connect(), csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["experiment", "run", "control_us", "test_us", "undone_us", "applied_us"])
    for experiment in causes:
        for path in sorted(glob.glob(os.path.join(folder, experiment, "test", "*"))):
            run = os.path.basename(path)
            sides = (os.path.join(folder, experiment, side, run) for side in ("control", "test"))
            found = scored(db, experiment, *sides)
            table.writerow([experiment, run] + ["" if each is None else f"{each:.1f}" for each in found])


def read(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def print_table(folder):
    """The recorded steps on rank 0 of all runs, and the median prediction over runs, in ms."""
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


def print_gpu_table(folder):
    """Medians over runs in ms, with the gain in untraced steps."""
    recorded, predicted = read(folder, "runs.csv"), read(folder, "predicted.csv")
    print("| experiment | control | test | test, undone | gain | predicted | gain, untraced |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for experiment in dict.fromkeys(row["experiment"] for row in predicted):
        rows = [row for row in predicted if row["experiment"] == experiment]
        runs = {row["run"] for row in rows}

        def middle(name, less=None):
            found = [float(row[f"{name}_us"]) - float(row[f"{less}_us"] if less else 0) for row in rows
                     if row[f"{name}_us"] and row[f"{less or name}_us"]]
            return statistics.median(found) / 1e3 if found else None

        untraced = {(row["side"], row["run"]): float(row["untraced_ms"]) for row in recorded
                    if row["experiment"] == experiment and row["run"] in runs}
        real = statistics.median(untraced["test", run] - untraced["control", run] for run in runs)
        undone, gain = middle("undone"), middle("test", "control")
        cells = [f"`{experiment}`", f"{middle('control'):.2f}", f"{middle('test'):.2f}",
                 "not known" if undone is None else f"{undone:.2f}", f"{gain:.2f}"]
        if undone is None:
            cells.append("not known")
        else:
            found = middle("test", "undone")
            cells.append(f"{found:.2f}" + f" ({100 * (found / gain - 1):+.0f} %)" * (abs(gain) > 0.5))
        print(f"| {' | '.join([*cells, f'{real:.2f}'])} |")


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        print_table(sys.argv[2])
    elif sys.argv[1] == "--gpu-table":
        print_gpu_table(sys.argv[2])
    elif sys.argv[1] == "--gpu":
        score(sys.argv[2], GPU_CAUSES, scored_on_gpu)
    else:
        score(sys.argv[1], CAUSES, scored)
