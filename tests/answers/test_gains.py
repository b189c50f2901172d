"""The gain of a fix (E1 to E9): the examples of the rules, invariants on every trace, and the changes that can be
given. test_gains_oracle.py implements the rules a second time; test_gains_truth.py knows the planted gains.
"""
import json
import os
import random
import shutil
import time

import traces
from generate_gains import write_gains, write_gains_pair
from made import InFolder, document, event, kernel, launch, run, step, write
from support import EXAMPLES, alone, connect, series
from test_critical_path import random_trace

STEPS = "SELECT iteration, recorded_ns, simulated_ns FROM trace_what_if(?, ?, NULL, 'all')"
UNDONE = ("SELECT kind, class, name, rank, diff_time, gain_alone, cumulative"
          " FROM trace_undo(?, ?, NULL, NULL, 'all', 'all')")
EVENTS = "SELECT DISTINCT name FROM trace_events('job', 'all') WHERE device = 'CPU'"
UNITS = {"factor": 1, "add_us": 0}  # a change without effect


def call(name, ts, dur, **fields):
    return event(name, ts, dur, cat="cuda_runtime", **fields)


def sync(ts, dur):
    return call("cudaDeviceSynchronize", ts, dur)


class Examples(InFolder):
    """The examples of sql/RULES.md."""

    def us(self, *events, **change):
        """Duration of the only step, in us."""
        changes = [{key: value for key, value in change.items() if value is not None}] if change else []
        trace = write("e.json", document(*events)) if events else "e"
        return self.value("SELECT simulated_ns FROM trace_what_if(?, ?, NULL, 'all')", trace,
                          json.dumps(changes)) / 1000

    def write_ranks(self, *ranks):
        for number, events in enumerate(ranks):
            write(f"e/rank{number}.json", document(*events, distributedInfo={"rank": number, "world_size": len(ranks)}))

    def test_e1_and_e2_the_host(self):
        events = step(0, 0, 200), event("a", 60, 40), event("b", 130, 20)
        self.assertEqual(self.us(*events), 200)
        self.assertEqual(self.us(*events, what="host", op="a", add_us=-10), 190)
        self.assertEqual(self.us(*events, what="host", op="a", set_us=0), 160)
        self.assertEqual(self.us(*events, what="host", name="between a and b", factor=0.5), 185)

    def test_e3_the_device(self):
        events = (step(0, 0, 130), launch(0, 2, 1), kernel("W", 5, 95, 1), launch(20, 2, 2), kernel("X", 101, 10, 2),
                  sync(30, 85))
        self.assertEqual(self.us(*events), 130)
        for length, expected in ((55, 61), (5, 25), (15, 25), (21, 27)):  # when X would begin; its step ends 29 later
            self.assertEqual(self.us(*events, what="device", name="W", set_us=length), expected + 29)

    def test_e3_a_launch_that_takes_long(self):
        """W ends at 60, and X begins more than 100 later. If the launch of X ends after 160, X waits for its launch,
        not for W. If X begins at 161, it waits for W, because 1 us is a gap.
        """
        for ends, begins, sooner in ((400, 400, 0), (161, 262, 0), (160, 262, 20), (300, 161, 20)):
            events = (step(0, 0, 50), launch(0, 2, 1), kernel("W", 5, 55, 1), launch(20, ends - 20, 2),
                      kernel("X", begins, 300, 2))
            self.assertEqual(self.us(*events) - self.us(*events, what="device", name="W", add_us=-20), sooner, ends)

    def test_e4_calls(self):
        events = step(0, 0, 110), launch(2, 3, 1), kernel("W", 8, 87, 1), sync(10, 90)
        for length, expected in ((87, 100), (72, 85), (0, 13)):  # end of the call; the step ends 10 later
            self.assertEqual(self.us(*events, what="device", name="W", set_us=length), expected + 10)

    def test_e4_copies(self):
        copy = {"cat": "gpu_memcpy", "pid": 0, "tid": 7, "args": {"correlation": 1, "stream": 7}}
        for name, work, waits in (("cudaMemcpy", "Memcpy DtoD", True), ("cudaMemcpyAsync",
                "Memcpy DtoH (Device -> Pageable)", True),
                                  ("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", False)):
            events = step(0, 0, 50), call(name, 2, 38, args={"correlation": 1}), event(work, 5, 30, **copy)
            self.assertEqual(self.us(*events, what="device", add_us=-20), 30 if waits else 50, (name, work))

    def test_e4_a_call_that_ends_before_its_copy(self):
        copy = {"cat": "gpu_memcpy", "pid": 0, "tid": 7, "args": {"correlation": 1, "stream": 7}}
        events = (step(0, 0, 110), call("cudaMemcpyAsync", 10, 90, args={"correlation": 1}), event("op", 105, 3),
                  event("Memcpy HtoD (Pageable -> Device)", 30, 80, **copy))
        half = {"what": "device", "class": "memory", "factor": 0.5}
        self.assertEqual([self.us(*events), self.us(*events, **half)], [110, 75])
        self.assertEqual(self.us(*events, what="device", remove=True), 23)  # the call takes 3 us
        pinned = (*events[:3], event("Memcpy HtoD (Pinned -> Device)", 30, 80, **copy))
        self.assertEqual(self.us(*pinned, **half), 110)
        late = (*events[:3], event("Memcpy HtoD (Pageable -> Device)", 100, 10, **copy))  # it was read immediately
        self.assertEqual(self.us(*late, **half), 110)

    def test_e5_ranks(self):
        self.write_ranks(*((step(0, 0, 100), event("op", 1, at - 8), launch(at - 5, 2, 1),
                            kernel("ncclDevKernel_AllReduce_Sum", at, 60 - at, 1), sync(at - 2,
                                    70 - at)) for at in (10, 50)))
        self.assertEqual(self.us(), 100)
        self.assertEqual(self.us(what="host", name="op", rank=1, add_us=-20), 80)
        self.assertEqual(self.us(what="host", name="op", rank=0, add_us=42), 102)
        self.assertEqual(self.us(what="host", name="op", rank=0, add_us=30), 100)
        self.assertEqual(self.us(what="transfer", factor=0), 90)
        self.assertEqual([self.us(what="transfer", rank=rank, add_us=5) for rank in (0, 1)], [105,
                100])  # steps of rank 0

    def test_e6_streams(self):
        events = []
        for number in range(4):
            # in the last step, the previous kernel had ended, but not the last one
            at, late = 1000 * number, 20 if number == 3 else 0
            events += [step(number, at, 900), launch(at + 5, 2, 10 * number + 1), kernel("first", at + 10, 30,
                    10 * number + 1),
                       launch(at + 11, 2, 10 * number + 2), kernel("second", at + 40, 30 + late, 10 * number + 2),
                       call("cudaStreamWaitEvent", at + 15, 1), launch(at + 17, 2, 10 * number + 3),
                       kernel("waits", at + 75 - late, 50, 10 * number + 3, stream=20), sync(at + 200, 5)]
        write("e.json", document(*events))
        for number in range(3):  # in these steps, too, it waits only for the first
            changes = json.dumps([{"what": "device", "name": "second", "step": number, "add_us": 500}])
            more = [now - recorded for _, recorded, now in self.rows(STEPS, "e.json", changes)]
            self.assertEqual(more[number] / 1000, 70 + 500 - 125)  # the second ends after the waiting one

    def test_e7_threads(self):
        events = step(0, 0, 1000), event("backward", 90, 10), event("autograd", 120, 770, tid=2), event("optimizer",
                900, 20)
        self.assertEqual(self.us(*events), 1000)
        self.assertEqual(self.us(*events, what="host", op="autograd", add_us=-100), 900)
        self.assertEqual(self.us(*events, what="host", op="autograd", set_us=0), 230)
        self.assertEqual(self.us(*events[:2], event("autograd", 90, 780, tid=2), events[3], what="host", op="autograd",
                                 add_us=-100), 1000)

    def test_e8_rounding(self):
        events = step(0, 0, 100), event("a", 10, 10.001), event("b", 30, 7), event("a", 50, 10.002), event("a", 70, 10)
        for amount, expected in (({"factor": 0.5}, 84.999), ({"set_us": 1}, 72.997), ({"add_us": -20}, 69.997),
                                 ({"set_us": 0.0005}, 70)):
            self.assertAlmostEqual(self.us(*events, what="host", op="a", **amount), expected, places=6, msg=amount)

    def test_e8_one_time_of_an_operator_with_calls_in_it(self):
        events = (step(0, 0, 100), event("a", 10, 30), launch(15, 5, 1), kernel("k", 18, 2, 1), launch(25, 5, 2),
                  kernel("k", 28, 2, 2))
        self.assertEqual(self.us(*events, what="host", op="a", set_us=10), 80)
        self.assertEqual(self.us(*events, what="host", name="a", factor=0), 80)  # without the calls
        self.assertEqual(self.us(*events, what="host", name="cudaLaunchKernel", set_us=2), 94)

    def sides(self):
        """The step of control takes 100 us; in test, aten::mm takes 10 us longer, and aten::clone is new."""
        for side, more in (("control", 0), ("test", 10)):
            at, clone = 30 + more, ()
            if more:
                clone, at = (event("aten::clone", 16, 3), launch(17, 1, 3), kernel("copy", at, 20, 3)), at + 20
            write(f"{side}.json", document(
                step(0, 0, at + 70), event("aten::mm", 5, 10), launch(6, 2, 1), kernel("gemm", 10, 20 + more,
                        1), *clone,
                event("aten::add", 20, 3), launch(21, 1, 2), kernel("add", at, 50, 2), event("aten::item", 24, at + 39),
                sync(25, at + 37)))

    def undone(self, control="control.json", test="test.json"):
        """The causes with a gain, and the last row."""
        rows = self.rows(UNDONE, control, test)
        return [row for row in rows if row[5]], rows[-1]

    def test_e9(self):
        self.sides()
        rows, last = self.undone()
        self.assertEqual(rows, [("changed", "compute", "aten::clone", None, 20.0, 20.0, 110.0),
                                ("changed", "compute", "aten::mm", None, 10.0, 10.0, 100.0)])
        self.assertEqual(last, (None, None, None, None, 0.0, None, 100.0))

    def test_e9_a_launch_that_takes_long(self):
        """Half of a long launch is undone. Its kernel begins shortly before or after the launch ends, or another kernel
        was running when it began.
        """
        for begins, busy in ((602, False), (597, False), (603, True)):
            for side, takes in (("control", 10), ("test", 600)):
                at = begins - 600 + takes
                before = launch(0, 2, 1), kernel("before", 1, 15, 1)
                write(f"{side}.json", document(
                    step(0, 0, at + 60), *(before if busy else ()), event("aten::mm", 5, takes + 10),
                    launch(8, takes, 2), kernel("gemm", at + 8, 20, 2)))
            for sides, sign in ((("control.json", "test.json"), 1), (("test.json", "control.json"), -1)):
                with self.subTest(begins=begins, sides=sides):
                    rows = self.rows("SELECT name, gain_alone, gain_half FROM trace_undo(?, ?, NULL, NULL, 'all',"
                                     " 'all') WHERE class = 'idle_launch'", *sides)
                    self.assertEqual(rows, [("cudaLaunchKernel", 590.0 * sign, 295.0 * sign)])

    def test_e9_what_went(self):
        self.sides()
        rows, last = self.undone("test.json", "control.json")
        self.assertEqual(rows, [("changed", "compute", "aten::mm", None, -10.0, -10.0, 110.0),
                                ("changed", "compute", "aten::clone", None, -20.0, -20.0, 130.0)])
        self.assertEqual(last, (None, None, None, None, 0.0, None, 130.0))

    def test_e9_what_went_begins_after_its_launch(self):
        """Restored work on an idle stream begins one launch latency, 4 us here, after its launch."""
        for side, went in (("control", True), ("test", False)):
            clone = (event("aten::clone", 60, 5), launch(61, 2, 2), kernel("copy", 66, 30, 2)) if went else ()
            begin, end = (65, 101) if went else (60, 73)
            write(f"{side}.json", document(
                step(0, 0, end + 19), event("aten::mm", 5, 10), launch(6, 2, 1), kernel("gemm", 10, 20, 1), *clone,
                event("aten::item", begin, end - begin), sync(begin + 5, end - begin - 5)))
        _, last = self.undone()
        self.assertEqual(last, (None, None, None, None, -1.0, None, 120.0))

    def test_e9_half_of_what_went_first_on_its_stream(self):
        """Half of the work that control has first on its stream is restored: it begins at 20 like in control and takes
        half as long, and the step of 39 us ends with it.
        """
        for side, went in (("control", True), ("test", False)):
            copy = (launch(16, 2, 1), kernel("copy", 20, 60, 1)) if went else ()
            write(f"{side}.json", document(
                step(0, 0, 30), event("first", 5, 1), *((event("aten::clone", 15, 4), *copy) if went else ()),
                event("last", 22, 2), launch(25, 2, 3), kernel("late", 85 if went else 29, 10, 3)))
        rows = self.rows("SELECT name, gain_alone, gain_half"
                         " FROM trace_undo('control.json', 'test.json', NULL, NULL, 'all', 'all')")
        self.assertIn(("aten::clone", -41.0, -11.0), rows)

    def test_e9_what_came_between_events_that_do_not_nest(self):
        """Without the new event, the thread takes as long as in control until its next point, the end of `outer`."""
        for side, came in (("control", False), ("test", True)):
            copy = (launch(25, 2, 2), kernel("copy", 41, 2, 2)) if came else ()
            write(f"{side}.json", document(
                step(0, 0, 100), event("outer", 5, 30), event("inner", 10, 10), launch(12, 28, 1),
                kernel("gemm", 30, 1, 1), *copy))
        rows = self.rows(UNDONE, "control.json", "test.json")
        self.assertEqual({row[5] for row in rows if row[:2] == ("changed", "compute")}, {0.0})

    def test_e9_a_wait_that_control_does_not_have(self):
        """The collective takes 380 us instead of 10, so the thread waits for 390 us from its start, not for 20."""
        for side, end, after in (("control", 130, 135), ("test", 500, 510)):
            write(f"{side}.json", document(
                step(0, 0, after + 90), event("c10d::allreduce_", 100, 10),
                event("gloo:all_reduce", 120, end - 120, cat="user_annotation", tid=2), event("after", after, 20)))
        rows, _ = self.undone()
        self.assertEqual([(row[2], row[5]) for row in rows], [("between c10d::allreduce_ and after", 370.0)])

    def batches(self, pageable, length):
        """Each batch is copied, and a kernel of 50 us is launched 20 us after the copy's call."""
        memory, wait = ("Pageable", length - 10) if pageable else ("Pinned", 2)
        at = 10 + wait
        begin = max(at + 20, 10 + length)
        return document(
            step(0, 0, begin + 60), sync(at + 25, begin + 28 - at), event("aten::to", 2, 6 + wait),
            call("cudaMemcpyAsync", 4, 3 + wait, args={"correlation": 1}),
            event(f"Memcpy HtoD ({memory} -> Device)", 8, length, cat="gpu_memcpy", pid=0, tid=7,
                  args={"correlation": 1, "stream": 7}),
            event("aten::mm", at + 15, 6), launch(at + 16, 2, 2), kernel("gemm", begin, 50, 2))

    def test_e9_pageable_memory(self):
        write("control.json", self.batches(False, 30))
        write("test.json", self.batches(True, 100))
        gains = dict(self.rows("SELECT name, gain_alone FROM trace_undo('control.json', 'test.json', NULL, NULL, 'all',"
                               " 'all') WHERE class = 'memory'"))
        whole = self.value("SELECT (SELECT simulated_ns FROM trace_what_if('test.json', '[]', NULL, 'all'))"
                           " - (SELECT simulated_ns FROM trace_what_if('control.json', '[]', NULL, 'all'))") / 1000
        self.assertEqual(gains, {"aten::to": whole})

    def test_e9_work_that_is_only_hidden_less(self):
        """A copy of 20 us runs beside a kernel in control, and before it in test."""
        for side, at in (("control", 10), ("test", 30)):
            write(f"{side}.json", document(
                step(0, 0, at + 110), event("aten::to", 2, 5), launch(3, 2, 1),
                {**kernel("Memcpy HtoD (Pinned -> Device)", 10, at / 1000 + 19.5, 1, 9), "cat": "gpu_memcpy"},
                event("aten::mm", at - 10 + 8 - (at > 10) * 19, 2), launch(at - 10 + 8 - (at > 10) * 18, 1, 2),
                kernel("gemm", at + 2, 100, 2)))
        rows = self.rows("SELECT name, diff_time, gain_alone, gain_half FROM trace_undo('control.json', 'test.json',"
                         " NULL, NULL, 'all', 'all') WHERE class = 'memory'")
        self.assertEqual(rows, [("aten::to", 17.53, None, None)])

    def test_e9_what_went_is_put_back_after_a_backlog(self):
        """The recording begins while the device runs work that was launched before, and removed work is restored after
        that backlog.
        """
        for side, went in (("control", True), ("test", False)):
            backlog = [event("old", at, end - at, cat="kernel", pid=0, tid=7, args={"stream": 7})
                       for at, end in ((5, 57), (57, 118), (118, 305))]
            events, end = [], 305
            for number in range(2):
                at = 50 + 60 * number
                events += [step(number, at, 58), event("aten::mm", at + 2, 6), launch(at + 3, 2, 10 * number + 1),
                           kernel("gemm", end + 1, 100, 10 * number + 1)]
                end += 101
                if went:
                    events += [event("aten::clone", at + 10, 6), launch(at + 11, 2, 10 * number + 2),
                               kernel("copy", end + 1, 50, 10 * number + 2)]
                    end += 51
                events += [event("aten::add", at + 20, 6), launch(at + 21, 2, 10 * number + 3),
                           kernel("add", end + 1, 100, 10 * number + 3)]
                end += 101
            write(f"{side}.json", document(*backlog, *events))
        rows = self.rows("SELECT name, gain_alone FROM trace_undo('control.json', 'test.json', NULL, NULL, 1, 1)"
                         " WHERE class = 'compute' AND name = 'aten::clone'")
        self.assertEqual(rows, [("aten::clone", -51.0)])

    def test_e9_halves(self):
        self.sides()
        halves = "SELECT name, gain_half FROM trace_undo(?, ?, NULL, NULL, 'all', 'all') WHERE gain_alone <> 0"
        self.assertEqual(self.rows(halves, "control.json", "test.json"), [("aten::clone", 10.0), ("aten::mm", 5.0)])
        self.assertEqual(self.rows(halves, "test.json", "control.json"), [("aten::mm", -5.0), ("aten::clone", -10.0)])

    def test_e9_synchronizing(self):
        for side, waits in (("control", False), ("test", True)):
            copy = {**kernel("Memcpy DtoH (Device -> Pageable)", 101, 10, 9), "cat": "gpu_memcpy"}
            item = (event("aten::item", 20, 95), launch(21, 2, 9), copy, sync(25, 88)) if waits else ()
            at, begin = (120, 130) if waits else (20, 101)
            write(f"{side}.json", document(
                step(0, 0, begin + 99), event("aten::mm", 5, 10), launch(6, 2, 1), kernel("gemm", 10, 90, 1), *item,
                event("aten::add", at, 10), launch(at + 2, 2, 2), kernel("add", begin, 50, 2), sync(at + 50,
                        begin + 55 - at - 50)))
        rows, last = self.undone()
        self.assertEqual(rows[0], ("synchronized", None, "aten::item", None, 19.0, 29.0, 200.0))
        self.assertEqual(last, (None, None, None, None, 0.0, None, 200.0))


