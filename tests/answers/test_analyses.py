"""HTA's analyses and similar ones: each runs on every available trace and reads it once. test_hta.py compares their
results.
"""
import collections
import glob
import json
import math
import os
import random
import re
import sqlite3
import subprocess
import unittest

import made
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, ROOT, bytes_read, connect, corpus, found_below, queries, query_statements, slow

ANALYSES = ("temporal_breakdown", "idle_time_breakdown", "idle_interval_stats", "gpu_kernel_type_breakdown",
            "gpu_kernel_breakdown", "gpu_user_annotation_breakdown", "gpu_kernels_with_user_annotations",
            "comm_comp_overlap", "memory_bw_time_series", "memory_bw_summary",
            "queue_length_time_series", "queue_length_summary", "time_spent_blocked_on_full_queue",
            "trace_counter_events",
            "cuda_kernel_launch_stats", "aten_op_kernels_and_delay", "frequent_cuda_kernel_sequences")
GPU = os.path.join(EXAMPLES, "gpu", "test")
# T6 makes these be read from the file again
READS_ARGS = ("memory_bw_time_series", "memory_bw_summary", "trace_counter_events")


def call(name, trace="?1", **arguments):
    """A call of an analysis, with the other arguments that it requires."""
    if name == "frequent_cuda_kernel_sequences":
        arguments.setdefault("operator_name", "'aten::'")
        arguments.setdefault("min_pattern_len", 1)
    if name == "time_spent_blocked_on_full_queue":
        arguments.setdefault("max_queue_length", 2)
    terms = " AND ".join(f"{key} = {value}" for key, value in {"trace": trace, **arguments}.items())
    return f"(SELECT * FROM {name} WHERE {terms})"


