#!/usr/bin/python3
"""tracediff from Python: which names changed most between two runs?

usage: examples/host.py [CONTROL TEST]
"""
import os
import sqlite3
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXTENSION = os.environ.get("TRACEDIFF") or os.path.join(ROOT, "dist", "tracediff.so")

QUERY = """
    SELECT name, counts_change, diff_duration_per_step
    FROM trace_diff(:control, :test)
    LIMIT 5"""


def main(control, test):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?)", (EXTENSION,))
    db.enable_load_extension(False)
    for name, change, us in db.execute(QUERY, {"control": control, "test": test}):
        print(f"{us:10.1f} us per step  {change:9}  {name[:60]}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(sys.argv[1], sys.argv[2])
    else:
        main(os.path.join(ROOT, "examples", "cpu", "control"), os.path.join(ROOT, "examples", "cpu", "test"))
