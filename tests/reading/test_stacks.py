"""Call stacks (T5): parent, depth and self_dur of trace_events, and the sums of self times in trace_ops and trace_diff,
against oracle_stacks.py and on examples made by hand.
"""
import contextlib
import functools
import json
import os
import random
import sqlite3
import threading
import time
import unittest
from collections import Counter, namedtuple

import oracle
import oracle_stacks
import traces
from made import ABSENT, InFolder, document, event, kernel, launch, run, write
from oracle_stacks import NOWHERE, Place
from support import DATA, EXAMPLES, connect, corpus, series, slow, slowest
from test_oracle import argument, files_below, read, traces_below, us


Row = namedtuple("Row", "file event ph cat name pid tid ts_ns dur_ns")
ROWS = f"SELECT {', '.join(Row._fields)} FROM trace_events(?, NULL, NULL, ?)"
STACKS = "SELECT file, event, parent, depth, self_dur FROM trace_events(?, NULL, NULL, ?)"
LAST = 2**63 - 1


def rows_of(db, path, phases="all"):
    """Rows without their stacks, which other tests check."""
    return [Row(*row) for row in db.execute(ROWS, (path, phases))]


def ns(us):
    return None if us is None else round(us * 1000)


def places_of(db, path, phases=None):
    """{(file, event): Place}"""
    return {(file, number): Place(parent, depth, ns(own))
            for file, number, parent, depth, own in db.execute(STACKS, (path, phases))}


@functools.lru_cache(maxsize=6)
def places(path):
    """The same, computed once."""
    with contextlib.closing(connect()) as db:
        return places_of(db, path)


def in_us(nanoseconds):
    """A time in us as text, for times beyond a double."""
    sign, digits = "-" * (nanoseconds < 0), str(abs(nanoseconds)).rjust(4, "0")
    return f"{sign}{digits[:-3]}.{digits[-3:]}"


def at(name, start, stop, **fields):
    """An X event from one time to another, in ns."""
    return event(name, in_us(start), in_us(stop - start), **fields)


def mark(ph, name, ts, **fields):
    """An event without a duration, in ns."""
    return event(name, in_us(ts), ABSENT, ph=ph, **fields)


class Definition(unittest.TestCase):
    """The oracle's two implementations agree with each other and with examples made by hand."""

    def test_swept_is_as_defined(self):
        depths = Counter()
        for seed in range(600):
            rng = random.Random(seed)
            reach = rng.choice((3, 8, 30))
            rows = [Row("", number, "X", None, "", 1, 1, rng.randint(-2, reach), rng.choice((None, 0, 1, 2, 5, reach,
                        rng.randint(0, reach)))) for number in rng.sample(range(50), rng.randint(1, 14))]
            with self.subTest(seed=seed):
                swept = oracle_stacks.swept(rows)
                self.assertEqual(swept, oracle_stacks.defined(rows))
                self.assertEqual(sum(place.self_ns or 0 for place in swept.values()), oracle_stacks.union(rows))
            depths.update(place.depth for place in swept.values())
        self.assertGreater(min(depths[depth] for depth in range(8)), 20)

    def test_by_hand(self):
        rows = [Row("", 3, "X", None, "", 1, 1, 0, 10), Row("", 1, "X", None, "", 1, 1, 2, 3),
                Row("", 2, "X", None, "", 1, 1, 2, 5), Row("", 0, "X", None, "", 1, 1, 6, None),
                Row("", 4, "X", None, "", 1, 1, 9, 3)]
        expected = {3: (None, 0, 4), 1: (2, 2, 3), 2: (3, 1, 2), 0: (2, 2, None), 4: (3, 1, 3)}
        for find in (oracle_stacks.swept, oracle_stacks.defined):
            self.assertEqual(find(rows), expected)
        self.assertEqual(oracle_stacks.union(rows), 12)


class Comparing(unittest.TestCase):
    def assert_same(self, found, expected):
        """Like assertEqual, which takes minutes to print its message for large dictionaries."""
        wrong = [key for key in {**expected, **found} if found.get(key, "") != expected.get(key, "")]
        if wrong:
            self.fail(f"{len(wrong)} of {len(expected)} are wrong: {wrong[0]} is {found.get(wrong[0], 'missing')},"
                      f" expected {expected.get(wrong[0], 'nothing')}")

    def compare_sums(self, db, path, *selection):
        """trace_ops sums the self times of the selected rows. Returns the number of sums."""
        expected = oracle_stacks.sums(read(path), places(path), *selection)
        found = db.execute("SELECT rank, iteration, device, cat, name, self_duration FROM trace_ops(?, ?, ?, ?)",
                           (path, *map(argument, selection)))
        self.assert_same({row[:-1]: ns(row[-1]) for row in found}, expected)
        return len(expected)

    def compare_diff(self, db, control, test, *selection, short=0):
        """trace_diff gives the difference of those sums. Returns the number of differences."""
        function = (None, "trace_short_name", "trace_stable_name")[short]
        sides = [oracle_stacks.sums(read(path), places(path), *selection[number:4:2], selection[4])
                 for number, path in enumerate((control, test))]
        expected = oracle_stacks.differences(
            *sides, lambda name: db.execute(f"SELECT {function}(?)", (name,)).fetchone()[0] if function else name)
        found = {name: ns(own) for name, own in db.execute(
            "SELECT name, diff_self_duration FROM trace_diff(?, ?, ?, ?, ?, ?, ?, ?)",
            (control, test, *map(argument, selection), short))}
        self.assert_same(found, expected)
        return sum(own != 0 for own in found.values())

    def compare_busy(self, db, path):
        """All sums together are the busy time of all threads, except rows in no summary."""
        rows = read(path).rows
        elsewhere = sum(places(path)[row.file, row.event].self_ns or 0 for row in rows if row.name is None)
        own = db.execute("SELECT self_duration FROM trace_ops(?, 'all', 'all')", (path,))
        self.assertEqual(sum(ns(us) for us, in own) + elsewhere, sum(oracle_stacks.busy(rows).values()))
        return elsewhere

    def compare(self, db, path, phases="all"):
        """Compares every place and the self times of every thread, to the ns. Returns how many rows have a parent."""
        rows, found = rows_of(db, path, phases), places_of(db, path, phases)
        expected = {key: place._replace(self_ns=ns(us(place.self_ns)))  # what a double holds
                    for key, place in oracle_stacks.stacks(rows).items()}
        self.assert_same(found, expected)
        for thread, members in oracle_stacks.threads(rows).items():
            own, busy = sum(found[row.file, row.event].self_ns or 0 for row in members), oracle_stacks.union(members)
            self.assertTrue(own == busy or busy > 2**53, (thread, own, busy))
        return sum(place.parent is not None for place in found.values())