class Analyses(unittest.TestCase):
    def setUp(self):
        self.db = connect()

    def rows(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    @slow
    def test_every_trace(self):
        """No analysis fails on a trace that a diff accepts."""
        folder = corpus()
        answered = 0
        for path in found_below(folder, "**", "*.json*"):
            if f"{os.sep}bad{os.sep}" in path or os.path.getsize(path) > 3_000_000:
                continue
            try:
                self.rows("SELECT count(*) FROM trace_diff(?1, ?1)", path)
            except sqlite3.OperationalError:
                continue
            for name in ANALYSES:
                with self.subTest(name, path=path):
                    answered += bool(self.rows(f"SELECT * FROM {call(name)}", path))
        self.assertGreater(answered, 100)

    def test_ranks_add_up(self):
        for name in ANALYSES:
            if name == "gpu_kernel_type_breakdown":
                continue
            whole = self.rows(f"SELECT * FROM {call(name)}", GPU)
            parts = [row for rank in (0, 1) for row in self.rows(f"SELECT * FROM {call(name, ranks=rank)}", GPU)]
            with self.subTest(name):
                self.assertGreater(len(whole), 0)
                self.assertEqual(sorted(whole, key=repr), sorted(parts, key=repr))

    def test_runs_once_a_side(self):
        for name in ANALYSES:
            statements = []
            self.db.set_trace_callback(statements.append)
            sides = (call(name), call(name, f"'{os.path.join(EXAMPLES, 'gpu', 'control')}'"))
            self.rows(f"SELECT count(*) FROM {sides[0]} AS a LEFT JOIN {sides[1]} AS b USING (rank)"
                      if name != "gpu_kernel_type_breakdown" else
                      f"SELECT count(*) FROM {sides[0]} AS a LEFT JOIN {sides[1]} AS b USING (kernel_type)", GPU)
            self.db.set_trace_callback(None)
            ran = [text for text in statements if "tracediff:trace_events" in text]
            with self.subTest(name):
                self.assertGreater(len(ran), 0)
                self.assertLessEqual(max(collections.Counter(ran).values()), 2)

    def test_reads_once(self):
        size = sum(os.path.getsize(path) for path in glob.glob(os.path.join(GPU, "*")))
        for name in ANALYSES:
            db = connect()
            db.execute("SELECT * FROM tracediff_help").fetchall()
            before = bytes_read()
            db.execute(f"SELECT * FROM {call(name)}", (GPU,)).fetchall()
            with self.subTest(name):
                read = (bytes_read() - before) / size
                self.assertGreaterEqual(read, 1)
                self.assertLess(read, 2.1 if name in READS_ARGS else 1.1)

    def test_wrong_arguments(self):
        for name in ANALYSES:
            for given, message in (
                    ({"ranks": 7}, f"{name}: the trace has no rank 7 (ranks: 0, 1)"),
                    ({"include_last_profiler_step": 2}, f"{name}: include_last_profiler_step must be 0 (without the"
                                                        " last step) or 1 (with it), not 2"),
                    ({"trace": "'none'"}, f"{name}: cannot read 'none': No such file or directory")):
                with self.subTest(name, given=given), self.assertRaises(sqlite3.OperationalError) as caught:
                    self.rows(f"SELECT * FROM {call(name, **given)}" if "trace" in given else
                              f"SELECT * FROM {call(name, f'{GPU!r}', **given)}")
                self.assertEqual(str(caught.exception), message)

    def test_no_argument_has_the_name_of_a_column(self):
        self.assertEqual(self.rows("SELECT function, name FROM tracediff_columns WHERE kind = 'argument' INTERSECT"
                                   " SELECT function, name FROM tracediff_columns WHERE kind = 'column'"), [])

    def test_last_step(self):
        """T13: the analyses leave out the last step, unless include_last_profiler_step is set."""
        last = self.rows("SELECT max(iteration) FROM trace_steps(?)", GPU)[0][0]
        for include in (0, 1):
            self.assertEqual(self.rows("SELECT max(iteration) FROM trace_events(?, NULL, ?) WHERE device = 'GPU'"
                                       " AND cat = 'kernel'", GPU, include), [(last - 1 + include,)])


    def test_intervals_add_up(self):
        """The intervals of a category add up to its time in idle_time_breakdown."""
        for delay in ("NULL", 5):
            self.assertEqual(self.rows("SELECT rank, stream, idle_category, round(coalesce(count * mean, 0), 6) FROM"
                                       f" {call('idle_interval_stats', consecutive_kernel_delay=delay)}", GPU),
                             self.rows("SELECT rank, stream, idle_category, round(idle_time, 6) FROM"
                                       f" {call('idle_time_breakdown', consecutive_kernel_delay=delay)}", GPU))

    def test_times_add_up(self):
        """busy_time and the idle times add up to the window of a stream; hidden and exposed add up to all
        communication.
        """
        work = "trace_events(?, 'all', 0) WHERE device = 'GPU' AND trace_kernel_type(name, cat)"
        self.assertEqual(
            self.rows("SELECT rank, stream, round(sum(idle_time) + avg(busy_time), 3), round(avg(busy_time), 3)"
                      f" FROM {call('idle_time_breakdown')} GROUP BY 1, 2", GPU),
            self.rows("SELECT rank, stream, round((max(ts_ns + dur_ns) - min(ts_ns)) / 1000.0, 3),"
                      f" trace_busy_time(ts_ns, dur_ns) / 1000.0 FROM {work} IS NOT NULL AND stream IS NOT NULL"
                      f" GROUP BY 1, 2", GPU))
        self.assertEqual(
            self.rows(f"SELECT rank, hidden_time + exposed_time, round(100 * hidden_time / (hidden_time +"
                      f" exposed_time), 2)"
                      f" FROM {call('comm_comp_overlap')}", GPU),
            self.rows(f"SELECT rank, trace_busy_time(ts_ns, dur_ns) / 1000.0, (SELECT comp_comm_overlap_pctg"
                      f" FROM comm_comp_overlap(?, trace_events.rank)) FROM {work} = 'COMMUNICATION' GROUP BY 1", GPU,
                      GPU))


class Others(InFolder):
    """Traces on which HTA fails."""

    def event(self, name, cat, ts, dur, **args):
        tid = args.get("stream", 1)
        return {"ph": "X", "name": name, "cat": cat, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}

    def put(self, *events):
        return write("rank3.json", document(*events))

    def test_damaged(self):
        with open(glob.glob(os.path.join(GPU, "*0*"))[0], "rb") as file:
            text = file.read()
        path = write("cut.json.bin", text[:len(text) // 2])
        for name in ANALYSES:
            with self.subTest(name), self.assertRaisesRegex(
                    sqlite3.OperationalError, rf"^{name}: 'cut.json.bin': the gzip data is truncated at byte \d+$"):
                self.rows(f"SELECT * FROM {call(name)}", path)

    def test_no_device_work(self):
        path = self.put(self.event("aten::add", "cpu_op", 0, 10))
        for name in ANALYSES:
            self.assertEqual(self.rows(f"SELECT * FROM {call(name)}", path), [], name)

    def test_only_rank_3_and_stream_0(self):
        path = self.put(self.event("hipLaunchKernel", "cuda_runtime", 1.5, 2, correlation=1),
                        self.event("gemm", "kernel", 10.25, 4, stream=0, correlation=1),
                        self.event("hipLaunchKernel", "cuda_runtime", 20, 2, correlation=2),
                        self.event("gemm", "kernel", 30.25, 4, stream=0, correlation=2))
        self.assertEqual(self.rows(f"SELECT * FROM {call('temporal_breakdown')}", path),
                         [(3, 16.0, 8.0, 0.0, 24.0, 66.67, 33.33, 0.0, 1)])
        self.assertEqual(self.rows(f"SELECT * FROM {call('idle_time_breakdown')}", path),
                         [(3, 0, "host_wait", 7.75, 7.75 / 16, 8.0, 1), (3, 0, "kernel_wait", 8.25, 8.25 / 16, 8.0, 1),
                          (3, 0, "other", 0.0, 0.0, 8.0, 1)])
        self.assertEqual(self.rows(f"SELECT * FROM {call('idle_interval_stats')}", path),
                         [(3, 0, "host_wait", 1, 7.75, None, *[7.75] * 5, 1),
                          (3, 0, "kernel_wait", 1, 8.25, None, *[8.25] * 5, 1),
                          (3, 0, "other", 0, *[None] * 7, 1)])
        self.assertEqual(self.rows(f"SELECT * FROM {call('cuda_kernel_launch_stats')}", path),
                         [(3, 1, 2.0, 4.0, 6.75, path, 0), (3, 2, 2.0, 4.0, 8.25, path, 2)])
        self.assertEqual(self.rows(f"SELECT ts, stream, queue_length FROM {call('queue_length_time_series')}", path),
                         [(0.0, 0, 1), (8.75, 0, 0), (18.5, 0, 1), (28.75, 0, 0)])
        self.assertEqual(self.rows(f"SELECT * FROM {call('comm_comp_overlap')}", path), [(3, None, None, None, 1)])

    def test_devices_of_one_process(self):
        """D43: streams with one number on two devices have separate rows, each as if it were alone."""
        def device(pid, dur, streams=(7,)):
            for at in range(4):
                for stream in streams:
                    ts, correlation = 500 * at + 10 * pid + stream, 1000 * pid + 100 * at + stream
                    name = "gemm" if at else "ncclDevKernel_AllReduce"
                    yield self.event("launch", "cuda_runtime", ts, 5, correlation=correlation)
                    work = self.event(name, "kernel", ts + 9, dur, stream=stream, correlation=correlation)
                    yield {**work, "pid": pid}

        for other in ((7,), (7, 8)):
            for name in ("temporal_breakdown", "idle_time_breakdown", "idle_interval_stats", "comm_comp_overlap",
                         "queue_length_summary"):
                rows = [self.rows(f"SELECT * FROM {call(name)}", self.put(*events)) for events in (
                    [*device(2, 300), *device(3, 380, other)], device(2, 300), device(3, 380, other))]
                self.assertEqual(sorted(rows[0], key=repr), sorted(rows[1] + rows[2], key=repr), name)
                self.assertEqual({row[-1] for row in rows[0]}, {2, 3})

    def test_a_graph_launch_has_many_kernels(self):
        path = self.put(self.event("cudaGraphLaunch", "cuda_runtime", 0, 5, correlation=1),
                        *(self.event(f"k{n}", "kernel", 10 + n * 10, 5, stream=7, correlation=1) for n in range(3)))
        self.assertEqual(self.rows(f"SELECT count(*), max(queue_length) FROM {call('queue_length_time_series')}", path),
                         [(6, 3)])
        self.assertEqual(self.rows(f"SELECT correlation, launch_delay FROM {call('cuda_kernel_launch_stats')}", path),
                         [(1, 5.0), (1, 15.0), (1, 25.0)])

    def test_mtia(self):
        path = self.put(self.event("runFunction - job_prep_and_submit_for_execution", "mtia_runtime", 0, 5,
                                   correlation=1),
                        self.event("job_exe", "mtia_ccp_events", 10, 5, stream=2, correlation=1))
        self.assertEqual(self.rows(f"SELECT kernel_type, sum FROM {call('gpu_kernel_type_breakdown')}", path),
                         [("COMPUTATION", 5.0)])
        self.assertEqual(self.rows(f"SELECT correlation, launch_delay FROM {call('cuda_kernel_launch_stats')}", path),
                         [(1, 5.0)])

    def test_mtia_waits_are_no_work_and_dma_is_a_copy(self):
        path = self.put(self.event("ProfilerStep#1", "user_annotation", 0, 100),
                        self.event("runFunction - job_prep_and_submit_for_execution", "mtia_runtime", 0, 5,
                                   correlation=1),
                        self.event("enqueueCommand", "mtia_runtime", 10, 5, correlation=2),
                        self.event("event_wait", "mtia_ccp_events", 20, 30, stream=2, correlation=1),
                        self.event("event_record", "mtia_ccp_events", 50, 1, stream=2, correlation=2),
                        self.event("job_exe", "mtia_ccp_events", 60, 5, stream=2, correlation=1),
                        self.event("dma_transfer", "mtia_ccp_events", 70, 8, stream=2, correlation=2),
                        self.event("event_wait", "mtia_ccp_events", 80, 10, stream=2))
        self.assertEqual(self.rows("SELECT name, device, trace_kernel_type(name, cat), iteration FROM"
                                   f" trace_events('{path}') WHERE cat = 'mtia_ccp_events'"),
                         [("event_wait", "GPU", None, 1), ("event_record", "GPU", None, 1),
                          ("job_exe", "GPU", "COMPUTATION", 1), ("dma_transfer", "GPU", "MEMORY", 1),
                          ("event_wait", "GPU", None, None)])
        self.assertEqual(self.rows(f"SELECT kernel_type, sum FROM {call('gpu_kernel_type_breakdown')}", path),
                         [("MEMORY", 8.0), ("COMPUTATION", 5.0)])
        self.assertEqual(self.rows(f"SELECT name FROM trace_ops('{path}', 'all', 'all', 'GPU')"),
                         [("dma_transfer",), ("job_exe",)])
        self.assertEqual(self.rows(f"SELECT problems FROM trace_files('{path}')"), [("[]",)])
        self.assertEqual(self.rows(f"SELECT class, sum(time) FROM trace_step_time('{path}', NULL, 'all', 'kernel')"
                                   " WHERE class IN ('compute', 'memory', 'comm') GROUP BY class"),
                         [("compute", 5.0), ("memory", 8.0)])

    def test_a_clock_that_is_ahead(self):
        """Work that begins before its launch never queued and waited for nothing."""
        path = self.put(self.event("cudaLaunchKernel", "cuda_runtime", 10, 5, correlation=1),
                        self.event("k", "kernel", 8, 5, stream=7, correlation=1))
        self.assertEqual(self.rows(f"SELECT ts, queue_length FROM {call('queue_length_time_series')}", path),
                         [(2.0, 1), (2.0, 0)])
        self.assertEqual(self.rows(f"SELECT launch_delay FROM {call('cuda_kernel_launch_stats')}", path), [(0.0,)])

    def test_simultaneous_launches(self):
        """With several points at one time (a graph launch), the last one lasts until the first kernel begins."""
        path = self.put(self.event("cudaGraphLaunch", "cuda_runtime", 0, 5, correlation=1),
                        *(self.event("k", "kernel", 1000 + n, 1, stream=7, correlation=1) for n in range(100)))
        points = self.rows(f"SELECT ts, queue_length FROM {call('queue_length_time_series')}", path)
        area = sum(queued * (after - ts) for (ts, queued), (after, _) in zip(points, points[1:]))
        self.assertAlmostEqual(area / (points[-1][0] - points[0][0]), 95.4959, 4)
        self.assertEqual(self.rows(f"SELECT mean_over_time FROM {call('queue_length_summary')}", path),
                         [(area / (points[-1][0] - points[0][0]),)])
        self.assertEqual(self.rows("SELECT duration_at_max_queue_length FROM"
                                   f" {call('time_spent_blocked_on_full_queue', max_queue_length=100)}", path),
                                   [(1000.0,)])

    def test_copies_that_end_together(self):
        """For copies that end together, their order in the file does not matter."""
        copies = [self.event("Memcpy HtoD", "gpu_memcpy", ts, 100 - ts, stream=7, **{"memory bandwidth (GB/s)": speed})
                  for ts, speed in ((0, 10), (0, 40), (10, 20), (10, 5))]
        expected = [(0.0, 10.0), (0.0, 50.0), (10.0, 55.0), (10.0, 75.0), (100.0, 35.0), (100.0, 15.0), (100.0, 5.0),
                    (100.0, 0.0)]
        for order in (copies, copies[::-1], copies[1:] + copies[:1]):
            path = self.put(*order)
            self.assertEqual(self.rows(f"SELECT ts, memory_bw_gbps FROM {call('memory_bw_time_series')}", path),
                             expected)
            self.assertEqual(self.rows(f"SELECT count, mean, min, max, mean_over_time FROM {call('memory_bw_summary')}",
                                       path), [(7, 245 / 7, 5.0, 75.0, 72.5)])

    def test_an_event_that_lacks_something(self):
        """An event without ts, dur or name is in no analysis and is counted as a problem. An event without correlation
        or args is in the analyses that need neither.
        """
        whole = [event("aten::op", 0, 50), launch(10, 5, 1), kernel("k", 100, 10, 1), launch(20, 5, 2),
                 kernel("k", 110, 10, 2), self.event("Memcpy HtoD", "gpu_memcpy", 130, 10, stream=7,
                                                     **{"memory bandwidth (GB/s)": 3}), event("end", 900, 1)]
        more = [event("aten::op", 30, 50), launch(40, 5, 3), kernel("k", 200, 10, 3),
                self.event("Memcpy HtoD", "gpu_memcpy", 230, 10, stream=7, **{"memory bandwidth (GB/s)": 4}),
                self.event("nccl:all", "gpu_user_annotation", 200, 10, stream=7)]
        without = {name: self.rows(f"SELECT * FROM {call(name)}", self.put(*whole)) for name in ANALYSES}
        for lacking in ("ts", "dur", "name"):
            for bad in (made.ABSENT, None, "no number" if lacking != "name" else 7):
                lame = [{key: bad if key == lacking else value for key, value in one.items()
                         if key != lacking or bad is not made.ABSENT} for one in more]
                path = self.put(*whole, *lame)
                for name in ANALYSES:
                    with self.subTest(name, lacking=lacking, bad=bad):
                        self.assertEqual(self.rows(f"SELECT * FROM {call(name)}", path), without[name])
                if bad is not made.ABSENT or lacking != "name":
                    self.assertNotEqual(self.rows("SELECT problems FROM trace_files(?)", path), [("[]",)])
        for lacking in (["correlation"], ["correlation", "stream"], ["args"]):
            lame = [{key: {inner: given for inner, given in value.items() if inner not in lacking} if key == "args"
                     else value for key, value in one.items() if key not in lacking} for one in more]
            path = self.put(*whole, *lame)
            for name in ("queue_length_time_series", "queue_length_summary", "cuda_kernel_launch_stats",
                         "frequent_cuda_kernel_sequences"):
                with self.subTest(name, lacking=lacking):
                    self.assertEqual(self.rows(f"SELECT * FROM {call(name)}", path), without[name])
            self.assertEqual(self.rows(f"SELECT name, sum FROM {call('gpu_kernel_breakdown')}", path),
                             [("k", 30.0), ("Memcpy HtoD", 20.0)])
        # work without a time has no launch, and a call without a time launches nothing
        path = self.put(*whole, launch(40, 5, 3), {**kernel("k", 0, 10, 3), "ts": None})
        for name in ANALYSES:
            self.assertEqual(self.rows(f"SELECT * FROM {call(name)}", path), without[name], name)
        path = self.put(*whole, {**launch(0, 5, 9), "ts": None}, kernel("k", 300, 10, 9))
        for name in ("queue_length_time_series", "queue_length_summary", "cuda_kernel_launch_stats",
                     "frequent_cuda_kernel_sequences"):
            self.assertEqual(self.rows(f"SELECT * FROM {call(name)}", path), without[name], name)

    def test_a_call_is_counted_once(self):
        path = self.put(self.event("cudaGraphLaunch", "cuda_runtime", 0, 5, correlation=1),
                        *(self.event("k", "kernel", 10 * n, 5, stream=7, correlation=1) for n in range(1, 4)),
                        self.event("cudaLaunchKernel", "cuda_runtime", 50, 2, correlation=2),
                        self.event("k", "kernel", 60, 5, stream=7, correlation=2))
        self.assertEqual(self.rows("SELECT sum(us), sum(works) FROM (SELECT max(cpu_duration) AS us, count(*) AS works"
                                   f" FROM {call('cuda_kernel_launch_stats')} GROUP BY file, launch)", path),
                                   [(7.0, 4)])

    def test_names_of_operators(self):
        """The name of an operator is given in part, or with * or ? as a GLOB pattern for all of it."""
        path = self.put(*(one for place, name in enumerate(("aten::mm", "aten::bmm", "## [x] ##"))
                          for one in (event(name, 100 * place, 50), launch(100 * place + 1, 5, place + 1),
                                      kernel("k", 100 * place + 60, 5, place + 1))))
        for pattern, found in (("mm", 2), ("aten::mm", 1), ("*mm", 2), ("aten::??", 1), ("mm*", 0), ("[x]", 1),
                               ("*[[]x]*", 1), ("*[am]*", 2), ("", 3), ("no", 0), ("ATEN*", 0)):
            with self.subTest(pattern):
                self.assertEqual(self.rows("SELECT coalesce(sum(count), 0) FROM frequent_cuda_kernel_sequences"
                                           " WHERE trace = ? AND operator_name = ? AND min_pattern_len = 1", path,
                                           pattern),
                                 [(found,)])

    def test_allowed_names(self):
        path = self.put(*(self.event(name, "gpu_user_annotation", 10 * place, place + 1, stream=7)
                          for place, name in enumerate(("small", "little", "large", "largest"))))
        for patterns, listed in ((None, ["largest", "others"]), ("[]", ["largest", "others"]),
                                 ('["s*"]', ["largest", "others", "small"]),
                                 ('["none", "?ittle", "sm[ab]ll"]', ["largest", "little", "others", "small"]),
                                 ('["*"]', ["large", "largest", "little", "small"])):
            with self.subTest(patterns):
                self.assertEqual([name for name, in self.rows(
                    "SELECT name FROM gpu_user_annotation_breakdown WHERE trace = ? AND num_kernels = 1"
                    " AND allowlist_patterns = ? ORDER BY name", path, patterns)], listed)
        with self.assertRaisesRegex(sqlite3.OperationalError,
                                    "^gpu_user_annotation_breakdown: allowlist_patterns must be"
                                    r" a JSON array of texts, not 's\*'$"):
            self.rows("SELECT * FROM gpu_user_annotation_breakdown WHERE trace = ? AND num_kernels = 1"
                      " AND allowlist_patterns = 's*'", path)


class Indifferent(InFolder):
    """Changes to a trace that must not matter leave the rows unchanged."""

    LABELS = {"pid", "tid", "correlation", "file", "event", "launch"}  # numbering inside the trace
    ALL = (*ANALYSES, "trace_collectives")

    def make(self, rank, seed):
        """Makes events on two threads and three streams, many at equal times; times are in ns."""
        chance, events, correlation = random.Random(seed), [], rank * 1000
        for number in range(4):
            base = number * 1_000_000
            events.append(step(number, base, 999_000))
            for thread in (1, 2):
                for place in range(12):
                    at = base + 60_000 * place + thread * 500 + number
                    correlation += 1
                    stream = chance.choice((7, 20, 24))
                    events += [event(f"aten::op{place % 3}", at, 50_000, tid=thread),
                               event("aten::inner", at + 2_000, 40_000, tid=thread),
                               launch(at + 5_000, chance.choice((1_000, 9_000)), correlation, tid=thread)]
                    for _ in range(chance.choice((1, 1, 3))):
                        start = base + 20_000 * chance.randrange(10, 40)
                        events.append(self.work(chance, start, correlation, stream))
        return events

    def work(self, chance, start, correlation, stream):
        made_by = {"correlation": correlation, "stream": stream}
        name, cat = chance.choice((("gemm", "kernel"), ("add", "kernel"), ("ncclDevKernel_AllReduce", "kernel"),
                                   ("Memcpy HtoD (Pageable)", "gpu_memcpy"), ("Memset", "gpu_memset"),
                                   ("forward", "gpu_user_annotation")))
        if cat in ("gpu_memcpy", "gpu_memset"):
            made_by["memory bandwidth (GB/s)"] = chance.choice((0.1, 3.5, 12.25))
        if name.startswith("nccl"):
            made_by["Process Group Name"] = chance.choice("01")
        return event(name, start, chance.choice((0, 10_000, 20_000, 40_000)), cat=cat, pid=0, tid=stream, args=made_by)

    def put(self, folder, ranks, suffix=".json", change=lambda events: events, **layout):
        for rank, events in ranks.items():
            written = [{**one, "ts": one["ts"] / 1000, "dur": one["dur"] / 1000} for one in change(events)]
            write(f"{folder}/{rank}{suffix}", json.dumps(document(*written, distributedInfo={"rank": rank}), **layout))
        return folder

    def answers(self, path, ranks):
        found = {}
        for name in self.ALL:
            cursor = self.db.execute(f"SELECT * FROM {call(name, ranks=ranks)}", (path,))
            columns = [column[0] for column in cursor.description]
            rows = [[value for column, value in zip(columns, row) if column not in self.LABELS] for row in cursor]
            found[name] = sorted(rows, key=lambda row: [(value is not None, value) for value in row])
        return found

    def assert_same(self, found, expected, why):
        for name in self.ALL:
            with self.subTest(name, why=why):
                self.assertEqual(len(found[name]), len(expected[name]))
                for row, wanted in zip(found[name], expected[name]):
                    self.assertTrue(all(math.isclose(value, other, rel_tol=1e-13) if isinstance(value, float)
                                        else value == other for value, other in zip(row, wanted)), (row, wanted))

    @slow
    def test_changes_that_do_not_matter(self):
        def relabelled(events):
            threads = {1: "main", 2: -5, 7: 107, 20: 101, 24: 103}
            return [{**one, "pid": 900 - one["pid"], "tid": threads[one["tid"]],
                     **({"args": {**one["args"], "correlation": 70_000 - one["args"]["correlation"]}}
                        if "args" in one else {})} for one in events]

        for seed in range(6):
            ranks = {rank: self.make(rank, 10 * seed + rank) for rank in (0, 1)}
            expected = self.answers(self.put(f"{seed}", ranks), "'[0, 1]'")
            self.assertEqual([name for name in self.ALL if not expected[name]], [])
            chance = random.Random(seed)
            for why, arguments in (
                    ("permuted", {"change": lambda events: chance.sample(events, len(events))}),
                    ("backwards", {"change": lambda events: events[::-1]}),
                    ("shifted", {"change": lambda events: [{**one, "ts": one["ts"] + 86_400_000_000_123}
                                                           for one in events]}),
                    ("relabelled", {"change": relabelled}), ("compressed", {"suffix": ".json.gz"}),
                    ("laid out", {"indent": 3})):
                path = self.put(f"{seed} {why}", ranks, **arguments)
                self.assert_same(self.answers(path, "'[0, 1]'"), expected, why)
            other = [{**one, "args": {**one["args"], "Process Group Name": "other"}} if "args" in one else one
                     for one in self.make(9, seed)]
            path = self.put(f"{seed} and a rank", {**ranks, 9: other})
            self.assert_same(self.answers(path, "'[0, 1]'"), expected, "a rank not asked for")


class Effort(InFolder):
    """The cost of an analysis grows no faster than sorting its input."""

    def steps(self, name, path, **arguments):
        """Steps of SQLite's virtual machine that an analysis takes, in hundreds."""
        count = 0

        def one():
            nonlocal count
            count += 1

        sql = f"SELECT count(*) FROM {call(name, **arguments)}"
        self.rows(sql, path)  # reads the trace first
        self.db.set_progress_handler(one, 100)
        self.rows(sql, path)
        self.db.set_progress_handler(None, 0)
        return count

    def assert_linear(self, make, small=150, **arguments):
        write("small.json", document(*make(small)))
        write("large.json", document(*make(4 * small)))
        for name in ANALYSES:
            with self.subTest(name):
                less, more = (self.steps(name, f"{size}.json", **arguments.get(name, {}))
                              for size in ("small", "large"))
                self.assertLess(more, 6 * less + 100)

    def test_deep_stacks(self):
        self.assert_linear(lambda size: [event("aten::op", place, 4 * size - 2 * place) for place in range(size)] +
                           [one for place in range(size) for one in (launch(size + place, 0.5, place + 1), kernel(
                               "k", 5 * size + 10 * place, 5, place + 1))])

    def test_many_names(self):
        self.assert_linear(lambda size: [
            event(f"name {place % size}", place, 1, cat=cat, pid=0, tid=7, args={"stream": 7})
            for cat in ("kernel", "gpu_user_annotation") for place in range(5 * size)])

    def test_many_listed_names(self):
        self.assert_linear(lambda size: [
            event(f"name {place % size}", place, 1, cat=cat, pid=0, tid=7, args={"stream": 7})
            for cat in ("kernel", "gpu_user_annotation") for place in range(5 * size)],
            gpu_kernel_breakdown={"num_kernels": 10000, "duration_ratio": 1})

    def test_many_ranks(self):
        for size in (8, 32):
            for rank in range(size):
                write(f"{size}/{rank}.json", {**made.run(), "distributedInfo": {"rank": rank}})
        for name in ANALYSES:
            with self.subTest(name):
                less, more = (self.steps(name, str(size)) for size in (8, 32))
                self.assertLess(more, 6 * less + 100)

    def test_no_plan_reads_the_trace_for_each_row(self):
        """Plans scan events once or use an index made for the query; none scans the trace per row."""
        for path in queries().values():
            plan = []
            for query in query_statements(path):
                parameters = dict.fromkeys(re.findall(r":([a-z_]+)", query))
                plan += [row[3] for row in self.db.execute("EXPLAIN QUERY PLAN " + query, parameters)]
            with self.subTest(os.path.basename(path)):
                self.assertEqual([line for line in plan
                                  if re.search(r"VIRTUAL TABLE INDEX \d+:.*\b(file|event)=", line)],
                                 [])


class Embedding(InFolder):
    """`make` checks the queries of sql/ that it embeds."""

    HEAD = ("-- x: what.\n-- Family: helpers\n-- Question: What?\n-- Parameters\n--   :trace TEXT required a trace\n--"
            " Columns\n--   a TEXT a\n")

    @staticmethod
    def run_awk(path="x.sql"):
        return subprocess.run(["awk", "-f", os.path.join(ROOT, "sql", "embed.awk"), path], capture_output=True,
                              text=True, check=False)

    @classmethod
    def embed(cls, path="x.sql"):
        done = cls.run_awk(path)
        return done.returncode, done.stderr, re.findall(r'(?m)^     "(.*)"\n     "\\n"$', done.stdout)

    def test_queries_that_are_refused(self):
        for query, message in (
                ("SELECT a FROM json_each(:trace);",
                 "json_each() is not a table function of ours: a user's table can hide it"),
                ("SELECT trace_kernel_typ(a) AS a FROM trace_events(:trace);",
                 "there is no function trace_kernel_typ()"),
                ("SELECT a FROM trace_event(:trace);",
                 "trace_event() is not a table function of ours: a user's table can hide it"),
                ("SELECT :test AS a;", "parameter :test is not in the header")):
            write("x.sql", self.HEAD + query + "\n")
            with self.subTest(query):
                self.assertEqual(self.embed()[:2], (1, f"x.sql:8: {message}\n"))

    def test_what_queries_share(self):
        """Queries share the CTEs of another file, and the marked CTEs of a script."""
        head, query = self.HEAD + "-- Grain: a row.\n", "second AS (SELECT 2)\nSELECT a FROM second;\n"
        write("shared/first.sql", "-- first: for others.\nWITH first AS (\n-- why\n  SELECT :trace),\n")
        write("database/script.sql", "DROP TABLE x;\n-- Shared: it\nWITH first AS (SELECT 1),\n-- Own\nlast AS (SELECT"
                                     " 3)\nSELECT 1;\n")
        for name, lines in (("shared/first", ["WITH first AS (", "  SELECT :trace),"]),
                            ("database/script", ["WITH first AS (SELECT 1),"])):
            write("tracediff/x.sql", f"{head}-- With {name}\n{query}")
            with self.subTest(name):
                self.assertEqual(self.embed("tracediff/x.sql"), (0, "", lines + query.splitlines()))
        for name, message in (("shared/none", "there is no shared/none.sql"),
                              ("shared/other", "parameter :other is not in the header")):
            write("shared/other.sql", "WITH first AS (SELECT :other),\n")
            write("tracediff/x.sql", f"{head}-- With {name}\n{query}")
            with self.subTest(name):
                self.assertEqual(self.embed("tracediff/x.sql")[:2], (1, f"tracediff/x.sql:9: {message}\n"))

    def test_descriptions_that_go_on(self):
        """A description continues on lines that are indented further; a description of NAME's columns stands below
        it.
        """
        write("x.sql", "-- x: what,\n--   and\n--   more.\n-- Family: helpers\n-- Question: What?\n-- Parameters\n"
                       "--   :trace  TEXT required  a\n--                          trace; \"it\"\n"
                       "--   :ranks  any            ranks\n-- Columns\n--   a  TEXT  one\n--            of\n"
                       "--            three\n--   b  TEXT  two\nSELECT 1 AS a, 2 AS b;\n")
        made = self.run_awk()
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        for entry in ('{"trace", TAKES_TEXT, true, "a trace; \\"it\\""},\n    {"ranks", TAKES_ANY, false, "ranks"},\n',
                      '{"a", "TEXT", "one of three"},\n    {"b", "TEXT", "two"},\n', '.text = "what, and more",'):
            self.assertIn(entry, made.stdout)
        for part in ("Parameters", "Columns"):
            write("x.sql", f"-- x: what.\n-- {part}\n--                 goes on\n")
            self.assertEqual(self.embed()[:2], (1, "x.sql:3: there is no entry that goes on\n"))

    def test_what_parameters_take(self):
        """The word of a parameter gives its type, whatever its name and description are."""
        for word, kind in (("any", "ANY"), ("ranks", "RANKS"), ("ranks|job", "RANKS_OR_JOB"), ("trace", "TRACE"),
                           ("iterations", "ITERATIONS"), ("0|1", "FLAG"), ("REAL>=0", "AMOUNT")):
            write("x.sql", self.HEAD.replace("-- Columns", f"--   :steps  {word}  an integer or 'job'\n-- Columns")
                  + "SELECT 1 AS a;\n")
            with self.subTest(word):
                made = self.run_awk()
                self.assertEqual((made.returncode, made.stderr), (0, ""))
                self.assertIn(f'{{"steps", TAKES_{kind}, false, "an integer or \'job\'"}}', made.stdout)
        write("x.sql", self.HEAD.replace(":trace TEXT", ":trace job"))
        self.assertEqual(self.embed()[:2], (1, "x.sql:5: parameter :trace takes nothing that is known: job\n"))

    def test_too_many_required_arguments(self):
        lines = "".join(f"--   :{name} TEXT required a trace\n" for name in ("a", "b", "c", "d", "e"))
        write("x.sql", "-- x: what.\n-- Parameters\n" + lines)
        self.assertEqual(self.embed()[:2], (1, "x.sql:7: a required argument is not among the first 4\n"))
