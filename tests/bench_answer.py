#!/usr/bin/python3
"""The cost of an answer without reading: CPU time of trace_summary, of its parts and of the page, divided by
trace_diff's.

    usage: bench_answer.py [CONTROL TEST [RANK]]     default: HTA's pair, in the folder CORPUS

Each query runs in a new sqlite3, seven times in turn, and the best run counts.
"""
import os
import subprocess
import sys

EXTENSION = os.environ.get("TRACEDIFF") or os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                                        "dist", "tracediff.so")
ROUNDS = 7


def seconds(sql):
    """CPU seconds, and the peak in MB."""
    process = subprocess.Popen(["sqlite3", "-cmd", f".load {EXTENSION}", ":memory:", sql], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"failed: {sql}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main(control=None, test=None, rank="NULL"):
    if not test:
        sample = os.path.join(os.environ["CORPUS"], "hta", "trace_diff")
        control, test = os.path.join(sample, "control"), os.path.join(sample, "test")
    sides, ranks = f"'{control}', '{test}'", f"{rank}, {rank}"
    read = "'all', 'all'" if rank == "'job'" else ranks
    asked = {"trace_diff": f"trace_diff({sides}, {read})", "trace_step_causes": f"trace_step_causes({sides}, {ranks})",
             "trace_verdict": f"trace_verdict({sides}, {ranks})",
             "trace_comparability": f"trace_comparability({sides}, {read})",
             "trace_comparability without shapes": f"trace_comparability({sides}, {read}, NULL, NULL, NULL, 0)",
             "trace_summary without gains": f"trace_summary({sides}, {ranks}) WHERE gains = 0",
             "trace_summary": f"trace_summary({sides}, {ranks})"}
    if rank != "'job'":
        asked["trace_diff_report without gains"] = f"trace_diff_report({sides}, {ranks}) WHERE gains = 0"
        asked["trace_diff_report"] = f"trace_diff_report({sides}, {ranks})"
    best = {}
    for _ in range(ROUNDS):
        for name, call in asked.items():
            best[name] = min(best.get(name, (9e9, 0)), seconds(f"SELECT * FROM {call}"))
    reading = best["trace_diff"][0]
    for name, (cpu, peak) in best.items():
        print(f"{name:36} {cpu:6.3f} s  x {cpu / reading:4.2f}  {peak:4.0f} MB")
    shapes = best["trace_comparability"][0] - best["trace_comparability without shapes"][0]
    cpu = best["trace_summary without gains"][0] - shapes
    print(f"{'the same without shapes, types':36} {cpu:6.3f} s  x {cpu / reading:4.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
