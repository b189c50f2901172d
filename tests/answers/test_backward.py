"""trace_backward: against the flows with which PyTorch's profiler links forward and backward operators, and against an
independent implementation of its rules on random traces.
"""
import glob
import gzip
import json
import os
import random
import unittest
from collections import defaultdict

from made import InFolder, document, event, kernel, launch, write
from support import EXAMPLES, corpus, series


def operator(name, ts, dur, number, fwd_thread=0, **fields):
    return event(name, ts, dur, args={"Sequence number": number, "Fwd thread id": fwd_thread}, **fields)


def rules(events):
    """{backward event: (forward event or None)} for events numbered by list index; their starts differ."""
    numbered = {place: each for place, each in enumerate(events)
                if each.get("args", {}).get("Sequence number", -1) >= 0}
    of_number = {place: each["args"]["Sequence number"] for place, each in numbered.items()}
    backward = {place for place, each in numbered.items() if each["args"]["Fwd thread id"] > 0}

    def parent(place):
        """The innermost other event on the thread that contains its start."""
        one = events[place]
        around = [other for other, each in enumerate(events) if other != place and each["tid"] == one["tid"]
                  and each["ts"] <= one["ts"] < each["ts"] + each["dur"]]
        return max(around, key=lambda other: (events[other]["ts"], -events[other]["dur"]), default=None)

    listed = {place for place in backward if not (
        parent(place) in backward and of_number[parent(place)] == of_number[place])}
    threads = {place: {numbered[other]["tid"] for other in numbered.keys() - backward
                       if of_number[other] == of_number[place]}
               for place in listed}
    known = defaultdict(set)
    for place, tids in threads.items():
        if len(tids) == 1:
            known[numbered[place]["args"]["Fwd thread id"]] |= tids
    found = {}
    for place, tids in threads.items():
        if len(tids) > 1:
            tids = known[numbered[place]["args"]["Fwd thread id"]]
        before = [other for other in numbered.keys() - backward if of_number[other] == of_number[place]
                  and numbered[other]["tid"] in tids and numbered[other]["ts"] <= numbered[place]["ts"]]
        before = before if len(tids) == 1 else []
        found[place] = max(before, key=lambda other: numbered[other]["ts"], default=None)
    return found


