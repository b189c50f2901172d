"""compare_traces, ops_diff and trace_diff against HTA's own output.

A golden file holds the output of HolisticTraceAnalysis for a pair of traces. Every number must match; only the order of
rows may differ. Two pairs ship with their traces; the others need CORPUS and GOLDEN. Where HTA is wrong, its defect is
applied to the oracle's rows, and the result must be HTA's output:

  D4   times are rounded to whole us: the start up, the end down
  D5   device work of stream 0 is in no iteration
  D23  the stream decides what counts as the device
"""
import csv
import json
import math
import os
import unittest
from decimal import Decimal

import oracle
from support import DATA, EXAMPLES, connect, corpus, golden, slow

DEVICE_TYPES = ("ALL", "CPU", "GPU")
ARGUMENTS = ("control_rank", "test_rank", "control_iteration", "test_iteration", "device_type", "use_short_name")
COUNTS = ("control_counts", "test_counts", "diff_counts")
DURATIONS = ("control_total_duration", "test_total_duration", "diff_duration")


def both(**arguments):
    return {f"{side}_{name}": value for name, value in arguments.items() for side in ("control", "test")}


FIRST = both(iteration="first")  # HTA's default
BY_NAME = {**FIRST, "use_short_name": 0}


def whole(text):
    number = Decimal(text)
    assert number == int(number), text
    return int(number)


def nanoseconds(text):
    """ns from a sum of us in double precision."""
    exact = Decimal(text) * 1000
    assert abs(exact - round(exact)) < Decimal("0.001"), text
    return round(exact)


def read_compare_traces(path):
    """The header in lower case, and {name: row} with durations in ns."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    columns = [column.lower() for column in header]
    rows = {}
    for line in lines:
        row = dict(zip(columns, line))
        row.update({column: whole(row[column]) for column in COUNTS})
        row.update({column: nanoseconds(row[column]) for column in DURATIONS})
        assert row["name"] not in rows, row
        rows[row["name"]] = row
    return columns, rows


def read_ops_diff(path):
    """The set of (change, name)."""
    with open(path, newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    return {tuple(line) for line in lines}


def as_hta(rows):
    """The oracle's {name: DiffRow} in the form of read_compare_traces."""
    return {row.name: {
        "name": row.name, "control_counts": row.control_counts, "test_counts": row.test_counts,
        "diff_counts": row.diff_counts, "control_total_duration": row.control_ns,
        "test_total_duration": row.test_ns, "diff_duration": row.diff_ns,
        "counts_change_categories": row.counts_change_categories} for row in rows.values()}


def from_sql(db, function, control, test, **arguments):
    """The columns of a table function, and its rows as dictionaries, with durations in ns."""
    values = [arguments.get(name) for name in ARGUMENTS]
    values = [json.dumps(value) if isinstance(value, list) else value for value in values]
    cursor = db.execute(f"SELECT * FROM {function}(?, ?, ?, ?, ?, ?, ?, ?)", [control, test, *values])
    columns = [column[0] for column in cursor.description]
    rows = [dict(zip(columns, line)) for line in cursor]
    for row in rows:
        row.update({column: nanoseconds(row[column]) for column in DURATIONS if column in row})
    return columns, rows


