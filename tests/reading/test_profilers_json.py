"""JSON of other profilers, Ascend's trace_view.json and XLA's trace.json (JAX, TensorFlow): small traces made by hand,
random ones against an independent implementation (oracle.py), and real files.
"""
import json
import os
import random
import unittest

import oracle
import oracle_steps
from made import ABSENT, InFolder, event, launch, step, write
from support import connect, corpus, series, slow
from test_oracle import Comparing

HOST, NPU, CANN, OVERLAP, HCCL = 100, 8, 9, 10, 11
WORK = "trace_kernel_type(name, cat) IS NOT NULL AND device = 'GPU'"


def bare(name, ts, dur, pid, tid, **args):
    """An event without a category."""
    return event(name, ts, dur, cat=ABSENT, pid=pid, tid=tid, **({"args": args} if args else {}))


def named(pid, name, tid=None):
    """The name of a process, or of one of its threads."""
    return {"ph": "M", "name": "process_name" if tid is None else "thread_name", "pid": pid, "tid": tid or 0,
            "args": {"name": name}}


def operator(name, ts, dur, tid=1):
    return event(name, ts, dur, pid=HOST, tid=tid, args={"Sequence number": -1, "Fwd thread id": 0})


def task(name, ts, dur, stream=3):
    return bare(name, ts, dur, NPU, stream, **{"Task Type": "AI_CORE", "Stream Id": stream, "connection_id": 5})


def flow(number, begin, end, tid=1, stream=3, **fields):
    """A flow from an operator to a task, by their ts."""
    both = {"bp": "e", "name": "torch_to_npu", "id": number, "cat": "async_npu", **fields}
    return [{**both, "ph": "s", "pid": HOST, "tid": tid, "ts": begin},
            {**both, "ph": "f", "pid": NPU, "tid": stream, "ts": end}]


def ascend():
    """The format of torch_npu: operators, names of processes, the device, and flows last."""
    return [operator("aten::linear", 100, 60), operator("aten::t", 100, 10), operator("aten::addmm", 120, 30),
            operator("aten::relu", 200, 20), operator("c10d::allreduce_", 240, 20),
            event("Enqueue", 125, 5, cat="enqueue", pid=HOST, args={"correlation_id": 7}),
            event("Dequeue@aclnnAddmm", 130, 20, cat="dequeue", pid=HOST, tid=2, args={"correlation_id": 7}),
            operator("ProfilerStep#1", 90, 300),
            named(HOST, "Python"), named(NPU, "Ascend Hardware"), named(NPU, "Stream 3", 3), named(CANN, "CANN"),
            named(OVERLAP, "Overlap Analysis"), named(OVERLAP, "Computing", 0), named(OVERLAP, "Communication", 1),
            named(HCCL, "Communication"), named(HCCL, "Group 0 Communication", 1), named(HCCL, "Plane 0", 2),
            bare("AscendCL@aclrtSynchronizeStream", 140, 5, CANN, 2, connection_id=5),
            task("MEMCPY_ASYNC", 95, 4), task("aclnnAddmm_MatMulV2", 180, 50), task("aclnnAddmm_Cast", 230, 5),
            task("aclnnRelu_Relu", 235, 15), task("aclnnSum", 330, 20, 4),
            bare("Computing", 180, 70, OVERLAP, 0), bare("Communication", 270, 40, OVERLAP, 1),
            bare("hcom_allReduce__1", 270, 40, HCCL, 1, **{"connection_id": 9}),
            bare("Notify_Wait", 270, 10, HCCL, 2, **{"Stream Id": 6}), bare("Memcpy", 280, 20, HCCL, 2),
            *flow(1, 120, 180), *flow("2", 120, 230), *flow(3, 200, 235),
            *flow(9, 240, 270, stream=3, cat="fwdbwd"), *flow(8, 999, 330, stream=4)]