class Properties(InFolder):
    COUNT = series(6, 120)

    def made(self):
        """Yields, per seed, a generated job in `job`."""
        for seed in range(self.COUNT):
            shutil.rmtree("job", ignore_errors=True)
            if seed % 3:
                write_gains("job", seed)
            else:
                rng = random.Random(seed)
                traces.save(traces.generate(rng, ranks=rng.choice((1, 2))), "job", traces.Style(random.Random(0)))
            yield seed

    def test_what_changes_nothing(self):
        for seed in self.made():
            recorded = self.rows(STEPS, "job", "[]")
            self.assertEqual([row[1] for row in recorded], [row[2] for row in recorded])
            for what in ("device", "host", "transfer", "launch"):
                for how, amount in UNITS.items():
                    changes = json.dumps([{"what": what, how: amount}])
                    try:
                        self.assertEqual(self.rows(STEPS, "job", changes), recorded, (seed, what, how))
                    except self.db.OperationalError as error:
                        self.assertIn("selects nothing", str(error))

    def test_iterations_are_parts(self):
        changes = '[{"what": "host", "factor": 0.7}]'
        for seed in self.made():
            every = self.rows(STEPS, "job", changes)
            for row in every:
                if row[0] is not None:
                    self.assertEqual(self.rows(STEPS.replace("'all'", "?"), "job", changes, row[0]), [row], seed)

    def test_longer_work_ends_nothing_sooner(self):
        """Longer work never ends anything sooner, and a file without steps ends at its last point."""
        for seed in range(10 * self.COUNT):
            trace = random_trace(seed)
            trace["traceEvents"] = [each for each in trace["traceEvents"]
                                    if not each["name"].startswith("ProfilerStep")]
            write("r.json", trace)
            for what in ("device", "host", "launch"):
                lengths = []
                for factor in (0, 0.3, 0.5, 1, 1.1, 3):
                    try:
                        rows = self.rows(STEPS, "r.json", json.dumps([{"what": what, "factor": factor}]))
                    except self.db.OperationalError as error:
                        self.assertIn("selects nothing", str(error))
                        continue
                    lengths += [now for _, recorded, now in rows]
                self.assertEqual(lengths, sorted(lengths), (seed, what))

    def test_names_of_files_decide_no_tie(self):
        """When two ranks start a collective at once, the path comes from the lower one, whichever file is first
        (E2.2).
        """
        for first, second in (("a", "b"), ("b", "a")):
            for rank, name in enumerate((first, second)):
                write(f"{first}/{name}.json", document(
                    step(0, 0, 100), event(f"op{rank}", 1, 42), launch(45, 2, 1),
                    kernel("ncclDevKernel_AllReduce_Sum", 50, 10, 1), sync(48, 22),
                    distributedInfo={"rank": rank, "world_size": 2}))
            self.assertEqual(self.rows("SELECT name, path_time FROM trace_gains(?) WHERE name LIKE 'op_'", first),
                             [("op0", 42), ("op1", 0)])

    def test_a_thread_of_the_steps_in_nothing(self):
        """Without steps, the main thread is the one with the most operators; here its operator does not end, so it
        labels nothing.
        """
        for side, at, dur in (("control", 1, 1), ("test", 3, 2)):
            write(f"{side}.json", document(event("x", 0, None, ph="B"), launch(at, dur, 1, pid=5),
                                           launch(3 * at, dur, 2, pid=5)))
        self.assertEqual(self.rows("SELECT class, name, diff_time, gain_alone, cumulative FROM trace_undo(?, ?)",
                                   "control.json", "test.json"),
                         [("unrecorded", None, 7, None, 11), (None, None, 7, None, 4)])

    @alone
    def test_steps_take_time_in_proportion(self):
        seconds = []
        for count in (1500, 6000):
            for side, slower in (("control", 1), ("test", 1.3)):
                write(f"{side}{count}.json", document(*(each for i in range(count) for each in (
                    step(i, 100 * i, 99), event("aten::mm", 100 * i + 1, 20), launch(100 * i + 2, 1, i),
                    kernel("gemm", 100 * i + 10, 60 * (slower if i % 3 == 0 else 1), i)))))
            start = time.process_time()
            self.rows("SELECT * FROM trace_undo(?, ?)", f"control{count}.json", f"test{count}.json")
            seconds.append(time.process_time() - start)
        self.assertLess(seconds[1], 8 * seconds[0], "four times the steps")

    def test_gains_are_what_changes_bring(self):
        """Each row of trace_gains equals its change in trace_undo, and rows of the path are as long as the steps."""
        compared = 0
        for seed in self.made():
            rows = self.rows("SELECT what, class, name, rank, path_ns, gain_half_ns, gain_none_ns"
                             " FROM trace_gains('job', NULL, 'all', ?)",
                             level := ("op", "top_op", "module", "annotation", "kernel")[seed % 5])
            recorded = self.value("SELECT sum(recorded_ns) FROM trace_what_if('job', '[]', NULL, 'all')")
            self.assertEqual(sum(row[4] for row in rows if row[0] != "rank"), recorded or 0, seed)
            key, events = "name" if level == "kernel" else level, {name for name, in self.rows(EVENTS)}
            names = [row[2] for row in rows]
            for what, class_, name, _, _, *gains in rows:
                own = key == "name" or what == "host" and class_ in ("call", "unrecorded") or what in ("transfer",
                        "launch")
                own = own or what == "device" and name not in events  # work without a recorded launch
                if what in (None, "rank", "launch") or name is None or own and key != "name":
                    continue
                if len(self.rows("SELECT DISTINCT value FROM json_each(?) WHERE value LIKE ?", json.dumps(names),
                                 name)) > 1:
                    continue  # the pattern also selects others
                for factor, gain in zip((0.5, 0), gains):
                    change = {"what": what, "class": class_, key: name, "factor": factor}
                    with self.subTest(seed=seed, change=change):
                        changed = self.rows(STEPS, "job", json.dumps([change]))
                        self.assertEqual(sum(before - now for _, before, now in changed), gain)
                    compared += 1
        self.assertGreater(compared, self.COUNT)

    def test_a_trace_and_itself(self):
        for seed in self.made():
            for row in self.rows(UNDONE, "job", "job"):
                self.assertIn(row[5], (0, None), (seed, row))
                self.assertEqual(row[4] or 0, 0, (seed, row))

    def test_pairs(self):
        """`cumulative` leads from test's step to control's, and rows are ordered by gain."""
        for seed in range(self.COUNT):
            shutil.rmtree("pair", ignore_errors=True)
            write_gains_pair("pair/a", "pair/b", seed)
            rows = self.rows("SELECT gain_alone_ns, cumulative_ns, diff_time, cumulative"
                             " FROM trace_undo('pair/a', 'pair/b')")
            lengths = [self.rows("SELECT sum(recorded_ns), avg(recorded_ns) / 1e3 FROM trace_what_if(?, '[]')", side)[0]
                       for side in ("pair/a", "pair/b")]
            gains = [row[0] for row in rows[:-1]]
            self.assertEqual(gains, sorted(gains, key=lambda gain: (gain is None, -(gain or 0))), seed)
            self.assertEqual(rows[-1][1], lengths[0][0], seed)
            if gains and gains[0] is not None:
                self.assertEqual(rows[0][1], lengths[1][0] - gains[0], seed)
            left = (rows[-2][3] if gains else lengths[1][1]) - lengths[0][1]
            self.assertAlmostEqual(rows[-1][2], left, places=6, msg=seed)

    def test_halves(self):
        """The step is the longest of several paths whose lengths change linearly. So the first half of a cause that
        restores nothing gains at least as much as the second half, except for rounding to ns.
        """
        compared = 0
        for seed in range(self.COUNT):
            shutil.rmtree("pair", ignore_errors=True)
            write_gains_pair("pair/a", "pair/b", seed)
            went = {row[:4] for row in self.rows("SELECT class, area, name, rank FROM trace_step_causes('pair/a',"
                                                 " 'pair/b', NULL, NULL, 'all', 'all') WHERE removed > 0"
                                                 " OR kind = 'replaced' OR changing")}
            for *key, half, gain in self.rows("SELECT class, area, name, rank, gain_half, gain_alone"
                                              " FROM trace_undo('pair/a', 'pair/b', NULL, NULL, 'all', 'all')"
                                               " WHERE kind IS NOT NULL"):
                self.assertEqual(half is None, gain is None, (seed, key))
                if gain is not None and tuple(key) not in went:
                    compared += 1
                    self.assertGreaterEqual(half, gain / 2 - 0.1, (seed, key))
        self.assertGreater(compared, self.COUNT)

    def test_hidden_work(self):
        """Work of rank 0 while it waits for rank 1 gains nothing on either rank."""
        for side, more in (("a", 0), ("b", 30)):
            for rank, late in ((0, 0), (1, 100)):
                events = []
                for number in range(3):
                    at, n = 1000 * number, 10 * number
                    length = 40 + (0 if rank else more)
                    events += [step(number, at, 900), event("aten::gelu", at + 5, 10), launch(at + 6, 2, n + 1),
                               kernel("gelu", at + 12, length, n + 1), event("aten::mm", at + 20, 10), launch(at + 21,
                                       2, n + 2),
                               kernel("mm", at + 12 + length, 50 + late, n + 2), launch(at + 40, 2, n + 3),
                               kernel("ncclDevKernel_AllReduce_Sum", at + 63 + length + late, 250 - 63 - length - late,
                                      n + 3),
                               sync(at + 50, 210)]
                write(f"{side}/{rank}.json", document(*events, distributedInfo={"rank": rank, "world_size": 2}))
        for how in ({"set_us": 10}, {"factor": 0}):
            changes = json.dumps([{"what": "device", "op": "aten::gelu", "rank": 0, **how}])
            self.assertEqual(self.value("SELECT sum(gain_ms) FROM trace_what_if('b', ?)", changes), 0)
        self.assertEqual([row[5] for row in self.rows(UNDONE, "a", "b") if row[2] == "aten::gelu"], [0])
        self.assertEqual({row[0] for row in self.rows("SELECT gain_none FROM trace_gains('b') WHERE what = 'rank'"
                                                      " AND rank = 0")}, {0})

    def test_interrupt(self):
        write("t/a.json", run(700))
        write("t/b.json", run(700, slower=1.5, extra=("more",)))
        for sql in ("SELECT * FROM trace_what_if('t/a.json', '[{\"what\": \"host\", \"factor\": 0.5}]')",
                    "SELECT * FROM trace_gains('t/a.json')", "SELECT * FROM trace_undo('t/a.json', 't/b.json')"):
            expected, stopped = self.rows(sql), 0
            for polls in (0, 1, 3, 7):
                db, left = connect(), [polls]
                db.execute("SELECT count(*) FROM trace_step_time('t', 'all')").fetchall()

                def stop(left=left):
                    left[0] -= 1
                    return left[0] < 0

                db.set_progress_handler(stop, 1)
                try:
                    self.assertEqual(db.execute(sql).fetchall(), expected)
                except self.db.OperationalError as error:
                    self.assertEqual(str(error), "interrupted")
                    stopped += 1
                db.set_progress_handler(None, 0)
                self.assertEqual(db.execute(sql).fetchall(), expected, polls)
                db.close()
            self.assertGreater(stopped, 1, sql)


