"""Diffs: per step, 'all' iterations, counts_change and device; and times are divided only once."""
import gzip
import json
import os
import random
import re
import unittest

from made import InFolder, document, event, kernel, launch, run, step, write
from support import EXAMPLES

SIDES = tuple(os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
DIFF = """
    SELECT control_counts, test_counts, control_counts_per_step, test_counts_per_step, control_duration_per_step,
           test_duration_per_step, diff_duration_per_step
    FROM trace_diff(:control, :test) WHERE name = 'gemm' AND {where}"""
DIFF_BY = """
    SELECT control_counts, test_counts, control_device_time, test_device_time, diff_device_time
    FROM trace_diff_by(:control, :test, 'kernel') WHERE key = 'gemm' AND {where}"""
STEP_DIFF = """
    SELECT control_steps, test_steps, control_time, test_time, diff_time
    FROM trace_step_diff(:control, :test) WHERE class = 'compute' AND level = 'kernel' AND {where}"""


def both(argument, value):
    return f"control_{argument} = {value!r} AND test_{argument} = {value!r}"


class Asking(InFolder):
    def ask(self, query, control, test, iteration="all", rank="all"):
        return self.db.execute(query.format(where=f"{both('iteration', iteration)} AND {both('rank', rank)}"),
                               {"control": control, "test": test}).fetchall()


def without_steps(rank=0, kernels=2):
    """Kernels of 10 us, launched by an operator."""
    return document(event("op", 0, 900), *(launch(10 * i, 5, i + 1) for i in range(kernels)),
                    *(kernel("gemm", 100 + 50 * i, 10, i + 1) for i in range(kernels)), distributedInfo={"rank": rank})


def with_steps(rank=0):
    """Two steps with a kernel of 10 us each, and two kernels launched between them."""
    return document(step(1, 0, 100), launch(10, 5, 1), kernel("gemm", 30, 10, 1),
                    launch(110, 5, 2), kernel("gemm", 120, 10, 2), launch(130, 5, 3), kernel("gemm", 140, 10, 3),
                    step(2, 200, 100), launch(210, 5, 4), kernel("gemm", 230, 10, 4), distributedInfo={"rank": rank})


class All(Asking):
    """With iterations 'all', every event counts, inside a step or not."""

    def test_events_outside_of_steps_count_in_every_diff(self):
        write("t.json", with_steps())
        self.assertEqual(self.ask(DIFF, "t.json", "t.json"), [(4, 4, 2, 2, 20, 20, 0)])
        self.assertEqual(self.ask(DIFF_BY, "t.json", "t.json"), [(2, 2, 20, 20, 0)])
        self.assertEqual(self.rows("SELECT count(*) FROM trace_kernel_owners('t.json', 0, 'all')"), [(4,)])
        self.assertEqual(self.rows("SELECT sum(counts) FROM trace_ops('t.json', 0, 'all') WHERE name = 'gemm'"), [(4,)])
        self.assertEqual(self.ask(DIFF, "t.json", "t.json", "steady"), [(2, 2, 1, 1, 10, 10, 0)])
        self.assertEqual(self.ask(DIFF_BY, "t.json", "t.json", "steady"), [(1, 1, 10, 10, 0)])

    def test_diffs_agree_on_every_selection(self):
        """trace_diff and trace_diff_by by kernel give the same numbers for every selection."""
        for iteration in ("all", "steady", 10, "[10,15]"):
            for rank in ("all", 1):
                where = f"{both('iteration', iteration)} AND {both('rank', rank)} AND device_type = 'GPU'"
                self.assertEqual(
                    self.rows(f"""SELECT name, control_counts_per_step, test_counts_per_step, control_duration_per_step,
                                         test_duration_per_step, diff_duration_per_step
                                  FROM trace_diff(?, ?) WHERE {where} AND use_short_name = 2
                                    AND trace_kernel_type(name) IS NOT NULL ORDER BY name""", *SIDES),
                    self.rows(f"""SELECT key, control_counts, test_counts, control_device_time, test_device_time,
                                         diff_device_time
                                  FROM trace_diff_by(?, ?, 'kernel') WHERE {where} ORDER BY key""", *SIDES))


class StepsThatAreNotThere(Asking):
    def setUp(self):
        super().setUp()
        for rank in (0, 1):
            write(f"plain/{rank}.json", without_steps(rank, kernels=2 + rank))
            write(f"steps/{rank}.json", with_steps(rank))
            write(f"mixed/{rank}.json", (with_steps if rank == 0 else without_steps)(rank))

    def test_times_are_the_mean_over_files(self):
        for iteration in ("all", "steady"):
            self.assertEqual(self.ask(DIFF, "plain", "plain", iteration, 1), [(3, 3, 3, 3, 30, 30, 0)])
            self.assertEqual(self.ask(DIFF, "plain", "plain", iteration), [(5, 5, 2.5, 2.5, 25, 25, 0)])
            self.assertEqual(self.ask(DIFF_BY, "plain", "plain", iteration), [(2.5, 2.5, 25, 25, 0)])
            self.assertEqual(self.ask(STEP_DIFF, "plain", "plain", iteration), [(None, None, 25, 25, 0)])

    def test_one_side_without_steps_is_subtracted_all_the_same(self):
        self.assertEqual(self.ask(DIFF, "plain", "steps", "steady"), [(5, 4, 2.5, 1, 25, 10, -15)])
        self.assertEqual(self.ask(DIFF, "steps", "plain", "steady"), [(4, 5, 1, 2.5, 10, 25, 15)])
        self.assertEqual(self.ask(DIFF_BY, "plain", "steps", "steady"), [(2.5, 1, 25, 10, -15)])
        (steps, test_steps, *times), = self.ask(STEP_DIFF, "plain", "steps", 'steady')
        self.assertEqual((steps, times[0], times[2]), (None, 25, times[1] - 25))
        self.assertGreater(test_steps, 0)
        self.assertEqual(self.ask(STEP_DIFF, "steps", "plain", "steady"),
                         [(test_steps, None, times[1], 25, 25 - times[1])])

    def test_a_file_without_events_is_no_step(self):
        write("plain/2.json", document(distributedInfo={"rank": 2}))
        self.assertEqual(self.ask(DIFF, "plain", "plain"), [(5, 5, 2.5, 2.5, 25, 25, 0)])
        self.assertEqual(self.ask(STEP_DIFF, "plain", "plain"), [(None, None, 25, 25, 0)])
        self.assertEqual(self.ask(DIFF, "plain/2.json", "plain"), [(0, 5, 0, 2.5, 0, 25, 25)])
        self.assertEqual(self.ask(DIFF_BY, "plain/2.json", "plain"), [(0, 2.5, 0, 25, 25)])
        self.assertEqual(self.ask(STEP_DIFF, "plain/2.json", "plain"), [(None, None, None, 25, None)])

    def test_a_rank_without_steps_beside_a_rank_with_steps_is_named(self):
        words = "has no steps ('mixed/1.json'), but rank 0 has: choose ranks that have steps, or iterations 'all'"
        for sql, subject in (
                ("trace_ops('mixed', 'all', 'steady')", "the trace"), ("trace_ops('mixed', 'all')", "the trace"),
                ("trace_ops('mixed', '[0,1]', 2)", "the trace"), ("trace_kernel_owners('mixed', 'all')", "the trace"),
                ("trace_step_time('mixed', 'all')", "'mixed'"), ("trace_step_time('mixed', 'all', 1)", "'mixed'"),
                ("trace_step_diff('mixed', 'steps', 'all', 'all')", "'mixed'"),
                ("trace_diff('mixed', 'steps', 'all', 'all')", "control"),
                ("trace_diff('steps', 'mixed', 'all', 'all', 'steady', 'steady')", "test"),
                ("ops_diff('steps', 'mixed', 0, 'all', 'all', 1)", "test"),
                ("trace_diff_by('steps', 'mixed', 'op', 'all', 'all')", "test"),
                ("trace_collectives('mixed')", "the trace")):
            self.assert_error(f"{sql.split('(')[0]}: rank 1 of {subject} {words}", f"SELECT * FROM {sql}")

    def test_all_takes_both_kinds_of_ranks(self):
        """'all' accepts ranks with and without steps; a file without steps counts as one more step."""
        self.assertEqual(self.rows("SELECT rank, sum(counts) FROM trace_ops('mixed', 'all', 'all') WHERE name = 'gemm'"
                                   " GROUP BY rank"), [(0, 4), (1, 2)])
        self.assertEqual(self.rows("SELECT count(DISTINCT rank) FROM trace_step_time('mixed', 'all', 'all')"), [(2,)])
        self.assertEqual(self.ask(DIFF, "mixed", "mixed"), [(6, 6, 2, 2, 20, 20, 0)])
        self.assertEqual(self.ask(DIFF_BY, "mixed", "mixed"), [(2, 2, 20, 20, 0)])

    def test_each_rank_of_a_mixed_trace_can_be_asked_for(self):
        for rank, counts in ((0, 2), (1, 2)):
            self.assertEqual(self.rows("SELECT sum(counts) FROM trace_ops('mixed', ?, 'steady') WHERE name = 'gemm'",
                                       rank), [(counts,)])


class Words(Asking):
    def test_counts_change(self):
        """counts_change depends only on counts, so a kernel that only got slower is not changed."""
        write("a.json", run(extra=("gone", "fewer", "fewer", "more")))
        write("b.json", run(slower=2, extra=("fewer", "more", "more", "come")))
        expected = {"gone": "deleted", "fewer": "decreased", "more": "increased", "come": "added", "gemm": "same"}
        found = {name: (change, diff) for name, change, diff in self.rows(
            "SELECT name, counts_change, diff_duration FROM trace_diff('a.json', 'b.json')")}
        self.assertEqual({name: found[name][0] for name in expected}, expected)
        self.assertEqual(found["gemm"], ("same", 200))
        expected["gemm"] = "unchanged"
        found = dict(self.rows("SELECT name, change FROM ops_diff('a.json', 'b.json')"))
        self.assertEqual({name: found[name] for name in expected}, expected)
        self.assert_error("no such column: change", "SELECT change FROM trace_diff('a.json', 'b.json')")

    def test_device_says_where_a_name_was_seen(self):
        """device says where a name was seen; 'ALL' adds host and device time of one name, like HTA (D20)."""
        reduce = "nccl:all_reduce"
        write("a.json", document(step(1, 0, 100), event("op", 0, 90), event(reduce, 10, 8, cat="user_annotation"),
                                 event(reduce, 11, 5), launch(12, 2, 1), kernel("k", 20, 30, 1),
                                 event(reduce, 20, 30, cat="gpu_user_annotation", pid=0, tid=7)))
        write("b.json", document(step(1, 0, 100), event(reduce, 10, 8), event("k", 20, 30)))
        query = ("SELECT name, device, control_counts, test_counts, control_total_duration, test_total_duration"
                 " FROM trace_diff(?, ?, NULL, NULL, NULL, NULL, ?) WHERE name NOT LIKE 'Pro%' ORDER BY name")
        self.assertEqual(self.rows(query, "a.json", "b.json", "ALL"), [
            ("cudaLaunchKernel", "CPU", 1, 0, 2, 0), ("k", "both", 1, 1, 30, 30), (reduce, "both", 3, 1, 43, 8),
            ("op", "CPU", 1, 0, 90, 0)])
        self.assertEqual(self.rows(query, "a.json", "a.json", "GPU"), [("k", "GPU", 1, 1, 30, 30)])
        self.assertEqual(self.rows(query, "a.json", "b.json", "CPU"), [
            ("cudaLaunchKernel", "CPU", 1, 0, 2, 0), ("k", "CPU", 0, 1, 0, 30), (reduce, "CPU", 2, 1, 13, 8),
            ("op", "CPU", 1, 0, 90, 0)])

    def test_short_names_are_seen_where_any_of_them_was(self):
        write("a.json", document(step(1, 0, 100), event("k", 0, 9), launch(12, 2, 1), kernel("void k<1>()", 20, 30, 1)))
        self.assertEqual(self.rows("SELECT device, control_counts FROM trace_diff('a.json', 'a.json') WHERE name = 'k'"
                                   " AND use_short_name = 1"), [("both", 2)])


class DividedOnce(InFolder):
    """Sums and differences are rounded once from ns: k / 1000.0 for an integer k."""

    ARGUMENTS = {"keys": "op,stream", "ranks": "all", "control_rank": "all", "test_rank": "all",
                 "operator_name": "aten::linear", "min_pattern_len": 1, "max_queue_length": 1}

    def times(self, function):
        """The function's columns in us, except means, quantiles and values per step."""
        return [name for name, description in self.rows(
            "SELECT name, description FROM tracediff_columns(?) WHERE kind = 'column' AND type = 'REAL'",
            function) if re.match(r"us\b(?! per step)", description)
            and not re.search(r"mean|median|^avg_|^std|stddev|^p\d\d$|per_step", name)]

    def test_every_function(self):
        for path in SIDES:
            self.with_odd_nanoseconds(path)
        given = {**self.ARGUMENTS, "control": "control", "test": "test", "trace": "test",
                 "snapshot": os.path.join(EXAMPLES, "memory", "training_128.pickle.gz")}
        lists = {"memory_timeline": "memory.raw.json.gz", "execution_trace": "execution_trace.json.gz"}
        checked = set()
        for function, in self.rows("SELECT DISTINCT function FROM tracediff_columns WHERE kind = 'column'"):
            arguments = self.rows("SELECT name FROM tracediff_columns(?) WHERE kind = 'argument'", function)
            where = " AND ".join(f"{name} = :{name}" for name, in arguments if name in given) or "1"
            values = {**given, "trace": os.path.join(EXAMPLES, "recorded",
                                                     lists[function])} if function in lists else given
            if function in ("memory_diff", "memory_summary"):  # of snapshots, which have no times
                self.assertEqual(self.times(function), [])
                continue
            for column in self.times(function):
                for value, in self.db.execute(f'SELECT "{column}" FROM {function} WHERE {where}', values):
                    if value is not None:
                        self.assertEqual(value, round(value * 1000) / 1000, (function, column))
                        checked.add((function, column))
        self.assertGreater(len(checked), 40, checked)

    def with_odd_nanoseconds(self, side):
        """A copy of a trace whose times end in any number of ns."""
        rng = random.Random(side)
        for name in sorted(os.listdir(side)):
            with gzip.open(os.path.join(side, name), "rt", encoding="utf-8") as file:
                trace = json.load(file)
            for made in trace["traceEvents"]:
                if made.get("ph") == "X":
                    made["dur"] = f"{max(round(made['dur'] * 1000) - rng.randrange(9), 0)}e-3"
            write(f"{os.path.basename(side)}/{name}", trace)


if __name__ == "__main__":
    unittest.main()