class Files(Comparing):
    """Every available trace."""

    def compare_file_sums(self, db, path):
        """trace_ops of a file is the sum over its events. Returns the number of sums."""
        expected = db.execute("""
            SELECT rank, iteration, device, cat, name, count(*), coalesce(sum(CAST(round(self_dur * 1000) AS INT)), 0)
            FROM trace_events(?) WHERE dur_ns IS NOT NULL AND name IS NOT NULL AND cat IS NOT 'Trace'
            GROUP BY 1, 2, 3, 4, 5""", (path,)).fetchall()
        found = db.execute("""
            SELECT rank, iteration, device, cat, name, counts, CAST(round(self_duration * 1000) AS INT)
            FROM trace_ops(?, 'all', 'all')""", (path,)).fetchall()
        self.assert_same({row[:5]: row[5:] for row in found}, {row[:5]: row[5:] for row in expected})
        return len(found)

    def compare_files(self, folder):
        db, counts = connect(), Counter()
        for path in files_below(folder):
            try:
                rows_of(db, path)
            except sqlite3.Error:
                continue  # not a trace
            with self.subTest(path):
                counts["files"] += 1
                counts["below"] += self.compare(db, path)
                counts["sums"] += self.compare_file_sums(db, path)
        return counts

    @slow
    def test_shipped_traces(self):
        for folder, least in ((EXAMPLES, 1000), (os.path.join(DATA, "tiny"), 100)):
            counts = self.compare_files(folder)
            self.assertGreater(min(counts["below"], counts["sums"]), least)
            for path in traces_below(folder):
                with self.subTest(path):
                    self.assertTrue(os.path.isdir(path))
                    self.compare(connect(), path, None)

    @slowest
    def test_the_corpus(self):
        counts = self.compare_files(corpus())
        self.assertEqual(counts["files"], 251)
        self.assertGreater(counts["below"], 300_000)
        self.assertGreater(counts["sums"], 20_000)


def outermost(rows):
    """T5 6: {(file, event): operator} for rows with file, event, parent, device, cat, link and an operator's name."""
    by_key = {row[:2]: row for row in rows}
    found = {}
    for file, number, _, device, _, link, _ in rows:
        at = by_key.get((file, link if device == "GPU" else number))
        while at:
            call = at[4] in ("cuda_driver", "Runtime") or str(at[4]).endswith("_runtime")
            if at[6] and at[3] == "CPU" and not call:
                found[file, number] = at[1]
            at = by_key.get((file, at[2]))
    return found


class Operators(InFolder):
    """T5 6: the column operator."""

    def test_by_hand(self):
        path = write("t.json", document(
            at("op", 0, 100), at("my op", 10, 50), launch(0.020, 0.005, 7), kernel("k op", 0.2, 0.01, 7),
            at("other", 120, 130), at("my op", 122, 123),
            event("op of the runtime", 0.125, 0.001, cat="cuda_runtime", args={"correlation": 8}),
            kernel("l", 0.3, 0.01, 8),
            kernel("op without a launch", 0.4, 0.01, 9)))
        for name, expected in (
                ("op", [0, 0, 0, 0, None, 5, None, None, None]), ("my", [None, 1, 1, 1, None, 5, None, None, None]),
                ("m?*", [None, 1, 1, 1, None, 5, None, None, None]), ("*p", [0, 0, 0, 0, None, 5, None, None, None]),
                ("[o]p", [None] * 9), ("?[o]*", [None] * 9), ("o*", [0, 0, 0, 0, 4, 4, 4, 4, None]),
                ("OP", [None] * 9), ("", [0, 0, 0, 0, 4, 4, 4, 4, None]), (None, [None] * 9)):
            with self.subTest(name):
                self.assertEqual(self.rows("SELECT operator FROM trace_events(?, NULL, NULL, NULL, ?)", path, name),
                                 [(number,) for number in expected])

    def test_two_names_in_one_statement(self):
        path = write("t.json", document(at("op", 0, 100), at("my op", 10, 50)))
        self.assertEqual(self.rows("SELECT a.operator, b.operator FROM trace_events(?1, NULL, NULL, NULL, 'op') AS a"
                                   " JOIN trace_events(?1, NULL, NULL, NULL, 'my') AS b USING (event)", path),
                         [(0, None), (0, 1)])

    def test_generated(self):
        counts = Counter()
        for seed in range(series(12, 60)):
            rng = random.Random(seed)
            traces.save(traces.generate(rng, steps=2), "t")
            for name in ("op", "aten::", "linear", "ProfilerStep", "*"):
                pattern = name if "*" in name else f"*{name}*"
                rows = self.rows("SELECT file, event, parent, device, cat, link, name GLOB ? FROM trace_events('t')",
                                 pattern)
                found = {(file, number): operator for file, number, operator in self.rows(
                    "SELECT file, event, operator FROM trace_events('t', NULL, NULL, NULL, ?)"
                    " WHERE operator IS NOT NULL", name)}
                with self.subTest(seed=seed, name=name):
                    self.assertEqual(found, outermost(rows))
                counts[name] += len(found)
        self.assertGreater(counts["*"], 1000)
        self.assertGreater(sum(counts[name] > 100 for name in counts), 1, counts)


