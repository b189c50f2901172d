"""trace_events, trace_steps, trace_ops and trace_diff against two other readers: SQLite's own JSON functions for the
events of a file, and oracle.py for all results. Traces come from examples/ and tests/data, from CORPUS if set, and from
a generator of small traces with corner cases of the rules.
"""
import functools
import gzip
import json
import math
import os
import random
import sqlite3
import tempfile
import unittest
from fractions import Fraction

import oracle
import traces
from support import DATA, EXAMPLES, connect, corpus, series, slow, slowest

SHIPPED = (EXAMPLES, os.path.join(DATA, "tiny"))

# Strict JSON for which SQLite's JSON functions differ from the rules.
NOT_BY_JSON_EACH = {
    "bad/traceEvents_key_escaped.json": "a path matches a key by its spelling",
    "bad/nul_in_name.json": "a string ends at its first NUL",
    "bad/lone_surrogate_high.json": "half a surrogate pair comes out as invalid UTF-8",
    "bad/lone_surrogate_low.json": "half a surrogate pair comes out as invalid UTF-8",
    "bad/surrogate_pair_swapped.json": "half a surrogate pair comes out as invalid UTF-8",
    "ascend/trace_view.json": "annotations of the device get a category (T9.7)",
}

JSON_EVENTS = """
    SELECT e.key, e.value ->> '$.ph',
           CASE json_type(e.value, '$.cat') WHEN 'text' THEN e.value ->> '$.cat' END,
           CASE json_type(e.value, '$.name') WHEN 'text' THEN e.value ->> '$.name' END,
           e.value -> '$.ts', e.value -> '$.dur',
           CASE json_type(e.value, '$.pid') WHEN 'text' THEN e.value ->> '$.pid' END, e.value -> '$.pid',
           CASE json_type(e.value, '$.tid') WHEN 'text' THEN e.value ->> '$.tid' END, e.value -> '$.tid',
           base.ns
    FROM (SELECT ?1 -> '$.baseTimeNanoseconds' AS ns) AS base,
         json_each(?1, iif(json_type(?1) = 'array', '$', '$.traceEvents')) AS e
    WHERE CASE e.type WHEN 'object' THEN e.value -> '$.ph' END = '"X"'
    ORDER BY e.key"""

X_EVENTS = """
    SELECT event, ph, cat, name, ts_ns, dur_ns, pid, tid
    FROM trace_events(?) WHERE ph = 'X' ORDER BY event"""

EVENTS = """
    SELECT file, event, ph, cat, name, ts_ns, dur_ns, pid, tid, stream, correlation, device, link, iteration, rank,
           ts, dur
    FROM trace_events(?) ORDER BY file, event"""

STEPS = "SELECT rank, iteration, file, ts_ns, dur_ns, ts, dur FROM trace_steps(?)"

OPS = """
    SELECT rank, iteration, device, cat, name, counts, total_duration, mean_duration, min_duration, max_duration
    FROM trace_ops(?, ?, ?, ?)"""

DIFF = """
    SELECT name, control_counts, test_counts, control_total_duration, test_total_duration, diff_counts, diff_duration,
           counts_change_categories, counts_change, device, diff_duration_pct, control_counts_per_step,
           test_counts_per_step, control_duration_per_step, test_duration_per_step, diff_duration_per_step
    FROM trace_diff(?, ?, ?, ?, ?, ?, ?, 0)"""


