"""trace_health (I1 to I13): each rule, each threshold from both sides, and the reading of odd times."""
import csv
import glob
import gzip
import json
import os
import re
import shutil
import unittest

from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, bytes_read, corpus, found_below, golden, instructions, slowest

COLUMNS = ("file", "rank", "check", "severity", "count", "total", "time_ns", "steps", "first_step", "last_step",
           "event", "name", "ts_ns", "what")
# Golden files without launches for some work whose correlation is not 0: it has no row (I8), so the last launch waits
# (I5). Replicas of one rank are ranks that no collective ties together.
CHANGED = {"real_hta_trace_compare_base": [], "real_hta_trace_compare_test": [("end", "note", 1, 2)],
           "in_r17h": [("not tied", "note", 3, 4)] * 2}


def call(name, ts, dur, correlation, cat="cuda_runtime", **fields):
    return event(name, ts, dur, cat=cat, args={"correlation": correlation}, **fields)


def launched(name, ts, dur, correlation, at=None, stream=7):
    """A launch and its kernel, which starts at `at`."""
    return [launch(ts, 1, correlation), kernel(name, ts + 5 if at is None else at, dur, correlation, stream)]


class Asking(InFolder):
    def found(self, *events, columns="\"check\", severity, count, total", path="t.json", **keys):
        write(path, document(*events, **keys))
        return self.rows(f"SELECT {columns} FROM trace_health(?)", path)

    def what(self, *events, **keys):
        return [value for value, in self.found(*events, columns="what", **keys)]

    def read(self, columns="dur", where="cat = 'kernel'"):
        return self.rows(f"SELECT {columns} FROM trace_events('t.json') WHERE {where}")


class TooLong(Asking):
    def test_work_that_ends_after_later_work_of_its_queue(self):
        """I1.3: work that ends after later work of its queue gets the median duration of its name, at most until the
        next start.
        """
        events = [step(1, 0, 500), *launched("relu", 5, 1600000, 1, 10), *launched("gemm", 80, 20, 2, 90),
                  *launched("relu", 180, 80, 3, 200), *launched("relu", 280, 80, 4, 300)]
        self.assertEqual(self.found(*events, columns="\"check\", severity, count, total, time_ns, steps, first_step,"
                                    " last_step, event, name, ts_ns, what"),
                         [("too long", "note", 1, 4, 1600000000, 1, 1, 1, 2, "relu", 10000,
                           "1 device event of 4 lasts too long, one 1.6 s: read as 80 us together")])
        self.assertEqual(self.read(where="name = 'relu'"), [(80,)] * 3)
        self.assertEqual(self.value("SELECT end_ns FROM trace_files('t.json')"), 500000)
        self.assertEqual(self.value("SELECT total_duration FROM trace_ops('t.json') WHERE name = 'relu'"), 240)

    def test_until_the_next_start(self):
        self.found(*launched("relu", 5, 1600000, 1, 10), *launched("gemm", 30, 20, 2, 50),
                   *launched("relu", 180, 80, 3, 200))
        self.assertEqual(self.read(where="name = 'relu'"), [(40,), (80,)])

    def test_100_us(self):
        for beyond, found in ((100, 0), (101, 1), (75, 0), (133, 1)):
            with self.subTest(beyond):
                self.assertEqual(self.found(*launched("a", 0, 90 + beyond, 1, 10), *launched("b", 0, 50, 2, 50),
                                            *launched("a", 0, 100, 3, 300)), [("too long", "note", 1, 3)] * found)

    def test_only_of_one_queue(self):
        """A queue is work with one pid, tid and context, outside graphs; communication never is too long."""
        long = launched("a", 0, 1000, 1, 10)
        self.assertEqual(self.found(*long, *launched("b", 0, 50, 2, 50, stream=8)), [])
        self.assertEqual(self.found(*long, kernel("b", 50, 50, 1)), [])
        self.assertEqual(self.found(*launched("ncclAllReduce", 0, 1000, 1, 10), *launched("b", 0, 50, 2, 50)), [])
        for context, found in ((1, 1), (2, 0)):
            other = kernel("b", 50, 50, 2)
            other["args"]["context"] = context
            long[1]["args"]["context"] = 1
            self.assertEqual(len(self.found(*long, launch(0, 1, 2), other)), found)

    def test_is_no_measure_for_work_before_it(self):
        """I1.1: work that is too long does not count as later work for the work before it."""
        self.assertEqual(self.found(*launched("a", 0, 2000, 1, 10), *launched("a", 0, 1000, 2, 20),
                                    *launched("b", 0, 50, 3, 50), *launched("a", 0, 20, 4, 200)),
                         [("too long", "note", 2, 4)])

    def test_a_queue_in_which_many_are_is_none(self):
        """I1.2: up to two events, or one in a hundred, may be too long. With more, only an excess above 1 s counts."""
        def queue(count, long, dur):
            return [one for i in range(count) for one in launched(
                "a", 10000 * i, dur if i % 3 == 0 and i < 3 * long else 100, i + 1)]
        self.assertEqual(self.found(*queue(20, 2, 11000)), [("too long", "note", 2, 20)])
        self.assertEqual(self.found(*queue(20, 3, 11000)), [])
        self.assertEqual(self.found(*queue(300, 3, 11000)), [("too long", "note", 3, 300)])
        self.assertEqual(self.found(*queue(299, 3, 11000)), [])
        self.assertEqual(self.found(*queue(20, 3, 10100 + 1000001)), [("too long", "wrong", 3, 20)])
        self.assertEqual(self.found(*queue(20, 3, 10100 + 750000)), [])

    def test_5_percent_without_others_of_their_name(self):
        """I1.4: events without other work of their name are `wrong` from 5 % of the device time on."""
        for share, severity in ((49, "note"), (53, "wrong"), (38, "note"), (67, "wrong")):
            with self.subTest(share):
                self.assertEqual(self.found(*launched("alone", 0, 5000, 1, 1000 - share),
                                            *launched("b", 0, 1000 - share, 2, 1000)), [("too long", severity, 1, 2)])

    def test_after_the_end_of_the_recording(self):
        """I2: an event after the end of the recording loses its duration."""
        self.assertEqual(self.found(event("aten::relu", 0, 236 * 31556952e6), event("aten::mm", 10, 5),
                                    columns="\"check\", severity, count, total, time_ns, what"),
                         [("too long", "note", 1, 2, 7447440672000000000,
                           "1 host event of 2 lasts too long, one 236 years: read without a duration")])
        self.assertEqual(self.read("name, dur", "1"), [("aten::relu", None), ("aten::mm", 5)])
        self.assertEqual(self.found(step(1, 0, 1e9), event("aten::mm", 10, 5)), [("too long", "wrong", 1, 2)])

    def test_60_s_and_as_long_as_the_recording(self):
        """I2: an event may end up to 60 s, or the recording's length, after the end, which is `Record Window End` or
        the latest start.
        """
        def found(length, beyond, end=0):
            events = [event("a", 0, length + beyond), event("b", length if not end else 1, 1)]
            window = {"ph": "i", "name": "Record Window End", "s": "g", "pid": "", "tid": "", "ts": length}
            return len(self.found(*events, *[window] * end))
        for end in (0, 1):
            for length, beyond, expected in ((10, 60e6, 0), (10, 60e6 + 1, 1), (10, 45e6, 0), (10, 80e6, 1),
                                             (70e6, 70e6, 0), (70e6, 70e6 + 1, 1)):
                with self.subTest(length=length, beyond=beyond, end=end):
                    self.assertEqual(found(length, beyond, end), expected)

    def test_work_after_the_end(self):
        """I2 with I1.3: work after the end, including communication."""
        self.assertEqual(self.found(*launched("ncclAllReduce", 0, 1e9, 1, 10),
                                    *launched("ncclAllReduce", 20, 30, 2, 100)), [("too long", "note", 1, 2)])
        self.assertEqual(self.read(), [(30,), (30,)])


