"""trace_busy_time, trace_overlap_time, trace_quantile, trace_stddev and trace_kernel_type:
what they give by their rules, and what they say to what makes no sense.
"""
import math
import os
import random
import sqlite3
import statistics
import threading
import time
import unittest

from support import connect, slow

I64 = 2**63 - 1
SLACK = float(os.environ.get("SLACK") or 1)


def length(intervals):
    """Of the union, from its definition: between two borders all or nothing is covered."""
    borders = sorted({border for start, dur in intervals for border in (start, start + dur)})
    return sum(after - before for before, after in zip(borders, borders[1:])
               if any(start <= before < start + dur for start, dur in intervals))


def common(sides):
    borders = sorted({border for side in sides for start, dur in side for border in (start, start + dur)})
    return sum(after - before for before, after in zip(borders, borders[1:])
               if all(any(start <= before < start + dur for start, dur in side) for side in sides))


class Aggregates(unittest.TestCase):
    def setUp(self):
        self.db = connect()
        self.db.execute("CREATE TABLE t(g, a, b, c)")

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()

    def fill(self, rows):
        self.db.execute("DELETE FROM t")
        self.db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)

    def assert_error(self, message, call):
        with self.assertRaises(sqlite3.OperationalError) as caught:
            self.db.execute(f"SELECT {call} FROM t").fetchall()
        self.assertEqual(str(caught.exception), message)
        self.assertEqual(self.one("SELECT trace_busy_time(1, 2)"), (2,))

    def test_lengths_of_random_intervals(self):
        seeded = random.Random(1)
        for count in [0, 1, 2, 3] + [seeded.randrange(60) for _ in range(300)]:
            spread = seeded.choice((5, 30, 10**6))
            rows = [(seeded.randrange(3), seeded.randrange(spread), seeded.randrange(spread // 4 + 1),
                     seeded.randrange(2)) for _ in range(count)]
            if seeded.random() < 0.3:
                rows.sort(key=lambda row: row[1])
            self.fill(rows)
            found = self.db.execute("SELECT g, trace_busy_time(a, b), trace_overlap_time(a, b, c) FROM t"
                                    " GROUP BY g").fetchall()
            groups = {g: [row[1:] for row in rows if row[0] == g] for g in sorted({row[0] for row in rows})}
            self.assertEqual(found, [(g, length([row[:2] for row in group]),
                                      common([[row[:2] for row in group if row[2] == side] for side in (0, 1)]))
                                     for g, group in groups.items()], rows)

    def test_integers_are_exact_and_stay_integers(self):
        base = 1712165518380212481
        self.fill([(0, base, 1, 0), (0, base + 1, 2, 0), (0, base + 10, 10**15 + 1, 1)])
        self.assertEqual(self.one("SELECT trace_busy_time(a, b), typeof(trace_busy_time(a, b)) FROM t"),
                         (10**15 + 4, "integer"))
        self.fill([(0, I64, 5, 0), (0, -I64 - 1, 5, 1)])
        self.assertEqual(self.one("SELECT trace_busy_time(a, b) FROM t"), (10,))

    def test_reals_are_exact_to_a_millionth(self):
        self.fill([(0, n * 0.1, 0.1, n % 2) for n in range(1000)])
        self.assertEqual(self.one("SELECT trace_busy_time(a, b), trace_overlap_time(a, b, c) FROM t"), (100.0, 0.0))
        self.fill([(0, 1, 2, 0), (0, 1.5, 2, 1)])
        self.assertEqual(self.one("SELECT trace_busy_time(a, b), trace_overlap_time(a, b, c) FROM t"), (2.5, 1.5))

    def test_rows_with_null_are_left_out(self):
        self.fill([(0, 1, 2, 0), (0, None, 9, 0), (0, 9, None, 1), (0, 50, 5, None)])
        self.assertEqual(self.one("SELECT trace_busy_time(a, b) FROM t WHERE c IS NOT NULL"), (2,))
        self.assertEqual(self.one("SELECT trace_overlap_time(a, b, c) FROM t"), (0,))
        self.assertEqual(self.one("SELECT trace_quantile(a, 1), trace_quantile(b, 0), round(trace_stddev(c), 9) FROM t"),
                         (50.0, 2.0, round(math.sqrt(1 / 3), 9)))
        self.assertEqual(self.one("SELECT trace_quantile(a, NULL) FROM t"), (None,))

    def test_no_rows(self):
        self.assertEqual(self.one("SELECT trace_busy_time(a, b), trace_overlap_time(a, b, c), trace_quantile(a, 0.5),"
                                  " trace_stddev(a) FROM t"), (0, 0, None, None))
        self.fill([(0, 7, None, None)])
        self.assertEqual(self.one("SELECT trace_busy_time(a, b), trace_overlap_time(a, b, c), trace_quantile(b, 0.5),"
                                  " trace_stddev(a), trace_quantile(a, 0.3) FROM t"), (0, 0, None, None, 7.0))

    def test_quantile_and_stddev(self):
        seeded = random.Random(2)
        for count in (1, 2, 3, 10, 101):
            values = [seeded.choice((seeded.randrange(100), seeded.random() * 1e6, -3)) for _ in range(count)]
            self.fill([(0, value, None, None) for value in values])
            ordered = sorted(values)
            for q in (0, 0.25, 0.5, 0.9, 1):
                at = q * (count - 1)
                low, high = ordered[math.floor(at)], ordered[math.ceil(at)]
                found = self.one(f"SELECT trace_quantile(a, {q}) FROM t")[0]
                self.assertAlmostEqual(found, low + (high - low) * (at - math.floor(at)), places=6)
            found = self.one("SELECT trace_stddev(a) FROM t")[0]
            if count == 1:
                self.assertIsNone(found)
            else:
                expected = statistics.stdev(values)
                self.assertLessEqual(abs(found - expected), expected * 1e-12)

    def test_misuse(self):
        for value in ("x", "1", b"1"):
            self.fill([(0, 1, 2, 0), (0, value, 2, 0)])
            for name, call in (("trace_busy_time", "trace_busy_time(a, b)"), ("trace_busy_time", "trace_busy_time(b, a)"),
                               ("trace_overlap_time", "trace_overlap_time(a, b, c)"),
                               ("trace_quantile", "trace_quantile(a, 0.5)"), ("trace_stddev", "trace_stddev(a)")):
                self.assert_error(f"{name}: an argument is no number", call)
        self.fill([(0, 1, -1, 0)])
        self.assert_error("trace_busy_time: negative duration", "trace_busy_time(a, b)")
        self.assert_error("trace_overlap_time: negative duration", "trace_overlap_time(a, b, c)")
        self.assert_error("trace_overlap_time: a side is 0 or 1", "trace_overlap_time(a, a, b)")
        self.assert_error("trace_quantile: q is not from 0 to 1", "trace_quantile(a, 1.01)")
        self.assert_error("trace_quantile: q is not from 0 to 1", "trace_quantile(a, b)")
        self.assert_error("trace_busy_time: a time is too large", "trace_busy_time(9e999, 1)")
        self.fill([(0, 1, 0.5, 0), (0, 2, 0.6, 0)])
        self.assert_error("trace_quantile: q is not the same in every row", "trace_quantile(a, b)")
        self.fill([(0, -I64, I64, 0), (0, 0, I64, 0)])
        self.assert_error("trace_busy_time: integer overflow", "trace_busy_time(a, b)")
        for call in ("trace_busy_time(a)", "trace_overlap_time(a, b)", "trace_quantile(a)", "trace_stddev(a, b)"):
            self.assert_error(f"wrong number of arguments to function {call.split('(')[0]}()", call)
        self.assert_error("trace_busy_time() may not be used as a window function", "trace_busy_time(a, b) OVER ()")

    @slow
    def test_interrupt_of_a_long_sort(self):
        """Whenever it comes: while rows are taken, or while they are sorted."""
        many = ("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT"
                " trace_busy_time(i * 7919 % 3000001 * 10, 5), trace_quantile(i * 7919 % 3000001, 0.5) FROM n")
        self.assertEqual(self.one(many.format(1000))[0], 5000)
        began = time.monotonic()
        self.one(many.format(1000000))
        whole = time.monotonic() - began
        for part in (0.1, 0.3, 0.5, 0.7, 0.9):
            stopped = []
            timer = threading.Timer(whole * part, lambda: (stopped.append(time.monotonic()), self.db.interrupt()))
            timer.start()
            try:
                self.one(many.format(1000000))
            except sqlite3.OperationalError as error:
                self.assertEqual(str(error), "interrupted")
                self.assertLess(time.monotonic() - stopped[0], 0.1 * SLACK)
            timer.join()
            self.assertEqual(self.one("SELECT trace_busy_time(1, 2)"), (2,))


class KernelType(unittest.TestCase):
    """K1 to K4."""

    CASES = [
        ("K1", "x", "gpu_memcpy", "MEMORY"), ("K1", "ncclX", "gpu_memset", "MEMORY"), ("K1", "x", "Memcpy", "MEMORY"),
        ("K1", "x", "Memset", "MEMORY"), ("K2", "ncclX", "cpu_op", None), ("K2", "x", "gpu_user_annotation", None),
        ("K2", "x", "cuda_sync", None), ("K2", "x", "", None), ("K2", "x", "GPU_MEMCPY", None),
        ("K3", "ncclDevKernel_AllReduce", "kernel", "COMMUNICATION"), ("K3", "void MNCCLx<1>", "Kernel", "COMMUNICATION"),
        ("K3", "rcclGeneric", "kernel", "COMMUNICATION"), ("K3", "hccl", "mtia_ccp_events", "COMMUNICATION"),
        ("K3", "_RcCl", "kernel", "COMMUNICATION"), ("K4", "ccl", "kernel", "COMPUTATION"),
        ("K4", "mscclKernel", "kernel", "COMPUTATION"), ("K4", "SyncBatchNorm", "kernel", "COMPUTATION"),
        ("K4", "Memcpy HtoD", "kernel", "COMPUTATION"), ("K4", "", "kernel", "COMPUTATION"),
        ("name", "Memcpy HtoD", None, "MEMORY"), ("name", "Memset (Device)", None, "MEMORY"),
        ("name", "hipMemcpyWithStream", None, "MEMORY"), ("name", "hipMemsetAsync", None, "MEMORY"),
        ("name", "dma0", None, "MEMORY"), ("name", "xMemcpy", None, "COMPUTATION"),
        ("name", "nccl:all_reduce", None, "COMMUNICATION"), ("name", "gemm", None, "COMPUTATION"),
        ("NULL", None, None, None), ("NULL", None, "kernel", None),
    ]

    def test_rules(self):
        db = connect()
        for rule, name, cat, expected in self.CASES:
            with self.subTest(rule, name=name, cat=cat):
                self.assertEqual(db.execute("SELECT trace_kernel_type(?, ?)", (name, cat)).fetchone(), (expected,))
                if cat is None:
                    self.assertEqual(db.execute("SELECT trace_kernel_type(?)", (name,)).fetchone(), (expected,))

    def test_works_in_views_and_indexes(self):
        db = connect()
        db.executescript("PRAGMA trusted_schema = OFF; CREATE TABLE t(name, cat);"
                         "CREATE INDEX i ON t(trace_kernel_type(name, cat));"
                         "CREATE VIEW v AS SELECT trace_kernel_type(name) AS type, trace_busy_time(1, 2) AS busy FROM t;"
                         "INSERT INTO t VALUES ('nccl', 'kernel')")
        self.assertEqual(db.execute("SELECT * FROM v").fetchall(), [("COMMUNICATION", 2)])