def files_below(folder):
    """Every file below a folder, in order; each folder is visited once."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, name) for name in sorted(names) if os.path.isfile(os.path.join(place, name)))


def is_readable(path):
    """Whether a file is strict JSON and a trace."""
    try:
        return oracle.events_of(oracle.read_document(path, only_looked_at=True)) is not None
    except oracle.NotStrict:
        return False


@functools.lru_cache(maxsize=6)
def read(path):
    return oracle.read_trace(path)


def traces_below(folder, readable=()):
    """The folders that the oracle can read completely, and other readable files. It skips databases, XLA profiles, and
    files that are known to be readable.
    """
    for place, folders, names in os.walk(folder):
        folders.sort()
        try:
            if place in readable:
                yield place
                continue
            others = (".db", ".sqlite", ".xplane.pb")
            if oracle.list_directory(place) and not any(name.endswith(others) for name in names):
                read(place)
                yield place
                continue
        except (oracle.NotStrict, oracle.NotATrace, OSError):
            pass
        inside = sorted(entry.path for entry in os.scandir(place) if entry.is_file())
        yield from (path for path in inside if path in readable or is_readable(path))


def us(ns):
    """Divided once: Python also divides integers exactly and rounds once."""
    return None if ns is None else ns / 1000 if isinstance(ns, int) else float(Fraction(ns) / 1000)


def argument(value):
    return json.dumps(value) if isinstance(value, list) else value


def sort_key(row):
    return [(value is not None, isinstance(value, str), value if value is not None else 0) for value in row]


class Comparing(unittest.TestCase):
    read = staticmethod(read)

    def assert_same(self, found, expected, exact):
        """Asserts that rows are equal: the first `exact` values exactly, the others to double precision."""
        for position, (row, wanted) in enumerate(zip(found, expected)):
            same = row == wanted or row[:exact] == wanted[:exact] and all(
                a is b is None or (None not in (a, b) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9))
                for a, b in zip(row[exact:], wanted[exact:]))
            if not same:
                self.fail(f"row {position} is\n{row}, expected\n{wanted}")
        self.assertEqual(len(found), len(expected))

    def assert_refused(self, db, sql, arguments):
        with self.assertRaises(sqlite3.Error, msg=f"{sql} {arguments}"):
            db.execute(sql, arguments).fetchall()

    def compare_events(self, db, path):
        expected = [(row.file, row.event, row.ph, row.cat, row.name, row.ts_ns, row.dur_ns, row.pid, row.tid,
                     row.stream, row.correlation, row.device, row.link, row.iteration, row.rank,
                     us(row.ts_relative_ns), us(row.dur_ns)) for row in self.read(path).rows]
        expected.sort(key=lambda row: (os.fsencode(row[0]), row[1]))
        self.assert_same(db.execute(EVENTS, (path,)).fetchall(), expected, exact=17)

    def compare_steps(self, db, path):
        trace = self.read(path)
        try:
            oracle.check_ranks(trace, trace.ranks)
        except oracle.Refused:
            return self.assert_refused(db, STEPS, (path,))
        expected = [(step.rank, step.iteration, step.file, step.ts_ns, step.dur_ns, us(step.ts_relative_ns),
                     us(step.dur_ns)) for step in trace.steps]
        self.assert_same(sorted(db.execute(STEPS, (path,)), key=sort_key), sorted(expected, key=sort_key), exact=7)

    def compare_ops(self, db, path, ranks, iterations, device_type):
        arguments = (path, argument(ranks), argument(iterations), device_type)
        try:
            rows = oracle.summary(self.read(path), ranks, iterations, device_type)
        except oracle.Refused:
            return self.assert_refused(db, OPS, arguments)
        expected = [(*row[:6], us(row.total_ns), us(row.mean_ns), us(row.min_ns), us(row.max_ns)) for row in rows]
        self.assert_same(sorted(db.execute(OPS, arguments), key=sort_key), sorted(expected, key=sort_key), exact=10)

    def compare_rows(self, db, path):
        with self.subTest(path):
            self.compare_events(db, path)
            self.compare_steps(db, path)

    def compare_diff(self, db, control, test, *selection):
        arguments = (control, test, *map(argument, selection))
        try:
            rows = oracle.trace_diff(self.read(control), self.read(test), *selection)
        except oracle.Refused:
            return self.assert_refused(db, DIFF, arguments)
        rows = sorted(rows.values(), key=lambda row: (-abs(row.diff_ns), row.name.encode()))
        expected = [(*row[:3], us(row.control_ns), us(row.test_ns), row.diff_counts, us(row.diff_ns),
                     row.counts_change_categories, row.counts_change, row.device,
                     row.diff_duration_pct and float(row.diff_duration_pct), float(row.control_counts_per_step),
                     float(row.test_counts_per_step), us(row.control_ns_per_step), us(row.test_ns_per_step),
                     us(row.diff_ns_per_step)) for row in rows]
        self.assert_same(db.execute(DIFF, arguments).fetchall(), expected, exact=16)


class Values(unittest.TestCase):
    """The oracle's own arithmetic, by hand (T1, T7)."""

    def test_nanoseconds(self):
        number = oracle.Number
        for value, expected in (
                (number("1"), 1000), (number("1.5e3"), 1_500_000), (number("-0.0"), 0), ("12.5", 12500),
                (number("0.0005"), 0), (number("0.0015"), 2), (number("0.0025"), 2), (number("0.00250001"), 3),
                (number("1712165518380213.481729"), 1712165518380213482),
                (number("9223372036854775.807"), 2**63 - 1), (number("9223372036854775.808"), None),
                (number("-9223372036854775.808"), -2**63), (number("1e400"), None), (number("1e999999999"), None),
                ("12.5us", None), ("", None), (True, None), (None, None)):
            with self.subTest(value=value):
                self.assertEqual(oracle.nanoseconds(value), expected)

    def test_rank_in_name(self):
        for name, expected in (
                ("rank3.json", 3), ("RANK_12.pt.trace.json.gz", 12), ("sampled_rank-0.json.gz", 0),
                ("frank7.json", None), ("rank1_rank2.json", 2), ("7rank5.json", 5), ("ranks4.json", None),
                ("worker0.json", None), ("rank3/other.json", None)):
            with self.subTest(name):
                self.assertEqual(oracle.rank_in_name(name), expected)