class Hidden(InFolder):
    """E9.9: the work that takes the place of a cause is known."""

    ASKED = ("SELECT name, diff_time, gain_alone, hidden_by, hidden_rank"
             " FROM trace_undo(?, ?, NULL, NULL, 'all', 'all') WHERE diff_time > 0 AND gain_alone IS NOT NULL")

    def hidden(self, make, ranks=1):
        """{name: (diff, gain, hidden_by, hidden_rank)} for control and test, which `make` makes by side and rank."""
        for side in (0, 1):
            for rank in range(ranks):
                job = {"distributedInfo": {"rank": rank, "world_size": ranks}} if ranks > 1 else {}
                write(f"{side}/{rank}.json", document(*make(side, rank), **job))
        return {name: tuple(rest) for name, *rest in self.rows(self.ASKED, "0", "1")}

    def test_work_beside_it(self):
        def make(side, _):
            return (step(0, 0, 200 + 30 * side), event("aten::mm", 5, 10), launch(6, 2, 1),
                    kernel("gemm", 20, 100 + 30 * side, 1), event("aten::add", 16, 10), launch(17, 2, 2),
                    kernel("add", 20, 90, 2, 8), sync(30, 95 + 30 * side))
        self.assertEqual(self.hidden(make), {"aten::mm": (30, 30, None, None)})
        def longer(side, _):
            return (step(0, 0, 210 + 20 * side), event("aten::mm", 5, 10), launch(6, 2, 1),
                    kernel("gemm", 20, 100 + 30 * side, 1), event("aten::add", 16, 10), launch(17, 2, 2),
                    kernel("add", 20, 110, 2, 8), sync(30, 105 + 20 * side))
        self.assertEqual(self.hidden(longer), {"aten::mm": (30, 20, "aten::add", None)})

    def late(self, *operators):
        """A kernel takes 20 us longer, but the host launches the next one only 5 us before its new end, after some
        operators.
        """
        def make(side, _):
            at, host = 16, []
            for name, dur in operators:
                host.append(event(name, at, dur))
                at += dur
            busy = 10 + 30 + 20 * side
            begin = max(busy + 1, 60)
            return (step(0, 0, begin + 60), event("aten::mm", 2, 10), launch(3, 2, 1),
                    kernel("gemm", 10, 30 + 20 * side, 1), *host, event("aten::add", 50, 5), launch(51, 2, 2),
                    kernel("add", begin, 40, 2), sync(56, begin - 13))
        return make

    def test_time_of_the_host(self):
        name, diff, gain, by, rank = next(
            (name, *rest) for name, rest in self.hidden(self.late(("aten::reshape", 30))).items() if name == "aten::mm")
        self.assertLess(gain, 0.9 * diff)
        self.assertEqual((name, by, rank), ("aten::mm", "aten::reshape", None))
        several = [(f"aten::op{i}", 5) for i in range(6)]
        self.assertEqual(self.hidden(self.late(*several))["aten::mm"][2:], ("the host", None))

    def test_another_rank(self):
        """Both ranks take longer and wait for each other, so undoing rank 1 alone gains no more than rank 0 allows."""
        lengths = (80, 100), (150, 180)

        def make(side, rank):
            length, last = lengths[side][rank], max(lengths[side])
            return (step(0, 0, last + 80), event(f"aten::op{rank}", 5, 10), launch(6, 2, 1),
                    kernel(f"gemm{rank}", 20, length, 1), event("all_reduce", 16, 10), launch(17, 2, 2),
                    kernel("ncclDevKernel_AllReduce_Sum", 21 + length, last - length + 20, 2), sync(30, last + 15))
        self.assertEqual(self.hidden(make, ranks=2)["aten::op1"], (80, 30, "aten::op0", 0))

    def test_names_of_files_decide_no_tie(self):
        """When two names hide equally much, the first one counts, whichever file was read first."""
        def args(number, **more):
            return {"args": {"correlation": number, **more}}
        ranks = (
            ([step(0, -500, 20)], [], [step(3, 88, 0)]),
            ([launch(1000090.5, 1, 4),
              event("ncclDevKernel_AllReduce_Sum_f32", 1000100, 5, cat="kernel", pid=0, tid=20, **args(4, stream=20)),
              call("cudaStreamWaitEvent", 1000091, 1, tid=2, **args(5)),
              event("fwd", 1000089, 3, cat="user_annotation", tid=2), step(1, 1000000, 175)], [],
             [call("cudaStreamWaitEvent", 1, 1, **args(1)), step(2, 69.001, 23)]))
        for names in ("abc", "zmb", "cab"):
            for side, files in zip("01", ranks):
                for rank, events in enumerate(files):
                    write(f"{names}{side}/{names[rank]}.json", document(
                        *events, distributedInfo={"rank": rank, "world_size": 3}))
            self.assertEqual(self.rows("SELECT class, name, hidden_by, hidden_rank FROM trace_undo(?, ?)"
                                       " WHERE hidden_by IS NOT NULL", f"{names}0", f"{names}1"),
                             [("comm", "ncclDevKernel_AllReduce_Sum_f32", "fwd", 0),
                              ("idle_launch", None, "cudaStreamWaitEvent", 0)])

    def test_what_was_not_waited_for(self):
        """For a cause off the path that was within the device's time, hidden_by names the work on the path at that
        time.
        """
        def make(side, _):
            return (step(0, 0, 180), event("aten::mm", 5, 5), launch(6, 2, 2), kernel("gemm", 12, 60 + 30 * side, 2),
                    event("aten::add", 11, 10), launch(12, 2, 1), kernel("add", 20, 130, 1, 8), sync(30, 125))
        self.assertEqual(self.hidden(make), {"aten::mm": (30, 0, "aten::add", None)})