class Ascend(InFolder):
    def test_rows_of_ascend(self):
        write("trace_view.json", ascend())
        names = dict(self.rows("SELECT event, name FROM trace_events('trace_view.json')"))
        found = self.rows("SELECT name, device, cat, stream, iteration, link FROM trace_events('trace_view.json')"
                          " WHERE pid <> 100 OR link IS NOT NULL ORDER BY event")
        annotation = ("GPU", "gpu_user_annotation")
        self.assertEqual([(*row[:5], names.get(row[5])) for row in found], [
            ("aten::addmm", "CPU", "cpu_op", None, 1, "aclnnAddmm_MatMulV2"),
            ("aten::relu", "CPU", "cpu_op", None, 1, "aclnnRelu_Relu"),
            ("AscendCL@aclrtSynchronizeStream", "CPU", None, None, 1, None),
            ("MEMCPY_ASYNC", "GPU", None, 3, None, None),
            ("aclnnAddmm_MatMulV2", "GPU", None, 3, 1, "aten::addmm"),
            ("aclnnAddmm_Cast", "GPU", None, 3, 1, "aten::addmm"),
            ("aclnnRelu_Relu", "GPU", None, 3, 1, "aten::relu"),
            ("aclnnSum", "GPU", None, 4, None, None),
            ("Computing", *annotation, 0, 1, None), ("Communication", *annotation, 1, 1, None),
            ("hcom_allReduce__1", "GPU", None, 1, None, None),
            ("Notify_Wait", *annotation, 6, 1, None), ("Memcpy", *annotation, 2, 1, None)])
        rank, events, skipped, problems = self.rows(
            "SELECT rank, events, skipped, problems FROM trace_files('trace_view.json')")[0]
        self.assertEqual((rank, events, skipped), (0, len(ascend()), 0))
        self.assertEqual([(each["what"], each["count"], each["us"]) for each in json.loads(problems)], [
            ("device work launched before the recording", 1, 4), ("device work without a launch", 2, 60)])

    def test_it_does_not_matter_where_names_and_flows_are(self):
        events = ascend()
        write("a.json", events)
        question = ("SELECT name, ts_ns, device, cat, stream, iteration, (SELECT name FROM trace_events(e.file) AS l"
                    " WHERE l.event = e.link) FROM trace_events(?) AS e ORDER BY ts_ns, name")
        expected = self.rows(question, "a.json")
        rng = random.Random(5)
        for form in range(10):
            text = json.dumps([rng.sample(events, len(events)), events[::-1], events[18:] + events[:18]][form % 3])
            text = '{"traceEvents": ' + text + "}" if form % 2 else text
            write("b.json", text)
            with self.subTest(form=form, text=text):
                self.assertEqual(self.rows(question, "b.json"), expected)
        write("b.json.gz", json.dumps(events)[:-1])  # killed before the last bracket
        self.assertEqual(self.rows(question, "b.json.gz"), expected)
        self.assertEqual(self.value("SELECT count(*) FROM trace_diff('a.json', 'b.json.gz') WHERE diff_duration <> 0"),
                         0)

    def test_owners_are_operators(self):
        write("t.json", ascend())
        self.assertEqual(
            self.rows("SELECT name, kernel_type, op, top_op FROM trace_kernel_owners('t.json', 0, 'all')"), [
                ("MEMCPY_ASYNC", "MEMORY", None, None),
                ("aclnnAddmm_MatMulV2", "COMPUTATION", "aten::addmm", "aten::linear"),
                ("aclnnAddmm_Cast", "COMPUTATION", "aten::addmm", "aten::linear"),
                ("aclnnRelu_Relu", "COMPUTATION", "aten::relu", "aten::relu"),
                ("aclnnSum", "COMPUTATION", None, None), ("hcom_allReduce__1", "COMMUNICATION", None, None)])
        self.assertEqual(
            self.rows("SELECT key, control_counts, control_kernels, control_device_time"
                      " FROM trace_diff_by('t.json', 't.json', 'op')"
                      " WHERE control_kernels > 0 AND key IS NOT NULL AND control_iteration = 'all' ORDER BY key"),
            [("aten::addmm", 1, 2, 55.0), ("aten::relu", 1, 1, 15.0)])

    def test_time_of_a_step(self):
        """The time is idle_launch while the operator with the next launch runs, and idle_wait after it."""
        write("t.json", ascend())
        self.assertEqual(
            self.rows("SELECT class, name, sum(time) FROM trace_step_time('t.json', 0, 'all')"
                      " GROUP BY class, name ORDER BY class, name"), [
                ("compute", "aten::addmm", 55.0), ("compute", "aten::relu", 15.0), ("idle_host", "aten::linear", 10.0),
                ("idle_host", "aten::t", 10.0), ("idle_launch", "aten::addmm", 30.0),
                ("idle_unrecorded", "before aten::linear", 1.0),
                ("idle_wait", "aten::addmm", 30.0)])

    def test_types_count_once(self):
        """Neither the overlap analysis nor the planes of a communication count as additional work."""
        write("t.json", ascend())
        self.assertEqual(
            self.rows("SELECT kernel_type, sum FROM gpu_kernel_type_breakdown('t.json') ORDER BY kernel_type"),
            [("COMMUNICATION", 40.0), ("COMPUTATION", 90.0), ("MEMORY", 4.0)])

    def test_flows_of_other_files_are_no_links(self):
        """Flows of other files are not links, also if the process has another name."""
        for name in ("Ascend Hardware 0", "ascend hardware", "/device:GPU:0", None):
            write("t.json", [each for each in ascend() if each.get("args", {}).get("name") != "Ascend Hardware"]
                  + ([named(NPU, name)] if name else []))
            with self.subTest(name):
                self.assertEqual(self.value("SELECT count(link) FROM trace_events('t.json')"), 0)

    def test_several_flows_and_operators_in_one_place(self):
        """T10.7: the first flow in the file that has an operator counts, and the innermost operator."""
        events = [named(NPU, "Ascend Hardware"), operator("outer", 10, 9), operator("inner", 10, 4),
                  operator("later", 10, 4), operator("other", 20, 9), task("a", 30, 1), task("b", 30, 1)]
        for flows, expected in (
                (flow(1, 10, 30), "later"), (flow(1, 20, 30), "other"), (flow(1, 20, 30) + flow(2, 10, 30), "other"),
                (flow(1, 77, 30) + flow(2, 10, 30), "later"), (flow(1, 77, 30) + flow(1, 20, 30), "other"),
                (flow(1, 20, 30)[1:] + flow(2, 10, 30) + flow(1, 20, 31)[:1], "other"), (flow(1, 20, 30, tid=2), None),
                (flow(1, 20, 30)[:1] + flow(2, 10, 30)[1:], None), (flow([1], 20, 30), None),
                (flow(None, 20, 30), None), (flow(True, 20, 30), None), (flow(1, "20", 30.0), "other"),
                (flow(1, "x", 30), None)):
            write("t.json", events + flows)
            with self.subTest(flows):
                self.assertEqual(self.rows("SELECT (SELECT name FROM trace_events(e.file) AS l WHERE l.event = e.link)"
                                           " FROM trace_events('t.json') AS e WHERE device = 'GPU'"), [(expected,)] * 2)

    def test_flows_beside_a_base(self):
        events = [named(NPU, "Ascend Hardware"), operator("op", 10, 9), task("a", 30, 1), *flow(1, 10, 30)]
        for base in (0, 5, 10 ** 18, -10 ** 18):
            write("t.json", {"traceEvents": events, "baseTimeNanoseconds": base})
            self.assertEqual(self.value("SELECT link FROM trace_events('t.json') WHERE device = 'GPU'"), 1)

    def test_correlations_come_first(self):
        """In a file with both, a call with its correlation precedes a flow."""
        write("t.json", [named(NPU, "Ascend Hardware"), operator("op", 10, 9), launch(12, 1, 4),
                         bare("a", 30, 1, NPU, 3, correlation_id=4), task("b", 40, 1), *flow(1, 10, 30),
                         *flow(2, 10, 40)])
        self.assertEqual(self.rows("SELECT name, link FROM trace_events('t.json') ORDER BY event"),
                         [("op", 4), ("cudaLaunchKernel", 3), ("a", 2), ("b", 1)])

    def test_a_file_that_is_cut(self):
        text = json.dumps(ascend())
        whole = self.flows_kept(text)
        self.assertEqual(whole, 3)
        kept = [self.flows_kept(text[:cut]) for cut in range(len(text) - 2000, len(text), 53)]
        self.assertEqual(kept, sorted(kept))
        self.assertEqual({0, 1, 2, 3}, set(kept))

    def flows_kept(self, text):
        write("t.json", text)
        return self.value("SELECT count(link) FROM trace_events('t.json') WHERE device = 'GPU'")


