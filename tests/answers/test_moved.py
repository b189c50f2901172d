"""Time that only moved from one name to another (L12), and labels that one side lacks (L13), are not causes.

oracle_moved.py implements the effect of both rules on the parts a second time, in test_step_causes and
test_gains_oracle.
"""
import glob
import gzip
import json
import os
import random
import shutil

import traces
from generate_answers import numbers_pairs, odd_pairs
from generate_gains import write_gains_pair
from generate_waits import write_pair as write_waits
from made import InFolder, document, event, kernel, launch, step, write
from oracle_moved import label_of
from support import EXAMPLES, corpus, found_below, series, slowest
from test_step_causes import in_modules

CAUSES = "SELECT kind, name, control_time, test_time, diff_time FROM trace_step_causes('control', 'test')"


def annotation(name, ts, dur):
    return event(name, ts, dur, cat="user_annotation")


def sync(ts, until):
    return event("cudaDeviceSynchronize", ts, until - ts, cat="cuda_runtime")


class Small(InFolder):
    """Small versions of real pairs."""

    def causes(self, control, test):
        """[(kind, name, difference)] of the rows that differ."""
        for side, events in (("control", control), ("test", test)):
            write(f"{side}/rank0.json", document(*events))
        return [(kind, name, diff) for kind, name, _, _, diff in self.rows(CAUSES) if diff]

    @staticmethod
    def loop(us, gap=5000, between=()):
        """Runs a kernel five times, each followed by a gap in which operators run for 1 us."""
        events, at = [], 0
        for number in range(5):
            end = at + 20 + us
            events += [event("aten::mm", at, 30), launch(at + 5, 10, number + 1),
                       kernel("sgemm", at + 20, us, number + 1), sync(at + 40, end),
                       *(event(name, end + 1 + 2 * place, 1) for place, name in enumerate(between))]
            at = end + gap
        return events

    def test_a_label_that_one_side_has_is_no_cause(self):
        """A label on one side only is no cause, without steps and with equal gaps on both sides."""
        control, test = self.loop(3000), self.loop(2000)
        labels = [annotation("generate", 0, 35100), annotation("generate", 0, 30100)]
        expected = [("changed", "aten::mm", -5000)]
        self.assertEqual(self.causes(control, test), expected)
        self.assertEqual(self.causes([*control, labels[0]], [*test, labels[1]]), expected)
        self.assertEqual(self.causes(control, [*test, labels[1]]), expected)
        self.assertEqual(self.causes([*control, labels[0]], test), expected)
        self.assertEqual(self.causes([*control, annotation("run", 0, 35100)], [*test, labels[1]]), expected)

    def test_gaps_are_net(self):
        """A small operator begins the gap of 5 ms in test, so the gap has another name, and is 0.1 ms longer; only the
        net counts.
        """
        control, test = self.loop(1000), self.loop(1000, gap=5100, between=["aten::detach"])
        self.assertEqual(self.causes(control, test), [("not recorded", None, 397), ("host late", None, 5)])
        self.assertEqual(self.causes(test, control), [("not recorded", None, -397), ("host late", None, -5)])

    def test_a_gap_of_which_little_moved_keeps_its_name(self):
        """One of nine short gaps takes 5 ms in test and begins with a small operator there, but keeps its name."""
        def twice(gap, *between):
            first = self.loop(1000, gap=20)
            end = max(each["ts"] + each["dur"] for each in first)
            again = [{**each, "ts": each["ts"] + end + gap,
                      "args": {"correlation": each.get("args", {}).get("correlation", 0) + 10}} for each in first]
            return [*first, *(event(name, end + 1, 1) for name in between), *again]
        self.assertEqual(self.causes(twice(20), twice(5000, "aten::detach")),
                         [("not recorded", "between aten::detach and aten::mm", 4978), ("host late", None, 1),
                          ("not recorded", None, 1)])
        # 20 us of 200 have moved, or of 199
        for gap, name in ((222, "between aten::detach and aten::mm"), (221, None)):
            self.assertEqual(self.causes(twice(20), twice(gap, "aten::detach"))[0][:2], ("not recorded", name))

    def test_a_gap_moves_into_the_event_beside_it(self):
        """A first call's compilation, 300 us, is inside an operator in control, and before the operator in test."""
        def trace(before, inside, mark=False):
            events = [event("aten::add", 0, 10)] + mark * [event("aten::detach", 11, 1)]
            at = 12 + before
            end = at + 20 + inside
            return [*events, event("scripted", at, 20 + inside), launch(at + 10 + inside, 5, 1),
                    kernel("k", end + 5, 100, 1), sync(end + 1, end + 110), event("aten::mul", end + 111, 5),
                    launch(end + 112, 3, 2), kernel("m", end + 125, 20, 2), sync(end + 118, end + 150)]
        for there, back in ((trace(3, 300), trace(303, 0, True)), (trace(303, 0, True), trace(3, 300))):
            found = self.causes(there, back)
            self.assertLess(max(abs(diff) for _, _, diff in found), 10, found)

    def fused(self, *work):
        """Four steps, in each of which operators launch kernels in one area: (operator, kernel, us)."""
        events, number = [], 0
        for place in range(4):
            at = (320 + sum(us for _, _, us in work)) * place
            end = at + 300 + sum(us for _, _, us in work)
            events += [step(place, at, end + 20 - at), annotation("forward", at + 5, 200), sync(at + 250, end)]
            for place_of, (operator, name, us) in enumerate(work):
                number += 1
                before = sum(us for _, _, us in work[:place_of])
                events += [event(operator, at + 10 + 20 * place_of, 15), launch(at + 12 + 20 * place_of, 2, number),
                           kernel(name, at + 290 + before, us, number)]
        return events

    def texts(self, control, test):
        self.causes(control, test)
        return [text for text, in self.rows("SELECT text FROM trace_summary('control', 'test') WHERE kind = 'cause'")]

    def test_an_operator_takes_over_with_kernels_of_others(self):
        """An operator takes over three kernels, one of which continues in it. Control still had no such operator."""
        eager = [("aten::mm", "gemm", 20), ("aten::add", "add", 20), ("aten::mul", "mul", 20)]
        compiled = [("Compiled", "gemm", 25), ("Compiled", "triton", 90)]
        for sides, words in (((eager, compiled), "Compiled replaces 2 operators (forward)"),
                             ((compiled, eager), "aten::mm and 2 more replace Compiled (forward)")):
            text = self.texts(*(self.fused(*work) for work in sides))[0]
            self.assertTrue(text.endswith(f"  compute        {words}"), text)

    def test_no_gain_if_more_than_a_tenth_moved(self):
        """If more than a tenth moved, there is no gain: a kernel of 20 us moves to another operator, which also
        launches another kernel.
        """
        for us, known in ((200, True), (199, False)):
            self.causes(self.fused(("aten::mm", "gemm", 20)),
                        self.fused(("Compiled", "gemm", 20), ("Compiled", "new", us)))
            rows = self.rows("SELECT diff_time, gain_alone IS NOT NULL FROM trace_undo('control', 'test')"
                             " WHERE name = 'Compiled'")
            self.assertEqual(rows, [(us, known)])

    def replayed(self, graph):
        """Four steps of three products of 1 ms each, eager or in a CUDA graph."""
        events = []
        for number in range(4):
            at, correlations = 4000 * number, [10 * number + 1 + place * (not graph) for place in range(3)]
            events += [step(number, at, 4000), sync(at + 200, at + 3150)]
            if graph:
                events.append(event("cudaGraphLaunch", at + 10, 30, cat="cuda_runtime",
                                    args={"correlation": correlations[0]}))
            for place, correlation in enumerate(correlations):
                if not graph:
                    events += [event("aten::mm", at + 10 + 50 * place, 40),
                               launch(at + 15 + 50 * place, 10, correlation)]
                events.append(kernel("sgemm", at + 100 + 1000 * place, 1000, correlation))
        return events

    def test_kernels_of_a_graph_are_the_same_kernels(self):
        """Kernels of a graph count as the same kernels, and waiting for a longer launch instead of in the queue is no
        cause.
        """
        for sides in ((False, True), (True, False)):
            self.assertEqual(self.causes(*map(self.replayed, sides)), [])

    def test_a_kernel_that_takes_longer_in_a_graph(self):
        longer = [{**each, "dur": 1100} if each["name"] == "sgemm" and each["ts"] % 4000 == 2100 else each
                  for each in self.replayed(True)]
        self.assertEqual(self.causes(self.replayed(False), longer)[0], ("changed", "sgemm", 100))

    def test_numbers_at_the_end_of_names(self):
        """Numbers at the end of names, which count runs, regions or threads, are ignored."""
        def trace(operator, kernel_name):
            return [each for number in range(5) for at in [1300 * number] for each in (
                step(number, at, 1300), event(operator, at + 10, 40), launch(at + 15, 10, number),
                kernel(kernel_name, at + 100, 1000, number), sync(at + 60, at + 1110))]
        for one, other in (("Torch-Compiled Region: 5/0", "Torch-Compiled Region: 8/0"),
                           ("Torch-Compiled Region: 5/0", "Torch-Compiled Region: 8/12"),
                           ("sglang_profiler::attention_1", "sglang_profiler::attention_100"),
                           ("gif_thread_id:1569", "gif_thread_id:7"), ("block.3", "block.11"), ("call #3", "call #4"),
                           ("fused__to__15680171862954066917", "fused__to__16747471071299466860"),
                           ("triton_poi_fused_add_1_0badc0de", "triton_poi_fused_add_4_c0ffee42"),
                           ("triton_poi_fused_add_1_0badc0de", "triton_poi_fused_add_1")):
            self.assertEqual(self.causes(trace(one, one), trace(other, other)), [], (one, other))
            self.assertNotIn("replaced", [row[0] for row in self.rows(CAUSES)])
        for one, other in (("BmmBackward0", "BmmBackward1"), ("op a_1", "op b_1"), ("gemm_64x32", "gemm_64x64"),
                           ("1", "2"), ("gemm_f16f16f16", "gemm_bf16bf16"), ("op_effaced", "op_defaced"),
                           ("op_0badc0d", "op_c0ffee4"), ("op a0badc0de", "op bc0ffee42")):
            found = self.causes(trace(one, one), trace(other, other))
            replaced = [row[0] for row in self.rows(CAUSES)].count("replaced")
            self.assertEqual((len(found), replaced), (0, 1), (one, other))  # L2.2, L2.7