class ByHand(InFolder):
    """One rule or corner case per test. Times are ns; an expected row is (event, parent, depth, self_dur)."""

    def check(self, events, *expected, phases=None, **keys):
        path = write("t.json", document(*events, **keys))
        found = self.rows("SELECT event, parent, depth, self_dur FROM trace_events(?, NULL, NULL, ?) ORDER BY event",
                          path, phases)
        self.assertEqual([(*row[:3], ns(row[3])) for row in found], list(expected))
        if phases is None:
            places = oracle_stacks.stacks(oracle.read_trace(path).rows)
            self.assertEqual([(number, *place) for (_, number), place in sorted(places.items())], list(expected))

    def test_child_inside_parent(self):
        self.check([at("p", 0, 10), at("c", 3, 7)], (0, None, 0, 6), (1, 0, 1, 4))

    def test_any_order_in_the_file(self):
        self.check([at("c", 3, 7), at("g", 4, 5), at("p", 0, 10)], (0, 2, 1, 3), (1, 0, 2, 1), (2, None, 0, 6))

    def test_partial_overlap(self):
        self.check([at("a", 0, 10), at("b", 5, 15)], (0, None, 0, 5), (1, 0, 1, 10))

    def test_ended_outer_below_a_live_one(self):
        """The middle event, below the inner one and above the outer one, ends first and then has no children."""
        self.check([at("outer", 0, 30), at("middle", 2, 10), at("inner", 5, 20), at("late", 25, 27), at("in", 12, 13)],
                   (0, None, 0, 10), (1, 0, 1, 3), (2, 1, 2, 14), (3, 0, 1, 2), (4, 2, 3, 1))

    def test_equal_starts_the_longer_is_outer(self):
        self.check([at("short", 0, 3), at("long", 0, 10), at("middle", 0, 5)],
                   (0, 2, 2, 3), (1, None, 0, 5), (2, 1, 1, 2))

    def test_identical_intervals_the_later_in_the_file_is_inner(self):
        self.check([at("z", 0, 10), at("y", 0, 10), at("x", 0, 10), at("in", 4, 5)],
                   (0, None, 0, 0), (1, 0, 1, 0), (2, 1, 2, 9), (3, 2, 3, 1))

    def test_zero_length_at_the_start(self):
        self.check([at("zero", 5, 5), at("p", 5, 10)], (0, 1, 1, 0), (1, None, 0, 5))

    def test_zero_length_at_the_end_is_outside(self):
        self.check([at("p", 5, 10), at("zero", 10, 10)], (0, None, 0, 5), (1, None, 0, 0))

    def test_zero_lengths_at_one_instant_are_siblings(self):
        self.check([at("one", 5, 5), at("two", 5, 5), at("p", 0, 10)], (0, 2, 1, 0), (1, 2, 1, 0), (2, None, 0, 10))

    def test_zero_length_is_nobodys_parent(self):
        self.check([at("zero", 5, 5), at("p", 5, 6), at("in", 5, 6)], (0, 2, 2, 0), (1, None, 0, 0), (2, 1, 1, 1))

    def test_child_ends_one_ns_after_its_parent(self):
        self.check([at("p", 0, 1000), at("c", 500, 1001), at("next", 1001, 1002), at("last", 1002, 1003)],
                   (0, None, 0, 500), (1, 0, 1, 501), (2, None, 0, 1), (3, None, 0, 1))

    def test_siblings_back_to_back(self):
        self.check([at("a", 0, 5), at("b", 5, 9), at("c", 9, 12), at("p", 0, 12)],
                   (0, 3, 1, 5), (1, 3, 1, 4), (2, 3, 1, 3), (3, None, 0, 0))

    def test_begin_and_end_mixed_with_complete(self):
        self.check([mark("B", "b", 0), at("x", 2, 20), mark("B", "c", 4), at("y", 5, 6), mark("E", "c", 10),
                    mark("E", "b", 30)],
                   (0, None, 0, 12), (1, 0, 1, 12), (2, 1, 2, 5), (3, 2, 3, 1))

    def test_begin_and_end_that_cross(self):
        """An E closes by name, so the outer pair can end within the inner one."""
        self.check([mark("B", "a", 0), mark("B", "b", 5), mark("E", "a", 10), at("x", 12, 14), mark("E", "b", 20)],
                   (0, None, 0, 5), (1, 0, 1, 13), (3, 1, 2, 2))

    def test_begin_without_end_holds_nothing(self):
        self.check([at("p", 0, 10), mark("B", "open", 2), at("c", 3, 4), mark("B", "alone", 20)],
                   (0, None, 0, 9), (1, 0, 1, None), (2, 0, 1, 1), (3, None, 0, None))

    def test_complete_without_duration_holds_nothing(self):
        self.check([at("p", 0, 10), event("x", "0.002", ABSENT), at("c", 3, 4), event("n", "0.003", -1)],
                   (0, None, 0, 9), (1, 0, 1, None), (2, 0, 1, 1), (3, 2, 2, None))

    def test_no_duration_counts_as_zero_among_equal_starts(self):
        self.check([event("x", 0, ABSENT), at("p", 0, 10), at("zero", 0, 0)],
                   (0, 1, 1, None), (1, None, 0, 10), (2, 1, 1, 0))

    def test_instants(self):
        events = [mark("i", "in", 5), at("p", 0, 10), at("c", 5, 7), mark("I", "out", 10), mark("b", "async", 6),
                  event("long", "0.001", "0.008", ph="i"), mark("i", "start", 0)]
        x = [(1, None, 0, 8), (2, 1, 1, 2)]
        i = [(0, 2, 2, None), (3, None, 0, None), (5, 1, 1, None), (6, 1, 1, None)]
        self.check(events, *x)
        self.check(events, *sorted([*x, *i, (4, 2, 2, None)]), phases="all")
        self.check(events, *i, phases="iI")

    def test_rows_not_shown_are_parents(self):
        events = [mark("B", "b", 0), at("x", 2, 20), mark("B", "c", 4), mark("i", "i", 5), mark("E", "c", 10),
                  mark("E", "b", 30)]
        b, x, c, i = (0, None, 0, 12), (1, 0, 1, 12), (2, 1, 2, 6), (3, 2, 3, None)
        for phases, expected in ((None, (b, x, c)), ("X", (x,)), ("B", (b, c)), ("i", (i,)), ("all", (b, x, c, i))):
            self.check(events, *expected, phases=phases)

    def test_nameless(self):
        self.check([at(ABSENT, 0, 10), at("c", 2, 5), at(7, 3, 4), at(None, 3, 4)],
                   (0, None, 0, 7), (1, 0, 1, 2), (2, 1, 2, 0), (3, 2, 3, 1))

    def test_category_trace(self):
        self.check([at("span", 0, 100, cat="Trace"), at("p", 0, 10), at("span", 2, 8, cat="Trace"), at("c", 3, 4),
                    at("other", 3, 4, cat="trace")],
                   (0, *NOWHERE), (1, None, 0, 9), (2, *NOWHERE), (3, 1, 1, 0), (4, 3, 2, 1))

    def test_begin_of_category_trace(self):
        self.check([mark("B", "span", 0, cat="Trace"), at("c", 2, 3), mark("E", "span", 9)],
                   (0, *NOWHERE), (1, None, 0, 1))

    def test_processes_and_threads(self):
        self.check([at("p", 0, 10), at("a", 1, 2, pid=2), at("b", 1, 2, tid=2), at("c", 1, 2, pid=2, tid=2),
                    at("in", 1, 2), at("d", 1, 5, pid=2)],
                   (0, None, 0, 9), (1, 5, 1, 1), (2, None, 0, 1), (3, None, 0, 1), (4, 0, 1, 1), (5, None, 0, 3))

    def test_number_and_text_are_two_threads(self):
        self.check([at("p", 0, 10, tid=7), at("text", 1, 9, tid="7"), at("in text", 2, 3, tid="7"),
                    at("in", 4, 5, tid=7), at("pid", 1, 2, pid="1", tid=7)],
                   (0, None, 0, 9), (1, None, 0, 7), (2, 1, 1, 1), (3, 0, 1, 1), (4, None, 0, 1))

    def test_no_thread_at_all_is_one(self):
        self.check([at("p", 0, 10, pid=ABSENT, tid=ABSENT), at("c", 1, 2, pid=ABSENT, tid=ABSENT),
                    at("d", 1, 3, tid=ABSENT), at("e", 1, 3), at("f", 1, 2, tid=0)],
                   (0, None, 0, 9), (1, 0, 1, 1), (2, None, 0, 2), (3, None, 0, 2), (4, None, 0, 1))

    def test_no_time(self):
        self.check([event("x", ABSENT, 5), at("p", 0, 10), event("y", "soon", 5), event("z", ABSENT, ABSENT)],
                   (0, *NOWHERE), (1, None, 0, 10), (2, *NOWHERE), (3, *NOWHERE))

    def test_no_time_is_no_self_time(self):
        write("t.json", document(event("op", ABSENT, 5), event("p", 0, 3)))
        self.assertEqual(self.rows("SELECT name, total_duration, self_duration FROM trace_ops('t.json')"),
                         [("op", 5, 0), ("p", 3, 3)])

    def test_device_work_has_stacks_too(self):
        self.check([kernel("k", 0, 10, 1), kernel("l", 5, 10, 2), kernel("m", 5, 10, 3, stream=8)],
                   (0, None, 0, 5000), (1, 0, 1, 10000), (2, None, 0, 10000))

    def test_base_time_moves_nothing(self):
        self.check([at("p", 0, 10), at("c", 3, 7)], (0, None, 0, 6), (1, 0, 1, 4),
                   baseTimeNanoseconds=4_000_000_000_000_000_001)

    def test_two_files_of_a_rank(self):
        for name, events in (("rank0.a", [at("p", 0, 10), at("c", 2, 4)]),
                             ("rank0.b", [at("c", 2, 4), at("d", 3, 5), at("p", 1, 20)])):
            write(f"t/{name}.json", document(*events))
        found = self.rows("SELECT rank, event, parent, depth, self_dur FROM trace_events('t') ORDER BY file, event")
        self.assertEqual([(*row[:4], ns(row[4])) for row in found],
                         [(0, 0, None, 0, 8), (0, 1, 0, 1, 2), (0, 0, 2, 1, 1), (0, 1, 0, 2, 2), (0, 2, None, 0, 16)])

    def test_files_of_which_nothing_is_shown(self):
        write("t/0.json", document(at("p", 0, 10)))
        write("t/1.json", document())
        write("t/2.json", document(at("p", 0, 10), mark("i", "i", 2)))
        write("t/3.json", document())
        for path, expected in (("t", [(0, 1)]), ('["t/0.json", "t/1.json"]', [])):
            self.assertEqual(self.rows("SELECT parent, depth FROM trace_events(?, NULL, NULL, 'i')", path), expected)
            self.assertEqual(self.value("SELECT count(*) FROM trace_events(?, NULL, NULL, 'i')", path), len(expected))

    def test_events_are_numbered_by_position(self):
        """Events are numbered by position, not by row, because metadata and ends have positions, too."""
        self.check([mark("M", "process_name", 0), mark("i", "i", 0), mark("E", "none", 0), at("p", 0, 10),
                    mark("M", "thread_name", 0), at("c", 2, 4)], (3, None, 0, 8), (5, 3, 1, 2))

    def test_an_end_beyond_the_last_instant_is_no_duration(self):
        """T1: an event with an end beyond 64 bits has no duration and contains nothing."""
        self.check([at("late", LAST - 10, LAST), at("in", LAST - 4, LAST + 10**9), at("none", LAST, LAST + 5),
                    at("inner", LAST - 4, LAST), at("none", LAST, LAST + 3), at("zero", LAST, LAST)],
                   (0, None, 0, 6), (1, 3, 2, None), (2, None, 0, None), (3, 0, 1, 4), (4, None, 0, None),
                   (5, None, 0, 0))

    def test_times_from_limit_to_limit(self):
        """Two halves of the whole range of times on a thread have a sum of 65 bits."""
        path = write("t.json", document(at("late", 0, LAST), at("early", -LAST, 0), at("in", -5, 5)))
        self.assertEqual(self.rows("SELECT parent, depth, self_dur FROM trace_events('t.json') ORDER BY event"),
                         [(2, 2, (LAST - 0) / 1000), (None, 0, (LAST - 5) / 1000), (1, 1, 0.005)])
        self.assertEqual(self.rows("SELECT name, self_duration FROM trace_ops(?) ORDER BY 1", path),
                         [("early", (LAST - 5) / 1000), ("in", 0.005), ("late", LAST / 1000)])
        write("t.json", document(at("op", 0, LAST), at("op", -LAST, 0)))
        self.assertEqual(self.value("SELECT self_duration FROM trace_ops('t.json')"), 2 * LAST / 1000)

    def test_a_span_of_more_than_64_bits(self):
        self.check([at("a", -LAST, 7 - LAST), at("c", LAST - 1, LAST), at("b", 5 - LAST, 9 - LAST)],
                   (0, None, 0, 5), (1, None, 0, 1), (2, 0, 1, 4))


