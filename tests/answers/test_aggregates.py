"""trace_busy_time, trace_overlap_time, trace_quantile, trace_stddev and trace_kernel_type (K1 to K4) follow their
rules. Every aggregate, also each that draws, survives arguments that make no sense.
"""
import collections
import csv
import math
import os
import random
import re
import sqlite3
import statistics
import threading
import time
import unittest
from fractions import Fraction

import oracle_names
from support import alone, connect, golden, series, slow

I64 = 2**63 - 1
SLACK = float(os.environ.get("SLACK") or 1)


def length(intervals):
    """The length of the union, by definition: between two neighbouring borders either everything is covered or
    nothing.
    """
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
        self.assertEqual(self.one("SELECT trace_quantile(a, 1), trace_quantile(b, 0),"
                                  " round(trace_stddev(c), 9) FROM t"),
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

    def test_quantile_and_stddev_of_extreme_numbers(self):
        """quantile and stddev overflow only where the true answer does; exact fractions are the oracle."""
        seeded = random.Random(3)
        extremes = [1e308, -1e308, 1.7e308, -1.7e308, 1e-300, 0.0, I64, -I64 - 1, 2**62 + 1, 2**62 + 3]
        cases = [[1e308, -1e308], [1e308, 1e308, 1e308], [I64, I64 - 1, I64 - 2], [-I64 - 1, I64],
                 [2**60 + 1, 2**60 + 3],
                 [1.5e308, -1.5e308, 0]] + [seeded.choices(extremes, k=seeded.randrange(2, 6)) for _ in range(300)]
        for values in cases:
            self.fill([(0, value, None, None) for value in values])
            ordered = sorted(map(Fraction, values))
            for q in (0, 0.25, 0.5, 0.75, 1):
                at = Fraction(q) * (len(values) - 1)
                low, high = ordered[math.floor(at)], ordered[math.ceil(at)]
                expected = low + (high - low) * (at - math.floor(at))
                found = self.one(f"SELECT trace_quantile(a, {q}) FROM t")[0]
                self.assertLessEqual(abs(Fraction(found) - expected),
                                     max(abs(low), abs(high)) / 2**50 + Fraction(5e-324), (values, q))
            mean = sum(ordered) / len(values)
            variance = sum((value - mean) ** 2 for value in ordered) / (len(values) - 1)
            found = self.one("SELECT trace_stddev(a) FROM t")[0]
            if variance > Fraction(1.79e308) ** 2:
                self.assertGreater(found, 1.79e308)
            else:
                self.assertLessEqual(abs(Fraction(found) ** 2 - variance), variance / 10**9, values)
        self.fill([(0, 1, None, None), (0, math.inf, None, None), (0, -math.inf, None, None)])
        self.assertEqual(self.one("SELECT trace_quantile(a, 0), trace_quantile(a, 0.5), trace_quantile(a, 1),"
                                  " trace_stddev(a) FROM t"), (-math.inf, 1, math.inf, None))

    def test_stddev_of_values_without_a_row(self):
        seeded = random.Random(4)
        for _ in range(series(100, 300)):
            values = [seeded.choice((seeded.randrange(100), 2**62 + seeded.randrange(9), 1e300, 7))
                      for _ in range(seeded.randrange(1, 6))]
            zeros = seeded.choice((0, 0, 1, 2, 1000))
            self.fill([(0, value, None, None) for value in values])
            found = self.one(f"SELECT trace_stddev(a, {len(values) + zeros}) FROM t")[0]
            if len(values) + zeros == 1:
                self.assertIsNone(found)
                continue
            exact = [Fraction(value) for value in values + [0] * zeros]
            mean = sum(exact) / len(exact)
            variance = sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)
            self.assertLessEqual(abs(Fraction(found) ** 2 - variance), variance / 10**12, (values, zeros))
            if len(set(exact)) == 1:
                self.assertEqual(found, 0)
        self.assertEqual(self.one("SELECT trace_stddev(a, 5) FROM t WHERE 0"), (None,))

    def test_misuse(self):
        for value in ("x", "1", b"1"):
            self.fill([(0, 1, 2, 0), (0, value, 2, 0)])
            for name, call in (("trace_busy_time", "trace_busy_time(a, b)"),
                               ("trace_busy_time", "trace_busy_time(b, a)"),
                               ("trace_overlap_time", "trace_overlap_time(a, b, c)"),
                               ("trace_quantile", "trace_quantile(a, 0.5)"), ("trace_stddev", "trace_stddev(a)"),
                               ("trace_stddev", "trace_stddev(1, a)")):
                self.assert_error(f"{name}: arguments must be numbers", call)
        self.fill([(0, 1, -1, 0)])
        self.assert_error("trace_busy_time: dur must not be negative", "trace_busy_time(a, b)")
        self.assert_error("trace_overlap_time: dur must not be negative", "trace_overlap_time(a, b, c)")
        self.assert_error("trace_overlap_time: side must be 0 or 1", "trace_overlap_time(a, a, b)")
        self.assert_error("trace_quantile: q must be from 0 to 1", "trace_quantile(a, 1.01)")
        self.assert_error("trace_quantile: q must be from 0 to 1", "trace_quantile(a, b)")
        self.assert_error("trace_busy_time: ts and dur must be less than 1e30", "trace_busy_time(9e999, 1)")
        self.fill([(0, 1, 0.5, 0), (0, 2, 0.6, 0)])
        self.assert_error("trace_quantile: q must be the same in every row", "trace_quantile(a, b)")
        self.fill([(0, -I64, I64, 0), (0, 0, I64, 0)])
        self.assert_error("trace_busy_time: the length is beyond 64 bits", "trace_busy_time(a, b)")
        for call in ("trace_busy_time(a)", "trace_overlap_time(a, b)", "trace_quantile(a)", "trace_stddev(a, b, c)"):
            self.assert_error(f"wrong number of arguments to function {call.split('(')[0]}()", call)
        self.assert_error("trace_busy_time() may not be used as a window function", "trace_busy_time(a, b) OVER ()")

    @slow
    @alone
    def test_interrupt_of_a_long_sort(self):
        """An interrupt works at any time: while rows are added and while they are sorted."""
        many = ("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT"
                " trace_busy_time(i * 7919 % 3000001 * 10, 5), trace_quantile(i * 7919 % 3000001, 0.5),"
                " trace_shift(i * 7919 % 3000001, i % 2),"
                " visualize_memory(0, 0, i % 99, 5, i * 7919 % 3000001, i * 7919 % 3000001 + i % 5000) FROM n")
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