class NoTime(Asking):
    def test_at_0(self):
        """I3: events at 0 are read without ts and dur."""
        base = launched("a", 1000, 5, 1)
        gone = [launch(1000 + i, 1, 10 + i) for i in range(3)], [kernel("a", 0, 0, 10 + i) for i in range(3)]
        self.assertEqual(self.found(*base, *gone[0], *gone[1], columns="severity, count, total, steps, ts_ns, what"),
                         [("incomplete", 3, 4, None, 0, "3 of 4 device events have no time (ts 0, dur 0)")])
        self.assertEqual(self.read("ts_ns, dur"), [(1005000, 5), *[(None, None)] * 3])
        self.assertEqual(self.value("SELECT start_ns FROM trace_files('t.json')"), 1000000)
        self.assertEqual(self.found(*base, *gone[0][:2], *gone[1][:2]), [("no time", "note", 2, 3)])
        self.assertEqual(self.found(*base, *gone[0][:1], *gone[1][:1]), [("before launch", "note", 1, 2)])
        self.assertEqual(self.what(*base, *gone[0], *gone[1], event("op", 0, 5))[1:],
                         ["3 of 4 kernels have duration 0"])

    def test_of_the_host(self):
        self.assertEqual(self.what(event("op", 5, 1), *[event("op", 0, 0)] * 3),
                         ["3 of 4 host events have no time (ts 0, dur 0)"])

    def test_many_are_more_than_one_in_a_hundred(self):
        for total, severity in ((300, "note"), (299, "incomplete"), (225, "incomplete"), (399, "note")):
            with self.subTest(total):
                timed = [event("op", 5 + i, 1) for i in range(total - 3)]
                self.assertEqual(self.found(*timed, *[event("op", 0, 0)] * 3), [("no time", severity, 3, total)])

    def test_kernels_of_duration_0(self):
        def kernels(short, dur):
            return [one for i in range(6) for one in launched("a", 100 * i, 0 if i < short else dur, i + 1)]
        self.assertEqual(self.what(*kernels(3, 7)), ["3 of 6 kernels have duration 0"])
        self.assertEqual(self.found(*kernels(3, 7)), [("no time", "note", 3, 6)])
        self.assertEqual(self.found(*kernels(3, 7.5)), [("no time", "wrong", 3, 6)])
        self.assertEqual(self.found(*kernels(2, 7.5)), [])