class GoldenPair:
    """One pair of traces; a subclass names it and the place of its files."""

    maxDiff = 2000
    arguments = {}
    variants = {"": {}}

    def traces(self):
        raise NotImplementedError

    def goldens(self, kind):
        """(path, arguments) of each golden file; the first part of its name is kind(device_type)."""
        for device_type in DEVICE_TYPES:
            for variant, arguments in self.variants.items():
                name = ".".join(filter(None, (kind(device_type), variant, "csv")))
                yield self.golden(name), {"device_type": device_type, **self.arguments, **arguments}

    def compared(self):
        return self.goldens("compare_traces.{}.name".format)

    def listed(self):
        return self.goldens("ops_diff.{}".format)

    def test_the_oracle_gives_the_golden_rows(self):
        control, test = map(oracle.read_trace, self.traces())
        for path, arguments in self.compared():
            with self.subTest(os.path.basename(path)):
                self.assertEqual(as_hta(oracle.trace_diff(control, test, **{**FIRST, **arguments})),
                                 read_compare_traces(path)[1])

    def test_compare_traces(self):
        traces, db = self.traces(), connect()
        for path, arguments in self.compared():
            with self.subTest(os.path.basename(path)):
                expected_columns, expected = read_compare_traces(path)
                columns, rows = from_sql(db, "compare_traces", *traces, **arguments)
                self.assertEqual(columns, expected_columns)
                self.assertEqual(len(rows), len(expected))
                self.assertEqual({row["name"]: row for row in rows}, expected)

    def test_trace_diff(self):
        traces, db = self.traces(), connect()
        for path, arguments in self.compared():
            with self.subTest(os.path.basename(path)):
                columns, expected = read_compare_traces(path)
                rows = from_sql(db, "trace_diff", *traces, **{**BY_NAME, **arguments})[1]
                self.assertEqual(len(rows), len(expected))
                self.assertEqual({row["name"]: {column: row[column] for column in columns} for row in rows}, expected)

    def test_ops_diff(self):
        traces, db = self.traces(), connect()
        for path, arguments in self.listed():
            with self.subTest(os.path.basename(path)):
                expected = read_ops_diff(path)
                rows = from_sql(db, "ops_diff", *traces, **arguments)[1]
                self.assertEqual(len(rows), len(expected))
                self.assertEqual({(row["change"], row["name"]) for row in rows}, expected)
                rows = from_sql(db, "trace_diff", *traces, **{**BY_NAME, **arguments})[1]
                self.assertEqual({(oracle.hta_change(row["counts_change"]), row["name"]) for row in rows}, expected)


class CorpusPair(GoldenPair):
    def golden(self, name):
        return golden(self.folder, name)

    def traces(self):
        return corpus(*self.control.split("/")), corpus(*self.test.split("/"))


@slow
class TraceDiff(CorpusPair, unittest.TestCase):
    folder, control, test = "pair_trace_diff", "hta/trace_diff/control", "hta/trace_diff/test"
    variants = {"": {}, "iter1011_vs_1012": {"control_iteration": 1011, "test_iteration": 1012},
                "iters1010-1012": both(iteration=[1010, 1011, 1012])}


class TraceCompare(CorpusPair, unittest.TestCase):
    folder, control, test = "pair_trace_compare", "hta/trace_compare/base", "hta/trace_compare/test"
    variants = {"": {}, "iter1009": both(iteration=1009), "iter1010": both(iteration=1010)}


class FilterRanks(CorpusPair, unittest.TestCase):
    folder, control, test = "pair_filter_rank0_vs_rank1", "hta/trace_filter", "hta/trace_filter"
    arguments = {"control_rank": 0, "test_rank": 1}
    variants = {"": {}, "ranks01_both": both(rank=[0, 1])}


class ShippedPair(GoldenPair):
    def golden(self, name):
        return os.path.join(DATA, "hta", self.folder, name)

    def traces(self):
        return os.path.join(self.place, "control"), os.path.join(self.place, "test")


class OwnTorch(ShippedPair, unittest.TestCase):
    folder, place = "pair_own_torch", os.path.join(EXAMPLES, "cpu")

    @slow
    def test_the_oracle_gives_the_golden_rows(self):
        super().test_the_oracle_gives_the_golden_rows()


class OwnTorchTiny(ShippedPair, unittest.TestCase):
    folder, place = "pair_own_torch_tiny", os.path.join(DATA, "tiny")

    @slow  # test_oracle.Made compares diffs of random traces
    def test_the_oracle_gives_the_golden_rows(self):
        super().test_the_oracle_gives_the_golden_rows()