class JsonEach(Comparing):
    """T1, T3: SQLite's json_each finds the same X events of a file."""

    def compare(self, db, path):
        rows = []
        for event, ph, cat, name, ts, dur, pid_text, pid, tid_text, tid, base in db.execute(
                JSON_EVENTS, (oracle.read_text(path),)):
            base_ns = oracle.nanoseconds(self.scalar(base), unit=1) or 0
            dur_ns = oracle.nanoseconds(self.scalar(dur))
            rows.append((event, ph, cat, name, oracle.plus(base_ns, oracle.nanoseconds(self.scalar(ts))),
                         None if dur_ns is not None and dur_ns < 0 else dur_ns,
                         oracle.identifier(self.scalar(pid)) if pid_text is None else pid_text,
                         oracle.identifier(self.scalar(tid)) if tid_text is None else tid_text))
        self.assert_same(db.execute(X_EVENTS, (path,)).fetchall(), rows, exact=8)

    @staticmethod
    def scalar(text):
        """A number or a string of digits from its JSON text; other values unchanged."""
        if text is None or text.startswith('"'):
            return text and text[1:-1]
        return oracle.Number(text) if oracle.NUMBER.fullmatch(text) else None

    def compare_all(self, folders, excluded=()):
        db, compared, left_out = connect(), 0, set()
        for folder in folders:
            for path in files_below(folder):
                inside = os.path.relpath(path, folder)
                if not is_readable(path):
                    continue
                if inside in excluded:
                    left_out.add(inside)
                    continue
                compared += 1
                with self.subTest(path):
                    self.compare(db, path)
        self.assertEqual(left_out, set(excluded))
        return compared

    @slow
    def test_json_each_finds_the_events_of_shipped_traces(self):
        self.assertGreaterEqual(self.compare_all(SHIPPED), 8)

    @slowest
    def test_json_each_finds_the_events_of_the_corpus(self):
        self.assertEqual(self.compare_all([corpus()], NOT_BY_JSON_EACH), 186)


