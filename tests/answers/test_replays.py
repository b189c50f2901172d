"""Replayed graphs, made by hand: the names of their work, the order in a replay (A14), and captures (A15).
test_serving_oracle has random ones, test_graph_diff differences of graphs.
"""
import itertools
import os
import unittest
from collections import defaultdict

from made import ABSENT, InFolder, document, event, kernel, step, write
from support import EXAMPLES

OWNERS = """
    SELECT name, graph_position, op, top_op, module, annotation
    FROM trace_kernel_owners(?, NULL, 'all', ?) ORDER BY event"""
COPY = "Memcpy DtoD (Device -> Device)"


def replay(ts, correlation, name="cudaGraphLaunch", cat="cuda_runtime", **fields):
    return event(name, ts, 2, cat=cat, args={"correlation": correlation}, **fields)


def node(name, ts, dur, correlation, number=None, **fields):
    args = {"correlation": correlation, **({} if number is None else {"graph node id": number})}
    return event(name, ts, dur, **{"cat": "kernel", "pid": 0, "tid": 7, "args": args, **fields})


class Replays(InFolder):
    def times(self, *events, level="op", capture=None):
        write("a.json", document(*events))
        rows = self.rows("SELECT class, name, time FROM trace_step_time('a.json', NULL, 'all', ?, NULL, ?)",
                         level, capture)
        return {row[:2]: row[2] for row in rows}

    def owners(self, *events, capture=None):
        write("a.json", document(*events))
        return self.rows(OWNERS, "a.json", capture)

    WORK = (node("triton_poi_fused_add_3", 20, 10, 1), node(COPY, 30, 5, 1, cat="gpu_memcpy"),
            node("ncclAllReduce", 35, 5, 1), node("gemm", 42, 8, 1))

    def test_work_of_a_replay_outside_of_operators_has_its_own_name(self):
        self.assertEqual(self.times(step(1, 0, 50), replay(5, 1), *self.WORK), {
            ("compute", "graph: triton_poi_fused_add"): 10, ("memory", f"graph: {COPY}"): 5,
            ("comm", "ncclAllReduce"): 5, ("compute", "graph: gemm"): 8,
            ("idle_unrecorded", "before cudaGraphLaunch"): 5,
            ("idle_launch", "cudaGraphLaunch"): 2, ("idle_wait", None): 15})

    def test_in_frames_and_annotations_too_but_not_at_other_levels(self):
        events = (step(1, 0, 50), event("g.py(5): replay", 4, 9, cat="python_function"),
                  event("region", 3, 20, cat="user_annotation"), replay(5, 1), *self.WORK)
        self.assertEqual(self.times(*events)["compute", "graph: gemm"], 8)
        self.assertEqual(self.times(*events)["idle_wait", "g.py: replay"], 15)
        self.assertEqual(self.times(*events, level="top_op")["compute", "region"], 18)
        self.assertEqual(self.times(*events, level="module")["memory", "region"], 5)
        self.assertEqual(self.times(*events, level="annotation")["compute", "region"], 18)
        self.assertEqual(self.times(*events, level="kernel")["compute", "gemm"], 8)
        self.assertEqual(self.owners(*events)[-1], ("gemm", 3, "graph: gemm", "region", "region", "region"))

    def test_in_an_operator_nothing_changes(self):
        for cat in ("cpu_op", "Operator"):
            times = self.times(step(1, 0, 50), event("region", 4, 9, cat=cat),
                               event("g.py(5): replay", 5, 9, cat="python_function"), replay(5, 1), *self.WORK)
            self.assertEqual(times["compute", "region"], 18)
            self.assertEqual(times["memory", "region"], 5)

    def test_an_operator_that_ends_before_the_launch_or_is_of_another_thread(self):
        times = self.times(step(1, 0, 50), event("a", 0, 5), event("b", 0, 50, tid=2), replay(5, 1), *self.WORK)
        self.assertEqual(times["compute", "graph: gemm"], 8)

    def test_a_call_that_launches_no_graph(self):
        times = self.times(step(1, 0, 50), replay(5, 1, "enqueueCommand"), *self.WORK)
        self.assertEqual(times["compute", None], 18)

    def test_a_replay_of_one_kernel(self):
        times = self.times(step(1, 0, 50), replay(5, 1, "hipGraphLaunch", "hip_runtime"), node("gemm", 20, 5, 1))
        self.assertEqual(times["compute", "graph: gemm"], 5)

    def test_the_key_op_of_trace_diff_by(self):
        write("a.json", document(step(1, 0, 50), replay(5, 1), *self.WORK))
        rows = self.rows("SELECT key, control_device_time FROM trace_diff_by('a.json', 'a.json', 'op')"
                         " WHERE control_device_time > 0 ORDER BY key")
        self.assertEqual(rows, [(None, 5), ("graph: Memcpy DtoD (Device -> Device)", 5), ("graph: gemm", 8),
                                ("graph: triton_poi_fused_add", 10)])

    def test_positions_are_by_node_then_start_then_file(self):
        events = [step(1, 0, 90), replay(5, 1), node("e", 21, 1, 1), node("d", 20, 1, 1), node("c", 20, 9, 1, tid=8),
                  node("b", 40, 1, 1, 2**33), node("a", 50, 1, 1, 7), kernel("other", 60, 5, 2)]
        found = {row[0]: row[1] for row in self.owners(*events)}
        self.assertEqual(found, {"a": 0, "b": 1, "d": 2, "c": 3, "e": 4, "other": None})

    def test_positions_of_each_replay(self):
        events = [replay(5, 1), replay(9, 2), node("a", 20, 1, 1), node("a", 30, 1, 2), node("b", 25, 1, 1),
                  event("Stream Wait", 10, 1, cat="cuda_sync", pid=0, tid=7, args={"correlation": 1})]
        self.assertEqual([row[:2] for row in self.owners(*events)], [("a", 0), ("a", 0), ("b", 1)])


