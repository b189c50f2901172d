"""The transcription of HTA's analyses against HTA's own output.

hta.py implements in plain Python what HolisticTraceAnalysis does. It must give HTA's rows for every trace and analysis
with recorded output. Where HTA gave no rows or an exception, it must do the same. The order of rows may differ, and
numbers by a billionth. Each of HTA's defects can be corrected separately: small traces show its effect and the right
result.
"""
import csv
import functools
import json
import math
import os
import tempfile
import unittest

import hta
import hta_load
import made
from made import event, kernel, launch, step
from support import corpus, golden, slow

TEXT = {"name", "s_name", "s_user_annotation", "kernel_type", "idle_category", "pattern", "operator_name", "cat",
        "aten_op_name", "kernel_sequence", "ph", "args"}
OPERATORS = ["aten::linear", "aten::addmm", "aten::mm", "aten::conv2d", "aten::embedding_bag",
             "autograd::engine::evaluate_function", "Optimizer.step", "nccl:", "ProfilerStep", "aten::copy_"]
csv.field_size_limit(2 ** 24)
load = functools.lru_cache(maxsize=4)(hta.load)


def read(path):
    """The rows of a golden file: {column: text, number or None}."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{column: value if column in TEXT else float(value) if value else None
                 for column, value in row.items()} for row in csv.DictReader(file)]


def in_order(rows):
    """Rows ordered by all columns, numbers only approximately, because they may differ in the last bits."""
    def spelt(row):
        return [(value is not None, f"{value:.6g}" if isinstance(value, float | int) else str(value))
                for _, value in sorted(row.items())]
    return sorted(rows, key=spelt)


def same(found, expected):
    if isinstance(expected, float) and isinstance(found, float | int):
        return math.isclose(found, expected, rel_tol=1e-9)
    return found == expected


class GoldenTrace:
    """One trace; a subclass names it."""

    maxDiff = 2000

    def trace(self):
        return load(corpus("hta", *self.path.split("/")))

    def check(self, analysis, compute):
        """`compute` gives the rows; where HTA gave none, there is no golden file."""
        try:
            path = golden(self.folder, f"{analysis}.csv")
        except unittest.SkipTest:
            if not os.environ.get("GOLDEN"):
                raise
            path = None
        trace = self.trace()
        if path is None:
            try:
                found = compute(trace)
            except (LookupError, ValueError):
                found = None
            self.assertFalse(found)
            return
        self.assert_rows(compute(trace), read(path))

    def assert_rows(self, found, expected):
        self.assertIsNotNone(found)
        self.assertEqual(len(found), len(expected))
        for row, wanted in zip(in_order(found), in_order(expected)):
            self.assertEqual(row.keys(), wanted.keys())
            different = {column: (row[column], wanted[column]) for column in row
                         if not same(row[column], wanted[column])}
            self.assertFalse(different, f"in {wanted}")

    def test_load(self):
        def summary(trace):
            groups = {}
            for rank in trace.ranks.values():
                for row in rank.rows:
                    group = groups.setdefault((rank.rank, row.cat, row.stream), [])
                    group.append((hta.us(row.ts_ns), hta.us(row.dur_ns), row.event,
                                  row.link is not None and row.link.event > 0))
            return [{"rank": rank, "cat": cat, "stream": -1 if stream is None else stream, "events": len(rows),
                     "sum_dur": sum(row[1] for row in rows), "min_ts": min(row[0] for row in rows),
                     "max_end": max(row[0] + row[1] for row in rows), "sum_index": sum(row[2] for row in rows),
                     "linked": sum(row[3] for row in rows)} for (rank, cat, stream), rows in groups.items()]

        whole = {}
        for row in read(golden(self.folder, "loaded_summary.csv")):  # by iteration, which no analysis here needs
            del row["iteration"]
            key = row["rank"], row["cat"], row["stream"]
            if key not in whole:
                whole[key] = row
                continue
            for column, add in (("events", sum), ("sum_dur", sum), ("min_ts", min), ("max_end", max),
                                ("sum_index", sum), ("linked", sum)):
                whole[key][column] = add((whole[key][column], row[column]))
        self.assert_rows(summary(self.trace()), list(whole.values()))

    def test_temporal_breakdown(self):
        self.check("get_temporal_breakdown", hta.temporal_breakdown)

    def test_idle_time_breakdown(self):
        self.check("get_idle_time_breakdown", lambda trace: hta.idle_time_breakdown(trace, "all"))
        self.check("get_idle_time_breakdown.interval_stats", lambda trace: hta.idle_interval_stats(trace, "all"))

    def test_gpu_kernel_type_breakdown(self):
        self.check("get_gpu_kernel_breakdown.kernel_type", hta.gpu_kernel_type_breakdown)

    def test_gpu_kernel_breakdown(self):
        self.check("get_gpu_kernel_breakdown.kernels", hta.gpu_kernel_breakdown)
        self.check("get_gpu_kernel_breakdown.kernels.all",
                   lambda trace: hta.gpu_kernel_breakdown(trace, num_kernels=1000000))

    def test_gpu_user_annotation_breakdown(self):
        self.check("get_gpu_user_annotation_breakdown", hta.gpu_user_annotation_breakdown)
        self.check("get_gpu_user_annotation_breakdown.cpu",
                   lambda trace: hta.gpu_user_annotation_breakdown(trace, use_gpu_annotation=False))

    def test_gpu_kernels_with_user_annotations(self):
        self.check("get_gpu_kernels_with_user_annotations", lambda trace: [
            {**row, "s_user_annotation": row["s_user_annotation"] or ""}
            for row in hta.gpu_kernels_with_user_annotations(trace, "all") or []])

    def test_comm_comp_overlap(self):
        self.check("get_comm_comp_overlap", hta.comm_comp_overlap)

    def test_memory_bw_time_series(self):
        self.check("get_memory_bw_time_series", lambda trace: hta.memory_bw_time_series(trace, "all"))

    def test_memory_bw_summary(self):
        self.check("get_memory_bw_summary", lambda trace: hta.memory_bw_summary(trace, "all"))

    def test_queue_length_time_series(self):
        self.check("get_queue_length_time_series", lambda trace: hta.queue_length_time_series(trace, "all"))

    def test_queue_length_summary(self):
        self.check("get_queue_length_summary", lambda trace: hta.queue_length_summary(trace, "all"))

    def test_time_spent_blocked_on_full_queue(self):
        for longest in (1024, 5):
            self.check(f"get_time_spent_blocked_on_full_queue.{longest}",
                       lambda trace: hta.time_spent_blocked_on_full_queue(trace, "all", longest))

    def test_cuda_kernel_launch_stats(self):
        self.check("get_cuda_kernel_launch_stats", lambda trace: hta.cuda_kernel_launch_stats(trace, "all"))

    def test_aten_op_kernels_and_delay(self):
        self.check("get_aten_op_kernels_and_delay", lambda trace: hta.aten_op_kernels_and_delay(trace, "all"))

    def test_potential_stragglers(self):
        self.check("get_potential_stragglers", hta.potential_stragglers)

    def test_frequent_cuda_kernel_sequences(self):
        self.check("get_frequent_cuda_kernel_sequences.minlen3", lambda trace: [
            {"operator_name": name, **row} for name in OPERATORS
            for row in hta.frequent_cuda_kernel_sequences(trace, name, "all", 3)])


class Overlaid(GoldenTrace):
    """A trace small enough that HTA has marked its sequences in it."""

    def test_overlaid_sequences(self):
        """HTA marks only the five most frequent sequences of one or more kernels."""
        path = golden(self.folder, "get_frequent_cuda_kernel_sequences.overlay.csv")
        with open(path, newline="", encoding="utf-8") as file:
            expected = dict(item for row in csv.DictReader(file) for item in json.loads(row["patterns"]).items())
        trace = self.trace()
        found = hta.frequent_cuda_kernel_sequences(trace, "aten::", [min(trace.ranks)], 1)
        found.sort(key=lambda row: (-row["count"], row["pattern"]))
        self.assertEqual({row["pattern"]: row["count"] for row in found[:5]}, expected)


class Counters:
    """A trace to which HTA has added counters."""

    def test_trace_with_counters(self):
        """HTA writes times as they are in the files, and one number more for the series."""
        expected = read(golden(self.folder, "generate_trace_with_counters.csv"))
        found = hta.trace_with_counters(self.trace(), "all")
        shift = min(row["ts"] for row in expected) - min(row["ts"] for row in found)
        for row in found:
            row["ts"] += shift
        for row in found + expected:
            row["args"] = json.loads(row["args"]) if isinstance(row["args"], str) else row["args"]
            (row["counter"], row["value"]), = row.pop("args").items()
        self.assert_rows(found, expected)


class Amd(GoldenTrace, Counters, unittest.TestCase):
    folder, path = "amd_trace", "amd_trace"


class CpuOnly(GoldenTrace, unittest.TestCase):
    folder, path = "cpu_only", "cpu_only"


class SimpleAdd(Overlaid, Counters, unittest.TestCase):
    folder, path = "critical_path_simple_add", "critical_path/simple_add"


class RankUnavailable(GoldenTrace, unittest.TestCase):
    folder, path = "rank_unavailable", "rank_unavailable"


class CompareBase(GoldenTrace, Counters, unittest.TestCase):
    folder, path = "trace_compare_base", "trace_compare/base"


class CompareTest(GoldenTrace, Counters, unittest.TestCase):
    folder, path = "trace_compare_test", "trace_compare/test"


@slow
class DiffControl(GoldenTrace, unittest.TestCase):
    folder, path = "trace_diff_control", "trace_diff/control"


@slow
class DiffTest(GoldenTrace, unittest.TestCase):
    folder, path = "trace_diff_test", "trace_diff/test"


@slow
class TwoRanks(Overlaid, Counters, unittest.TestCase):
    folder, path = "trace_filter_2ranks", "trace_filter"


class Triton(GoldenTrace, Counters, unittest.TestCase):
    folder, path = "triton_example", "triton_example"


def names(trace):
    return sorted(row.name for rank in trace.ranks.values() for row in rank.rows)


def column(analysis, *columns):
    """An analysis reduced to some columns, in order."""
    def compute(trace):
        rows = [tuple(row[name] for name in columns) for row in analysis(trace)]
        return sorted(row[0] for row in rows) if len(columns) == 1 else dict(rows)
    return compute


def in_us(*events):
    """A trace that HTA treats as one in ns, because one time has a fraction."""
    return made.document(*events, event("fraction", 0.5, 0))


def ranked(rank, *events):
    return made.document(*events, distributedInfo={"rank": rank})


STEPS = [step(1, 0, 1000), step(2, 1000, 1000)]
DRIVER_TWIN = event("cuLaunchKernel", 12, 2, cat="cuda_driver", args={"correlation": 1})
OVERLAPPING = [kernel("a", 0, 100, 1), kernel("b", 10, 10, 2), kernel("c", 120, 10, 3)]
COPIES = [event("Memcpy HtoD", 10 * place, 100, cat="gpu_memcpy",
                args={"stream": 7, "memory bandwidth (GB/s)": bandwidth})
          for place, bandwidth in enumerate((0.1, 0.2, 0.3))]
BACKWARD = [step(1, 0, 1000), event("## backward ##", 100, 800, cat="user_annotation"),
            event("autograd::engine::evaluate_function: MulBackward0", 200, 100, tid=2),
            launch(210, 5, 1, tid=2), kernel("k", 300, 10, 1)]


def launched(name, ts, correlation, stream=7):
    """An operator with its launch and kernel."""
    return [event(name, ts, 50), launch(ts + 10, 5, correlation), kernel("k", ts + 100, 10, correlation, stream)]


def annotation(name, ts, dur, stream):
    return event(name, ts, dur, cat="gpu_user_annotation", pid=0, tid=stream, args={"stream": stream})


# switch: (documents, analysis, HTA's result, the right result[, arguments of load])
CASES = {
    "D1": ([made.document(step(1, 5000, 100), step(2, 5100, 100), event("late", 5900, 1, args={}))], names,
           ["ProfilerStep#1", "ProfilerStep#2", "late"], ["ProfilerStep#1", "ProfilerStep#2"], {"include_last": True}),
    "D2": ([made.document(*STEPS, launch(10, 5, 1), DRIVER_TWIN, kernel("k", 20, 10, 1))],
           column(hta.gpu_kernel_breakdown, "sum (us)"), [20], [10]),
    "D3": ([made.document(event("op", 0, 1), kernel("k", 32100, 700, 1))],
           column(hta.temporal_breakdown, "kernel_time(us)"), AssertionError, [700]),
    "D4": ([in_us(kernel("k", 10.5, 1.4, 1))], column(hta.gpu_kernel_breakdown, "sum (us)"), [0], [1.4]),
    "D5": ([made.document(*launched("op", 0, 1, stream=0))],
           lambda trace: len(hta.frequent_cuda_kernel_sequences(trace, "op", None, 1)), 0, 1),
    "D6": ([made.document(kernel("k", 50, 10, 1), launch(10, 5, 1))],
           column(hta.queue_length_time_series, "queue_length"), [], [0, 1]),
    "D7": ([made.document(step(1, 0, 100), step(2, 100, 100), event("op", 120, 1, args={}),
                          event("ProfilerStep#2", 150, 100, cat="gpu_user_annotation"))],
           names, ["ProfilerStep#1", "ProfilerStep#2", "op"], ["ProfilerStep#1"]),
    "D8": ([made.document(*(kernel(name, 0, dur, 1) for name, dur in (("a", 10), ("a", 30), ("b", 20), ("c", 5))))],
           column(functools.partial(hta.gpu_kernel_breakdown, num_kernels=2), "name", "max (us)"),
           {"a": 40, "b": 20, "others": 5}, {"a": 30, "b": 20, "others": 5}),
    "D9": ([made.document(event("op", 0, 1), *launched("op", 0, 1, 7), *launched("op", 0, 2, 20))],
           column(functools.partial(hta.time_spent_blocked_on_full_queue, max_queue_length=1), "stream",
                  "duration_at_max_queue_length"), {20: 90}, {7: 90, 20: 90}),
    "D10": ([json.dumps(ranked(rank, event("op", 0, 1, args={})), separators=(",", ":")) for rank in (3, 5)],
            lambda trace: list(trace.ranks), [0], [3, 5]),
    "D11": ([made.document(event("op", 0, 1), launch(10, 5, 0), kernel("k", 50, 10, 0))],
            column(hta.queue_length_time_series, "queue_length"), [0, 1], []),
    "D12": ([ranked(rank, *steps, event("op", 5, 1, args={})) for rank, steps in enumerate((STEPS, []))], names,
            ["ProfilerStep#1", "op"], ["ProfilerStep#1", "op", "op"]),
    "D15": ([made.document(event("ProfilerStep*", 0, 10, args={}))], names, AssertionError, ["ProfilerStep*"]),
    "D16": ([made.document(event(7, 0, 10, args={}), event("op", 0, 1))], names, ValueError, ["op"]),
    "D17": ([ranked(3, event("op", 0, 1), *launched("op", 0, 1))],
            column(hta.queue_length_time_series, "queue_length"), ValueError, [0, 1]),
    "D23": ([made.document(event("triton", 0, 100, args={"stream": 0}), kernel("k", 50, 10, 1))],
            column(hta.temporal_breakdown, "kernel_time(us)"), [100], [10]),
    "D24": ([made.document(kernel("k", 0, 10, 1),
                           event("Stream Sync", 10, 300, cat="cuda_sync", args={"stream": 7, "correlation": 2}))],
            column(hta.temporal_breakdown, "kernel_time(us)"), [310], [10]),
    "D25": ([made.document(event("op", 0, 0), *OVERLAPPING)],
            column(hta.idle_time_breakdown, "idle_category", "idle_time"),
            {"kernel_wait": -90, "other": 100}, {"host_wait": 0, "kernel_wait": 20, "other": 0}),
    "D26": ([made.document(event("hipMemcpyDtoD", 0, 1, cat="gpu_memcpy", args={"stream": 7}),
                           kernel("rcclGenericKernel", 0, 2, 1))],
            column(hta.gpu_kernel_breakdown, "kernel_type", "name"),
            {"COMMUNICATION": "hipMemcpyDtoD", "COMPUTATION": "rcclGenericKernel"},
            {"COMMUNICATION": "rcclGenericKernel", "MEMORY": "hipMemcpyDtoD"}),
    "D27": ([made.document(kernel("SyncBatchNorm_kernel", 0, 2, 1))],
            column(hta.gpu_kernel_breakdown, "sum (us)"), [], [2]),
    "D28": ([made.document(*COPIES)], lambda trace: hta.memory_bw_time_series(trace)[-1]["memory_bw_gbps"] == 0,
            False, True),
    "D29": ([made.document(event("op", 0, 1), event("cudaGraphLaunch", 10, 5, cat="cuda_runtime",
                                                    args={"correlation": 1}),
                           kernel("k", 20, 10, 1), kernel("k", 30, 10, 1))],
            column(hta.queue_length_time_series, "queue_length"), [], [0, 1, 1, 2]),
    "D30": ([made.document(event("module", 0, 1000), *launched("op", 100, 1), *launched("op", 2000, 2))],
            lambda trace: [row["count"] for row in hta.frequent_cuda_kernel_sequences(trace, "op", None, 1)], [1], [2]),
    "D31": ([made.document(event("op", 0, 1000), *(kernel(name, ts, 10, 1, stream) for name, ts, stream in (
                 ("a", 100, 7), ("b", 100, 8), ("c", 115, 7))),
                           *(annotation(name, ts, dur, 7) for name, ts, dur in (("outer", 90, 40), ("next", 122, 5))))],
            column(hta.gpu_kernels_with_user_annotations, "s_name", "s_user_annotation"),
            {"a": "outer", "b": "outer", "c": "next"}, {"a": "outer", "b": None, "c": "outer"}),
    "D32": ([made.document(event("aten::mine", 0, 100), event("aten::other", 5, 100, tid=2), launch(10, 5, 1),
                           kernel("k", 50, 10, 1))],
            column(hta.aten_op_kernels_and_delay, "aten_op_name", "avg_aten_op_launch_delay"), {"aten::other": 5},
            {"aten::mine": 10}),
    "D39": ([made.document(event("op", 0, 1, args={}))], hta.temporal_breakdown, IndexError, []),
    "D40": ([made.document(kernel("k", 0, 10.9, 1))], column(hta.gpu_kernel_type_breakdown, "sum"), [10], [10.9]),
    "D41": ([made.document(*STEPS, kernel("old", 5, 20, 99), launch(10, 5, 1), kernel("k", 30, 10, 1),
                           kernel("last", 1005, 20, 98))],
            column(hta.gpu_kernel_breakdown, "name", "sum (us)"), {"k": 10}, {"k": 10, "old": 20}),
    "D42": ([made.document(*STEPS, *(event("op", at, 9, args={}) for at in (10, 1010)), launch(12, 5, 1),
                           launch(1012, 5, 2),
                           made.kernel("k", 20, 5, 1),
                           *(event("k", at, 5, cat="cuda_profiler_range", pid=0, tid=0, args={"n": at})
                                                                    for at in (0, 10)))],
            column(hta.cupti_counters, "op"), [], ["op"]),
    "D43": ([made.document(*({**kernel("k", 10 * device, 30, 1), "pid": device} for device in range(2)))],
            column(hta.temporal_breakdown, "kernel_time(us)"), [40], [30, 30]),
    "T2": ([ranked(0, event("op", 100, 1, args={})), ranked(1, event("op", 600, 1, args={}))],
           lambda trace: [row.ts_ns for rank in trace.ranks.values() for row in rank.rows], [0, 500_000], [0, 0]),
    "rows": ([made.document(event("a", 0, -5, args={}), event("b", 0, 5),
                            event("c", 0, made.ABSENT, ph="B"), event("c", 9, made.ABSENT, ph="E"))],
             names, ["a", "b"], ["b", "c"]),
    "backward": ([made.document(*BACKWARD)],
                 lambda trace: len(hta.frequent_cuda_kernel_sequences(trace, "ProfilerStep", None, 1)), 1, 0),
}


class Defects(unittest.TestCase):
    """Each switch alone has exactly its own effect."""

    def compute(self, documents, analysis, right, arguments):
        with tempfile.TemporaryDirectory() as folder:
            for place, document in enumerate(documents):
                made.write(os.path.join(folder, f"{place}.json"), document)
            return analysis(hta.load(folder, right, **arguments))

    def test_each(self):
        for switch, (documents, analysis, wrong, correct, *arguments) in CASES.items():
            arguments = arguments[0] if arguments else {}
            with self.subTest(switch):
                if isinstance(wrong, type):
                    with self.assertRaises(wrong):
                        self.compute(documents, analysis, (), arguments)
                else:
                    self.assertEqual(self.compute(documents, analysis, (), arguments), wrong)
                self.assertEqual(self.compute(documents, analysis, {switch}, arguments), correct)

    def test_all_are_shown(self):
        self.assertEqual(CASES.keys(), hta_load.RIGHT)


if __name__ == "__main__":
    unittest.main()