class Rows(Comparing):
    """Events with their links, iterations, devices and ranks; steps (T1 to T11)."""

    def compare_all(self, folder, besides=()):
        """The number of traces; those in `besides` are only counted."""
        db, compared = connect(), 0
        for path in traces_below(folder, besides):
            compared += 1
            if path not in besides:
                self.compare_rows(db, path)
        return compared

    def test_rows_of_small_traces(self):
        self.assertGreaterEqual(self.compare_all(SHIPPED[1]), 2)

    @slow
    def test_rows_of_examples(self):
        self.assertGreaterEqual(self.compare_all(SHIPPED[0]), 4)

    @slowest
    def test_rows_of_the_corpus(self):
        """Rows of corpus files match; Selections compares some of them, where they are read anyway."""
        compared_there = {corpus(*path.split("/")) for pair in Selections.CORPUS_PAIRS for path in pair}
        self.assertEqual(self.compare_all(corpus(), compared_there), 164)


def selections(trace):
    """Useful arguments (ranks, iterations) for a trace, and some that must fail."""
    steps = sorted({step.iteration for step in trace.steps})
    some_ranks = [None, "all", trace.ranks[-1]] + ([trace.ranks[-2:]] if len(trace.ranks) > 1 else [])
    some_steps = [None, "all", "first"] + ([steps[-1], steps[:2]] if steps else [])
    yield from ((ranks, iterations) for ranks in some_ranks for iterations in some_steps)
    yield trace.ranks[-1] + 1, "all"
    yield None, steps[-1] + 1 if steps else 0


class Selections(Comparing):
    """trace_ops and trace_diff for many arguments (T9, T12)."""

    CORPUS_PAIRS = (
        ("hta/trace_diff/control", "hta/trace_diff/test"),
        ("hta/trace_compare/base", "hta/trace_compare/test"),
        ("hta/trace_filter", "hta/trace_filter"),
        ("hta/amd_trace", "hta/triton_example"),
        ("hta/critical_path/simple_add", "hta/cpu_only"),
        ("hta/rank_unavailable", "param"),
        ("kineto/resnet50_workers_0", "kineto/resnet50_workers_4"),
        ("tracelens/h100", "tracelens/mi300"),
        ("tracelens/torch_compile_triton", "hta/amd_trace"),
        ("own/torch/stack/control", "own/torch/stack/test"),
        ("own/clang/control", "own/clang/test"),
        ("own/node/control", "own/node/test"),
        ("own/onnxruntime/control.json.gz", "own/onnxruntime/test.json.gz"),
        ("catapult", "viztracer"),
        ("bad/missing_rank", "bad/world_size_mismatch"),
        ("bad/mixed_dir", "bad/same_rank"),
    )

    def compare_pair(self, db, control, test):
        for path in (control, test):
            for number, (ranks, iterations) in enumerate(selections(read(path))):
                for device_type in ("ALL", ("CPU", "gpu")[number % 2]):
                    with self.subTest(path, ranks=ranks, iterations=iterations, device_type=device_type):
                        self.compare_ops(db, path, ranks, iterations, device_type)
        device_types = ("ALL", "CPU", "GPU", "all", "Gpu")
        control_sides, test_sides = list(selections(read(control))), list(selections(read(test)))
        for number in range(max(len(control_sides), len(test_sides))):
            one, two = control_sides[number % len(control_sides)], test_sides[number % len(test_sides)]
            selection = (one[0], two[0], one[1], two[1], device_types[number % len(device_types)])
            with self.subTest(control, test=test, selection=selection):
                self.compare_diff(db, control, test, *selection)

    @slow
    def test_selections_of_shipped_pairs(self):
        db = connect()
        for folder in (os.path.join(EXAMPLES, "cpu"), os.path.join(DATA, "tiny")):
            self.compare_pair(db, os.path.join(folder, "control"), os.path.join(folder, "test"))

    @slowest
    def test_selections_of_the_corpus(self):
        db, seen = connect(), set()
        for control, test in self.CORPUS_PAIRS:
            control, test = corpus(*control.split("/")), corpus(*test.split("/"))
            self.compare_pair(db, control, test)
            for path in {control, test} - seen:
                self.compare_rows(db, path)
            seen |= {control, test}