class Captures(InFolder):
    times, owners = Replays.times, Replays.owners

    def capture(self, *sequences, named=True, name="capture.json"):
        """Each launch is in an operator `N.op`, in a module `nn.Module: N_0` and an annotation `N.region`, where N is
        the captured name with the number of the sequence.
        """
        events, at = [], 0
        for number, names in enumerate(sequences):
            events.append(event("hipStreamBeginCapture", at, 1, cat="hip_runtime"))
            for each in names:
                at += 10
                call = {COPY: "hipMemcpyAsync", "Memset (Device)": "hipMemsetAsync"}.get(each, "hipExtLaunchKernel")
                events += [event(f"{each}{number}.region", at, 9, cat="user_annotation"),
                           event(f"nn.Module: {each}{number}_0", at + 1, 8, cat="python_function"),
                           event(f"{each}{number}.top", at + 2, 7), event(f"{each}{number}.op", at + 3, 6),
                           event(call, at + 4, 2, cat="hip_runtime", args={"kernel": each} if named else {})]
            at += 10
            events += [event("hipStreamEndCapture", at, 1, cat="hip_runtime"), event("after", at + 2, 5)]
            at += 10
        return write(name, document(*events))

    def replays(self, *sequences, around=()):
        events = [step(1, 0, 10_000), *around]
        for number, names in enumerate(sequences):
            events.append(replay(100 * number, number + 1))
            for position, each in enumerate(names):
                cat = {COPY: "gpu_memcpy", "Memset (Device)": "gpu_memset"}.get(each, "kernel")
                events.append(node(each, 100 * number + 10 * position + 10, 4, number + 1, cat=cat))
        return events

    def ops(self, replays, capture, **others):
        return [row[2] for row in self.owners(*self.replays(*replays, **others), capture=capture)]

    def test_nothing_is_looked_for_unasked(self):
        self.capture(["a", "b"])
        self.assertEqual(self.ops([["a", "b"]], None), ["graph: a", "graph: b"])

    def test_owners_are_those_of_the_captured_launch(self):
        found = self.owners(*self.replays(["a", COPY, "b"]), capture=self.capture(["a", COPY, "b"]))
        self.assertEqual(found[0], ("a", 0, "a0.op", "a0.top", "nn.Module: a0_0", "a0.region"))
        self.assertEqual([row[2] for row in found], ["a0.op", f"{COPY}0.op", "b0.op"])

    def test_times_at_every_level(self):
        capture = self.capture(["a", "ncclAllReduce"])
        for level, name in (("op", "a0.op"), ("top_op", "a0.top"), ("module", "nn.Module: a0_0"),
                            ("annotation", "a0.region"), ("kernel", "a")):
            times = self.times(*self.replays(["a", "ncclAllReduce"]), level=level, capture=capture)
            self.assertEqual(times["compute", name], 4)
            self.assertEqual(times["comm", "ncclAllReduce"], 4)

    def test_in_an_operator_too(self):
        self.assertEqual(self.ops([["a"]], self.capture(["a"]), around=[event("compiled", 0, 50)]), ["a0.op"])

    def test_without_a_match_the_work_has_its_own_name(self):
        capture = self.capture(["a", "b"])
        for names in (["b", "a"], ["a", "b", "c"], ["a", "a"]):
            self.assertEqual(self.ops([names], capture), [f"graph: {name}" for name in names])

    def test_launches_may_be_skipped(self):
        self.assertEqual(self.ops([["a", "c"]], self.capture(["a", "b", "c"])), ["a0.op", "c0.op"])

    def test_captures_of_equal_length_first(self):
        self.assertEqual(self.ops([["a", "c"]], self.capture(["a", "b", "c"], ["a", "c"])), ["a1.op", "c1.op"])

    def test_replays_take_the_captures_in_turn(self):
        capture = self.capture(["a"], ["b"], ["a"])
        self.assertEqual(self.ops([["a"], ["a"], ["b"], ["a"], ["a"]], capture),
                         ["a0.op", "a2.op", "b1.op", "a0.op", "a2.op"])

    def test_by_position_where_names_lack(self):
        capture = self.capture(["x", "y"], named=False)
        self.assertEqual(self.ops([["a", "b"]], capture), ["x0.op", "y0.op"])
        self.assertEqual(self.ops([["a"]], capture), ["graph: a"])
        self.assertEqual(self.ops([["a", "b", "c"]], capture), ["graph: a", "graph: b", "graph: c"])

    def test_copies_and_fills(self):
        names = [COPY, "Memset (Device)", "a"]
        self.assertEqual(self.ops([names], self.capture(names)), [f"{name}0.op" for name in names])
        self.assertEqual(self.ops([[COPY]], self.capture(["Memset (Device)"])), [f"graph: {COPY}"])

    def test_other_calls_and_other_threads_are_not_captured(self):
        def call(name, ts, cat="hip_runtime", **fields):
            return event(name, ts, 2, cat=cat, args={"kernel": "a"}, **fields)

        capture = write("capture.json", document(
            event("one", 0, 3), call("hipLaunchKernel", 0), call("hipStreamBeginCapture", 10), event("two", 20, 50),
            call("hipGetDevice", 21), call("hipGraphLaunch", 23), call("hipLaunchKernel", 25, tid=2),
            call("hipLaunchKernel", 30), call("hipStreamEndCapture", 80), call("hipLaunchKernel", 90)))
        self.assertEqual(self.ops([["a"]], capture), ["two"])

    def test_a_capture_without_labels(self):
        capture = write("capture.json", document(*(
            event(name, 10 * at, 2, cat="hip_runtime", args={"kernel": "a"})
            for at, name in enumerate(("hipStreamBeginCapture", "hipLaunchKernel", "hipStreamEndCapture")))))
        self.assertEqual(self.ops([["a"]], capture), [None])

    def test_each_side_of_a_diff_has_its_own(self):
        write("a.json", document(*self.replays(["a"])))
        self.capture(["a"], name="one.json")
        self.capture(["x"], ["a"], name="two.json")
        found = self.rows("SELECT name, control_time, test_time FROM trace_step_diff('a.json', 'a.json')"
                          " WHERE control_capture = 'one.json' AND test_capture = 'two.json' AND class = 'compute'"
                          " ORDER BY name")
        self.assertEqual(found, [("a0.op", 4, 0), ("a1.op", 0, 4)])

    def test_a_capture_that_is_not_there(self):
        write("a.json", document(*self.replays(["a"])))
        self.assert_error("trace_kernel_owners: cannot read 'nowhere': No such file or directory; the arguments are"
                          " trace,"
                          " ranks, iterations, capture, steps", OWNERS, "a.json",
                          "nowhere")

    def test_a_trace_without_captures(self):
        write("a.json", document(*self.replays(["a"])))
        self.assert_error("trace_kernel_owners: 'a.json' has no capture of a graph: no call named ...StreamBegin"
                          "Capture... with one named ...StreamEndCapture... after it", OWNERS, "a.json", "a.json")

    def test_work_without_a_name_is_left_out(self):
        found = self.owners(*self.replays(["a"]), node(ABSENT, 50, 5, 1), capture=self.capture(["a"]))
        self.assertEqual([row[:1] for row in found], [("a",)])