class Changes(InFolder):
    ARRAY = ("trace_what_if: changes must be a JSON array of objects, as '[{\"what\": \"device\", \"op\":"
             " \"aten::mm\", \"factor\": 0.5}]'")
    HOW = "must have one of 'factor', 'set_us', 'add_us' and 'remove'"

    def setUp(self):
        super().setUp()
        write("t.json", run())

    def refused(self, message, changes):
        if not isinstance(changes, str):
            changes = json.dumps(changes)
        self.assert_error(message, "SELECT * FROM trace_what_if('t.json', ?)", changes)

    def of_first(self, message, **change):
        self.refused(f"trace_what_if: changes[0]{message}", [change])

    def test_no_array(self):
        for text in ("", "{}", "5", "null", "device", "[", "[{}", '[{"what": "device"', "{'a': 1}"):
            self.refused(self.ARRAY, text)

    def test_no_object(self):
        for element in (5, None, "device", [], True):
            self.refused("trace_what_if: changes[0] must be an object", [element])
        self.refused("trace_what_if: changes[1] must be an object", [{"what": "host", "factor": 1}, 5])

    def test_keys(self):
        self.of_first(" has an unknown key 'facter'; did you mean 'factor'?", what="host", facter=1)
        for key, shown in (("zzzzzzzzzz", "zzzzzzzzzz"), ("", ""), ("é" * 500, "é" * 30), ("k" * 10 ** 6, "k" * 60),
                           ('it"s', 'it"s')):
            self.of_first(f" has an unknown key '{shown}'; keys are what, factor, set_us, add_us, remove; of which"
                          " work: rank, step, class, op, top_op, module, annotation, name",
                          **{"what": "host", "factor": 1, key: 1})
        self.refused("trace_what_if: changes[0] has the key 'factor' twice",
                     '[{"what": "host", "factor": 1, "factor": 2}]')

    def test_what(self):
        for what in (None, 5, "", "kernel", ["device"]):
            self.of_first(": 'what' must be 'device', 'host', 'transfer' or 'launch'", what=what, factor=1)
        self.of_first(": 'what' must be 'device', 'host', 'transfer' or 'launch'", factor=1)

    def test_how(self):
        self.of_first(f" {self.HOW}", what="host")
        self.of_first(f" {self.HOW}", what="host", factor=1, add_us=0)
        self.of_first(f" {self.HOW}", what="host", set_us=1, remove=True)
        for amount in (-1, 1e13, "1", None, True, [1], -1e-300):
            self.of_first(": 'factor' must be a number from 0 to 1e12", what="host", factor=amount)
            self.of_first(": 'set_us' must be a number from 0 to 1e12", what="host", set_us=amount)
        for amount in (1e13, -1e13, "1", None, False):
            self.of_first(": 'add_us' must be a number from -1e12 to 1e12", what="host", add_us=amount)
        for amount in (1, False, "true", None):
            self.of_first(": 'remove' must be true", what="device", remove=amount)
        self.refused("trace_what_if: changes[0]: 'factor' must be a number from 0 to 1e12",
                     '[{"what": "host", "factor": 1e999}]')
        self.of_first(" removes a launch: remove its device work, or give a factor of 0", what="launch", remove=True)

    def test_which(self):
        for key in ("rank", "step"):
            for value in (-1, 1.5, "0", None, 2 ** 63):
                self.of_first(f": '{key}' must be an integer of 0 or more", **{"what": "host", "factor": 1, key: value})
        for value in ("", "cpu", 5, None):
            self.of_first(": 'class' must be 'compute', 'comm', 'memory', 'call', 'host' or 'unrecorded'",
                          **{"what": "host", "factor": 1, "class": value})
        for key in ("op", "top_op", "module", "annotation", "name"):
            for value in ("", 5, None, "é" * 501):
                self.of_first(f": '{key}' must be a LIKE pattern of at most 1000 bytes", **{"what": "host",
                        "factor": 1, key: value})

    def test_nothing(self):
        nothing = " selects nothing: no '{}' of these ranks has such names, rank and step"
        for change in ({"what": "transfer"}, {"what": "host", "rank": 7}, {"what": "host", "step": 99},
                       {"what": "device", "class": "memory"}, {"what": "device", "name": "none%"},
                       {"what": "host", "module": "a%"}, {"what": "host", "op": "%x" * 500}):
            self.of_first(nothing.format(change["what"]), factor=1, **change)
        self.refused(f"trace_what_if: changes[1]{nothing.format('device')}",
                     [{"what": "device", "factor": 1}, {"what": "device", "op": "none", "factor": 1}])

    def test_how_many(self):
        one = {"what": "host", "op": "op1", "add_us": -0.001}
        self.assertEqual(self.value("SELECT recorded_ns - simulated_ns FROM trace_what_if('t.json', ?)",
                                    json.dumps([one] * 1000)), 1000)
        self.refused("trace_what_if: changes[1000] is one too many: 1000 are the most", [one] * 1001)

    PIECES = ('[', ']', '{', '}', ',', ':', '"', "'", '\\', '\0', '\\u0000', '\\ud800', '"what"', '"host"', '"device"',
              '"factor"', '"set_us"', '"op"', '"name"', '"rank"', '"step"', '"remove"', 'true', 'null', 'NaN',
              'Infinity', '-0', '1e999', '1e-999', '1e308', '9223372036854775808', '0x10', '.5', '5.', '"%"',
              '"\\""', "it's", '/**/', '//', '\ufeff', '[[[', ' ', '\n', 'é')

    def hostile(self, rng):
        """A text that is almost a list of changes."""
        how, which = ("factor", "set_us", "add_us"), ({}, {"op": "op1"}, {"rank": 0}, {"step": 1}, {"class": "host"})
        text = json.dumps([{"what": rng.choice(("host", "device")), **rng.choice(which),
                            rng.choice(how): rng.choice((0, 0.5, 3, 1e12, -1))} for _ in range(rng.randrange(3))])
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(text) + 1)
            upto = at + rng.choice((0, 0, 1, rng.randrange(8)))
            text = text[:at] + "".join(rng.choice(self.PIECES) for _ in range(rng.randrange(3))) + text[upto:]
        return text

    def test_hostile_texts(self):
        """Any text gives rows or one error of trace_what_if."""
        recorded, answered, refused = [row[:2] for row in self.rows(STEPS, "t.json", "[]")], 0, 0
        for seed in range(series(400, 20000)):
            text = self.hostile(random.Random(seed))
            for given in (text, text.encode("utf-8", "surrogatepass")) if seed % 50 == 0 else (text,):
                try:
                    rows = self.rows(STEPS, "t.json", given)
                    self.assertEqual([row[:2] for row in rows], recorded)
                    answered += 1
                except self.db.OperationalError as error:
                    self.assertRegex(str(error), "^trace_what_if: (the )?changes", (seed, text))
                    refused += 1
        self.assertGreater(min(answered, refused), 50)

    def test_long_and_deep_texts(self):
        one = '{"what": "host", "op": "op1", "factor": 1}'
        for text in ("[" * 10 ** 5, "[" * 10 ** 5 + "]" * 10 ** 5, '[{"op": ' * 10 ** 4, "[" + "1," * 10 ** 6,
                     "x" * 10 ** 7, "[" + " " * 10 ** 7):
            self.refused(self.ARRAY, text)
        self.refused("trace_what_if: changes[1000] is one too many: 1000 are the most",
                     f"[{','.join([one] * 10 ** 5)}]")
        self.refused("trace_what_if: changes[0] must be an object", f"[{'[' * 900}{']' * 900}]")
        self.of_first(": 'op' must be a LIKE pattern of at most 1000 bytes", what="host", factor=1, op="x" * 10 ** 6)
        with self.assertRaisesRegex(self.db.OperationalError, "^trace_what_if: changes"):  # SQLite's value for NaN
            self.rows(STEPS, "t.json", '[{"what": "host", "factor": NaN}]')
        many = ",".join(f'"k{i}": 1' for i in range(10 ** 5))
        with self.assertRaisesRegex(self.db.OperationalError, r"^trace_what_if: changes\[0\] has an unknown key 'k0'"):
            self.rows(STEPS, "t.json", f'[{{"what": "host", "factor": 1, {many}}}]')

    def test_interrupt_among_many_changes(self):
        """An interrupt works among 1,000 patterns, each of which is compared with all names."""
        write("many.json", document(*(event(f"op{i:04}" + "x" * 90, i, 1) for i in range(2000))))
        changes = json.dumps([{"what": "host", "op": "%x" * 40 + "y", "add_us": 1}] + [
            {"what": "host", "op": "%x%x%x%x%", "factor": 1}] * 999)
        self.rows(STEPS, "many.json", "[]")
        left = [20]

        def stop():
            left[0] -= 1
            return left[0] < 0

        self.db.set_progress_handler(stop, 1)
        with self.assertRaisesRegex(self.db.OperationalError, "^interrupted$"):
            self.rows(STEPS, "many.json", changes)
        self.db.set_progress_handler(None, 0)

    def test_patterns(self):
        for more in ({"what": "DEVICE", "name": "GEM_"}, {"name": "%", "op": "op%", "class": "Compute"}, {"rank": 0,
                "op": "%1"}):
            self.assertEqual(*(self.rows(STEPS, "t.json", json.dumps([{"what": "device", "factor": 0.5,
                    **each}])) for each in ({}, more)))

    def test_beyond_64_bits(self):
        changes = [{"what": "host", "add_us": 1e12}] * 1000
        with self.assertRaisesRegex(self.db.OperationalError, "64 bits of nanoseconds"):
            self.rows(STEPS, "t.json", json.dumps(changes))

    def test_required(self):
        self.assert_error("trace_what_if: second argument (changes) is missing",
                          "SELECT * FROM trace_what_if('t.json')")
        for call in ("trace_what_if('t.json', NULL)", "trace_what_if(NULL, '[]')", "trace_gains(NULL)",
                     "trace_undo(NULL, 't.json')", "trace_undo('t.json', NULL)"):
            self.assertEqual(self.rows(f"SELECT * FROM {call}"), [], call)