class EveryAggregate(unittest.TestCase):
    """For any values in any row, an aggregate gives a result or one error that names it.

    SQLite asks an aggregate for its result even after an error, so the collected state must survive that.
    """

    LENGTH = ("trace_busy_time", "trace_overlap_time")
    COMPARISONS = ("trace_mannwhitney", "trace_shift", "trace_ttest")  # JSON objects
    DEFAULTS = {"significance": "0.001", "min_pct": "0", "window": "50"}  # distinguishes NULLs, too
    # By argument: the values that are errors, with the message; None means no error.
    NO_NUMBER = [("'x'", "{}"), ("'1.5'", "{}"), ("x'31'", "{}"), ("''", "{}")]
    SAME = {("visualize_memory", "rank"), ("visualize_memory", "device")}  # all rows must have the same value
    ANYTHING = [("'x'", None), ("x'ff00fe'", None), ("1", None), ("1.5", None), ("NULL", None), ("''", None)]
    FORMATS = [("'pdf'", "format must be 'html' or 'plotly'"), ("''", "format must be 'html' or 'plotly'"),
               ("5", "format must be 'html' or 'plotly'"), ("x'ff'", "format must be 'html' or 'plotly'")]
    MORE = {
        ("trace_busy_time", "ts"): [("9e999", "ts and dur must be less than 1e30")],
        ("trace_busy_time", "dur"): [("-1", "dur must not be negative"), ("-0.5", "dur must not be negative"),
                                     ("9e999", "ts and dur must be less than 1e30")],
        ("trace_overlap_time", "ts"): [("-9e999", "ts and dur must be less than 1e30")],
        ("trace_overlap_time", "dur"): [("-1", "dur must not be negative"),
                                        ("9e999", "ts and dur must be less than 1e30")],
        ("trace_overlap_time", "side"): [("2", "side must be 0 or 1"), ("-1", "side must be 0 or 1"),
                                         ("0.5", "side must be 0 or 1")],
        ("trace_stddev", "count"): [(count, "count must be at least the number of rows") for count in ("0", "-1")],
        ("trace_change_points", "position"): [("x'31'", "position must be a number or text")],
        ("trace_change_points", "significance"): [(value, "significance must be a number above 0 and below 1")
                                                  for value in ("'x'", "x'31'", "0", "1", "-1", "9e999")],
        ("trace_change_points", "min_pct"): [(value, "min_pct must be a number, at least 0")
                                             for value in ("'x'", "-1", "9e999")],
        ("trace_change_points", "window"): [(value, "window must be a whole number from 4 to 1e9")
                                            for value in ("'x'", "3", "4.5", "2e9", "9e999")],
        ("trace_quantile", "q"): [(q, "q must be from 0 to 1") for q in ("-1", "1.5", "1e18", "-1e18", "9e999")],
    }

    def aggregates(self, db):
        """{name: {argument: (type, required)}}"""
        found = {}
        for function, name, kind, required in db.execute(
                "SELECT function, name, type, required FROM tracediff_columns WHERE function IN"
                # covered by test_job.py
                " (SELECT name FROM pragma_function_list WHERE type = 'a') AND function NOT LIKE 'trace_job%'"
                " ORDER BY function, position"):
            found.setdefault(function, {})[name] = (kind, required)
        self.assertGreaterEqual(len(found), 15)
        return found

    def is_number(self, function, kind):
        return not function.startswith("visualize_") or kind == "REAL"

    def good(self, function, arguments):
        """Values of a row for which the aggregate has a result."""
        values = []
        for name, (kind, required) in arguments.items():
            if name == "title":
                values.append("'t'")
            elif name == "format":
                values.append("'plotly'")
            elif name == "count":
                values.append("50")
            elif name in self.DEFAULTS:
                values.append(self.DEFAULTS[name])
            else:
                values.append("1" if self.is_number(function, kind) else "'a'")
        return values

    def bad(self, function, name, kind):
        if name == "format":
            return self.FORMATS
        if name == "title" or not self.is_number(function, kind):
            return self.ANYTHING
        if function in self.COMPARISONS and name == "side":
            return [(value, "side must be 0 or 'control', or 1 or 'test'")
                    for value in ("'x'", "'1'", "x'31'", "''", "2", "-1", "0.5")]
        if function in self.COMPARISONS or function == "trace_change_points" and name == "x":
            return [(value, "x must be a number") for value, _ in self.NO_NUMBER] + [
                (value, "x must be finite: leave out such rows") for value in ("9e999", "-9e999")]
        if function == "trace_change_points":
            return self.MORE[function, name]
        said = f"{name} must be a number" if function.startswith("visualize_") else "arguments must be numbers"
        return [(value, said) for value, _ in self.NO_NUMBER] + self.MORE.get((function, name), [])

    def ask(self, db, function, rows):
        """The result over these rows in order, or the text of the error."""
        marks = ", ".join(f"column{i + 1}" for i in range(len(rows[0])))
        values = ", ".join(f"({', '.join(row)})" for row in rows)
        try:
            found = db.execute(f"SELECT {function}({marks}) FROM (VALUES {values})").fetchall()[0][0]
        except sqlite3.OperationalError as error:
            found = error
        self.assertEqual(db.execute("SELECT trace_busy_time(1, 2)").fetchone(), (2,))
        return found

    def each(self):
        for entry in (None, "sqlite3_tracediff_nofs_init"):
            db = connect(entry=entry)
            for function, arguments in self.aggregates(db).items():
                yield db, function, arguments
            db.close()

    def test_an_error_in_any_row(self):
        for db, function, arguments in self.each():
            good = self.good(function, arguments)
            for at, (name, (kind, _)) in enumerate(arguments.items()):
                for value, said in self.bad(function, name, kind):
                    bad = good[:at] + [value] + good[at + 1:]
                    for before, after in ((0, 0), (0, 2), (1, 0), (1, 1), (40, 1)):
                        found = self.ask(db, function, [good] * before + [bad] + [good] * after)
                        if (function, name) in self.SAME and before + after:
                            self.assertEqual(str(found),
                                             f"{function}: {name} must be the same in every row: select one")
                        elif said and (name != "format" or before == 0):
                            self.assertEqual(str(found), f"{function}: {said}",
                                             (function, name, value, before, after))
                        else:  # title and format come from the first row that counts
                            self.assertNotIsInstance(found, Exception, (function, name, value, before))

    def test_two_values_of_what_must_be_one(self):
        db = connect()
        for first, second in (("0.5", "0.6"), ("0", "1"), ("1", "0")):
            found = self.ask(db, "trace_quantile", [["1", first], ["2", first], ["3", second]])
            self.assertEqual(str(found), "trace_quantile: q must be the same in every row")
        for first, second in (("5", "6"), ("5", "4")):
            found = self.ask(db, "trace_stddev", [["1", first], ["2", first], ["3", second]])
            self.assertEqual(str(found), "trace_stddev: count must be the same in every row")

    def test_every_format_and_title(self):
        for db, function, arguments in self.each():
            if "format" not in arguments:
                continue
            good = self.good(function, arguments)[:list(arguments).index("title")]
            for more in ([], ["'t'"], ["NULL"], ["NULL", "'html'"], ["NULL", "NULL"], ["x'ff'", "'plotly'"],
                         ["1.5", "'html'"]):
                for number in ("1", "-1", "9e999", "NULL", "1.5", "0", "-9e999")[:series(4, 7)]:
                    row = [number if value == "1" else value for value in good]
                    found = self.ask(db, function, [row + more])
                    self.assertIsInstance(found, str, (function, more, number))
                bad = ["'x'" if value == "1" else value for value in good]
                self.assertIsInstance(self.ask(db, function, [bad + more]), Exception)

    def test_no_rows_and_nulls(self):
        for db, function, arguments in self.each():
            nothing = 0 if function in self.LENGTH else "[]" if function == "trace_change_points" else None
            if function in self.COMPARISONS:
                nothing, = db.execute(f"SELECT {function}(NULL, NULL)").fetchone()
                self.assertEqual(set(re.findall(r": (\w+)", nothing)), {"0", "null"})
            good = self.good(function, arguments)
            marks = ", ".join(good)
            self.assertEqual(db.execute(f"SELECT {function}({marks}) WHERE 0").fetchone(), (nothing,))
            self.assertEqual(db.execute(f"SELECT {function}({marks}) FROM (VALUES (1)) WHERE 0"
                                        " GROUP BY column1").fetchall(), [])
            for at in range(len(good)):
                row = good[:at] + ["NULL"] + good[at + 1:]
                same = (function, list(arguments)[at]) in self.SAME
                for rows in ([row], [row] * 3) if same else ([row], [row, good], [good, row], [row] * 3):
                    self.assertNotIsInstance(self.ask(db, function, rows), Exception, (function, at, rows))
            found = self.ask(db, function, [["NULL"] * len(good)] * 2)
            if function.startswith("visualize_"):
                self.assertIn("<html", found)
            else:
                self.assertEqual(found, nothing)


