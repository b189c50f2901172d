"""`make bench` at its smallest size: every answer equals the generator's count."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

from bench import AWKWARD
from generate_bench import generate
from support import ROOT, slow


class Bench(unittest.TestCase):
    @slow
    def test_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "bench.py"), "small", folder],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for case in ("pair", "one file", "4 files", "plain", *AWKWARD, "not gzip", "snapshot", "json_each of sqlite3"):
            self.assertIn(f"\n| {case} ", ran.stdout)

    @slow
    def test_a_simulation(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "bench_gains.py"), folder, "0.3"],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("| 1000 events | graph, CPU s | simulation, CPU s | trace_gains, CPU s |", ran.stdout)

    def test_styles_write_the_same_events(self):
        with tempfile.TemporaryDirectory() as folder:
            path, plain, facts = os.path.join(folder, "rank3.json.gz"), None, None
            for style in ("kineto", *AWKWARD):
                found = generate(path, 0.05, style)
                with gzip.open(path, "rt") as file:
                    text = file.read()
                document = json.loads(text)
                self.assertEqual(found.pop("bytes"), len(text))
                self.assertEqual(len(document["traceEvents"]), found["events"])
                self.assertEqual(document["distributedInfo"]["rank"], 3)
                if style == "tids":
                    for item in (*document["traceEvents"], *plain["traceEvents"]):
                        item["tid"] = 0
                plain, facts = plain or document, facts or found
                with self.subTest(style):
                    self.assertEqual(document, plain)
                    self.assertEqual(found, facts)

    def test_a_seed_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for name, seed in (("a", 1), ("b", 1), ("c", 2)):
                path = os.path.join(folder, f"{name}.json.gz")
                generate(path, 0.05, seed=seed)
                with open(path, "rb") as file:
                    files.append(file.read())
        self.assertEqual(files[0], files[1])
        self.assertNotEqual(files[0], files[2])


if __name__ == "__main__":
    unittest.main()