def xla(*events, closed=True):
    """The format of XLA: an empty object comes last."""
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True},
            "traceEvents": [named(1, "/device:GPU:0"), named(701, "/host:CPU"), *events, *([{}] if closed else [])]}


def jax():
    return xla(
        named(1, "Stream #13(Compute)", 13), named(1, "Stream #14(MemcpyD2D)", 14), named(1, "Steps", 1),
        named(1, "XLA Modules", 2), named(1, "XLA Ops", 3), named(1, "Framework Name Scope", 4),
        named(701, "python", 5),
        bare("PjitFunction(f)", 10, 90, 701, 5), bare("hipModuleLaunchKernel", 20, 5, 701, 5, correlation_id="18"),
        bare("cuMemcpyDtoDAsync", 30, 5, 701, 5, correlation_id="19"),
        bare("cuGraphLaunch", 40, 5, 701, 5, correlation_id="20"),
        bare("loop_fusion", 50, 20, 1, 13, correlation_id="18", hlo_op="loop_fusion"),
        bare("CopyDeviceToDevice", 60, 20, 1, 14, correlation_id="19"),
        bare("ncclDevKernel_AllReduce", 80, 10, 1, 13, correlation_id="20", hlo_op="all-reduce-start"),
        bare("7", 50, 40, 1, 1, group_id="7"), bare("jit_f", 50, 40, 1, 2), bare("loop_fusion", 50, 20, 1, 3),
        bare("jit(f)", 50, 40, 1, 4))