class Lost(Asking):
    @staticmethod
    def steps(count, *lost, each=3, name="cudaLaunchKernel"):
        """Steps of launches; those in `lost` (by step and place) have no kernel."""
        events = []
        for number in range(count):
            events.append(step(number, 1000 * number, 900))
            for place in range(each):
                correlation = number * each + place + 1
                events.append(call(name, 1000 * number + 100 * place, 5, correlation))
                if (number, place) not in lost:
                    events.append(kernel("k", 1000 * number + 100 * place + 10, 50, correlation))
        return events

    def test_all_of_a_step(self):
        """I4.2: if all kernels of a step are lost, a buffer was dropped."""
        lost = [(number, place) for number in (2, 3) for place in range(3)]
        self.assertEqual(self.found(*self.steps(12, *lost), columns="\"check\", severity, count, total, steps,"
                                    " first_step, last_step, what"),
                         [("kernels lost", "incomplete", 6, 36, 2, 2, 3,
                           "6 of 36 launches have no kernel, in 2 of 12 steps")])
        self.assertEqual(self.found(*self.steps(12, (3, 1), (3, 2))), [("kernels lost", "note", 2, 36)])

    def test_of_the_first_step(self):
        self.assertEqual(self.found(*self.steps(12, (0, 0), (0, 1), (0, 2))), [("kernels lost", "note", 3, 36)])

    def test_many(self):
        """Three lost kernels are many, if they are more than one in a hundred of those in the steady steps; other steps
        do not count.
        """
        scattered = (2, 0), (4, 1), (6, 2), (8, 2)
        self.assertEqual(self.found(*self.steps(12, *scattered[:2])), [("kernels lost", "note", 2, 36)])
        self.assertEqual(self.found(*self.steps(12, *scattered[:3])), [("kernels lost", "incomplete", 3, 36)])
        self.assertEqual(self.found(*self.steps(12, *scattered[:2], (0, 1))), [("kernels lost", "note", 3, 36)])
        for count, severity in ((101, "incomplete"), (102, "note"), (135, "note"), (80, "incomplete")):
            with self.subTest(count):  # two fewer steps are steady
                self.assertEqual(self.found(*self.steps(count, *scattered[:3])),
                                 [("kernels lost", severity, 3, 3 * count)])

    def test_a_graph(self):
        self.assertEqual(self.what(*self.steps(12, (3, 1), name="cudaGraphLaunch")),
                         ["1 of 36 graph launches has no kernels, in 1 of 12 steps"])
        self.assertEqual(self.found(*self.steps(12, (3, 1), name="hipGraphLaunch")),
                         [("graphs lost", "incomplete", 1, 36)])
        self.assertEqual(self.found(*self.steps(12, (0, 1), name="cudaGraphLaunch")), [("graphs lost", "note", 1, 36)])

    def test_what_is_no_launch(self):
        """I4: other calls are no launches."""
        lost = [(number, 1) for number in range(2, 9)]
        for name in ("cudaMemsetAsync", "cudaLaunchHostFunc", "cudaMemcpyAsync"):
            self.assertEqual(self.found(*self.steps(12, *lost, name=name)), [], name)
        for name in ("cuLaunchKernelEx", "hipExtModuleLaunchKernel", "aclKernelLaunch", "cudaLaunchCooperativeKernel"):
            self.assertEqual(len(self.found(*self.steps(12, *lost, name=name))), 1, name)
        self.assertEqual(self.found(*[{**one, "cat": "cann_runtime"} if "Launch" in one["name"] else one
                                      for one in self.steps(12, *lost)]), [])

    def test_one_inside_another(self):
        """A driver's call is part of the runtime's call, whichever of them has the kernel."""
        for outer, inner in ((1, 1), (1, 2), (2, 1)):
            self.assertEqual(self.found(*[one for i in range(5) for one in (
                call("cudaLaunchKernel", 100 * i, 20, 10 * i + outer),
                call("cuLaunchKernel", 100 * i + 5, 5, 10 * i + inner, "cuda_driver"),
                kernel("k", 100 * i + 30, 10, 10 * i + 1))]), [], (outer, inner))

    def test_not_while_a_thread_captures(self):
        captured = [launch(1000 + i, 1, 500 + i) for i in range(5)]
        others = launched("k", 0, 5, 1) + launched("k", 3000, 5, 2)
        capture = [call("cudaStreamBeginCapture", 900, 5, 300, tid=2),
                   call("cudaStreamEndCapture", 2000, 5, 301, tid=2)]
        self.assertEqual(self.found(*others, *captured), [("kernels lost", "incomplete", 5, 7)])
        self.assertEqual(self.found(*others, *captured, *capture), [])

    def test_not_if_as_many_kernels_have_no_launch(self):
        """I4.1: there is no finding if as many kernels lack a launch."""
        lost = [(number, 1) for number in range(2, 9)]
        for stray, found in ((7, ["no launch"]), (6, ["kernels lost", "no launch"])):
            self.assertEqual([one[0] for one in self.found(*self.steps(12, *lost), *[
                kernel("ncclAllReduce", 1500 + 1000 * i, 20, 0, 20) for i in range(stray)])], found)

    def test_no_device_work(self):
        """I4.3: a file without device work has one finding."""
        launches = [one for one in self.steps(4) if one["cat"] != "kernel"]
        self.assertEqual(self.found(*launches, columns="\"check\", severity, steps, what"),
                         [("no device work", "incomplete", 4, "12 launches, and no device work")])
        self.assertEqual(self.found(*launches, event("r", 0, 5, cat="cuda_profiler_range")),
                         [("no device work", "note", 12, 12)])
        self.assertEqual(self.found(step(1, 0, 5), event("aten::mm", 0, 3)), [])

    def test_at_the_end(self):
        """I5: launches at the end had not run. Later steps are not steady, and do not affect the others."""
        late = [(number, place) for number in (5, 6) for place in range(3)][1:]
        self.assertEqual(self.found(*self.steps(7, *late), columns="\"check\", severity, count, total, steps,"
                                    " first_step, last_step, event, what"),
                         [("end", "note", 5, 21, 2, 5, 6, 38,
                           "the recording ends before its last 5 of 21 launches have run, in 2 steps")])
        steady = "SELECT DISTINCT iteration FROM trace_step_time('t.json')"
        self.assertEqual(self.rows(steady), [(1,), (2,), (3,), (4,)])
        self.found(*self.steps(3, (1, 2), (2, 0), (2, 1), (2, 2)))  # no other is steady
        self.assertEqual(self.rows(steady), [(1,)])

    def test_at_the_end_without_steps(self):
        """I5: at the end, as many launches may wait as are in the backlog."""
        def found(backlog, waiting):
            return self.found(*[kernel("k", 10 * i, 9, 900 + i) for i in range(backlog)],
                              *launched("k", 200, 5, 1, 1000), *[launch(300 + i, 1, 10 + i) for i in range(waiting)])
        self.assertEqual(found(4, 6), [("end", "note", 6, 7)])
        self.assertEqual(found(4, 7), [("end", "incomplete", 7, 8)])

    def test_empty_steps(self):
        """I6: steady steps without work are found."""
        def without(count, *empty, events=None):
            return [one for one in events or self.steps(count)
                    if one["ts"] // 1000 not in empty or one["name"].startswith("Pro")]
        self.assertEqual(self.found(*without(8, 4), columns="\"check\", severity, count, total, first_step, what"), [
            ("empty steps", "incomplete", 1, 6, 4, "1 of 6 steps have no device work, the others have")])
        self.assertEqual(self.found(*without(8, 0, 7)), [])
        self.assertEqual(self.found(*without(2, 1)), [("empty steps", "note", 1, 2)])
        idle = []
        for one in self.steps(8):
            requests = 0 if one["ts"] // 1000 == 4 else 2
            if one["cat"] == "user_annotation":
                idle.append({**one, "name": f"execute_context_0(0)_generation_{requests}({requests})"})
            elif requests:
                idle.append(one)
        self.assertEqual(self.found(*idle), [])


class OutOfStep(Asking):
    @staticmethod
    def burst(steps, last, work):
        """One kernel per step; the last one ends `last` us after the first, and runs for `work`."""
        events = []
        for number in range(steps):
            end = 1000 * steps + last * number / (steps - 1)
            dur = work / steps
            events += [step(number, 1000 * number, 900), launch(1000 * number, 1, number + 1),
                       kernel("k", end - dur, dur, number + 1)]
        return events

    def test_a_quarter(self):
        """I7: the limit is a quarter of the host's time, 10 ms, both for the device's span and its work."""
        for last, work, found in ((2499, 100, 1), (2500, 100, 0), (1870, 100, 1), (3300, 100, 0)):
            with self.subTest(last=last, work=work):
                self.assertEqual(len(self.found(*self.burst(11, last, work))), found)
        self.assertEqual(self.found(*self.burst(11, 1200, 100), columns="severity, count, time_ns, steps, what"),
                         [("wrong", 11, 8800000, 11,
                           "11 steps take the device 1.2 ms from end to end, and the host 10 ms from start to start")])

    def test_a_device_that_works(self):
        """There is no finding if the device works for a quarter of the time: one long kernel before the first step's
        end.
        """
        for work, found in ((2400, 1), (2600, 0)):
            events = self.burst(11, 100, 11) + launched("long", 0, work, 99, 10, stream=9)
            self.assertEqual(len(self.found(*events)), found)

    def test_three_steps(self):
        self.assertEqual(len(self.found(*self.burst(3, 10, 3))), 1)
        self.assertEqual(self.found(*self.burst(2, 10, 3)), [])


class NoLaunch(Asking):
    def test_is_in_a_step(self):
        """I8: the work is in the step of the linked work that starts last before it on its pid."""
        events = [step(1, 0, 100), step(2, 100, 100), *launched("a", 10, 5, 1, 120), *launched("a", 110, 5, 2, 150),
                  *[kernel(name, ts, 20, correlation, 20)
                    for name, ts, correlation in (("b", 121, 0), ("c", 160, 0), ("d", 170, 77))]]
        self.assertEqual(self.found(*events, columns="\"check\", severity, count, total, time_ns, steps, event, what"),
                         [("no launch", "note", 2, 5, 40000, None, 6,
                           "2 of 5 device events, 57 % of their time, have no launch")])
        self.assertEqual(self.read("name, iteration", "stream = 20"), [("b", 1), ("c", 2), ("d", None)])

    def test_backlog_is_none(self):
        self.assertEqual(self.found(kernel("b", 1, 5, 0), *launched("a", 10, 5, 1)), [])

    def test_a_file_without_links(self):
        self.assertEqual(self.found(kernel("b", 1, 5, 0), kernel("b", 11, 5, 0)), [])


class Cut(Asking):
    def test_two_writers(self):
        """I9: a file written by two programs at once is found."""
        text = json.dumps(document(*[event("op", i, 1) for i in range(20)]))
        write("t.json", text[:300] + text + text[300:])
        (count, total), = self.rows("SELECT count, total FROM trace_health('t.json') WHERE severity = 'incomplete'")
        self.assertEqual(total, 40)
        self.assertEqual(self.value("SELECT count(*) FROM trace_events('t.json')"), 40 - count)

    def test_after_the_document(self):
        whole = json.dumps(document(*[event("op", i, 1) for i in range(10)]))
        for number, severity in ((3, "incomplete"), (2, "note")):
            write("t.json", whole + json.dumps([event("op", i, 1) for i in range(number)]))
            self.assertEqual(self.rows("SELECT \"check\", severity, what FROM trace_health('t.json')"), [
                ("cut", severity, f"{number} of {10 + number} events were skipped: not JSON (two writers?)")])

    def test_a_second_list(self):
        """A second list is reported, also if it is longer than 16 MiB, or if the reader cuts it into pieces."""
        for count in (3, 200000):
            list_of = json.dumps([event("op", i, 1) for i in range(count)])
            write("t.json", f'{{"traceEvents": [{json.dumps(event("op", 1, 1))}], "traceEvents": {list_of}}}')
            self.assertEqual(self.rows("SELECT count, total FROM trace_health('t.json')"), [(count, count + 1)])

    def test_one_bad_event(self):
        events = [json.dumps(event("op", i, 1)) for i in range(5)]
        write("t.json", f'[{events[0]}, {{"ph": "X" "name"}}, {", ".join(events[1:])}]')
        self.assertEqual(self.rows("SELECT severity, count, total FROM trace_health('t.json')"), [("note", 1, 6)])


class BeforeLaunch(Asking):
    """I13: work before its launch."""

    def early(self, count, by=100, of=6):
        return [one for i in range(of) for one in launched("a", 1000 * i + 500, 10, i + 1,
                                                           1000 * i + (500 - by if i < count else 510))]

    def test_half_of_the_work(self):
        columns = "\"check\", severity, count, total, name, ts_ns, what"
        self.assertEqual(self.found(*self.early(3, 360), columns=columns), [
            ("before launch", "wrong", 3, 6, "a", 140000, "3 of 6 device events start before their launch: the"
             " device's clock is at least 360 us behind the host's")])
        self.assertEqual(self.found(*self.early(2), columns=columns), [
            ("before launch", "note", 2, 6, "a", 400000, "2 of 6 device events start before their launch, by up to"
             " 100 us")])
        self.assertEqual(self.what(*self.early(1)), ["1 of 6 device events starts before its launch, by up to 100 us"])
        for count, of, severity in ((2, 2, "note"), (2, 4, "note"), (3, 3, "wrong"), (3, 7, "wrong"), (3, 8, "note"),
                                    (4, 8, "wrong")):
            with self.subTest(count=count, of=of):
                self.assertEqual(self.found(*self.early(count, of=of), columns="severity"), [(severity,)])

    def test_10_us(self):
        """The limit is 10 us; a healthy recording has 6."""
        for by, found in ((7.5, 0), (10, 0), (10.001, 1), (13.333, 1)):
            self.assertEqual(len(self.found(*self.early(6, by))), found, by)

    def test_in_steps(self):
        self.assertEqual(self.found(step(1, 0, 900), step(2, 1000, 900), *self.early(1), columns="steps, first_step"),
                         [(1, 1)])


class Files(Asking):
    def health(self, columns="file, rank, \"check\", severity, count, total, what"):
        return self.rows(f"SELECT {columns} FROM trace_health('d')")

    def test_launches_of_several_processes(self):
        """I10: launches of several processes in one file are found."""
        other = [launch(50, 1, 2, pid=2), kernel("b", 60, 5, 2)]
        columns = "\"check\", severity, count, total, steps, what"
        self.assertEqual(self.found(*launched("a", 0, 5, 1), *other, columns=columns), [
            ("several processes", "wrong", 2, 2, None,
             "calls of 2 processes have device work: their numbers may clash")])
        self.assertEqual(self.found(*launched("a", 0, 5, 1), other[0], kernel("b", 60, 5, 1)), [
            ("kernels lost", "note", 1, 2)])
        self.assertEqual(self.found(*launched("a", 0, 5, 1), {**other[0], "pid": 1, "tid": 2}, other[1]), [])

    def test_ranks_in_one_file(self):
        """I10: several ranks in one file are found."""
        def labelled(label, name):
            return [{**one, "pid": f"[{label}] {one['pid']}"} for one in launched(name, 0, 5, 1)]
        write("d/a.json", document(*labelled("TP00", "x"), *labelled("TP01", "y")))
        self.assertEqual(self.health(), [
            (None, None, "not tied", "note", 1, 2, "1 of 2 ranks have no collective in common with rank 0"),
            ("d/a.json", None, "ranks in one file", "note", 2, 2, "2 ranks in one file: TP00, TP01")])
        write("d/17-TP-0.json", document(*launched("x", 0, 5, 1)))
        self.assertEqual(self.health(), [("d/a.json", None, "copy", "note", 2, 2,
                                          "left out: recordings of several ranks, beside files of one")])

    def test_many_labels(self):
        """The list of labels ends before it is too long."""
        write("d/a.json", document(*[event("x", 0, 5, pid=f"[{'L' * 30}{i}] 1") for i in range(20)]))
        what = self.rows("SELECT what FROM trace_health('d') WHERE \"check\" = 'ranks in one file'")[0][0]
        self.assertRegex(what, "^20 ranks in one file: L+0, (L+[0-9]+, )+[.]{3}$")
        self.assertLess(len(what), 500)

    def test_cycles_and_copies(self):
        """I11: the original is the file that starts first, not necessarily the first by name."""
        for number, start in ((1, 5000), (2, 0), (3, 9000)):
            write(f"d/host_42.{number}.pt.trace.json", document(*launched("x", start + 1, 5, 1)))
        self.assertEqual(self.health(), [("d/host_42.2.pt.trace.json", 0, "cycles", "note", 3, 3,
                                          "3 files of one process are cycles of one rank")])
        calls = [call("cudaStreamBeginCapture", 0, 1, 90), *[launch(10 + i, 1, 100 + i) for i in range(9)],
                 call("cudaStreamEndCapture", 30, 1, 91), *launched("x", 40, 5, 1)]
        write("d/b.json", document(*calls))
        self.assertEqual(self.health()[0], ("d/b.json", None, "copy", "note", 10, 10,
                                            "left out: a recording of the capture of graphs"))

    def test_ranks_that_nothing_ties(self):
        """I12: ranks that no collective ties together."""
        def side(*ranks):
            for rank, name in enumerate(ranks):
                write(f"d/rank{rank}.json", document(*[one for number in range(3) for one in (
                    step(number, 1000 * number, 900), *launched(name, 1000 * number + 5, 50, number + 1))]))
        side("ncclAllReduce", "ncclAllReduce", "gemm")
        self.assertEqual(self.health(), [(None, None, "not tied", "note", 1, 3,
                                          "1 of 3 ranks have no collective in common with rank 0")])
        side(*["ncclAllReduce"] * 3)
        self.assertEqual(self.health(), [])


class Function(Asking):
    def test_order(self):
        """Findings are ordered by severity, rank, file and check; trace_files has the same counts."""
        lost = Lost.steps(12, (2, 0), (4, 1), (6, 2))
        write("t/b1.json", {**document(*lost), "distributedInfo": {"rank": 1}})
        write("t/b0.json", {**document(*Lost.steps(12, (2, 0)), kernel("x", 2500, 1, 0, 9)),
                            "distributedInfo": {"rank": 0}})
        self.assertEqual(self.rows("SELECT file, rank, \"check\", severity FROM trace_health('t')"), [
            ("t/b1.json", 1, "kernels lost", "incomplete"), (None, None, "not tied", "note"),
            ("t/b0.json", 0, "no launch", "note")])
        self.assertEqual([(problem["what"], problem["count"]) for problem in json.loads(self.value(
            "SELECT problems FROM trace_files('t') WHERE rank = 1"))], [("kernels lost", 3)])

    def test_steps_by_name(self):
        """Findings depend on which events are steps."""
        events = [{**one, "name": "turn"} if one["name"].startswith("Pro") else one
                  for one in Lost.steps(12, (2, 0), (2, 1), (2, 2))]
        self.assertEqual(self.found(*events, columns="severity, steps"), [("incomplete", None)])
        self.assertEqual(self.rows("SELECT severity, first_step FROM trace_health('t.json', 'turn')"),
                         [("incomplete", 2)])

    def test_reads_no_file_again(self):
        path = os.path.join(EXAMPLES, "gpu", "test", "rank0.pt.trace.json.gz")
        read = []
        for sql in ("SELECT count(*) FROM trace_ops(?)", "SELECT * FROM trace_health(?)"):
            before = bytes_read()
            self.rows(sql, path)
            read.append(bytes_read() - before)
        self.assertGreater(read[0], os.path.getsize(path) / 2)
        self.assertLess(read[1], read[0] / 10)

    @slowest
    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_instructions(self):
        """The cost is at most a tenth of trace_diff's instructions for both traces."""
        sides = [corpus("hta", "trace_diff", side) for side in ("control", "test")]
        diff = "SELECT count(*) FROM trace_diff('{}', '{}'); ".format(*sides)
        both = diff + "".join(f"SELECT count(*) FROM trace_health('{side}'); " for side in sides)
        self.assertLess(instructions(both)[0], 1.1 * instructions(diff)[0])

    def test_columns(self):
        self.assertEqual(tuple(name for name, in self.rows(
            "SELECT name FROM tracediff_columns('trace_health') WHERE kind = 'column'")), COLUMNS)


def rows_of(db, path, folder):
    """Rows of trace_health in the format of a golden file."""
    return [("" if value is None else str(value).replace(folder + os.sep, "") if i == 0 else str(value)
             for i, value in enumerate(row)) for row in db.execute("SELECT * FROM trace_health(?)", (path,))]


def paths_named(folder, words):
    """Files and folders whose path contains these words, separated by `_`; several can have the same name."""
    if not words:
        yield folder
    for count in range(1, len(words) + 1):
        name = "_".join(words[:count])
        if os.path.exists(os.path.join(folder, name)):
            yield from paths_named(os.path.join(folder, name), words[count:])
        if count == len(words):
            ends = (".json", ".json.gz", ".pt.trace.json.gz")
            yield from filter(os.path.exists, (os.path.join(folder, name + end) for end in ends))


class Recorded(InFolder):
    def inputs(self, name):
        """The traces of a golden file, and the base folder of its paths."""
        cases = os.path.join(os.path.dirname(corpus()), "cases")
        of, words = name.split("_")[0], name.split("_")[1:]
        if of == "legit":
            return os.path.join(cases, "found", "legit"), paths_named(os.path.join(cases, "found", "legit"), words)
        if of == "in":
            reports = os.path.join(cases, "found", "reports")
            sides = found_below(os.path.join(reports, "_".join(words)), "*", "*" if words == ["ab4"] else "")
            return reports, sides
        for folder in (corpus(), cases, EXAMPLES):
            found = list(paths_named(folder, words))
            if found:
                return os.path.dirname(folder) if folder == EXAMPLES else folder, found[:1]
        return None, []

    def test_golden(self):
        count = 0
        for path in found_below(golden("health"), "*.csv"):
            name = os.path.basename(path)[:-4]
            if name == "answers":
                continue
            with open(path, encoding="utf-8", newline="") as file, self.subTest(name):
                expected = [tuple(row) for row in list(csv.reader(file))[1:]]
                folder, traces = self.inputs(name)
                found = [tuple(row) for trace in traces for row in rows_of(self.db, trace, folder)]
                self.assertIsNotNone(folder)
                if name in CHANGED:
                    self.assertEqual([(*row[2:4], *map(int, row[4:6])) for row in found], CHANGED[name])
                else:
                    self.assertEqual(sorted(found), sorted(expected))
                count += 1
        self.assertGreater(count, 60)

    def silent(self, folder):
        """Asserts that a folder has nothing worse than notes; returns the number of files."""
        count = 0
        for path in found_below(folder, "**", "*.*"):
            if not path.endswith((".json", ".json.gz", ".sqlite", ".db", ".pftrace", ".perfetto-trace", ".pb")):
                continue
            if any(part in path for part in ("/cases/found/", "/corpus/bad/")):
                continue
            try:
                rows = self.rows("SELECT * FROM trace_health(?)", path)
            except Exception:  # not a trace
                continue
            with self.subTest(path):
                self.assertEqual([row for row in rows if row[3] != "note"], [])
            count += 1
        return count

    def test_healthy_recordings_are_silent(self):
        self.assertGreater(self.silent(EXAMPLES), 40)

    def test_healthy_recordings_of_the_corpus_are_silent(self):
        self.assertGreater(self.silent(corpus()) + self.silent(os.path.join(os.path.dirname(corpus()), "cases")), 100)

    def test_odd_but_healthy_ones_are_silent(self):
        for path in found_below(os.path.join(os.path.dirname(corpus()), "cases", "found", "legit"), "*.json"):
            with self.subTest(path):
                rows = self.rows("SELECT * FROM trace_health(?)", path)
                self.assertEqual([row for row in rows if row[3] != "note"], [])


class Validation(Asking):
    """trace_validation follows PyTorch's own validator."""

    NEEDED = {"Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size"}
    RECORDS = {"cudaEventRecord" + more for more in ("", "_ptsz", "WithFlags", "WithFlags_ptsz")}

    def oracle(self, path):
        """{(rule, position)}"""
        with (gzip.open if path.endswith(".gz") else open)(path) as file:
            events = [(at, one, one.get("args") or {}) for at, one in enumerate(json.load(file)["traceEvents"])
                      if one.get("ph") == "X"]
        first, found = {}, set()
        for at, one, args in events:
            if one["name"] in self.RECORDS:
                for key in {args.get("External id"), args.get("correlation")} - {None}:
                    first["record", key] = min(one["ts"], first.get(("record", key), one["ts"]))
            what = "launch" if one["name"] == "cudaLaunchKernel" else one.get("cat")
            key = what, args.get("External id")
            if what in ("launch", "kernel") and key[1] is not None and one["ts"] < first.get(key, (1e30,))[0]:
                first[key] = one["ts"], at
        names = {}
        for at, one, args in events:
            sync, record = args.get("cuda_sync_kind"), args.get("wait_on_cuda_event_record_corr_id")
            if sync in ("Stream Wait Event", "Event Sync") and (record is None or record < 0):
                found.add(("stream_wait_corr_id_populated", at))
            elif sync == "Stream Wait Event" and first.get(("record", record), 1e30) > one["ts"]:
                found.add(("stream_wait_corr_id_in_past", at))
            stream = args.get("device"), args.get("stream")
            if sync == "Stream Sync" and any(
                    k["ts"] < one["ts"] < k["ts"] + k["dur"] for _, k, other in events if k.get("cat") == "kernel"
                    and (other.get("device"), other.get("stream")) == stream):
                found.add(("stream_sync_overlap", at))
            if one["name"] == "record_param_comms" and self.NEEDED - set(args):
                found.add(("nccl_metadata", at))
            if "autograd::engine::evaluate_function:" in one["name"] and args.get("Sequence number") is not None:
                names.setdefault(args["Sequence number"], []).append((one["ts"], at, one["name"]))
        found |= {("gpu_kernel_causality", at) for (what, key), (ts, at) in
                  ((key, value) for key, value in first.items() if key[0] == "kernel")
                  if ts < first.get(("launch", key), (ts,))[0]}
        found |= {("backward_seq_id_uniqueness", min(ones)[1]) for ones in names.values()
                  if len({name for _, _, name in ones}) > 1}
        return found

    def test_each_rule(self):
        for name, event_, time_ns, text in (
                ("kernel_before_launch", 3, 115000, "starts before its cudaLaunchKernel"),
                ("nccl_metadata", 20, None, "lacks Collective name, Group size, In msg nelems, Out msg nelems"),
                ("seq_shared", 20, None, "2 backward operators share Sequence number 5"),
                ("sync_overlap", 20, 160000, "gemm still runs on its stream"),
                ("wait_in_future", 21, 400000, "waits for a CUDA event recorded later"),
                ("wait_without_record", 20, None, "Stream Wait Event names no recorded CUDA event")):
            with self.subTest(name):
                path = corpus("..", "cases", "found", "field", "val", name + ".json")
                rows = self.rows("SELECT rule, event, time_ns, text FROM trace_validation(?)", path)
                self.assertEqual([row[1:] for row in rows], [(event_, time_ns, text)])
                self.assertEqual({row[:2] for row in rows}, self.oracle(path))

    def test_of_recordings(self):
        seen = set()
        for parts in (("gpu", "control"), ("gpu", "test"), ("gloo", "two"), ("h200", "prefetch", "control")):
            for file in sorted(glob.glob(os.path.join(EXAMPLES, *parts, "*.json.gz"))):
                with self.subTest(file):
                    rows = set(self.rows("SELECT rule, event FROM trace_validation(?)", file))
                    self.assertEqual(rows, self.oracle(file))
                    seen |= {rule for rule, _ in rows}
        self.assertGreaterEqual(seen, {"stream_sync_overlap", "stream_wait_corr_id_populated"})

    def test_at_the_same_instant(self):
        """Events at the same instant pass: a sync that begins when the kernel begins or ends, a wait at its record, a
        kernel at its launch.
        """
        sync = {"cuda_sync_kind": "Stream Sync", "device": 0, "stream": 7}
        wait = {"cuda_sync_kind": "Stream Wait Event", "wait_on_cuda_event_record_corr_id": 9}
        for late, rules in ((0, []), (0.001, ["gpu_kernel_causality", "stream_sync_overlap",
                                              "stream_wait_corr_id_in_past"])):
            write("t.json", document(
                event("cudaLaunchKernel", 10 + late, 1, cat="cuda_runtime", args={"External id": 1, "correlation": 5}),
                event("k", 10, 5, cat="kernel", args={"External id": 1, "device": 0, "stream": 7, "correlation": 5}),
                event("Stream Sync", 10 + late, 9, cat="cuda_sync", args=sync),
                event("Stream Sync", 15, 9, cat="cuda_sync", args=sync),
                event("cudaEventRecord", 20 + late, 1, cat="cuda_runtime", args={"correlation": 9}),
                event("Stream Wait Event", 20, 1, cat="cuda_sync", args=wait)))
            self.assertEqual(self.rows("SELECT rule FROM trace_validation('t.json')"), [(rule,) for rule in rules])
            self.assertEqual({rule for rule, _ in self.oracle("t.json")}, set(rules))


if __name__ == "__main__":
    unittest.main()