if __name__ == "__main__":
    unittest.main()


class Recorded(InFolder):
    """The graphs of a small server on an H200, and a trace of their capture, whose launches have no names."""
    # the modules of a layer: how many of a kind a layer has, and the index of each
    LAYER = (("LayerNorm", 2, 0), ("Linear", 4, 0), ("Attention", 1, 0), ("Linear", 4, 1), ("Layer", 1, 0),
             ("LayerNorm", 2, 1), ("Linear", 4, 2), ("GELU", 1, 0), ("Linear", 4, 3), ("Layer", 1, 0))
    TOLD = {"layer_norm": "aten::native_layer_norm", "sdpa": "aten::_cudnn_attention_forward", "nvjet": "aten::addmm",
            "splitK": "aten::addmm"}

    def test_modules_are_in_the_order_of_the_code(self):
        code = ["Embedding_0", *(f"{name}_{count * layer + which}" for layer in range(4)
                                 for name, count, which in self.LAYER), "Linear_16"]
        for side in ("control", "context"):
            found = defaultdict(list)
            for iteration, kernel_name, op, module in self.rows(
                    "SELECT iteration, name, op, trace_label(module) FROM trace_kernel_owners(?, NULL, 'all', ?)"
                    " WHERE graph_position NOT NULL ORDER BY iteration, graph_position",
                    *(os.path.join(EXAMPLES, "h200", "graphs", each) for each in (side, f"capture_{side}"))):
                found[iteration].append(module)
                told = [name for part, name in self.TOLD.items() if part in kernel_name]
                self.assertIn(op, told or [op])
            self.assertEqual(len(found), 54)
            self.assertEqual({tuple(name for name, _ in itertools.groupby(modules)) for modules in found.values()},
                             {tuple(code)})
