"""HTA itself, from PyPI, against the queries and the differences of sql/HTA.md.

hta_live.py runs HTA. With HTA's defects, hta.py must give the same output, so it stays a transcription of the version
that people install. With the defects corrected that DIFFERS names, hta.py must give tracediff's rows, and each of these
corrections must be needed. So the list of differences per call in HTA.md is complete and has nothing extra. The traces
in CASES of test_hta.py show each defect alone.
"""
import functools
import itertools
import json
import os
import re
import subprocess
import tempfile
import unittest
from unittest import mock

import hta
import made
import oracle
import test_differs
import test_golden
import test_hta
from support import ROOT, connect, corpus, slowest

PYTHON = os.path.join(ROOT, "build", "hosts", "hta", "bin", "python")
# rules that are not defects of HTA: the origin of times, the meaning of a row, forward and backward
OTHERS = frozenset({"T2", "rows", "backward"})
# Kernels and launches in this version; the later version that hta.py transcribes knows more names.
NAMES = {"QUEUE_LAUNCHES": hta.QUEUE_LAUNCHES - {"cuLaunchKernelEx"},
         "HTA_COMMUNICATION": re.compile(r"nccl.*Kernel"), "HTA_MEMORY": re.compile(r"Memcpy|Memset|dma"),
         "HTA_NO_COMPUTATION": re.compile(r"nccl.*Kernel|.*Memcpy|Memset|.*Sync")}
ARGUMENTS = {"time_spent_blocked_on_full_queue": {"max_queue_length": 1},
             "frequent_cuda_kernel_sequences": {"operator_name": "aten::", "min_pattern_len": 1}}
OF_ALL_RANKS = {"temporal_breakdown", "gpu_kernel_type_breakdown", "gpu_kernel_breakdown",
                "gpu_user_annotation_breakdown",
                "comm_comp_overlap"}
# HTA's call: the table functions that HTA.md lists for it
CALLS = {"get_temporal_breakdown": ["temporal_breakdown"],
         "get_idle_time_breakdown": ["idle_time_breakdown", "idle_interval_stats"],
         "get_gpu_kernel_breakdown": ["gpu_kernel_type_breakdown", "gpu_kernel_breakdown"],
         "get_gpu_user_annotation_breakdown": ["gpu_user_annotation_breakdown"],
         "get_comm_comp_overlap": ["comm_comp_overlap"],
         "get_memory_bw_time_series": ["memory_bw_time_series"], "get_memory_bw_summary": ["memory_bw_summary"],
         "get_queue_length_time_series": ["queue_length_time_series"],
         "get_queue_length_summary": ["queue_length_summary"],
         "get_time_spent_blocked_on_full_queue": ["time_spent_blocked_on_full_queue"],
         "get_cuda_kernel_launch_stats": ["cuda_kernel_launch_stats"],
         "get_aten_op_kernels_and_delay": ["aten_op_kernels_and_delay"],
         "get_frequent_cuda_kernel_sequences": ["frequent_cuda_kernel_sequences"]}
ANALYSES = list(itertools.chain(*CALLS.values()))
EXAMPLE = os.path.join("examples", "gpu", "test")

