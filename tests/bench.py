#!/usr/bin/python3
"""What a diff costs, as a whole process: CPU seconds, and memory at its peak.

With CORPUS set, the pair that README.md speaks of; without, the examples. Each run
is paired with one of zlib alone, decompressing the same files, so that the ratio
holds when the machine's speed does not.

usage: bench.py [RUNS]
"""
import glob
import os
import resource
import statistics
import subprocess
import sys

from support import EXAMPLES, EXTENSION

DIFF = "SELECT count(*) FROM trace_diff('{}', '{}');"
INFLATE = """
import sys, zlib
for path in sys.argv[1:]:
    stream = zlib.decompressobj(31)
    with open(path, 'rb') as file:
        while chunk := file.read(1 << 16):
            while chunk:
                stream.decompress(chunk, 1 << 18)
                chunk = stream.unconsumed_tail
"""


def cost(command):
    """CPU seconds and peak KiB of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, usage.ru_maxrss


def main(runs):
    folder = os.environ.get("CORPUS")
    pair = os.path.join(folder, "hta", "trace_diff") if folder else os.path.join(EXAMPLES, "cpu")
    sides = [os.path.join(pair, side) for side in ("control", "test")]
    files = [path for side in sides for path in sorted(glob.glob(os.path.join(side, "*.gz")))]
    diff = ["sqlite3", "-cmd", f".load {EXTENSION}", ":memory:", DIFF.format(*sides)]
    start = cost([sys.executable, "-c", "import sys, zlib"])[0]
    measured = []
    for _ in range(runs + 1):
        seconds, memory = cost(diff)
        alone = cost([sys.executable, "-c", INFLATE, *files])[0] - start
        measured.append((seconds, alone, seconds / alone, memory))
    for name, unit, values in zip(("diff", "zlib alone", "ratio", "peak memory"), ("CPU s", "CPU s", "", "KiB"),
                                  zip(*measured[1:])):
        print(f"{name:12} min {min(values):8.3f}  median {statistics.median(values):8.3f}  "
              f"max {max(values):8.3f} {unit}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