class Made(Comparing):
    """Small generated traces full of ties, overlaps and odd values."""

    SEEDS = series(50, 150)
    CATEGORIES = ("cpu_op", "user_annotation", "cuda_runtime", "hip_runtime", "cuda_driver", "Runtime", "kernel",
                  "kernel", "gpu_memcpy", "Memset", "cuda_sync", "gpu_user_annotation", "Trace", "", None)
    NAMES = ("op", "op", "kernel", "ProfilerStep#3", "ProfilerStep #4", "ProfilerStep#5", "ProfilerStep*", "", None, 7)

    def event(self, rng):
        ph = rng.choice("XXXXXXBBEEiM")
        event = {"ph": ph, "pid": rng.choice((1, 1, "1", 0)), "tid": rng.choice((1, 1, 2, "stream 7"))}
        if rng.random() < 0.95:
            event["ts"] = rng.choice((rng.randint(0, 40), rng.randint(0, 80000) / 2000, str(rng.randint(0, 40))))
        if ph == "X" and rng.random() < 0.95:
            event["dur"] = rng.choice((rng.randint(0, 20), rng.randint(0, 40000) / 2000, -1, 0, None, "3.5"))
        event["cat"], event["name"] = rng.choice(self.CATEGORIES), rng.choice(self.NAMES)
        if ph == "M":
            event.update(name="process_name", args={"name": rng.choice(("GPU 0", "/device:GPU:0", "python"))})
        elif rng.random() < 0.8:
            event["args"] = {"stream": rng.choice((0, 7, None)), "correlation": rng.choice((1, 1, 2, 3, 0, -1, 2**63)),
                             "External id": rng.choice((1, 2, 2, 3, "1", None))}
        for key in [key for key in ("cat", "name") if event[key] is None and rng.random() < 0.5]:
            del event[key]
        return event

    def document(self, rng):
        events = [self.event(rng) for _ in range(rng.randint(1, 60))]
        if rng.random() < 0.2:
            for event in events:
                event.pop("cat", None)
        if rng.random() < 0.2:
            return events
        document = {"traceEvents": events}
        if rng.random() < 0.5:
            document["baseTimeNanoseconds"] = rng.choice((4_000_000_000_000_001, 17))
        if rng.random() < 0.5:
            document["distributedInfo"] = {"rank": rng.randint(0, 2)}
        return document

    def write(self, folder, rng):
        os.mkdir(folder)
        for number in range(rng.randint(1, 3)):
            name = rng.choice((f"{number}.json", f"rank{rng.randint(0, 2)}.{number}.json", f"rank_{number}.json"))
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                text = json.dumps(self.document(rng))
                file.write(traces.escaped(rng, text) if rng.random() < 0.5 else text)
        return folder

    def test_escapes_in_keys_phases_and_times_change_nothing(self):
        db = connect()
        files = "SELECT problems, rank, rank_source, backend, world_size, device FROM trace_files(?)"
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "trace.json")
            for seed in range(10):
                rng, answers = random.Random(seed), []
                document = self.document(rng)
                if isinstance(document, dict):
                    document["distributedInfo"] = {"rank": 3, "backend": "nccl", "world_size": 4}
                    document["deviceProperties"] = [{"name": "A/B"}]
                for often in (0, 1):
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(traces.escaped(rng, json.dumps(document), often))
                    problems, *head = db.execute(files, (path,)).fetchone()
                    counts = {problem["what"]: problem["count"] for problem in json.loads(problems)}
                    answers.append((db.execute(EVENTS, (path,)).fetchall(), head, counts))
                with self.subTest(seed=seed):
                    self.assertEqual(answers[1], answers[0])

    def test_made(self):
        db = connect()
        with tempfile.TemporaryDirectory() as place:
            for seed in range(self.SEEDS):
                rng = random.Random(seed)
                control, test = (self.write(os.path.join(place, f"{seed}{side}"), rng) for side in "ab")
                with self.subTest(seed=seed):
                    for path in (control, test):
                        self.compare_events(db, path)
                        self.compare_steps(db, path)
                        self.compare_ops(db, path, "all", "all", "ALL")
                        self.compare_ops(db, path, None, None, "GPU")
                    self.compare_diff(db, control, test, None, None, None, None, None)
                    self.compare_diff(db, control, test, "all", "all", "steady", "all", "CPU")