class Async(InFolder):
    """T3.5: async events, `b` and `e`, in a file that has only those."""

    def made(self, *events, **keys):
        write("a.json", document(*events, **keys))
        return self.rows("SELECT event, ph, name, tid, ts_ns, dur_ns FROM trace_events('a.json') ORDER BY event")

    @staticmethod
    def pair(name, number, start, stop, **fields):
        return [mark(ph, name, ts, cat="req", id=number, **fields) for ph, ts in (("b", start), ("e", stop))]

    def test_they_are_events(self):
        first, second = self.pair("prefill", "0x1", 10, 40), self.pair("prefill", "0x2", 20, 30)
        inner = self.pair("forward", "0x1", 15, 25, args={"n": 5})
        self.assertEqual(self.made(first[0], *second, *inner, {**first[1], "tid": 2}, mark("n", "x", 12, id="0x1")),
                         [(0, "b", "prefill", 1, 10, 30), (1, "b", "prefill", 1, 20, 10),
                          (3, "b", "forward", 1, 15, 10)])
        self.assertEqual(self.rows("SELECT args FROM trace_events('a.json') WHERE name = 'forward'"), [('{"n": 5}',)])
        self.assertEqual(self.rows("SELECT name, counts, total_duration FROM trace_ops('a.json') ORDER BY name"),
                         [("forward", 1, 0.01), ("prefill", 2, 0.04)])
        self.assertEqual(self.rows("SELECT rows, start_ns, end_ns, problems FROM trace_files('a.json')"),
                         [(3, 10, 40, "[]")])
        self.assertEqual(self.rows("SELECT event, dur_ns FROM trace_events('a.json', NULL, NULL, 'all')"),
                         [(0, 30), (1, 10), (3, 10), (6, None)])
        for phases, count in ((None, 3), ("b", 3), ("XB", 0), ("n", 1), ("bn", 4)):
            self.assertEqual(self.value("SELECT count(*) FROM trace_events('a.json', NULL, NULL, ?)", phases), count)
        self.assertIn("no difference", self.value("SELECT text FROM trace_summary('a.json', 'a.json') LIMIT 1"))

    def test_pairs(self):
        """Async events are paired by process, category and id; without a partner they are problems."""
        one = self.pair("a", 1, 10, 20)
        for end, dur in (({}, 10), ({"id": 2}, None), ({"pid": 2}, None), ({"cat": "other"}, None), ({"tid": 9}, 10),
                         ({"name": "b"}, None)):
            self.assertEqual(self.made(one[0], {**one[1], **end}), [(0, "b", "a", 1, 10, dur)], end)
            problems = json.loads(self.value("SELECT problems FROM trace_files('a.json')"))
            self.assertEqual({problem["what"] for problem in problems},
                             set() if dur else {"B without an E", "E without a B"})
        self.assertEqual(self.made(*one, baseTimeNanoseconds=1000)[0][-2:], (1010, 10))
        self.assertEqual(self.rows("SELECT start_ns, end_ns FROM trace_files('a.json')"), [(1010, 1020)])

    def test_beside_other_events_they_are_none(self):
        one = self.pair("a", 1, 10, 20)
        for other in (at("x", 0, 5), mark("B", "x", 0), mark("E", "x", 0)):
            self.assertEqual([row for row in self.made(*one, other) if row[1] == "b"], [])
            self.assertEqual(self.rows("SELECT dur_ns FROM trace_events('a.json', NULL, NULL, 'b')"), [(None,)])
        self.assertEqual(self.made(mark("i", "i", 3), mark("C", "c", 4), {"ph": "M", "name": "x", "pid": 1}), [])
        self.assertEqual(self.value("SELECT count(*) FROM trace_events('a.json', NULL, NULL, 'iC')"), 2)