class Xla(InFolder):
    def test_rows_of_jax(self):
        write("host.trace.json.gz", jax())
        self.assertEqual(self.rows(
            "SELECT name, device, cat, stream, correlation, link"
            " FROM trace_events('host.trace.json.gz') ORDER BY event"), [
                ("PjitFunction(f)", "CPU", None, None, None, None),
                ("hipModuleLaunchKernel", "CPU", None, None, 18, 13), ("cuMemcpyDtoDAsync", "CPU", None, None, 19, 14),
                ("cuGraphLaunch", "CPU", None, None, 20, 15), ("loop_fusion", "GPU", None, 13, 18, 10),
                ("CopyDeviceToDevice", "GPU", None, 14, 19, 11), ("ncclDevKernel_AllReduce", "GPU", None, 13, 20, 12),
                ("7", "GPU", "gpu_user_annotation", 1, None, None),
                ("jit_f", "GPU", "gpu_user_annotation", 2, None, None),
                ("loop_fusion", "GPU", "gpu_user_annotation", 3, None, None),
                ("jit(f)", "GPU", "gpu_user_annotation", 4, None, None)])

    def test_nothing_counts_twice(self):
        write("t.json", jax())
        self.assertEqual(self.rows("SELECT kernel_type, sum FROM gpu_kernel_type_breakdown('t.json') ORDER BY 1"), [
            ("COMMUNICATION", 10.0), ("COMPUTATION", 10.0), ("COMPUTATION overlapping MEMORY", 10.0), ("MEMORY", 10.0)])
        self.assertEqual(
            self.rows("SELECT name, kernel_type, op, launch FROM trace_kernel_owners('t.json')"),
            [("loop_fusion", "COMPUTATION", "loop_fusion", 10),
             ("CopyDeviceToDevice", "MEMORY", "PjitFunction(f)", 11),
             ("ncclDevKernel_AllReduce", "COMMUNICATION", "ncclDevKernel_AllReduce", 12)])
        self.assertEqual(self.rows("SELECT stream, max FROM queue_length_summary('t.json') ORDER BY stream"),
                         [(13, 2), (14, 1)])

    def test_host_events_with_a_correlation_are_calls(self):
        """T10.1: host events with a correlation are calls: their time is call time, and they are no labels."""
        write("t.json", jax())
        found = dict(self.rows("SELECT class || ' ' || coalesce(name, ''), time FROM trace_step_time('t.json')"))
        self.assertEqual(found, {
            "idle_host PjitFunction(f)": 10.0, "idle_launch hipModuleLaunchKernel": 5.0,
            "idle_wait PjitFunction(f)": 25.0,
            "compute loop_fusion": 20.0, "memory PjitFunction(f)": 10.0, "comm ncclDevKernel_AllReduce": 10.0,
            "idle_unrecorded ": 10.0})

    def test_steps_by_number(self):
        """T11: steps are numbers or numeric texts from 0 on, on the host, without a correlation or a category."""
        write("t.json", xla(
            bare("train", 10, 20, 701, 5, step_num="4"), bare("eval", 40, 20, 701, 5, step_num=7),
            bare("x", 70, 5, 701, 5, step_num="-1"), bare("x", 71, 5, 701, 5, step_num="a"),
            bare("x", 72, 5, 701, 5, step_num=1.5), bare("x", 73, 5, 701, 5, step_num=1, correlation_id=3),
            bare("x", 74, 5, 1, 5, step_num=1), {**bare("x", 75, 5, 701, 5, step_num=1), "cat": "c"},
            {**bare("x", 76, 5, 9, 5, step_num=1)}))
        self.assertEqual(self.rows("SELECT iteration, name, dur FROM trace_steps('t.json')"),
                         [(4, "train", 20.0), (7, "eval", 20.0)])

    def test_operators_of_hlo(self):
        """A17: an eager kernel belongs to its `hlo_op`, one in a graph to its own name; numbers at the end are
        dropped.
        """
        write("t.json", xla(
            named(1, "Stream #13(Compute)", 13), bare("PjitFunction(f)", 0, 90, 701, 5),
            bare("cuLaunchKernelEx", 1, 1, 701, 5, correlation_id="1"),
            bare("cuGraphLaunch (CudaGraph:5)", 3, 1, 701, 5, correlation_id="2"),
            bare("gemm", 10, 5, 1, 13, correlation_id="1", hlo_op="custom-call.12.1", hlo_module="jit_f"),
            bare("sort_14_1", 20, 5, 1, 13, correlation_id="2", hlo_op="command_buffer_1", hlo_module="jit_g"),
            bare("_7", 30, 5, 1, 13, correlation_id="2", hlo_op="command_buffer_1"),
            bare("memcpy128", 40, 5, 1, 13, correlation_id="2", hlo_op=5),
            bare("alone", 50, 5, 1, 13, correlation_id="3", hlo_op="fusion.1"),
            bare("tpu", 60, 5, 1, 13, hlo_op="a.1")))
        self.assertEqual(self.rows("SELECT name, op, top_op, module FROM trace_kernel_owners('t.json')"), [
            ("gemm", "custom-call", "custom-call", "jit_f"), ("sort_14_1", "sort", "sort", "jit_g"),
            ("_7", "_7", "_7", "PjitFunction(f)"), ("memcpy128", "graph: memcpy128", *["PjitFunction(f)"] * 2),
            ("alone", *[None] * 3), ("tpu", *[None] * 3)])
        self.assertEqual(self.rows("SELECT op, control_kernels FROM trace_diff_by('t.json', 't.json', 'op')"
                                   " WHERE control_kernels > 0 ORDER BY 1"),
                         [(None, 2.0), ("_7", 1.0), ("custom-call", 1.0), ("graph: memcpy128", 1.0), ("sort", 1.0)])
        self.assertEqual(self.rows("SELECT op, kernel FROM trace_step_path('t.json') WHERE class = 'compute'"
                                   " AND kernel = 'sort_14_1'"), [("sort", "sort_14_1")])

    def test_the_host_waits_without_a_record(self):
        """E4.6: the step ends some time after the kernel, at most 1 ms, so the host waits without a record."""
        def simulated(after, **args):
            end = 100 + after  # its kernel ends at 90, the step 10 earlier
            write("t.json", xla(
                named(1, "Stream #13(Compute)", 13), bare("train", 0, end - 10, 701, 5, step_num=0),
                bare("launch", 1, 1, 701, 5, correlation_id="1"), bare("train", end, 100, 701, 5, step_num=1),
                bare("k", 10, 80, 1, 13, correlation_id="1", **args)))
            return self.value("SELECT sum(simulated_ns) / 1e3 FROM trace_what_if('t.json',"
                              " '[{\"what\": \"device\", \"name\": \"k\", \"add_us\": -30}]', 'all', 'all')")
        lengths = [simulated(20, hlo_op="k.1"), simulated(1000, hlo_op="k.1"), simulated(1200, hlo_op="k.1"),
                   simulated(20)]  # only steps identify XLA
        self.assertEqual(lengths, [190, 1170, 1400, 190])

    def test_the_empty_object_at_the_end(self):
        """T14: an empty object is fine at the end, and only there."""
        some = [bare("a", 1, 1, 701, 5)]
        for text, events, skipped in (
                (json.dumps(xla(*some)), 4, 0), (json.dumps(xla(*some, {}, *some)), 6, 1),
                (json.dumps(xla(*some, {})), 5, 1), (json.dumps([*some, {}]), 2, 0),
                (json.dumps([*some, {}])[:-1], 2, 0),
                (json.dumps([*some, {}, 5]), 3, 2), (json.dumps([*some, {"a": 1}]), 2, 1), ("[{}]", 1, 0),
                ('[{"ph": "X", "name": "a", "ts": 1, "dur": 1}, { \n} ]', 2, 0), (json.dumps([{}, {"name": 1}]), 2, 2)):
            write("t.json", text)
            with self.subTest(text):
                self.assertEqual(self.rows("SELECT events, skipped, problems = '[]' FROM trace_files('t.json')"),
                                 [(events, skipped, int(skipped == 0))])

    def test_correlations(self):
        """T10.6: correlations are integers or numeric texts, only for events without a category."""
        for value, expected in (("18", 18), (18, 18), ("-3", -3), ("\u0031", 1), ("", None), ("x", None), ("1.5", None),
                                (1.5, None), (None, None), (["18"], None), ({"a": "18"}, None), ("1" * 30, None),
                                (" 18", None)):
            write("t.json", [named(7, "/host:CPU"), bare("a", 1, 1, 7, 5, correlation_id=value),
                             event("b", 1, 1, args={"correlation_id": value}),
                             bare("c", 1, 1, 7, 5, correlation=4, correlation_id=value)])
            with self.subTest(value):
                self.assertEqual(self.rows("SELECT correlation FROM trace_events('t.json') ORDER BY event"),
                                 [(expected,), (None,), (4,)])
        write("t.json", '[{"ph": "X", "name": "a", "ts": 1, "dur": 1, "args": {"correlation_id": "\\u0031\\u0038"}}]')
        self.assertEqual(self.value("SELECT correlation FROM trace_events('t.json')"), 18)

    def devices(self, process, threads, at_end=False):
        """{thread: category} of the GPU events in a process with these threads, by number."""
        names = [named(5, process), *(named(5, name, number) for number, name in threads.items() if name)]
        events = [bare("work", 1, 1, 5, number) for number in threads]
        write("t.json", events + names if at_end else names + events)
        return dict(self.rows("SELECT tid, coalesce(cat, 'work') FROM trace_events('t.json') WHERE device = 'GPU'"))

    def test_which_threads_work(self):
        """T9.5 and T9.6: which threads run work."""
        work, other = "work", "gpu_user_annotation"
        xla_threads = {1: "Steps", 2: "XLA Modules", 3: "XLA Ops", 4: "Source code", 5: "Async XLA Ops", 6: None}
        for process, threads, expected in (
                ("/device:GPU:0", {**xla_threads, 9: "Stream #2(Compute)"},
                 {**dict.fromkeys(xla_threads, other), 9: work}),
                ("/device:GPU:0", xla_threads, {**dict.fromkeys(xla_threads, other), 3: work}),
                ("/device:TPU:0", xla_threads, {**dict.fromkeys(xla_threads, other), 3: work}),
                ("/device:TPU:0 SparseCore 1", {1: "Sparse Core Ops", 2: "Steps"}, {1: work, 2: other}),
                ("/device:CUSTOM:x", {1: "Stream #1", 2: None}, {1: work, 2: other}),
                ("/device:TPU:0", {1: "Steps", 2: None}, {1: other, 2: other}),
                # TensorFlow's old timeline
                ("/device:GPU:0/stream:all Compute", {0: None, 1: None}, {0: work, 1: work}),
                ("GPU 0", {7: "stream 7 ", 20: None}, {7: work, 20: work}), ("GPU 0", {7: "Stream #7"}, {7: work}),
                ("/device:CPU:0", {1: "Stream #1"}, {}), ("/host:CPU", {1: "XLA Ops"}, {}),
                ("python", {1: "Stream #1"}, {}),
                ("HCCL", {1: "Group 0 Communication", 2: "Plane 0", 3: None}, {1: work, 2: other, 3: other}),
                ("Communication", {1: "Communication"}, {1: work}),
                ("Overlap Analysis", {1: "Communication"}, {1: other}),
                ("Ascend Hardware", {1: "Stream 1", 2: None}, {1: work, 2: work}), ("CANN", {1: "Communication"}, {})):
            for at_end in (False, True):
                with self.subTest(process, threads=threads, at_end=at_end):
                    self.assertEqual(self.devices(process, threads, at_end), expected)

    def test_streams(self):
        """T9.8: without a category, the stream comes from args or, on the GPU, from the thread."""
        write("t.json", [named(5, "/device:GPU:0"), bare("a", 1, 1, 5, 3), bare("b", 1, 1, 5, "x"),
                         bare("c", 1, 1, 5, 3, **{"Stream Id": "9"}),
                         bare("d", 1, 1, 5, 3, **{"Stream Id": 8, "stream": 2}),
                         bare("e", 1, 1, 6, 3), bare("f", 1, 1, 6, 3, **{"Stream Id": 4}),
                         event("g", 1, 1, cat="kernel", pid=5, tid=3), event("h", 1, 1, pid=6, args={"Stream Id": 4})])
        self.assertEqual(self.rows("SELECT name, stream FROM trace_events('t.json') ORDER BY event"), [
            ("a", 3), ("b", None), ("c", 9), ("d", 2), ("e", None), ("f", 4), ("g", 3), ("h", None)])
        self.assertEqual(self.rows("SELECT name FROM trace_events('t.json') WHERE stream = 3"), [("a",), ("g",)])

    def test_metadata(self):
        """T9.9: metadata has neither a category nor a stream."""
        write("t.json", [named(5, "Overlap Analysis"), named(6, "/device:GPU:0"), named(7, "CANN"),
                         bare("a", 1, 1, 5, 3)])
        self.assertEqual(self.rows("SELECT name, device, cat, stream FROM trace_events('t.json', NULL, NULL, 'all')"
                                   " ORDER BY event"), [
            ("process_name", "GPU", None, None), ("process_name", "GPU", None, None),
            ("process_name", "CPU", None, None),
            ("a", "GPU", "gpu_user_annotation", 3)])

    def test_names_of_collectives(self):
        for name, expected in (("all-reduce.3", "COMMUNICATION"), ("all-gather-start", "COMMUNICATION"),
                               ("ragged-all-to-all", "COMMUNICATION"), ("reduce-scatter.1", "COMMUNICATION"),
                               ("collective-permute-done", "COMMUNICATION"), ("hcom_allGather__2", "COMMUNICATION"),
                               ("small-reduce", "COMPUTATION"), ("wall-reduce", "COMPUTATION"),
                               ("reduce.7", "COMPUTATION"),
                               ("MemcpyD2D", "MEMORY"), ("CopyHostToDevice", "MEMORY"), ("Copy", "COMPUTATION")):
            self.assertEqual(self.value("SELECT trace_kernel_type(?)", name), expected, name)


