"""The unit tests of the layers below SQLite: each TEST of tests/c/unit/*_test.c is a test here. `make unit` builds
them.

    UNIT    the folder with the programs  (default build/unit)
    RUNNER  the emulator that runs them   (default none)
"""
import functools
import glob
import os
import re
import subprocess
import unittest

from support import ROOT, SHORTENED, SLOW

UNIT = os.path.abspath(os.environ.get("UNIT") or os.path.join(ROOT, "build", "unit"))
RUNNER = os.environ.get("RUNNER", "").split()
SOURCES = sorted(glob.glob(os.path.join(ROOT, "tests", "c", "unit", "*_test.c")))
SECONDS = 600
if SLOW == "skip":  # unit_series() in unit.h
    SHORTENED.add(__name__)


@functools.lru_cache(maxsize=None)
def run(program):
    """Exit status and output of a program, which runs only once."""
    done = subprocess.run([*RUNNER, os.path.join(UNIT, program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def output_of(name, output):
    """The lines that a test printed, or all if it did not finish."""
    lines = []
    for line in output.splitlines():
        lines.append(line)
        if re.fullmatch(r"(not )?ok \w+", line):
            if line.endswith(f"ok {name}"):
                return "\n".join(lines)
            lines.clear()
    return output


def one_test(program, name):
    def test(self):
        _, output = run(program)
        if f"ok {name}" not in output.splitlines():
            self.fail(f"{program}: {name}\n{output_of(name, output)}")
    return test


def whole_program(program):
    def test(self):
        status, output = run(program)
        if status != 0 and not re.search(r"^not ok ", output, re.M):
            self.fail(f"{program} ended with {status}\n{output[-4000:]}")
    return test


class Unit(unittest.TestCase):
    def test_there_are_some(self):
        self.assertTrue(SOURCES)


for source in SOURCES:
    program = os.path.basename(source)[:-len(".c")]
    stem = program[:-len("_test")]
    with open(source, encoding="utf-8") as text:
        names = re.findall(r"^TEST\((\w+)\)", text.read(), re.M)
    setattr(Unit, f"test_{stem}", whole_program(program))
    for name in names:
        setattr(Unit, f"test_{stem}_{name}", one_test(program, name))