class Large(InFolder, Comparing):
    """Large threads need neither recursion nor quadratic time."""

    def timed(self, rows, reach):
        """Reads a thread of these (start, stop) and compares it with the oracle, in less than 2 s of CPU time."""
        write("t.json", document(*(at("op", *row) for row in rows)))
        start = time.process_time()
        found = places_of(self.db, "t.json")
        self.assertLess(time.process_time() - start, 2)
        self.assert_same(found, oracle_stacks.stacks(rows_of(self.db, "t.json")))
        self.assertEqual(max(place.depth for place in found.values()), reach)
        return found

    def test_nested_deep(self):
        found = self.timed([(number, 20_000 - number) for number in range(5000)], 4999)
        self.assertEqual(found["t.json", 4999], (4998, 4999, 20_000 - 2 * 4999))
        self.assertEqual({place.self_ns for place in list(found.values())[:-1]}, {2})

    @slow
    def test_all_overlap_partially(self):
        """Each event begins in all events before it and outlives them."""
        found = self.timed([(number, 50_000 + 2 * number) for number in range(50_000)], 49_999)
        self.assertEqual(found["t.json", 49_999].self_ns, 50_000 + 49_999)

    def test_ended_ones_below_a_long_one(self):
        count = series(20_000, 50_000) - 1
        self.timed([(number, 100_000 - number % 1000 * 50) for number in range(count)] + [(count, 10**6)], count)

    @slow
    def test_identical(self):
        self.timed([(0, 10)] * 50_000, 49_999)

    @slow
    def test_no_length(self):
        self.timed([(5, 5)] * 49_999 + [(0, 10)], 1)

    @slow
    def test_any_order_in_the_file(self):
        rows = [(number, 50_000 + 2 * number) for number in range(50_000)]
        self.timed(random.Random(1).sample(rows, len(rows)), 49_999)

    def test_a_thread_an_event(self):
        write("t.json", document(*(at("op", 0, 10, tid=number) for number in range(50_000))))
        start = time.process_time()
        sql = "SELECT DISTINCT parent, depth, self_dur FROM trace_events('t.json')"
        self.assertEqual(self.rows(sql), [(None, 0, 0.01)])
        self.assertLess(time.process_time() - start, 2)