class ClassWords(unittest.TestCase):
    def test_words(self):
        """Each class has a word, and so has each cause of trace_summary; an unknown class has none."""
        db = connect()
        of_classes = {"compute": "compute", "comm": "communication", "memory": "copies",
                      "idle_call": "idle, host in a call", "idle_host": "idle, host late",
                      "idle_unrecorded": "idle, not recorded", "idle_launch": "idle, launching",
                      "idle_wait": "idle, queued", "call": "call", "host": "host", "unrecorded": "not recorded",
                      None: None, "": None, "Compute": None, "computes": None, 7: None}
        of_causes = {("compute", "changed"): "compute", ("memory", "merged"): "copies", ("call", "changed"): "host",
                     (None, "merged"): "host", ("idle_call", "host late"): "GPU idle",
                     (None, "synchronized"): "GPU idle", ("idle_wait", "queued"): "GPU idle",
                     ("unrecorded", "not recorded"): "not recorded",
                     ("idle_unrecorded", "not recorded"): "GPU idle", (None, "moved"): "moved"}
        for class_, word in of_classes.items():
            self.assertEqual(db.execute("SELECT trace_class_word(?)", (class_,)).fetchone(), (word,))
        for cause, word in of_causes.items():
            self.assertEqual(db.execute("SELECT trace_class_word(?, ?)", cause).fetchone(), (word,), cause)