class Shipped(InFolder):
    def test_the_gain_on_the_first_page(self):
        sides = [os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")]
        step, gain = self.rows("SELECT (SELECT avg(recorded_ms) FROM trace_what_if(?2, '[]')), gain_alone / 1000"
                               " FROM trace_undo(?1, ?2) WHERE text LIKE 'EmbeddingBackward0%' AND rank = 1", *sides)[0]
        with open(os.path.join(EXAMPLES, "..", "README.md"), encoding="utf-8") as file:
            self.assertIn(f"{step:.3f} -> {step - gain:.3f} ms if only `EmbeddingBackward0` on rank 1",
                          " ".join(file.read().split()))

    def test_the_words_of_real_pairs(self):
        """examples/h200: the answer names a batch in pageable memory, and a batch that is copied only when it is
        needed.
        """
        for name, expected in (("pageable", "copies aten::to; a fix saves 7.39 ms"),
                               ("prefetch", "copies aten::to; same time, but less of it overlaps")):
            sides = [os.path.join(EXAMPLES, "h200", name, side) for side in ("control", "test")]
            [(text,)] = self.rows("SELECT text FROM trace_summary(?, ?) WHERE diagnoses = 0 AND name = 'aten::to'",
                                  *sides)
            self.assertEqual(" ".join(text.split("%")[1].split()), expected)

    def test_gains_of_the_example(self):
        """examples/gpu: the path adds up to the step, and a cause that is hidden behind other work gains less than its
        time.
        """
        test = os.path.join(EXAMPLES, "gpu", "test")
        rows = self.rows("SELECT what, name, time, path_time, gain_half, gain_none FROM trace_gains(?)", test)
        step_us = self.value("SELECT avg(recorded_ns) / 1e3 FROM trace_what_if(?, '[]')", test)
        self.assertAlmostEqual(sum(row[3] for row in rows if row[0] != "rank"), step_us, places=3)
        for what, name, time, path, half, none in rows[:-1]:
            self.assertLessEqual(half, none + 1e-9, (what, name))
            self.assertLessEqual(path, time + 1e-9, (what, name))