class Backward(InFolder):
    def read(self, path):
        rows = self.rows("SELECT event, fwd_event FROM trace_backward(?)", path)
        self.assertEqual(len(dict(rows)), len(rows))
        return dict(rows)

    def check_flows(self, path, least):
        """Each flow of the profiler ends in a listed backward operator, or directly inside one."""
        with (gzip.open if path.endswith(".gz") else open)(path) as file:
            events = json.load(file)
        events = events["traceEvents"] if isinstance(events, dict) else events

        def at(each):
            return each["pid"], each["tid"], float(each["ts"])

        def key(each):
            return *at(each)[:2], each["args"]["Sequence number"]

        flows, numbered, listed, found = defaultdict(dict), defaultdict(list), {}, self.read(path)
        for each in events:
            if each.get("ph") == "X" and "Sequence number" in each.get("args", {}):
                numbered[key(each)].append(each)
            if each.get("cat") == "fwdbwd":
                flows[each["id"]][each["ph"]] = at(each)
        for backward in found:
            each = events[backward]
            listed[at(each)] = backward
            listed.update((at(inner), backward) for inner in numbered[key(each)]
                          if 0 <= float(inner["ts"]) - float(each["ts"]) < float(each["dur"]))
        self.assertGreaterEqual(len(flows), least)
        self.assertEqual([found[listed[ends["f"]]] is not None and at(events[found[listed[ends["f"]]]])
                          for ends in flows.values()],
                         [ends["s"] for ends in flows.values()])

    def test_flows_of_the_profiler(self):
        for path in sorted(glob.glob(os.path.join(EXAMPLES, "*pu", "*", "*.json.gz")))[::series(2, 1)]:
            with self.subTest(path):
                self.check_flows(path, 100)

    def test_flows_of_other_profilers(self):
        amd, = glob.glob(os.path.join(corpus("hta", "amd_trace"), "*.gz"))
        self.check_flows(amd, 4)
        self.check_flows(corpus("ascend", "trace_view.json"), 17)

    def test_every_backward_operator_of_a_real_trace(self):
        """In a real trace without flows, every backward operator is listed."""
        self.assertEqual(self.rows("SELECT count(*), count(fwd_event), min(fwd_ts < ts) FROM trace_backward(?)",
                                   corpus("hta", "trace_diff", "control")), [(2382, 2382, 1)])

    def test_random_traces(self):
        pairs = unknown = 0
        count = series(100, 300)
        for seed in range(count):
            rng = random.Random(seed)
            starts = rng.sample(range(100), 24)
            events = [operator("op", ts, rng.choice((1, 5, 30)), rng.randrange(-1, rng.choice((2, 6))),
                               rng.choice((0, 0, 0, 1, 2)) if ts > 30 else 0, tid=rng.choice((1, 1, 1, 2)))
                      for ts in starts]
            expected = rules(events)
            pairs += sum(forward is not None for forward in expected.values())
            unknown += sum(forward is None for forward in expected.values())
            with self.subTest(seed):
                self.assertEqual(self.read(write(f"{seed % 8}.json", document(*events))), expected)
        self.assertGreater(min(pairs, unknown), count)

    def test_by_hand(self):
        write("a.json", document(
            operator("aten::linear", 0, 20, 7), operator("aten::addmm", 5, 10, 7), launch(6, 1, 1),
            kernel("k", 50, 10, 1),
            operator("engine: AddmmBackward0", 100, 20, 7, 1, tid=2), operator("AddmmBackward0", 101, 18, 7, 1, tid=2),
            launch(105, 1, 2, tid=2), launch(106, 1, 3, tid=2), kernel("l", 130, 10, 2), kernel("m", 140, 10, 3),
            operator("no number", 200, 5, -1, 1), operator("nothing before it", 300, 5, 9, 1),
            operator("later", 400, 5, 9), event("no args", 500, 5)))
        self.assertEqual(self.rows("SELECT rank, iteration, event, name, ts, dur, kernel_dur_sum, sequence_number,"
                                   " fwd_event,"
                                   " fwd_name, fwd_ts, fwd_dur, fwd_kernel_dur_sum FROM trace_backward('a.json')"), [
            (0, None, 4, "engine: AddmmBackward0", 100, 20, 20, 7, 1, "aten::addmm", 5, 10, 10),
            (0, None, 11, "nothing before it", 300, 5, 0, 9, None, None, None, None, None)])

    def test_numbers_count_for_each_thread(self):
        """Sequence numbers count per thread. Number 3 shows that thread 1 of the program is 10 here; nothing identifies
        thread 2.
        """
        events = [operator("a", 0, 5, 3, tid=10), operator("b", 10, 5, 4, tid=10), operator("c", 20, 5, 4, tid=20),
                  operator("A", 100, 5, 3, 1), operator("B", 110, 5, 4, 1), operator("C", 120, 5, 4, 2)]
        self.assertEqual(self.read(write("a.json", document(*events))), {3: 0, 4: 1, 5: None})
        self.assertEqual(self.rows("SELECT * FROM trace_backward(NULL)"), [])
        self.assert_error("trace_backward: the trace has no rank 7 (ranks: 0)",
                          "SELECT * FROM trace_backward('a.json', 7)")

    def test_effort_is_linear(self):
        """The effort, in steps of SQLite's virtual machine, is linear, also where all operators have one number."""
        took = []
        for size in (500, 2000):
            path = write(f"{size}.json", document(*(operator("f", 2 * place, 1, 1) for place in range(size)),
                                                  *(operator("b", 2 * place + 9 * size, 1, 1, 1)
                                                    for place in range(size))))
            self.read(path)
            took.append(0)

            def count():
                took[-1] += 1
            self.db.set_progress_handler(count, 100)
            self.assertEqual(set(self.read(path).values()), {size - 1})
            self.db.set_progress_handler(None, 0)
        self.assertLess(took[1], 6 * took[0])


if __name__ == "__main__":
    unittest.main()