class KernelType(unittest.TestCase):
    """The type of a kernel follows K1 to K4."""

    CASES = [
        ("K1", "x", "gpu_memcpy", "MEMORY"), ("K1", "ncclX", "gpu_memset", "MEMORY"), ("K1", "x", "Memcpy", "MEMORY"),
        ("K1", "x", "Memset", "MEMORY"), ("K2", "ncclX", "cpu_op", None), ("K2", "x", "gpu_user_annotation", None),
        ("K2", "x", "cuda_sync", None), ("K2", "x", "", None), ("K2", "x", "GPU_MEMCPY", None),
        ("K3", "ncclDevKernel_AllReduce", "kernel", "COMMUNICATION"),
        ("K3", "void MNCCLx<1>", "Kernel", "COMMUNICATION"),
        ("K3", "rcclGeneric", "kernel", "COMMUNICATION"), ("K3", "hccl", "mtia_ccp_events", "COMMUNICATION"),
        ("K3", "_RcCl", "kernel", "COMMUNICATION"), ("K4", "ccl", "kernel", "COMPUTATION"),
        ("K1", "dma_copy", "mtia_ccp_events", "MEMORY"), ("K1", "dmanccl", "mtia_ccp_events", "MEMORY"),
        ("K1", "__amd_rocclr_copyBuffer.kd", "kernel", "MEMORY"),
        ("K1", "__amd_rocclr_copyBufferRectAligned", None, "MEMORY"),
        ("K1", "__amd_rocclr_fillBufferAligned", "kernel", "MEMORY"), ("K1", "__amd_rocclr_fillBuffer", None, "MEMORY"),
        ("K2", "__amd_rocclr_copyBuffer", "cpu_op", None), ("K2", "__amd_rocclr_fillBuffer", "cuda_sync", None),
        ("K4", "__amd_rocclr_initHeap", "kernel", "COMPUTATION"),
        ("K4", "x__amd_rocclr_copyBuffer", None, "COMPUTATION"),
        ("K4", "xdma", "mtia_ccp_events", "COMPUTATION"), ("K4", "dma0", "kernel", "COMPUTATION"),
        ("K2", "event_wait", "mtia_ccp_events", None), ("K2", "event_record", "mtia_ccp_events", None),
        ("K4", "event_wait", "kernel", "COMPUTATION"), ("K4", "event_waits", "mtia_ccp_events", "COMPUTATION"),
        ("K3", "mscclKernel", "kernel", "COMMUNICATION"),
        ("K3", "a::(anonymous namespace)::all_gather<1>(int)", "kernel",
                                                           "COMMUNICATION"),
        ("K3", "deep_ep::(anonymous namespace)::internode::x<4>(int)", "kernel", "COMMUNICATION"),
        ("K3", "_ZN7deep_ep9intranode8dispatchEv", "kernel", "COMMUNICATION"),
        ("K3", "moeAlltoAllPrepare", None, "COMMUNICATION"), ("K3", "alltoall_kernel", None, "COMMUNICATION"),
        ("K3", "hcom_allReduce__1", "kernel", "COMMUNICATION"), ("K3", "ncclGemm_gemm", "kernel", "COMMUNICATION"),
        ("K4", "void f<all_reduce>(all_gather)", "kernel", "COMPUTATION"), ("K4", "xmultimem_", None, "COMPUTATION"),
        ("K4", "overall_reduce", "kernel", "COMPUTATION"), ("K4", "callgather", "kernel", "COMPUTATION"),
        ("K4", "ALL_REDUCE", "kernel", "COMPUTATION"), ("K4", "EpDispatch_x", "kernel", "COMPUTATION"),
        ("K4", "ep::internode_dispatch(int)", "kernel", "COMPUTATION"), ("K4", "BLOCK_AllReduce", None, "COMPUTATION"),
        ("K4", "mm_all_reduce", None, "COMPUTATION"), ("K4", "scaled_mm_reduce_scatter", None, "COMPUTATION"),
        ("K3", "comm_all_reduce", None, "COMMUNICATION"), ("K4", "allgather_MatMul", None, "COMPUTATION"),
        ("K3", "FBGEMM_all_gather", None, "COMMUNICATION"), ("K4", "fbgemm_GEMM_all_gather", None, "COMPUTATION"),
        ("K4", "SyncBatchNorm", "kernel", "COMPUTATION"),
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

    def test_names_of_kernels_of_communication(self):
        db = connect()
        with open(golden("serving", "kinds.csv"), newline="", encoding="utf-8") as file:
            kinds = [(row["name"], row["kind"]) for row in csv.DictReader(file)]
        self.assertEqual(len(kinds), 61)
        for name, kind in kinds:
            for cat in ("kernel", None):
                self.assertEqual(db.execute("SELECT trace_kernel_type(?, ?)", (name, cat)).fetchone(), (kind,), name)

    PIECES = ["all", "_", "reduce", "All", "Reduce", "gather", "to", "2", "A2A", "Dispatch", "Combine", "Prepare",
              "a2a_send", "ep::", "ep", "12", "intranode", "internode", "::", "(anonymous namespace)::", "<", ">", "(",
              ")", "->", "operator", "Ep", "X", "pplx::", "nvshmem", "multimem_", "quick", "cross_device_", "store",
              "scatter", "Scatter", "hcom_", "oneccl", "nccl", "gemm", "Gemm", "fb", "matmul", "mm", "warp", "Block",
              "group", " ", "x", "_Z", "\N{LATIN SMALL LETTER E WITH ACUTE}", "put_signal_kernel", "dma", "Memset",
              "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer"]

    def test_random_names(self):
        db, rng = connect(), random.Random(3)
        cats = ("kernel", "mtia_ccp_events", "gpu_memcpy", "cpu_op", None)
        found = collections.Counter()
        count = series(8_000, 30_000)
        for _ in range(count):
            name = "".join(rng.choice(self.PIECES) for _ in range(rng.randrange(1, 9)))
            cat = rng.choice(cats)
            kind, = db.execute("SELECT trace_kernel_type(?, ?)", (name, cat)).fetchone()
            self.assertEqual(kind, oracle_names.kernel_type(name, cat), (name, cat))
            found[kind] += 1
        self.assertGreater(min(found[kind] for kind in ("COMMUNICATION", "COMPUTATION", "MEMORY", None)), count // 30)

    def test_works_in_views_and_indexes(self):
        db = connect()
        db.executescript("PRAGMA trusted_schema = OFF; CREATE TABLE t(name, cat);"
                         "CREATE INDEX i ON t(trace_kernel_type(name, cat));"
                         "CREATE VIEW v AS SELECT trace_kernel_type(name) AS type, trace_busy_time(1, 2) AS busy"
                         " FROM t;"
                         "INSERT INTO t VALUES ('nccl', 'kernel')")
        self.assertEqual(db.execute("SELECT * FROM v").fetchall(), [("COMMUNICATION", 2)])