# trace: the differences between the rows of an analysis; no entry means no difference
DIFFERS = {
    EXAMPLE: {
        "temporal_breakdown": "D4 D7 D24", "idle_time_breakdown": "D4 D7 D25",
        "idle_interval_stats": "D4 D7 D25", "gpu_kernel_type_breakdown": "D4 D7 D27 D40",
        "gpu_kernel_breakdown": "D4 D7 D8 D27", "gpu_user_annotation_breakdown": "D4 D7", "comm_comp_overlap": "D4 D7",
        "memory_bw_time_series": "D4 D7", "memory_bw_summary": "D7", "queue_length_time_series": "D4 D7",
        "queue_length_summary": "D4 D7", "time_spent_blocked_on_full_queue": "D4 D7 D9",
        "cuda_kernel_launch_stats": "D4 D7", "frequent_cuda_kernel_sequences": "D4 D7 D24 D30",
        "aten_op_kernels_and_delay": "D4 D7 D24 D32"},
    "amd_trace": {
        "temporal_breakdown": "D4", "idle_time_breakdown": "D4 D25",
        "idle_interval_stats": "D4 D25", "gpu_kernel_type_breakdown": "D4 D40",
        "gpu_kernel_breakdown": "D4 D8", "gpu_user_annotation_breakdown": "D4", "memory_bw_time_series": "D4",
        "queue_length_time_series": "D4", "time_spent_blocked_on_full_queue": "D4",
        "cuda_kernel_launch_stats": "D4 D29",
        "frequent_cuda_kernel_sequences": "D4 D5 D30",
        "aten_op_kernels_and_delay": "D4 D32"},
    "cpu_only": {"comm_comp_overlap": "D39"},
    "rank_unavailable": {"comm_comp_overlap": "D39"},
    "triton_example": {
        "temporal_breakdown": "D4 D23", "idle_time_breakdown": "D25",
        "idle_interval_stats": "D25", "gpu_kernel_type_breakdown": "D4 D23 D40",
        "gpu_kernel_breakdown": "D4 D23", "queue_length_time_series": "D4", "time_spent_blocked_on_full_queue": "D4",
        "cuda_kernel_launch_stats": "D4 D29"},
    "trace_compare/base": {
        "temporal_breakdown": "D41", "idle_time_breakdown": "D25 D41",
        "idle_interval_stats": "D25 D41", "gpu_kernel_type_breakdown": "D41",
        "gpu_kernel_breakdown": "D41", "memory_bw_time_series": "D41", "memory_bw_summary": "D41"},
    "trace_filter": {
        "idle_time_breakdown": "D25", "idle_interval_stats": "D25", "gpu_kernel_breakdown": "D8",
        "time_spent_blocked_on_full_queue": "D9",
        "frequent_cuda_kernel_sequences": "D30",
        "aten_op_kernels_and_delay": "D32"},
    "critical_path/simple_add": {
        "temporal_breakdown": "D24", "idle_time_breakdown": "D25",
        "idle_interval_stats": "D25", "gpu_kernel_type_breakdown": "D27",
        "gpu_kernel_breakdown": "D8 D27", "queue_length_summary": "D24 D29", "time_spent_blocked_on_full_queue": "D9",
        "frequent_cuda_kernel_sequences": "D24 D30",
        "aten_op_kernels_and_delay": "D24 D32"},
}


def without_steps_in_stream_0(trace):
    """D5 in this version; in later ones, operators of stream 0 have their step."""
    for row in trace.rows:
        if row.stream == 0:
            row.iteration = None


DEFECTS = {**test_golden.DEFECTS, "D5": without_steps_in_stream_0, "D24": lambda trace: None}     # D24: see Pairs