class Labels(InFolder):
    """L13 on random pairs: labels of one side do not change causes."""
    COUNT = series(24, 200)

    @staticmethod
    def write_pair(seed):
        rng = random.Random(seed)
        if seed % 4 == 0:
            write_gains_pair("base/control", "base/test", seed, other=True)
        elif seed % 4 == 1:
            write_waits("base/control", "base/test", seed)
        for number, side in enumerate(("control", "test")):
            if seed % 4 == 2:
                write(f"base/{side}/rank0.json", in_modules(2 * seed + number))
            elif seed % 4 == 3:
                traces.save(traces.generate(rng, ranks=rng.choice((1, 2)), odd=False), f"base/{side}",
                            traces.Style(random.Random(0)))

    def make(self, seed):
        """{side: {file: its head and events}} of a pair."""
        shutil.rmtree("base", ignore_errors=True)
        self.write_pair(seed)
        made = {}
        for side in ("control", "test"):
            made[side] = {}
            for path in sorted(glob.glob(f"base/{side}/*")):
                with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
                    content = json.loads(file.read())
                made[side][os.path.basename(path)] = {"head": content, "events": content["traceEvents"]}
        return made

    def causes(self, sides):
        """All causes of a pair."""
        for side, files in sides.items():
            shutil.rmtree(side, ignore_errors=True)
            for name, each in files.items():
                write(f"{side}/{name}", {**each["head"], "traceEvents": each["events"]})
        return [self.rows(f"SELECT * FROM {function}('control', 'test')")
                for function in ("trace_step_causes", "trace_cause_parts")]

    @staticmethod
    def altered(sides, which, alter):
        """The sides, with new events where `alter(events of a file)` returns some."""
        return {side: {name: {**each, "events": alter(each["events"])} if side in which else each
                       for name, each in files.items()} for side, files in sides.items()}

    @staticmethod
    def is_frame(each):
        return each.get("cat") == "python_function" and label_of(each) == "python"

    @staticmethod
    def label(each):
        """The label in comparable form; None for no label, or for more than a label."""
        name = label_of(each) if isinstance(each.get("name"), str) and each.get("ph") == "X" else None
        return None if name is None or name.startswith(("ProfilerStep", "nccl:", "gloo:", "python")) else name

    def labels(self, sides):
        """Labels on both sides. Without steps, the window covers all events (A2.5), so no label may go."""
        if not all(self.value("SELECT count(*) FROM trace_steps(?)", f"base/{side}") for side in sides):
            return []
        return sorted(set.intersection(*({self.label(one) for each in files.values() for one in each["events"]}
                                         for files in sides.values())) - {None})

    def test_added(self):
        """Many labels, added anywhere in a trace, change nothing."""
        for seed in range(self.COUNT):
            sides, rng = self.make(seed), random.Random(seed)
            added = [("user_annotation", "mine"), ("user_annotation", "layers.{}.mine"),
                     ("python_function", "nn.Module: Mine_{}")]
            of_all = [one for files in sides.values() for each in files.values() for one in each["events"]]
            if not any(map(self.is_frame, of_all)):
                added.append(("python_function", "mine.py({}): mine"))  # all frames share one label

            def add(events):
                host = [one for one in events if one.get("ph") == "X" and one.get("cat") in ("cpu_op", "cuda_runtime")]
                if not host:
                    return events
                first, last = min(one["ts"] for one in host), max(one["ts"] + one["dur"] for one in host)
                made = []
                for number in range(rng.choice((1, 3, 30))):
                    begin, end = sorted(rng.uniform(first, last) for _ in range(2))
                    (cat, name), thread = rng.choice(added), rng.choice(host)
                    made.append(event(name.format(number), round(begin, 3), round(end - begin, 3), cat=cat,
                                      pid=thread["pid"], tid=thread["tid"]))
                return [*events, *made]
            with self.subTest(seed=seed):
                expected = self.causes(sides)
                for side in ("control", "test"):
                    self.assertEqual(self.causes(self.altered(sides, [side], add)), expected, side)

    def test_removed_and_renamed(self):
        """Removing or renaming labels gives the answer of both sides without them."""
        seen = 0
        for seed in range(self.COUNT):
            sides, rng = self.make(seed), random.Random(seed)
            labels = self.labels(sides)
            chosen = rng.sample(labels, rng.randint(1, len(labels))) if labels else []

            def remove(events):
                return [one for one in events if self.label(one) not in chosen]

            def rename(events):
                return [{**one, "name": ("nn.Module: Renamed " if one["name"].startswith("nn.Module: ") else "renamed ")
                         + one["name"]} if self.label(one) in chosen else one for one in events]
            if not chosen:
                continue
            with self.subTest(seed=seed, chosen=chosen):
                usual = self.causes(sides)
                expected = self.causes(self.altered(sides, ["control", "test"], remove))
                seen += usual != expected
                for side in ("control", "test"):
                    for change in (remove, rename):
                        self.assertEqual(self.causes(self.altered(sides, [side], change)), expected, (side, change))
        self.assertGreater(seen, self.COUNT // 4)


class Cancelling(InFolder):
    """No change counts twice with opposite signs. The sum of |difference| over causes is at most 1.25 times the sum
    over kernels, over other work on both sides except gaps, and over the net of the rest.
    """
    MOST = 1.25
    DIFFS = """SELECT class IN ('compute', 'comm', 'memory') AS of_device, coalesce(name, ''), control_time, test_time,
        coalesce(diff_time, 0) FROM trace_step_diff(?, ?) WHERE level = ?"""

    def ratio(self, *sides):
        """None without device work on both sides, and when causes only moved between ranks."""
        causes = self.rows("SELECT kind, diff_time FROM trace_step_causes(?, ?)", *sides)
        kernels, shared, rest = [], [], []
        for level in ("kernel", "op"):
            for of_device, name, *times in self.rows(self.DIFFS, *sides, level):
                both = all(times[:2]) and "between" not in name
                if of_device == (level == "kernel"):
                    (kernels if of_device else shared if both else rest).append(times)
        on_device = [any(each[side] for each in kernels) for side in (0, 1)]
        if not all(on_device) or "moved" in [kind for kind, _ in causes]:
            return None
        most = sum(abs(diff) for *_, diff in kernels + shared) + abs(sum(diff for *_, diff in rest))
        return sum(abs(diff) for _, diff in causes) / (most or 1)

    def check(self, pairs, least):
        count = 0
        for sides in pairs:
            ratio = self.ratio(*sides)
            count += ratio is not None
            with self.subTest(sides):
                self.assertLessEqual(ratio or 0, self.MOST)
        self.assertGreater(count, least)

    @staticmethod
    def below(folder, *places):
        """Pairs of traces in these places, some of them from a CPU."""
        controls = [path for place in places for path in found_below(folder, *place, "control")]
        return [(path, os.path.join(os.path.dirname(path), "test")) for path in controls
                if os.path.exists(os.path.join(os.path.dirname(path), "test"))
                and not found_below(path, "**", "*.pickle")]

    def test_examples(self):
        self.check(self.below(EXAMPLES, ["gpu"], ["jax"], ["serving"], ["h200", "*"], ["gains", "*"]), 9)

    @slowest
    def test_real_traces(self):
        pairs = (("hta/trace_compare/base", "hta/trace_compare/test"), ("hta/amd_trace", "hta/triton_example"),
                 ("kineto/resnet50_workers_0", "kineto/resnet50_workers_4"))
        found = self.below(corpus(), ["**"]) + self.below(os.path.dirname(corpus()), ["cases", "wild", "**"],
                                                          ["cases", "diagnose", "**"])
        self.check(found + [[corpus(*path.split("/")) for path in sides] for sides in pairs], 4)

    def test_random_pairs(self):
        """Random pairs of partly changed programs stay within the bound. It does not apply when communication is late
        (L9), or when names of HIP and CUDA meet.
        """
        def gains():
            for seed in range(series(10, 40)):
                write_gains_pair("gains/control", "gains/test", seed, other=True)
                yield None, "gains"
                shutil.rmtree("gains")
        made = (odd_pairs(self.folder), numbers_pairs(self.folder, series(40, 400)), gains())
        self.check(([os.path.join(place, side) for side in ("control", "test")] for each in made for _, place in each),
                   series(60, 350))
