"""The inputs that `make fuzz` starts from, and those that once broke the reader, are read by all programs in
tests/c/fuzz.

    FUZZ  the folder of these programs  (default build/fuzz)
"""
import os
import subprocess
import unittest

from support import ROOT

FUZZ = os.environ.get("FUZZ") or os.path.join(ROOT, "build", "fuzz")


class Fuzz(unittest.TestCase):
    def replay(self, name, target="reader_fuzz"):
        program = os.path.abspath(os.path.join(FUZZ, target))
        if not os.path.exists(program):
            self.skipTest("the fuzz target is not built: make replay")
        folder = os.path.join(ROOT, "tests", "c", "fuzz", name)
        for file in sorted(os.listdir(folder)):
            with self.subTest(input=f"{name}/{file}"):
                done = subprocess.run([program, os.path.join(folder, file)], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_seeds(self):
        self.replay("seeds")

    def test_found(self):
        self.replay("found")

    def test_seeds_of_snapshots(self):
        self.replay("snapshot_seeds", "snapshot_fuzz")

    def test_seeds_of_logs(self):
        self.replay("compile_seeds", "compile_fuzz")

    def test_seeds_of_other_files(self):
        self.replay("rows_seeds", "rows_fuzz")