class Made(Comparing):
    """Random traces of such processes, with flows and correlations, against the oracle."""

    PROCESSES = ("/device:GPU:0", "/device:TPU:1", "/device:CUSTOM:x", "GPU 0", "/host:CPU", "Ascend Hardware",
                 "Overlap Analysis", "Communication", "HCCL", "CANN", "python")
    THREADS = ("Stream #1(Kernel)", "Stream 1", "XLA Ops", "Sparse Core Ops", "Steps", "Group 0 Communication",
               "Plane 0")

    def document(self, rng):
        pids, tids = rng.sample(range(6), rng.randint(2, 4)), (1, 2, 3, "t")
        events = [named(pid, rng.choice(self.PROCESSES)) for pid in pids for _ in range(rng.choice((1, 1, 1, 2)))]
        events += [named(rng.choice(pids), rng.choice(self.THREADS), rng.choice(tids))
                   for _ in range(rng.randint(0, 8))]
        for _ in range(rng.randint(5, 50)):
            pid, tid, ts, dur = rng.choice(pids), rng.choice(tids), rng.randint(0, 30), rng.randint(0, 20)
            kind = rng.randrange(8)
            if kind < 3:
                args = {"correlation_id": rng.choice(("1", "2", 3, "x", "0")), "Stream Id": rng.choice((4, "5", None)),
                        "correlation": rng.choice((1, 2, None)), "External id": rng.choice((1, 2)),
                        "stream": rng.choice((6, None))}
                args = {key: value for key, value in args.items() if rng.random() < 0.5}
                events.append(event(rng.choice(("a", "b", "ProfilerStep#1")), ts, rng.choice((dur, ABSENT)), cat=ABSENT,
                                    pid=pid, tid=tid, args=args))
            elif kind < 5:
                events.append(event("op", ts, dur, pid=pid, tid=tid))
            elif kind < 6:
                cat = rng.choice(("user_annotation", "gpu_user_annotation", "kernel", "cuda_runtime", "enqueue"))
                events.append(event(rng.choice(("a", "ProfilerStep#1")), ts, dur, cat=cat, pid=pid, tid=tid,
                                    args={"correlation": rng.randint(1, 3), "External id": rng.choice((1, 2))}))
            else:
                events += self.flow(rng, events, pid, tid, ts)
        rng.shuffle(events)
        events += [{}] * (rng.random() < 0.3)
        base = {"baseTimeNanoseconds": rng.choice((17, 10 ** 18))}
        return rng.choice((events, {"traceEvents": events}, {**base, "traceEvents": events}))

    def flow(self, rng, events, pid, tid, ts):
        """Mostly between existing events."""
        for ph in "sf":
            there = rng.choice(events)
            place = {"pid": there["pid"], "tid": there["tid"], "ts": there.get("ts", ts)} if rng.random() < 0.8 else {
                "pid": pid, "tid": tid, "ts": ts}
            yield {"ph": ph, "cat": rng.choice(("async_npu", "async_npu", "async_npu", "HostToDevice")),
                   "id": rng.choice((1, 2, 3, "3", None)), "name": "torch_to_npu", **place}

    def test_random_traces(self):
        db, kinds = connect(), set()
        place = InFolder()
        place.setUp()
        self.addCleanup(place.doCleanups)
        for seed in range(series(60, 750)):
            path = write(f"{seed}.json", self.document(random.Random(seed)))  # a name is read once
            with self.subTest(seed=seed):
                self.compare_events(db, path)
                self.compare_steps(db, path)
                self.compare_ops(db, path, "all", "all", "ALL")
                self.compare_ops(db, path, "all", "all", "GPU")
            rows = oracle.read_trace(path).rows
            cats = {row.event: row.cat for row in rows}
            kinds |= {(row.device, cats.get(row.link)) for row in rows if row.link is not None}
        self.assertGreaterEqual(kinds, {("GPU", "cpu_op"), ("GPU", None), ("GPU", "cuda_runtime"), ("CPU", None),
                                        ("CPU", "gpu_user_annotation"), ("CPU", "kernel")})

    def test_time_of_steps(self):
        """The time of steps is attributed by the rules, in traces with operators that launch."""
        db = connect()
        place = InFolder()
        place.setUp()
        self.addCleanup(place.doCleanups)
        for seed in range(series(25, 250)):
            rng = random.Random(seed)
            events = [named(NPU, "Ascend Hardware"), step(1, 0, 200), step(2, 200, 200)]
            for number in range(rng.randint(3, 12)):
                begin, end = rng.randint(0, 350), rng.randint(0, 400)
                events += [operator(f"op{number % 3}", begin, rng.randint(0, 40), tid=rng.randint(1, 2)),
                           task(rng.choice(("a", "hcom_b", "MEMCPY_ASYNC")), end, rng.randint(0, 30),
                                rng.randint(3, 4))]
                events += flow(number, begin, end, tid=events[-2]["tid"], stream=events[-1]["tid"])
            path = write("t.json", events)
            expected = oracle_steps.attribute(oracle.read_trace(path).files[0], "device", None)["op"]
            found = {tuple(row[:3]): row[3] for row in db.execute(
                "SELECT iteration, class, name, time FROM trace_step_time(?, 0, 'all')", (path,))}
            with self.subTest(seed=seed):
                self.assertEqual(found, {key: ns / 1000 for key, ns in expected.items() if ns or key[1] is None})