class Random(InFolder, Comparing):
    """Random traces full of ties, overlaps and odd values."""

    def event(self, rng, threads):
        pid, tid = rng.choice(threads)
        reach = rng.choice((6, 40))
        ph = rng.choice("XXXXXXXBBBEEEib")
        made = mark(ph, rng.choice(("a", "a", "b", "ProfilerStep#1", "ProfilerStep#2", None)), rng.randint(0, reach),
                    pid=pid, tid=tid, cat=rng.choice(("cpu_op", "cpu_op", "kernel", "user_annotation", "Trace")))
        if ph == "X" or rng.random() < 0.1:
            made["dur"] = in_us(rng.choice((0, 1, 2, 5, 10, rng.randint(0, reach))))
        if rng.random() < 0.05:
            made[rng.choice(("ts", "dur"))] = None
        return {key: value for key, value in made.items() if key != "name" or value is not None}

    def document(self, rng):
        threads = rng.sample([(pid, tid) for pid in (1, "1", 2) for tid in (1, "1", 2, "s")], rng.randint(1, 4))
        events = [self.event(rng, threads) for _ in range(rng.randint(1, 80))]
        return document(*events, distributedInfo={"rank": rng.randint(0, 1)})

    def made(self, name, rng):
        for number in range(rng.randint(1, 2)):
            write(f"{name}/{number}.json", self.document(rng))
        return name

    def test_stacks(self):
        for seed in range(series(50, 150)):
            path = self.made(str(seed), random.Random(seed))
            with self.subTest(seed=seed):
                rows = oracle.read_trace(path).rows
                self.assert_same(places_of(self.db, path), oracle_stacks.stacks(rows, oracle_stacks.defined))
                every = places_of(self.db, path, "all")
                self.assert_same(every, oracle_stacks.stacks(rows_of(self.db, path), oracle_stacks.defined))
                for phases in ("X", "B", "i", "bi"):
                    shown = {(row.file, row.event): every[row.file, row.event] for row in rows_of(self.db, path)
                             if row.ph in phases}
                    self.assert_same(places_of(self.db, path, phases), shown)

    def test_self_durations_are_those_of_the_oracle(self):
        compared = differ = 0
        count = series(20, 60)
        for seed in range(count):
            rng = random.Random(1000 + seed)
            control, test = (os.path.join(self.folder, self.made(f"{seed}{side}", rng)) for side in "ab")
            with self.subTest(seed=seed):
                for ranks, steps, device_type in (("all", "all", "ALL"), (None, None, "CPU"), (None, "steady", "gpu")):
                    try:
                        compared += self.compare_sums(self.db, control, ranks, steps, device_type)
                        differ += self.compare_diff(self.db, control, test, ranks, None, steps, "all", device_type)
                    except oracle.Refused:
                        pass
        self.assertGreater(min(compared, differ), 5 * count // 3)

    def test_busy(self):
        elsewhere = 0
        count = series(40, 100)
        for seed in range(count):
            path = write(os.path.join(self.folder, f"{seed}.json"), self.document(random.Random(2000 + seed)))
            with self.subTest(seed=seed):
                elsewhere += self.compare_busy(self.db, path)
        self.assertGreater(elsewhere, count)


class Sums(Comparing):
    """trace_ops.self_duration and trace_diff.diff_self_duration for the pairs that ship."""

    PAIRS = [[os.path.join(folder, side) for side in ("control", "test")]
             for folder in (os.path.join(EXAMPLES, "cpu"), os.path.join(EXAMPLES, "gpu"), os.path.join(DATA, "tiny"))]

    @slow
    def test_ops(self):
        db, compared = connect(), 0
        for path in (path for pair in self.PAIRS for path in pair):
            for ranks in (None, "all", 1, [0, 1]):
                for iterations in (None, "all", "steady", read(path).steps[1].iteration):
                    for device_type in ("ALL", "CPU", "GPU"):
                        with self.subTest(path, ranks=ranks, iterations=iterations, device_type=device_type):
                            compared += self.compare_sums(db, path, ranks, iterations, device_type)
        self.assertGreater(compared, 10_000)

    @slow
    def test_self_durations_of_a_diff(self):
        db, differ = connect(), 0
        for control, test in self.PAIRS:
            number = read(test).steps[1].iteration
            for selection in ((None, None, None, None, None), ("all", "all", "all", "all", "ALL"),
                              (0, 1, "steady", "steady", "CPU"), ("all", "all", "steady", "steady", "GPU"),
                              (1, [0, 1], "all", number, "cpu")):
                for short in (0, 1, 2):
                    with self.subTest(control, selection=selection, short=short):
                        differ += self.compare_diff(db, control, test, *selection, short=short)
        self.assertGreater(differ, 1000)

    @slow
    def test_busy(self):
        for path in (path for pair in self.PAIRS for path in pair):
            with self.subTest(path):
                self.compare_busy(connect(), path)

    def test_short_name_stands_after_name(self):
        """short_name follows name, and trace_diff groups by it."""
        for path in (path for pair in self.PAIRS for path in pair):
            rows = connect().execute("SELECT name, short_name, trace_short_name(name) FROM trace_ops(?, 'all', 'all')",
                                     (path,)).fetchall()
            self.assertEqual([row[1] for row in rows], [row[2] for row in rows])


class Asked(InFolder):
    """Columns are computed where a query names them, without other effects."""

    WHOLE = "SELECT event, parent, depth, self_dur FROM trace_events('a') ORDER BY file, event"
    BARE = "SELECT event, name, dur FROM trace_events('a') ORDER BY file, event"
    OPS = "SELECT rank, iteration, name, self_duration FROM trace_ops('a', 'all', 'all')"
    DIFF = "SELECT name, diff_self_duration FROM trace_diff('a', 'b')"

    def setUp(self):
        super().setUp()
        for rank in (0, 1):
            write(f"a/rank{rank}.json", run(extra=["gone"]))
            write(f"b/rank{rank}.json", run(slower=2, extra=["new", "op1"]))

    def fresh(self, sql):
        """The result on a new connection."""
        with contextlib.closing(connect()) as db:
            return db.execute(sql).fetchall()

    def test_by_hand(self):
        """In a step of 900 us: op1 of 100 with a launch of 5 inside, op2 of 50 + n, and another of 10. In b, an op1
        hides that one: it has the same interval and is later in the file.
        """
        self.assertEqual(self.rows("SELECT name, total_duration, self_duration FROM trace_ops('a', 0, 1)"),
                         [("gone", 10, 10), ("op1", 100, 95), ("op2", 51, 51), ("cudaLaunchKernel", 5, 5),
                          ("ProfilerStep#1", 900, 739), ("gemm", 200, 200)])
        self.assertEqual(self.rows("SELECT name, diff_self_duration FROM trace_diff('a', 'b', 0, 0, 1, 1)"
                                   " WHERE use_short_name = 0 ORDER BY 1"),
                         [("ProfilerStep#1", -100), ("cudaLaunchKernel", 0), ("gemm", 200), ("gone", -10), ("new", 0),
                          ("op1", 110), ("op2", 0)])
        self.assertEqual(self.rows("SELECT e.name, p.name, e.depth FROM trace_events('a') AS e LEFT JOIN"
                                   " trace_events('a') AS p ON p.event = e.parent AND p.file = e.file"
                                   " WHERE e.rank = 1 AND (e.iteration = 2 OR e.name = 'end')"),
                         [("ProfilerStep#2", None, 0), ("op1", "ProfilerStep#2", 1), ("op2", "ProfilerStep#2", 1),
                          ("cudaLaunchKernel", "op1", 2), ("gemm", None, 0), ("gone", "ProfilerStep#2", 1),
                          ("end", None, 0)])

    def test_place_and_type_of_the_columns(self):
        for function, before, columns, after in (
                ("trace_events", "link", [("parent", "INTEGER"), ("depth", "INTEGER"), ("self_dur", "REAL")], "ph"),
                ("trace_ops", "name", [("short_name", "TEXT")], "counts"),
                ("trace_ops", "total_duration", [("self_duration", "REAL")], "mean_duration"),
                ("trace_diff", "diff_duration_pct", [("diff_self_duration", "REAL")], "diff_duration_per_step")):
            with self.subTest(function, before=before):
                found = self.rows("SELECT name, type FROM tracediff_columns(?) WHERE kind = 'column'", function)
                names = [name for name, _ in found]
                place = names.index(before) + 1
                self.assertEqual(found[place:place + len(columns)], columns)
                self.assertEqual(names[place + len(columns)], after)
                arguments = "'a', 'b'" if function == "trace_diff" else "'a'"
                cursor = self.db.execute(f"SELECT * FROM {function}({arguments})")
                self.assertEqual([column[0] for column in cursor.description], names)
        self.assertEqual(self.rows("SELECT DISTINCT typeof(parent), typeof(depth), typeof(self_dur), typeof(dur) FROM"
                                   " trace_events('a') ORDER BY 1"),
                         [("integer", "integer", "real", "real"), ("null", "integer", "real", "real")])

    def test_one_column_alone(self):
        whole = self.fresh(self.WHOLE)
        for position, column in enumerate(("event", "parent", "depth", "self_dur")):
            self.assertEqual(self.fresh(f"SELECT {column} FROM trace_events('a') ORDER BY file, event"),
                             [(row[position],) for row in whole], column)

    def test_not_asked_then_asked(self):
        wanted = [(sql, self.fresh(sql)) for sql in (self.BARE, self.WHOLE, self.OPS, self.DIFF)]
        for first in ("SELECT count(*) FROM trace_events('a')", "SELECT count(*) FROM trace_ops('a', 'all', 'all')",
                      "SELECT count(*) FROM trace_diff('a', 'b')", *(sql for sql, _ in wanted)):
            with contextlib.closing(connect()) as db:
                db.execute(first).fetchall()
                for sql, rows in wanted * 2:
                    self.assertEqual(db.execute(sql).fetchall(), rows, (first, sql))

    def test_in_one_statement(self):
        asked = {"trace_events('a')": "sum(self_dur)", "trace_ops('a', 'all', 'all')": "sum(self_duration)",
                 "trace_diff('a', 'b')": "sum(abs(diff_self_duration))"}
        for function, column in asked.items():
            total, count = self.fresh(f"SELECT {column}, count(*) FROM {function}")[0]
            self.assertGreater(total, 0)
            for one, two in ((column, "count(*)"), ("count(*)", column), ("count(name)", column)):
                expected = tuple(total if what == column else count for what in (one, two))
                self.assertEqual(self.fresh(f"SELECT (SELECT {one} FROM {function}), (SELECT {two} FROM {function})"),
                                 [expected], function)

    def test_join_where_one_side_asks(self):
        for function, keys, column in (("trace_diff('a', 'b')", "name", "diff_self_duration"),
                                       ("trace_ops('a', 'all', 'all')", "rank, iteration, device, cat, name",
                                        "self_duration"),
                                       ("trace_ops('a')", "rank, iteration, device, cat, name", "short_name"),
                                       ("trace_events('a')", "file, event", "self_dur"),
                                       ("trace_events('a', NULL, NULL, 'all')", "file, event", "parent")):
            self.db.execute("DROP TABLE IF EXISTS plain")
            self.db.execute(f"CREATE TABLE plain AS SELECT * FROM {function}")
            self.assertEqual(self.rows("SELECT * FROM plain"), self.fresh(f"SELECT * FROM {function}"))
            equal = " AND ".join(f"x.{key} IS y.{key}" for key in keys.split(", "))
            for sides in ("x, {0} AS y", "x CROSS JOIN {0} AS y", "y CROSS JOIN {0} AS x", "x LEFT JOIN {0} AS y"):
                for asked in ("x", "y", "x.{0}, y"):
                    sql = "SELECT x.name, y.name, {}.{} FROM {{0}} AS {} {} {} ORDER BY 1, 2, 3".format(
                        asked.format(column), column, sides, "ON" if "LEFT" in sides else "WHERE", equal)
                    self.assertEqual(self.fresh(sql.format(function)), self.rows(sql.format("plain")), sql)

    def test_terms_and_order(self):
        """A column is computed if it is named only in WHERE, ORDER BY, GROUP BY or an aggregate."""
        self.db.execute("CREATE TABLE plain AS SELECT * FROM trace_events('a')")
        for sql in ("SELECT name FROM {} WHERE parent IS NULL", "SELECT name FROM {} WHERE depth = 2",
                    "SELECT event FROM {} WHERE self_dur > 90 AND rank = 0", "SELECT max(depth) FROM {}",
                    "SELECT name FROM {} ORDER BY self_dur DESC, file, event LIMIT 5",
                    "SELECT count(*) FROM {} GROUP BY depth", "SELECT count(DISTINCT parent) FROM {}",
                    "SELECT name FROM {0} AS e WHERE EXISTS (SELECT 1 FROM {0} WHERE parent = e.event"
                    " AND file = e.file)",
                    "SELECT name FROM {0} WHERE event IN (SELECT parent FROM {0})"):
            found = self.fresh(sql.format("trace_events('a')"))
            self.assertEqual(found, self.rows(sql.format("plain")), sql)
            self.assertTrue(found)

    def test_rowid(self):
        """The rowid identifies the row, whichever columns are named."""
        for function, column in (("trace_events('a')", "self_dur"), ("trace_events('a', NULL, NULL, 'all')", "depth"),
                                 ("trace_ops('a', 'all', 'all')", "self_duration"),
                                 ("trace_diff('a', 'b')", "diff_self_duration")):
            without = self.fresh(f"SELECT rowid, name FROM {function}")
            asked = self.fresh(f"SELECT rowid, name, {column} FROM {function}")
            self.assertEqual([row[:2] for row in asked], without)
            self.assertEqual(len({row[0] for row in without}), len(without))

    def test_or(self):
        """The terms of an OR may name different columns."""
        self.db.execute("CREATE TABLE ops AS SELECT 'a' AS trace, * FROM trace_ops('a') UNION ALL"
                        " SELECT 'b', * FROM trace_ops('b')")
        for either in ("trace = 'a' OR trace = 'b'", "trace = 'a' OR (trace = 'b' AND self_duration > 90)",
                       "(trace = 'a' AND self_duration > 90) OR (trace = 'a' AND counts = 1 AND device = 'CPU')",
                       "(trace = 'a' AND self_duration > 90) OR (trace = 'b' AND name = 'op1') OR trace = 'a' AND rank",
                       "trace = 'a' AND (self_duration > 90 OR name = 'op2')"):
            for columns in ("name", "name, iteration, self_duration", "rank"):
                sql = f"SELECT {columns} FROM {{}} WHERE {either} ORDER BY trace, rank, iteration, device, cat, name"
                found = self.fresh(sql.format("trace_ops"))
                self.assertEqual(found, self.rows(sql.format("ops")), sql)
                self.assertTrue(found)

    def test_a_cursor_is_open_meanwhile(self):
        bare, whole = self.fresh(self.BARE), self.fresh(self.WHOLE)
        for before, rows, during, others in ((self.BARE, bare, self.WHOLE, whole),
                                             (self.WHOLE, whole, self.BARE, bare)):
            with contextlib.closing(connect()) as db:
                cursor = db.execute(before.removesuffix(" ORDER BY file, event"))
                found = [cursor.fetchone()]
                self.assertEqual(db.execute(during).fetchall(), others)
                self.assertEqual(self.rows(during), others)
                self.assertEqual(found + cursor.fetchall(), rows)

    def test_a_file_changes(self):
        self.assertEqual(self.value("SELECT count(*) FROM trace_events('a/rank0.json') WHERE depth = 2"), 3)
        write("a/rank0.json", document(at("p", 0, 10), at("c", 2, 3), at("d", 2, 3)))
        self.assertEqual(self.rows("SELECT parent, depth, self_dur FROM trace_events('a/rank0.json')"),
                         [(None, 0, 0.009), (0, 1, 0), (1, 2, 0.001)])

    def test_views_and_tables(self):
        self.db.execute("CREATE TEMP VIEW seen AS SELECT * FROM trace_events('a')")
        self.db.execute("CREATE VIRTUAL TABLE temp.base USING trace_events('a')")
        whole = self.fresh(self.WHOLE)
        for source in ("seen", "base", "(SELECT * FROM seen)"):
            self.rows(f"SELECT count(*), max(name) FROM {source}")
            self.assertEqual(self.rows(self.WHOLE.replace("trace_events('a')", source)), whole)

    @slow
    def test_threads_ask_at_once(self):
        """Threads can query at the same time; connections share what was read."""
        for number in range(8):
            path = write(f"{number}.json", document(*(at("op", place, 9000 - place % 7) for place in range(4000))))
            gate, found = threading.Barrier(8), []

            def ask():
                with contextlib.closing(connect()) as db:
                    gate.wait()
                    found.append(places_of(db, path))

            workers = [threading.Thread(target=ask) for _ in range(8)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            self.assertEqual(len(found), 8)
            expected = oracle_stacks.stacks(rows_of(self.db, path))
            self.assertTrue(all(one == expected for one in found))


if __name__ == "__main__":
    unittest.main()
