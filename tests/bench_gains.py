#!/usr/bin/python3
"""The cost of a simulation after a trace is read: CPU time of trace_what_if and trace_gains on generated traces.

    usage: bench_gains.py [FOLDER [MB ...]]      FOLDER, build/bench/gains by default, keeps the traces

Each size has its own process, which reads the trace and then runs the queries; the best of three counts. "graph" is
trace_what_if without a change: it finds the dependencies and goes through them once. "simulation" is the additional
cost of a change, one more pass. With the default sizes, it fails if the largest trace takes longer than MOST, or if its
events cost more than STEEPEST times the smallest trace's.
"""
import os
import resource
import subprocess
import sys

from bench import ROOT, figure, generated, table
from support import connect

SIZES = (88, 175, 350)  # MB of JSON: the last has a million events
ROUNDS = 3
MOST = {"simulation": 0.5, "trace_gains": 10}  # CPU seconds
STEEPEST = 2  # limit on the cost per event in the largest trace, as a multiple of the smallest
ASKED = {"graph": "trace_what_if(?, '[]')", "changed": "trace_what_if(?, '[{\"what\": \"device\", \"factor\": 0.5}]')",
         "trace_gains": "trace_gains(?)"}


def seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def ask(path):
    """Prints the CPU seconds of each query, after a first one that reads the trace."""
    db = connect()
    db.execute("SELECT count(*) FROM trace_step_time(?, NULL, 'all')", (path,)).fetchall()
    for question in ASKED.values():
        before = seconds()
        db.execute(f"SELECT count(*) FROM {question}", (path,)).fetchall()
        print(seconds() - before)


def costs(path):
    command = [sys.executable, __file__, "--ask", path]
    printed = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(ROUNDS)]
    best = dict(zip(ASKED, map(min, zip(*(map(float, lines.split()) for lines in printed)))))
    best["simulation"] = best.pop("changed") - best["graph"]
    return best


def main(folder=os.path.join(ROOT, "build", "bench", "gains"), *sizes):
    rows, each = [], []
    names = ("graph", "simulation", "trace_gains")
    for file in generated(os.path.abspath(folder), *((f"{size}/rank0.json.gz", size) for size in sizes or SIZES)):
        found = costs(file["path"])
        rows.append([figure(file["events"] / 1e3), *(found[name] for name in names)])
        each.append({name: cost / file["events"] for name, cost in found.items()})
    table(["1000 events", *(f"{name}, CPU s" for name in names)], rows)
    slow = [name for name, most in MOST.items() if found[name] > most]
    steep = [name for name in names if each[-1][name] > STEEPEST * each[0][name]]
    if (slow or steep) and not sizes:
        sys.exit(f"too slow: {slow}; not linear: {steep}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        ask(sys.argv[2])
    else:
        main(*sys.argv[1:])
