"""rocprofv3's JSON (R10 to R14): a real file by its counts and against the oracle (oracle_rocprof.py), random ones
(generate_rocprof.py) against the oracle, and damaged ones.

    SEED    begins another series of documents (default 1)
"""
import json
import os
import random
import sqlite3
import unittest

import generate_rocprof
import oracle_rocprof
from made import InFolder, write
from support import corpus, series
from test_rocpd import AgainstOracle, ROWS

SEED = int(os.environ.get("SEED") or 1)


class Real(InFolder, AgainstOracle):
    """PyTorch training on one MI350X, with kernels only."""

    def test_counts_and_sums(self):
        path = corpus("rocpd", "908_results.json.gz")
        self.assertEqual(self.rows("SELECT cat, count(*), sum(dur_ns), count(link), count(DISTINCT stream),"
                                   " count(DISTINCT correlation), min(correlation), max(correlation), min(pid),"
                                   " max(pid) FROM trace_events(?) GROUP BY cat", path),
                         [("kernel", 43915, 4441741378, 0, 567, 43915, 1, 43915, 0, 0)])
        self.assertEqual(self.rows("SELECT sum(name = '__amd_rocclr_copyBuffer'), sum(name ="
                                   " '__amd_rocclr_fillBufferAligned'), sum(name LIKE 'ncclDevKernel_Generic_1%'),"
                                   " count(DISTINCT args ->> 'queue') FROM trace_events(?)", path),
                         [(3153, 3213, 1310, 5)])
        self.assertEqual(self.rows("SELECT rank, rows, events, start_ns >= 63855948165371, end_ns <= 63875155697841"
                                   " FROM trace_files(?)", path), [(0, 43915, 43915, 1, 1)])
        self.assertEqual({problem["what"]: problem["count"] for problem in json.loads(self.value(
            "SELECT problems FROM trace_files(?)", path))}, {"device work without a launch": 43915})

    def test_every_record(self):
        path = corpus("rocpd", "908_results.json.gz")
        self.compare(self.db, path, oracle_rocprof.read_trace(path))


class Random(InFolder, AgainstOracle):
    def test_documents(self):
        rows = 0
        for seed in range(SEED * 10_000, SEED * 10_000 + series(20, 500)):
            rng = random.Random(seed)
            document = generate_rocprof.generate(rng, tidy=rng.random() < 0.2)
            name, indent = rng.choice((("x.json", None), ("x_results.json", 1), ("x_results.json.gz", None)))
            path = write(name, json.dumps(document, indent=indent))
            trace = oracle_rocprof.read_trace(path)
            with self.subTest(seed=seed):
                self.compare(self.db, path, trace)
            rows += len(trace.rows)
        self.assertGreater(rows, series(500, 5000))

    def test_changed_bytes(self):
        for seed in range(SEED * 1000, SEED * 1000 + series(40, 4000)):
            rng = random.Random(seed)
            data = bytearray(json.dumps(generate_rocprof.generate(random.Random(seed % 5), tidy=True)).encode())
            for _ in range(rng.choice((1, 3))):
                at = rng.randrange(30, len(data))
                new = rng.choice((b"", b'"', b"{", b"}", b"[", b"]", b",", b"\0", b"1" * 30))
                data[at:at + rng.choice((0, 1, 50))] = new
            path = write("x.json", bytes(data))
            for sql in ("SELECT count(*), sum(length(args)) FROM trace_events(?)", "SELECT * FROM trace_diff(?1, ?1)"):
                with self.subTest(seed=seed):
                    try:
                        self.rows(sql, path)
                    except sqlite3.Error as error:
                        self.assertRegex(str(error), "^trace_(events|diff): ")


class Rules(InFolder):
    def made(self, seed=1):
        return generate_rocprof.generate(random.Random(seed), tidy=True)

    def test_cut(self):
        """T15: records before the cut are there."""
        text = json.dumps(self.made())
        whole = self.rows(ROWS, write("whole.json", text))
        first, end = text.index('"kernel_dispatch"'), text.index('"memory_allocation"')
        counts = set()
        for part in (0.2, 0.4, 0.7, 0.9):
            path = write("cut.json", text[:first + int((end - first) * part)])
            found = self.rows(ROWS.replace(", link, iteration", ""), path)
            counts.add(len(found))
            self.assertLess(len(found), len(whole))
            with self.assertRaisesRegex(sqlite3.Error, "'cut.json': the document is truncated at byte"):
                self.rows("SELECT * FROM trace_diff(?1, ?1)", path)
        self.assertEqual(len(counts), 4)

    def test_only_one_process(self):
        document = self.made()
        document["rocprofiler-sdk-tool"] *= 2
        path = write("two.json", document)
        self.assertEqual(len(self.rows(ROWS, path)), len(self.rows(ROWS, write("one.json", self.made()))))
        with self.assertRaisesRegex(sqlite3.Error, "only the first process is read: another one begins at byte"):
            self.rows("SELECT * FROM trace_diff(?1, ?1)", path)

    def test_sorted_keys(self):
        """R10: with sorted keys, records precede the objects that they refer to, and the problem reports this."""
        path = write("sorted.json", json.dumps(self.made(), sort_keys=True))
        problems = {each["what"]: each for each in json.loads(self.value("SELECT problems FROM trace_files(?)", path))}
        problem = problems["key after the records that refer to it: names are missing"]
        self.assertEqual(problem["count"], 3)
        with open(path, encoding="utf-8") as file:
            self.assertTrue(file.read()[:problem["first_byte"] - 1].endswith('"kernel_symbols": '))

    def test_other_keys_that_begin_alike(self):
        """The whole key counts: a document with a similar key is a trace, gzipped or not."""
        event = {"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1}
        for key in ("rocprofiler-systems", "rocprofiler-s", "rocprofiler-sdk-tool-2", "rocprofiler-sdk-too"):
            text = json.dumps({key: "1.0", "traceEvents": [event]}, separators=(",", ":"))
            for name in ("t.json", "t_results.json", "t.json.gz"):
                self.assertEqual(self.rows("SELECT name FROM trace_events(?)", write(name, text)), [("a",)])

    def test_long_values(self):
        """Unneeded values may be longer than the memory limit; nesting is limited."""
        document = self.made()
        document["rocprofiler-sdk-tool"][0]["code_objects"] = ["x" * 2**20] * 20
        self.assertEqual(self.rows(ROWS, write("long.json", document)),
                         self.rows(ROWS, write("short.json", self.made())))
        text = json.dumps(self.made()).replace('"code_objects": [', '"code_objects": [' + "[" * 100 + "]" * 100 + ", ")
        with self.assertRaisesRegex(sqlite3.Error, "brackets nested too deep at byte"):
            self.rows("SELECT * FROM trace_diff(?1, ?1)", write("deep.json", text))

    def test_other_documents(self):
        for text, error in (('{"rocprofiler-sdk-tool": 5}', None), ('{"rocprofiler-sdk-tool": []}', None),
                            ('{"x": 1, "rocprofiler-sdk-tool": []}', "list traceEvents")):
            path = write("x.json", text)
            if error:
                with self.assertRaisesRegex(sqlite3.Error, error):
                    self.rows(ROWS, path)
            else:
                self.assertEqual(self.rows(ROWS, path), [])


if __name__ == "__main__":
    unittest.main()