class EventsPerIteration(unittest.TestCase):
    """trace_events against HTA's loader on traces in whole us: per rank, category, iteration and stream."""

    DATASETS = {
        "trace_diff_control": "hta/trace_diff/control", "trace_diff_test": "hta/trace_diff/test",
        "trace_compare_base": "hta/trace_compare/base", "trace_compare_test": "hta/trace_compare/test",
        "trace_filter_2ranks": "hta/trace_filter", "rank_unavailable": "hta/rank_unavailable",
        "critical_path_simple_add": "hta/critical_path/simple_add"}
    QUERY = """
        SELECT rank, cat, iteration, stream, count(*), sum(dur_ns), min(ts_ns), max(ts_ns + dur_ns), sum(event)
        FROM trace_events(?)
        WHERE dur_ns IS NOT NULL AND cat IS NOT 'Trace'
        GROUP BY rank, cat, iteration, stream"""

    def read(self, name):
        with open(golden(name, "parsed_summary.csv"), newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                keys = (whole(row[key]) for key in ("iteration", "stream"))
                yield (whole(row["rank"]), row["cat"], *(None if key == -1 else key for key in keys),
                       whole(row["events"]), *(nanoseconds(row[key]) for key in ("sum_dur", "min_ts", "max_end")),
                       whole(row["sum_index"]))

    def test_events(self):
        db = connect()
        for name, path in self.DATASETS.items():
            with self.subTest(name):
                expected = list(self.read(name))
                found = db.execute(self.QUERY, (corpus(*path.split("/")),)).fetchall()
                self.assertEqual(len(found), len(expected))
                self.assertEqual(set(found), set(expected))


# ---- HTA's defects, as changes of the oracle's rows --------------------------

def d4_whole_microseconds(trace):
    """end = floor(ts + dur), ts = ceil(ts) and dur = end - ts in double precision, then the columns derived from these
    times.
    """
    for file in trace.files:
        for row in file.rows:
            ts, dur = (row.ts_ns - file.base_ns) / 1000, row.dur_ns / 1000
            start, end = math.ceil(ts), math.floor(ts + dur)
            row.ts_ns, row.dur_ns = file.base_ns + 1000 * start, 1000 * (end - start)
        oracle.link(file.rows)
    oracle.take_steps(trace, "profiler")


def d5_stream_0_in_no_iteration(trace):
    for row in trace.rows:
        if row.stream == 0 and oracle.is_device_work(row):
            row.iteration = None


def d23_device_by_stream(trace):
    for row in trace.rows:
        row.device = "CPU" if row.stream is None else "GPU"


DEFECTS = {"D4": d4_whole_microseconds, "D5": d5_stream_0_in_no_iteration, "D23": d23_device_by_stream}


class AmdAgainstTriton(unittest.TestCase):
    """Times in ns, work in stream 0 and a host operator with a stream: here the rules and HTA disagree."""

    folder = "pair_amd_vs_triton"

    def setUp(self):
        self.traces = corpus("hta", "amd_trace"), corpus("hta", "triton_example")

    def with_defects(self, names, device_type):
        sides = []
        for path in self.traces:
            trace = oracle.read_trace(path)
            for name in names:
                DEFECTS[name](trace)
            sides.append(trace)
        return as_hta(oracle.trace_diff(*sides, device_type=device_type, **FIRST))

    def test_defects_explain_every_difference(self):
        causes = set()
        for device_type in DEVICE_TYPES:
            expected = read_compare_traces(golden(self.folder, f"compare_traces.{device_type}.name.csv"))[1]
            right = self.with_defects((), device_type)
            self.assertEqual(self.with_defects(DEFECTS, device_type), expected)
            without = {name: self.with_defects([other for other in DEFECTS if other != name], device_type)
                       for name in DEFECTS}
            for name in right.keys() | expected.keys():
                needed = {defect for defect in DEFECTS if without[defect].get(name) != expected.get(name)}
                with self.subTest(device_type, name=name):
                    self.assertEqual(bool(needed), right.get(name) != expected.get(name),
                                     f"defects needed for HTA's row: {needed}")
                causes |= needed
        self.assertEqual(causes, set(DEFECTS))

    def test_extension_has_none_of_them(self):
        db = connect()
        for device_type in DEVICE_TYPES:
            expected = self.with_defects((), device_type)
            rows = from_sql(db, "compare_traces", *self.traces, device_type=device_type)[1]
            with self.subTest(device_type):
                self.assertEqual({row["name"]: row for row in rows}, expected)
            changes = {(row["change"], row["name"])
                       for row in from_sql(db, "ops_diff", *self.traces, device_type=device_type)[1]}
            self.assertEqual(changes, {
                (oracle.hta_change(oracle.counts_change(row["control_counts"], row["test_counts"])), name)
                for name, row in expected.items()})


if __name__ == "__main__":
    unittest.main()