class Real(unittest.TestCase):
    """Files that do not ship."""

    def setUp(self):
        self.db = connect()

    def count(self, sql, path):
        return self.db.execute(sql, (path,)).fetchone()

    def test_ascend(self):
        path = corpus("ascend", "trace_view.json")
        self.assertEqual(self.count(f"SELECT count(*), count(link) FROM trace_events(?) WHERE {WORK}", path),
                         (276, 274))
        self.assertEqual(self.count("SELECT count(*), count(launch) FROM trace_kernel_owners(?, 0, 'all')", path),
                         (276, 274))
        self.assertEqual(
            self.db.execute("SELECT kernel_type, count(*), sum(stream = 3), count(top_op)"
                            " FROM trace_kernel_owners(?, 0, 'all') GROUP BY kernel_type", (path,)).fetchall(),
            [("COMPUTATION", 274, 274, 274), ("MEMORY", 2, 2, 0)])
        operators = self.count("""
            SELECT count(*), count(l.event), sum(l.cat = 'cpu_op'), sum(l.name = o.op)
            FROM trace_kernel_owners(?1, 0, 'all') AS o JOIN trace_events(?1) AS l ON l.event = o.launch""", path)
        self.assertEqual(operators, (274, 274, 274, 274))

    def test_ascend_says_how_long_it_computes(self):
        """The profiler's own overlap analysis, on a separate thread, has the same sum of compute time."""
        path = corpus("ascend", "trace_view.json")
        computing, = self.count("SELECT sum(dur_ns) FROM trace_events(?) WHERE name = 'Computing'", path)
        found, = self.count("SELECT sum * 1000 FROM gpu_kernel_type_breakdown(?) WHERE kernel_type = 'COMPUTATION'",
                            path)
        self.assertAlmostEqual(found, computing, delta=274)  # each value is rounded

    def test_jax(self):
        for name, count in (("conv_minimal_08", 235), ("conv_minimal_legacy", 78)):
            path = corpus("jax", f"{name}.trace.json.gz")
            with self.subTest(name):
                self.assertEqual(self.count(
                    f"SELECT count(*), count(link), count(stream), sum(stream = tid) FROM trace_events(?) WHERE {WORK}",
                    path),
                    (count, count, count, count))
                self.assertEqual(self.count("SELECT skipped, problems FROM trace_files(?)", path), (0, "[]"))
                self.assertEqual(self.count(
                    "SELECT count(*), count(launch) FROM trace_kernel_owners(?)", path), (count, count))

    @slow
    def test_against_the_rules(self):
        compare = Made()
        for path in (corpus("ascend", "trace_view.json"), *(
                os.path.join(corpus("jax"), name) for name in sorted(os.listdir(corpus("jax")))
                if name.endswith(".json.gz"))):
            with self.subTest(path):
                compare.compare_events(self.db, path)
                compare.compare_steps(self.db, path)


if __name__ == "__main__":
    unittest.main()