class Properties(Comparing):
    """Invariants of any trace, without an oracle."""

    control, test = (os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test"))
    selections = ((None, None), ("all", "all"), (1, "steady"), ("[0,1]", "[3,4]"))

    def setUp(self):
        self.db = connect()

    def diff(self, control, test, ranks, iterations):
        return self.db.execute(DIFF, (control, test, ranks, ranks, iterations, iterations, None)).fetchall()

    def test_diff_with_itself_is_nothing(self):
        for selection in self.selections:
            rows = self.diff(self.control, self.control, *selection)
            self.assertGreater(len(rows), 100)
            for row in rows:
                self.assertEqual(row[5:9], (0, 0, "=", "same"))
                self.assertIn(row[10], (0, None))
                self.assertEqual((row[11], row[13], row[15]), (row[12], row[14], 0))

    def test_diff_is_antisymmetric(self):
        opposite = {"added": "deleted", "increased": "decreased", "same": "same"}
        opposite.update({after: before for before, after in opposite.items()})
        sign = {"+": "-", "-": "+", "=": "="}
        for selection in self.selections:
            there = {row[0]: row for row in self.diff(self.control, self.test, *selection)}
            back = {row[0]: row for row in self.diff(self.test, self.control, *selection)}
            self.assertEqual(there.keys(), back.keys())
            for name, row in there.items():
                name, n0, n1, t0, t1, diff_counts, diff, category, change, device, _, n0s, n1s, t0s, t1s, per_step = row
                expected = (name, n1, n0, t1, t0, -diff_counts, -diff, sign[category], opposite[change], device)
                self.assertEqual(back[name][:10], expected)
                self.assertEqual(back[name][11:], (n1s, n0s, t1s, t0s, -per_step))

    def test_compression_changes_nothing(self):
        events = "SELECT event, " + EVENTS.split("event, ", 1)[1]
        with tempfile.TemporaryDirectory() as plain:
            for name in sorted(os.listdir(self.control)):
                with gzip.open(os.path.join(self.control, name)) as packed:
                    with open(os.path.join(plain, name.removesuffix(".gz")), "wb") as file:
                        file.write(packed.read())
            for sql, *arguments in ((events,), (OPS, "all", "all", None), (OPS, None, None, None)):
                packed_rows = self.db.execute(sql, (self.control, *arguments)).fetchall()
                self.assert_same(self.db.execute(sql, (plain, *arguments)).fetchall(), packed_rows, exact=99)
            for row in self.diff(self.control, plain, "all", "all"):
                self.assertEqual(row[5:8], (0, 0, "="))

    def ops(self, *selection):
        return self.db.execute(OPS, (self.control, *selection, None)).fetchall()

    def test_parts_add_up(self):
        whole = sorted(self.ops("all", "all"), key=sort_key)
        by_rank = self.ops(0, "all") + self.ops(1, "all")
        self.assertEqual(sorted(by_rank, key=sort_key), whole)
        self.assertEqual(sorted(self.ops("[0,1]", "all"), key=sort_key), whole)
        numbers = sorted({row[1] for row in whole if row[1] is not None})
        by_step = [row for number in numbers for row in self.ops("all", number)]
        self.assertEqual(sorted(by_step, key=sort_key), [row for row in whole if row[1] is not None])
        self.assertEqual(sorted(self.ops("all", json.dumps(numbers)), key=sort_key),
                         [row for row in whole if row[1] is not None])

    def test_summary_holds_every_event(self):
        counts, total = self.db.execute("""
            SELECT count(*), sum(dur_ns) FROM trace_events(?)
            WHERE dur_ns IS NOT NULL AND name IS NOT NULL AND cat IS NOT 'Trace'""", (self.control,)).fetchone()
        rows = self.ops("all", "all")
        self.assertEqual(sum(row[5] for row in rows), counts)
        self.assertEqual(sum(round(row[6] * 1000) for row in rows), total)


if __name__ == "__main__":
    unittest.main()