def live(command, *arguments):
    """Output of hta_live.py."""
    if not os.path.exists(PYTHON):
        raise unittest.SkipTest("HolisticTraceAnalysis is not installed: run make setup-hosts")
    done = subprocess.run([PYTHON, os.path.join(ROOT, "tests", "oracles", "hta_live.py"), command, *arguments],
                          cwd=ROOT,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def transcribed(analysis, path, right):
    """hta.py's rows with the columns that tracediff has, or the name of the exception."""
    arguments = dict(ARGUMENTS.get(analysis, {}), **({} if analysis in OF_ALL_RANKS else {"ranks": "all"}))
    try:
        return test_differs.renamed(getattr(hta, analysis)(test_differs.load(path, right), **arguments))
    except Exception as error:
        return type(error).__name__


def comparable(analysis, rows):
    """Normalises: an exception becomes no rows, zero-length stretches go (they are in HTA's table by accident), and
    integers become numbers.
    """
    if isinstance(rows, str):
        return []
    rows = [{column: float(value) if isinstance(value, int) else value for column, value in row.items()}
            for row in rows]
    if analysis == "gpu_kernel_type_breakdown":
        rows = [row for row in rows if row["sum"]]
    return test_differs.without_ties(analysis, rows)


def difference(analysis, found, expected):
    """Returns nothing, or the first difference; unexpected columns are ignored."""
    found, expected = comparable(analysis, found), comparable(analysis, expected)
    if len(found) != len(expected):
        return f"{len(found)} rows, not {len(expected)}"
    if expected:
        found = [{column: row.get(column) for column in expected[0]} for row in found]
    for row, wanted in zip(test_differs.in_order(found), test_differs.in_order(expected)):
        if not all(test_differs.same(row[column], wanted[column]) for column in wanted):
            return f"{row}, not {wanted}"
    return None


class Document(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(ROOT, "sql", "HTA.md"), encoding="utf-8") as file:
            self.text = file.read()

    @slowest
    def test_names_every_public_method(self):
        for kind, names in live("methods").items():
            self.assertGreater(len(names), 3)
            for name in names:
                with self.subTest(kind, method=name):
                    self.assertRegex(self.text, rf"`(TraceDiff\.)?{name}[`(]")

    def test_has_the_query_of_each_call(self):
        for call, functions in CALLS.items():
            query, = re.findall(rf"`{call}\([^`]*\)`(?:(?!```)(?:.|\n))*```sql\n(.*?)```", self.text, re.S)
            for function in functions:
                self.assertIn(f"FROM {function}(", query)


@slowest
@mock.patch.multiple(hta, **NAMES)
class Traces(unittest.TestCase):
    def setUp(self):
        self.db = connect()
        self.own = functools.partial(test_differs.Differs.own, self)

    def check(self, *paths):
        """Paths, and their names in DIFFERS."""
        answers = live("one", *(path for _, path in paths))
        for name, path in paths:
            steps = [{"iteration": iteration} for iteration, in self.db.execute(
                "SELECT DISTINCT iteration FROM trace_steps(?) ORDER BY iteration", (path,))]
            # HTA leaves out the last one, except with D7
            self.assertIn(answers[path]["get_profiler_steps"], (steps, steps[:-1]), name)
            for analysis in ANALYSES:
                with self.subTest(name, analysis=analysis):
                    given = answers[path][analysis]
                    given = given if isinstance(given, str) else test_differs.renamed(given)
                    self.assertIsNone(difference(analysis, given, transcribed(analysis, path, frozenset())))
                    self.check_causes(analysis, path, DIFFERS.get(name, {}).get(analysis, "").split())
        return answers

    def check_causes(self, analysis, path, named):
        own = self.own(analysis, path, ARGUMENTS.get(analysis, {}))
        self.assertIsNone(difference(analysis, own, transcribed(analysis, path, OTHERS.union(named))))
        for one in named:
            self.assertIsNotNone(difference(analysis, own, transcribed(analysis, path, OTHERS.union(named) - {one})),
                                 one)

    def test_example(self):
        answers = self.check((EXAMPLE, os.path.join(ROOT, EXAMPLE)))
        self.assertEqual(answers[os.path.join(ROOT, EXAMPLE)]["get_potential_stragglers"], "ValueError")  # D33

    def test_corpus(self):
        names = ["amd_trace", "cpu_only", "rank_unavailable", "triton_example", "trace_compare/base", "trace_filter",
                 "critical_path/simple_add"]
        self.check(*((name, corpus("hta", *name.split("/"))) for name in names))


@slowest
class Pairs(unittest.TestCase):
    """TraceDiff, which hta.py lacks: the oracle's rows with the defects applied, like in test_golden.py."""

    def check(self, control, test, *named):
        answers, db = live("pair", control, test), connect()
        given = {device_type: {row["name"]: row for row in map(self.row, answer["compare_traces"])}
                 for device_type, answer in answers.items()}
        self.assertEqual({device_type: self.with_defects(control, test, device_type, named) for device_type in given},
                         given)
        for device_type, answer in answers.items():
            with self.subTest(device_type):
                rows = [test_golden.from_sql(db, function, control, test, device_type=device_type)[1]
                        for function in ("compare_traces", "ops_diff")]
                self.assertEqual({row["name"]: row for row in rows[0]},
                                 self.with_defects(control, test, device_type, ()))
                listed = [(change, name) for change, names in answer["ops_diff"].items() for name in names]
                self.assertEqual(len(listed), len(given[device_type]))
                if not named:
                    self.assertEqual({(row["change"], row["name"]) for row in rows[1]}, set(listed))
        for one in named:
            without = [name for name in named if name != one]
            self.assertNotEqual({device_type: self.with_defects(control, test, device_type, without)
                                 for device_type in given},
                                given, one)

    @staticmethod
    def row(given):
        row = {column.lower(): value for column, value in given.items()}
        row.update({column: test_golden.whole(str(row[column])) for column in test_golden.COUNTS})
        row.update({column: test_golden.nanoseconds(str(row[column])) for column in test_golden.DURATIONS})
        return row

    @staticmethod
    @functools.lru_cache(maxsize=1)
    def sides(control, test, named):
        sides = [oracle.read_trace(path) for path in (control, test)]
        for name, side in itertools.product(named, sides):
            DEFECTS[name](side)
        return sides

    def with_defects(self, control, test, device_type, named):
        sides = self.sides(control, test, tuple(named))
        with mock.patch.object(oracle, "is_sync", (lambda row: False) if "D24" in named else oracle.is_sync):
            return test_golden.as_hta(oracle.trace_diff(*sides, device_type=device_type, **test_golden.FIRST))

    def test_example(self):
        self.check(*(os.path.join(ROOT, "examples", "gpu", side) for side in ("control", "test")), "D4", "D23", "D24")

    def test_equal(self):
        self.check(corpus("hta", "trace_compare", "base"), corpus("hta", "trace_compare", "test"))

    def test_of_amd_and_triton(self):
        self.check(corpus("hta", "amd_trace"), corpus("hta", "triton_example"), "D4", "D5", "D23")


@slowest
@mock.patch.multiple(hta, **NAMES)
class Defects(unittest.TestCase):
    """HTA has each defect: on the trace that shows it, HTA gives the result of hta.py with the defect, not the right
    one.
    """

    def test_each(self):
        with tempfile.TemporaryDirectory() as place:
            answers = {}
            for command in ("one", "last"):
                folders = []
                for switch, (documents, _, _, _, *options) in test_hta.CASES.items():
                    if (command == "last") == bool(options):
                        folders.append(os.path.join(place, switch))
                        for number, document in enumerate(documents):
                            made.write(os.path.join(place, switch, f"{number}.json"), document)
                answers.update(live(command, *folders))
            for switch, (_, analysis, *_, options) in test_hta.CASES.items():
                options = options if isinstance(options, dict) and "include_last" in options else {}
                folder = os.path.join(place, switch)
                with self.subTest(switch):
                    self.check(answers[folder], folder, options)
                    self.assertNotEqual(*(self.given(analysis, hta.load, folder, right, **options)
                                          for right in ((), {switch})))

    @staticmethod
    def given(analysis, load, *arguments, **options):
        try:
            return analysis(load(*arguments, **options))
        except Exception as error:
            return type(error).__name__

    def check(self, answer, folder, options):
        """HTA's rows of every analysis equal hta.py's, and so do the events that it loads."""
        trace = self.given(lambda trace: trace, hta.load, folder, (), **options)
        if isinstance(trace, str) or isinstance(answer, str):
            self.assertEqual((type(trace), type(answer)), (str, str))    # any exception
            return
        for analysis in ANALYSES:
            arguments = dict(ARGUMENTS.get(analysis, {}), **({} if analysis in OF_ALL_RANKS else {"ranks": "all"}))
            rows = self.given(lambda trace: test_differs.renamed(getattr(hta, analysis)(trace, **arguments)),
                              lambda: trace)
            given = answer[analysis] if isinstance(answer[analysis], str) else test_differs.renamed(answer[analysis])
            self.assertIsNone(difference(analysis, given, rows), analysis)
        by_default = self.given(hta.memory_bw_time_series, lambda: trace)
        self.assertIsNone(difference("memory_bw_time_series", answer["memory_bw_time_series by default"], by_default))
        self.assertEqual(isinstance(answer["memory_bw_time_series by default"], str), isinstance(by_default, str))
        loaded = [{"rank": rank.rank, "event": row.event, "ts": hta.us(row.ts_ns), "dur": hta.us(row.dur_ns)}
                  for rank in trace.ranks.values() for row in rank.rows]
        self.assertIsNone(difference("loaded", answer["loaded"], loaded))


@slowest
class Others(made.InFolder):
    """Defects without a switch in hta.py, and the differences D that nothing here shows."""

    STEPS = test_hta.STEPS
    GIVEN = {"D18": [0, 1], "D19": [[4, 4, 4], [8, 8, 8]], "D21": "ValueError", "D22": ["", "##"],
             "D32": ["aten::other"], "D33": "ValueError", "D34": ["0_with_counters.json"],
             "D35": [["other", "others"], ["other", "others", "outer"]], "D37": True, "D38": "Exception"}
    NEWER = {"D31": ["outer", ""]}          # later versions also give the annotation to the other stream's kernel
    NOT_SHOWN = {"D13", "D14", "D36"}       # without a counterpart in tracediff

    def write(self, name, *documents):
        for number, document in enumerate(documents):
            made.write(os.path.join(name, f"{number}.json"), json.dumps(document))

    @staticmethod
    def annotation(name, ts, dur, stream):
        return made.event(name, ts, dur, cat="gpu_user_annotation", pid=0, tid=stream, args={"stream": stream})

    def test_are_as_said(self):
        launched, ranked, reduce = test_hta.launched, test_hta.ranked, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
        self.write("three", *(ranked(rank, *self.STEPS, *launched("op", 10, 1), *launched("op", 1100, 2))
                              for rank in range(3)))
        self.write("same_name", made.document(*self.STEPS, made.event("nccl", 10, 50, cat="user_annotation"),
                                              made.event("nccl", 10, 50), made.launch(20, 5, 1),
                                              made.kernel("nccl", 100, 10, 1)))
        self.write("stepless", made.document(*launched("op", 0, 1)))
        self.write("annotated", made.document(
            made.event("op", 0, 1), made.launch(10, 5, 1), made.launch(20, 5, 2), made.kernel("a", 100, 10, 1, 7),
            made.kernel("b", 100, 10, 2, 8), self.annotation("outer", 90, 40, 7), self.annotation("inner", 500, 10, 7),
            self.annotation("other", 600, 50, 7)))
        self.write("threads", made.document(made.event("aten::mine", 0, 100), made.event("aten::other", 5, 100, tid=2),
                                            made.launch(10, 5, 1), made.kernel("k", 50, 10, 1)))
        self.write("nccl", *(ranked(rank, *self.STEPS, made.launch(20, 5, 1), made.kernel(reduce, 100, 300, 1),
                                    made.launch(1020, 5, 2), made.kernel(reduce, 1100, 300 + rank, 2))
                                    for rank in (0, 1)))
        self.write("written", made.document(made.event("op", 0, 1), *launched("op", 10, 1)))
        self.write("rank3", ranked(3, made.event("op", 0, 1), *launched("op", 10, 1)))
        given = live("others", self.folder)
        same, = (row for row in given.pop("D20") if row["name"] == "nccl")      # tracediff does this, too
        self.assertEqual((same["Control_counts"], same["Control_total_duration"]), (3, 110))
        self.assertEqual(self.rows("SELECT control_counts, control_total_duration"
                                   " FROM compare_traces('same_name', 'same_name')"
                                   " WHERE name = 'nccl'"), [(3, 110)])
        self.assertEqual(given, {**self.GIVEN, **self.NEWER})
        with open(os.path.join(ROOT, "sql", "HTA.md"), encoding="utf-8") as file:
            listed = set(re.findall(r"(?m)^\* \*\*(D\d+)\*\* ", file.read()))
        self.assertEqual(listed, {name for name in test_hta.CASES if name.startswith("D")} | self.GIVEN.keys() |
                         self.NEWER.keys() | {"D20"} | self.NOT_SHOWN)


if __name__ == "__main__":
    unittest.main()
