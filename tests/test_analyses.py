"""The analyses, HTA's and their like: they run on whatever trace there is, once, and read
it once. What they compute is compared in test_hta.py.
"""
import collections
import glob
import os
import sqlite3
import unittest

from made import InFolder, document, write
from support import EXAMPLES, connect, corpus, slow

ANALYSES = ("temporal_breakdown", "idle_time_breakdown", "gpu_kernel_type_breakdown", "gpu_kernel_breakdown",
            "gpu_user_annotation_breakdown", "comm_comp_overlap", "memory_bw_time_series", "memory_bw_summary",
            "queue_length_time_series", "queue_length_summary", "time_spent_blocked_on_full_queue",
            "cuda_kernel_launch_stats", "frequent_cuda_kernel_sequences")
GPU = os.path.join(EXAMPLES, "gpu", "test")
READS_ARGS = ("memory_bw_time_series", "memory_bw_summary")  # which T6 reads from the file again


def call(name, trace="?1", **arguments):
    """A call of an analysis; what one demands besides the trace is given."""
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
        """None fails on a trace that a diff takes."""
        folder = corpus()
        answered = 0
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.json*"), recursive=True)):
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
            before = read_so_far()
            db.execute(f"SELECT * FROM {call(name)}", (GPU,)).fetchall()
            with self.subTest(name):
                read = (read_so_far() - before) / size
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

    def test_last_step(self):
        """T13: without the last step, which include_last_profiler_step keeps."""
        last = self.rows("SELECT max(iteration) FROM trace_steps(?)", GPU)[0][0]
        for include in (0, 1):
            self.assertEqual(self.rows("SELECT max(iteration) FROM trace_events(?, NULL, NULL, ?) WHERE device = 'GPU'"
                                       " AND cat = 'kernel'", GPU, include), [(last - 1 + include,)])


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
                    sqlite3.OperationalError, rf"^{name}: 'cut.json.bin': the gzip data ends too early at byte \d+$"):
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
                         [(3, 16.0, 8.0, 0.0, 24.0, 66.67, 33.33, 0.0)])
        self.assertEqual(self.rows(f"SELECT * FROM {call('idle_time_breakdown')}", path),
                         [(3, 0, "host_wait", 7.75, 7.75 / 16), (3, 0, "kernel_wait", 8.25, 8.25 / 16),
                          (3, 0, "other", 0.0, 0.0)])
        self.assertEqual(self.rows(f"SELECT * FROM {call('cuda_kernel_launch_stats')}", path),
                         [(3, 1, 2.0, 4.0, 6.75), (3, 2, 2.0, 4.0, 8.25)])
        self.assertEqual(self.rows(f"SELECT ts, stream, queue_length FROM {call('queue_length_time_series')}", path),
                         [(0.0, 0, 1), (8.75, 0, 0), (18.5, 0, 1), (28.75, 0, 0)])
        self.assertEqual(self.rows(f"SELECT * FROM {call('comm_comp_overlap')}", path), [(3, None)])

    def test_a_graph_launch_has_many_kernels(self):
        path = self.put(self.event("cudaGraphLaunch", "cuda_runtime", 0, 5, correlation=1),
                        *(self.event(f"k{n}", "kernel", 10 + n * 10, 5, stream=7, correlation=1) for n in range(3)))
        self.assertEqual(self.rows(f"SELECT count(*), max(queue_length) FROM {call('queue_length_time_series')}", path),
                         [(6, 3)])
        self.assertEqual(self.rows(f"SELECT correlation, launch_delay FROM {call('cuda_kernel_launch_stats')}", path),
                         [(1, 5.0), (1, 15.0), (1, 25.0)])

    def test_mtia(self):
        path = self.put(self.event("runFunction - job_prep_and_submit_for_execution", "mtia_runtime", 0, 5, correlation=1),
                        self.event("job_exe", "mtia_ccp_events", 10, 5, stream=2, correlation=1))
        self.assertEqual(self.rows(f"SELECT kernel_type, sum FROM {call('gpu_kernel_type_breakdown')}", path),
                         [("COMPUTATION", 5.0)])
        self.assertEqual(self.rows(f"SELECT correlation, launch_delay FROM {call('cuda_kernel_launch_stats')}", path),
                         [(1, 5.0)])

    def test_mtia_waits_are_no_work_and_dma_is_a_copy(self):
        path = self.put(self.event("ProfilerStep#1", "user_annotation", 0, 100),
                        self.event("runFunction - job_prep_and_submit_for_execution", "mtia_runtime", 0, 5, correlation=1),
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
        """Work that begins before its launch was never in the queue, and waited for nothing."""
        path = self.put(self.event("cudaLaunchKernel", "cuda_runtime", 10, 5, correlation=1),
                        self.event("k", "kernel", 8, 5, stream=7, correlation=1))
        self.assertEqual(self.rows(f"SELECT ts, queue_length FROM {call('queue_length_time_series')}", path),
                         [(2.0, 1), (2.0, 0)])
        self.assertEqual(self.rows(f"SELECT launch_delay FROM {call('cuda_kernel_launch_stats')}", path), [(0.0,)])


def read_so_far():
    """Bytes that this process has read from files."""
    with open("/proc/self/io", encoding="ascii") as file:
        return int(file.readline().split()[1])
