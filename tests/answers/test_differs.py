"""The analyses against hta.py. With every defect of HTA corrected, hta.py gives the expected result on every trace. The
defects named at the head of a file of sql/ and the loading defects in sql/HTA.md are the only differences between an
analysis and HTA's output.
"""
import functools
import glob
import math
import os
import re
import unittest

import hta
import hta_load
from hta_load import RIGHT
from support import EXAMPLES, ROOT, connect, corpus, found_below, queries, slow, slowest

CALLS = {
    "temporal_breakdown": [{}],
    "idle_time_breakdown": [{}, {"consecutive_kernel_delay": 5}],
    "idle_interval_stats": [{}, {"consecutive_kernel_delay": 5}],
    "gpu_kernel_type_breakdown": [{}],
    "gpu_kernel_breakdown": [{}, {"num_kernels": 3}, {"include_memory_kernels": 0}, {"duration_ratio": 0.3}],
    "gpu_user_annotation_breakdown": [{}, {"use_gpu_annotation": 0, "num_kernels": 4}],
    "gpu_kernels_with_user_annotations": [{}],
    "comm_comp_overlap": [{}],
    "memory_bw_time_series": [{}],
    "memory_bw_summary": [{}],
    "queue_length_time_series": [{}],
    "queue_length_summary": [{}],
    "time_spent_blocked_on_full_queue": [{"max_queue_length": 1}, {"max_queue_length": 5}, {}],
    "cuda_kernel_launch_stats": [{}, {"include_memory_events": 0}],
    "aten_op_kernels_and_delay": [{}, {"include_memory_events": 1}],
    "frequent_cuda_kernel_sequences": [{"operator_name": "aten::"},
                                       {"operator_name": "aten::linear", "min_pattern_len": 1},
                                       {"operator_name": "autograd::engine", "min_pattern_len": 2}],
}
OTHERS = re.compile(r"/(hta|bad|perfetto|catapult|viztracer|bazel)/")  # from another program than PyTorch or HTA
rows_of_ranks = functools.lru_cache(maxsize=3)(hta_load.rows_of_ranks)
load = functools.lru_cache(maxsize=3)(functools.partial(hta.load, rows_of=rows_of_ranks))


def htas_traces():
    """The folders of traces for which HTA's output is recorded."""
    return sorted({os.path.dirname(path) for path in
                   glob.glob(os.path.join(corpus("hta"), "**", "*.json*"), recursive=True)})


def examples():
    """Folders that contain only traces, because HTA reads all files of a folder as traces."""
    folders = {os.path.dirname(path) for path in glob.glob(os.path.join(EXAMPLES, "*", "*", "*.json.gz"))}
    return sorted(folder for folder in folders if not glob.glob(os.path.join(folder, "*.log.gz")))


def others_traces():
    """The small traces of other profilers and frameworks."""
    return [path for path in found_below(corpus(), "*", "**", "*.json*")
            if os.path.getsize(path) < 600_000 and not OTHERS.search(path)]


def own_name(column):
    """tracediff's name for a column of HTA."""
    column = re.sub(r"^(memory_bw_gbps|queue_length)_(?=count|mean|std|min|max|\d)", "", column)
    column = re.sub(r"^s_", "", column)
    column = re.sub(r" ?\(us\)$", "", column).replace(" ", "_").lower()
    return re.sub(r"^(\d\d)%$", r"p\1", column)


def renamed(rows):
    return [{own_name(column): value for column, value in row.items() if column != "index"} for row in rows or []]


def in_order(rows):
    def spelt(row):
        return [f"{value:.5g}" if isinstance(value, (int, float)) else str(value) for _, value in sorted(row.items())]
    return sorted(rows, key=spelt)


def same(found, expected):
    if isinstance(found, (int, float)) and isinstance(expected, (int, float)):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
    return found == expected


def without_ties(analysis, rows):
    """The last value of a series at each time; HTA leaves open the order at equal times."""
    if not analysis.endswith("time_series"):
        return rows
    value = "queue_length" if "queue" in analysis else "memory_bw_gbps"
    last = {}
    for row in rows:
        last[(row["rank"], row.get("stream"), row.get("name"), row["ts"])] = row[value]
    return [{"key": str(key), value: number} for key, number in last.items()]


class Differs(unittest.TestCase):
    def setUp(self):
        self.db = connect()

    def own(self, analysis, path, arguments):
        terms = "".join(f" AND {name} = :{name}" for name in arguments)
        cursor = self.db.execute(f"SELECT * FROM {analysis} WHERE trace = :trace{terms}", {"trace": path, **arguments})
        columns = [column[0] for column in cursor.description]
        return [dict(zip(columns, row)) for row in cursor]

    def compare(self, analysis, path, arguments, right):
        """Returns nothing, or the first difference."""
        expected = renamed(getattr(hta, analysis)(load(path, right), **arguments))
        found = self.own(analysis, path, arguments)
        if expected:
            found = [{column: row[column] for column in expected[0]} for row in found]
        if right != RIGHT:
            found, expected = without_ties(analysis, found), without_ties(analysis, expected)
        if len(found) != len(expected):
            return f"{len(found)} rows, not {len(expected)}: {found[:2]} {expected[:2]}"
        for row, wanted in zip(in_order(found), in_order(expected)):
            if not all(same(row[column], wanted[column]) for column in wanted):
                return f"{row}, not {wanted}"
        return None

    def check_rules(self, paths):
        compared = 0
        for path in paths:
            for analysis, calls in CALLS.items():
                for arguments in calls:
                    with self.subTest(analysis, path=path, **arguments):
                        self.assertIsNone(self.compare(analysis, path, arguments, RIGHT))
                        compared += 1
        self.assertGreater(compared, 0)

    @slow
    def test_every_call_on_every_trace(self):
        """Makes the calls of the slowest tests without hta.py, so that sanitizers can watch the extension."""
        rows = sum(len(self.own(analysis, path, arguments)) for path in examples() + htas_traces() + others_traces()
                   for analysis, calls in CALLS.items() for arguments in calls)
        self.assertGreater(rows, 100_000)

    @slowest
    def test_rules_on_the_examples(self):
        self.check_rules(examples())

    @slowest
    def test_rules_on_htas_traces(self):
        self.check_rules(htas_traces())

    @slowest
    def test_rules_on_other_traces(self):
        self.check_rules(others_traces())

    @slowest
    def test_differences_are_named(self):
        with open(os.path.join(ROOT, "sql", "HTA.md"), encoding="utf-8") as file:
            common = re.search(r"\n## Loading\n(.*?)(\n## |$)", file.read(), re.S)[1]
        common = set(re.findall(r"\bD\d+\b", common)) | {"T2", "rows", "backward"}
        for path in htas_traces():
            for analysis, calls in CALLS.items():
                with open(queries()[analysis], encoding="utf-8") as file:
                    differs = re.search(r"-- Differs from HTA:(.*?)\n(?!--)", file.read(), re.S)[1]
                named = frozenset(common | set(re.findall(r"\bD\d+\b", differs))) & RIGHT
                with self.subTest(analysis, path=path):
                    self.assertIsNone(self.compare(analysis, path, calls[0], named))
