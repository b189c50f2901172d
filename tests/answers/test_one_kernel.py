"""One kernel counts as one kernel: work that another operator or a graph launches (L5.7, C20), and names that differ
only in a number or a hash (L5.3).
"""
import json
import random
import unittest

from made import InFolder, document, event, kernel, launch, step, write
from oracle_runs import graph_change, sides_of
from support import series

WORK = "SELECT text FROM trace_work_diff('a', 'b')"
LINES = "SELECT text FROM trace_summary('a', 'b') WHERE kind IN ('graphs', 'work')"
GRAPHS = "SELECT code, words FROM trace_summary('a', 'b') WHERE kind = 'graphs'"


class Writer:
    """Writes a side: calls of operators, launches and graphs, in steps of 4 ms."""

    def __init__(self):
        self.events, self.correlation, self.at, self.device = [], 0, 0, 0

    def step(self, number):
        self.at = self.device = 4000 * number
        self.events.append(step(number, self.at, 4000))

    def kernels(self, kernels):
        for name, dur in kernels:
            self.device = max(self.device, self.at + 20)
            self.events.append(kernel(name, self.device, dur, self.correlation))
            self.device += dur

    def launch(self, *kernels, call="cudaLaunchKernel"):
        """One call that launches kernels (name, us)."""
        self.correlation += 1
        self.events.append({**launch(self.at, 4, self.correlation), "name": call})
        self.kernels(kernels)
        self.at += 5

    def graph(self, *kernels, call="cudaGraphLaunch"):
        self.launch(*kernels, call=call)

    def op(self, name, *inner):
        """An operator with its content: kernels (name, us), or functions to call."""
        own = event(name, self.at, 0)
        self.events.append(own)
        self.at += 1
        for each in inner:
            if callable(each):
                each()
            else:
                self.launch(each)
        self.at += 1
        own["dur"] = self.at - own["ts"]
        self.at += 1


def side(make, steps=4):
    """The events of a side, whose steps are the calls of make(writer)."""
    writer = Writer()
    for number in range(steps):
        writer.step(number)
        make(writer)
    return writer.events


def without_steps(events):
    return [each for each in events if not each["name"].startswith("ProfilerStep")]


def eager(count, name="aten::mm", kernel_name="sgemm"):
    return lambda writer: [writer.op(name, (kernel_name, 500)) for _ in range(count)]


def replayed(*counts, call="cudaGraphLaunch"):
    """Graphs of this many kernels."""
    return lambda writer: [writer.graph(*[("sgemm", 500)] * count, call=call) for count in counts]


class Sides(InFolder):
    def put(self, control, test, **keys):
        for path, events in (("a", control), ("b", test)):
            write(f"{path}/rank0.json", document(*(side(events) if callable(events) else events), **keys))

    def texts(self, sql, *sides, **keys):
        self.put(*sides, **keys)
        return [row[0] for row in self.rows(sql)]


class Graphs(Sides):
    """C20: operators in graphs."""

    def test_operators_that_run_in_a_graph(self):
        """Operators run in a graph instead; no time changes, and no operator is reported as gone."""
        self.assertEqual(self.texts(LINES, eager(3), replayed(3)),
                         ["change: 3 operators now run inside a CUDA graph (1 launch per step)"])
        self.assertEqual(self.rows(GRAPHS),
                         [("into", "3 operators now run inside a CUDA graph (1 launch per step)")])
        self.assertEqual(self.rows(WORK), [])

    def test_operators_that_no_longer_do(self):
        self.assertEqual(self.texts(LINES, replayed(3), eager(3)),
                         ["change: 3 operators no longer run inside a CUDA graph (1 launch per step)"])
        self.assertEqual(self.rows("SELECT code FROM trace_summary('a', 'b') WHERE kind = 'graphs'"), [("out of",)])

    def test_one_and_several(self):
        for control, test, words in (
                (eager(1), replayed(1), "1 operator now runs inside a CUDA graph (1 launch per step)"),
                (replayed(1), eager(1), "1 operator no longer runs inside a CUDA graph (1 launch per step)"),
                (eager(3), replayed(2, 1), "3 operators now run inside CUDA graphs (2 launches per step)"),
                (eager(3), replayed(3, call="hipGraphLaunch"),
                 "3 operators now run inside a HIP graph (1 launch per step)"),
                (eager(3), replayed(3, call="musaGraphLaunch"),
                 "3 operators now run inside a graph (1 launch per step)")):
            self.assertEqual(self.texts(LINES, control, test), [f"change: {words}"])

    def test_traces_without_steps(self):
        sides = [without_steps(side(make, steps=1)) for make in (eager(3), replayed(3))]
        self.assertEqual(self.texts(LINES, *sides),
                         ["change: 3 operators now run inside a CUDA graph (1 launch per trace)"])

    def test_not_more_operators_than_kernels_in_graphs(self):
        """At most as many operators as kernels in graphs moved into them; the others are gone."""
        self.assertEqual(self.texts(LINES, eager(3), replayed(1)),
                         ["change: 1 operator now runs inside a CUDA graph (1 launch per step)"])
        self.assertEqual(self.rows(WORK), [("aten::mm gone, 3 per step",)])

    def test_an_operator_that_launches_several_kernels_is_one(self):
        def control(writer):
            writer.op("aten::linear", lambda: writer.op("aten::addmm", ("sgemm", 500), ("bias", 100)))
        self.assertEqual(self.texts(LINES, control, lambda writer: writer.graph(("sgemm", 500), ("bias", 100))),
                         ["change: 1 operator now runs inside a CUDA graph (1 launch per step)"])

    def test_some_operators_still_run_by_themselves(self):
        def test(writer):
            eager(2)(writer)
            replayed(3)(writer)
        self.assertEqual(self.texts(LINES, eager(5), test),
                         ["change: 3 operators now run inside a CUDA graph (1 launch per step)"])

    def test_steps_that_overlap_are_no_change(self):
        """One step of test runs eagerly what the others replay, so overlapping steps are no change."""
        writer = Writer()
        for number in range(5):
            writer.step(number)
            (eager(3) if number == 2 else replayed(3))(writer)
        self.assertEqual(self.texts(GRAPHS, eager(3), writer.events), [])

    def test_as_many_in_both_directions(self):
        """The line appears if more operators run in graphs, or fewer, but not for equal numbers in both directions."""
        def other(mine, others):
            def make(writer):
                for kernel_name, in_graph in mine, others:
                    for count in range(2 + (kernel_name == "relu")):
                        if in_graph:
                            writer.graph((kernel_name, 100))
                        else:
                            writer.op("aten::op", (kernel_name, 100))
            return make
        self.assertEqual(self.texts(GRAPHS, other(("sgemm", True), ("gelu", False)),
                                    other(("sgemm", False), ("gelu", True))), [])
        self.assertEqual(self.texts(GRAPHS, other(("sgemm", True), ("relu", False)),
                                    other(("sgemm", False), ("relu", True))), ["into"])

    def test_work_comes_after_it(self):
        def test(writer):
            replayed(3)(writer)
            writer.op("aten::isnan")
        self.assertEqual(self.texts(LINES, eager(3), test),
                         ["change: 3 operators now run inside a CUDA graph (1 launch per step)",
                          "count: aten::isnan new, 1 per step"])

    def test_what_is_in_these_operators_has_no_row(self):
        def control(writer):
            for _ in range(3):
                writer.op("aten::linear", lambda: writer.op("aten::t"), lambda: writer.op("aten::mm", ("sgemm", 500)))
        self.assertEqual(self.texts(LINES, control, replayed(3)),
                         ["change: 3 operators now run inside a CUDA graph (1 launch per step)"])

    def test_other_devices_have_other_kernels(self):
        for path, make in (("a", eager(3)), ("b", replayed(3))):
            write(f"{path}/rank0.json", document(*side(make), deviceProperties=[{"id": 0, "name": path}]))
        self.assertEqual(self.rows(GRAPHS), [])
        self.assertEqual(self.rows(WORK), [("aten::mm gone, 3 per step",)])

    def test_cautions_give_way(self):
        """At most six lines precede causes or describe work, including this one, so cautions give way."""
        def slow(make):
            return lambda writer: [make(writer), writer.op("aten::add", ("add", 300)), writer.op("aten::isnan")]
        for make, heads, lines in ((eager(3), 6, []), (replayed(3), 5, ["graphs"])):
            for path, number, each in (("a", 0, eager(3)), ("b", 1, slow(make))):
                write(f"{path}/rank0.json", document(*side(each),
                                                     distributedInfo={"rank": number, "world_size": 2 + number}))
            found = [row[0] for row in self.rows("SELECT kind FROM trace_summary('a', 'b') WHERE control_untraced = 1"
                                                 " AND test_untraced = 1000")]
            self.assertEqual((found.index("cause"), [kind for kind in found if kind in ("graphs", "work")]),
                             (heads, lines))

    def test_the_brief_has_it(self):
        self.put(eager(3), replayed(3))
        (found,), = self.rows("SELECT json FROM trace_brief('a', 'b')")
        self.assertEqual(json.loads(found)["graphs"],
                         {"code": "into", "words": "3 operators now run inside a CUDA graph (1 launch per step)"})
        self.put(eager(3), eager(3))
        (found,), = self.rows("SELECT json FROM trace_brief('a', 'b')")
        self.assertNotIn("graphs", json.loads(found))


class Names(Sides):
    """L5.3: names that differ in a number."""

    @staticmethod
    def named(*names):
        """Operators that each run a kernel, all with one name, and contain one on the CPU."""
        return lambda writer: [writer.op(name, (f"triton_{name}", 100), lambda: writer.op(f"cpu {name}"))
                               for name in names]

    def test_names_that_differ_only_in_numbers_and_hashes(self):
        for one, other in (("Torch-Compiled Region: 5/0", "Torch-Compiled Region: 8/0"), ("call_1", "call_100"),
                           ("thread_id:1569", "thread_id:7"), ("fused_0badc0de", "fused_c0ffee42"),
                           ("fused__to__15680171862954066917", "fused__to__16747471071299466860"),
                           ("poi_fused_add_1_0badc0de", "poi_fused_add_4_c0ffee42")):
            self.assertEqual(self.texts(LINES, self.named(one), self.named(other)), [], (one, other))

    def test_their_counts_are_those_of_all(self):
        self.assertEqual(self.texts(WORK, self.named("Region: 5"), self.named("Region: 6", "Region: 7")),
                         ["Region 1 -> 2 per step"])

    def test_names_that_both_sides_have_are_their_own(self):
        self.assertEqual(self.texts(WORK, self.named("Sequential_0", "Sequential_1"),
                                    self.named("Sequential_0", "Sequential_1", "Sequential_1")),
                         ["Sequential_1 1 -> 2 per step"])
        self.assertEqual(self.texts(WORK, self.named("Sequential_0", "Sequential_1"), self.named("Sequential_0")),
                         ["Sequential_1 gone, 1 per step"])

    def test_hashes_of_one_side_are_one_name(self):
        """Hashes of one side become one name, unless both sides have such a name, because then not all of them are
        gone.
        """
        two = self.named("fused_0badc0de", "fused_c0ffee42")
        self.assertEqual(self.texts(WORK, two, self.named()), ["fused gone, 2 per step"])
        self.assertEqual(self.texts(WORK, two, self.named("fused_c0ffee42")), ["fused_0badc0de gone, 1 per step"])
        self.assertEqual(self.texts(WORK, self.named("op_1", "op_2"), self.named()),
                         ["op_1 gone, 1 per step", "op_2 gone, 1 per step"])


class Launches(Sides):
    """L5.7: launches move between operators."""

    def test_kernels_of_another_operator(self):
        for other in ("aten::matmul", "triton_poi_fused_mm"):
            for sides in ((eager(3), eager(3, other)), (eager(3, other), eager(3))):
                self.assertEqual(self.texts(LINES, *sides), [])

    def test_kernels_without_an_operator(self):
        def bare(writer):
            for _ in range(3):
                writer.launch(("sgemm", 500))
        for sides in ((eager(3), bare), (bare, eager(3))):
            self.assertEqual(self.texts(LINES, *sides), [])

    def test_work_that_went_while_others_launch_the_same_kernel(self):
        def control(writer):
            eager(10)(writer)
            eager(2, "aten::linear")(writer)
        self.assertEqual(self.texts(WORK, control, eager(10)), ["aten::linear gone, 2 per step"])

    def test_kernels_of_the_same_name_that_differ(self):
        self.assertEqual(self.texts(WORK, eager(3), eager(3, "aten::matmul", "sgemm_other")),
                         ["aten::matmul new, 3 per step", "aten::mm gone, 3 per step"])

    def test_half_of_the_device_time(self):
        """An operator counts as gone unless half of its device time moved; its other kernel no longer runs."""
        for moved, gone in ((46, True), (54, False)):
            def control(writer):
                writer.op("aten::mm", ("sgemm", moved), ("bias", 100 - moved))
            self.assertEqual(self.texts(WORK, control, lambda writer: writer.op("aten::matmul", ("sgemm", moved))),
                             ["aten::mm gone, 1 per step"] if gone else [], moved)

    def test_operators_of_the_host_keep_their_rows(self):
        """Host operators keep their rows, also inside operators that only launch other operators' kernels."""
        def control(writer):
            writer.op("aten::linear", ("sgemm", 500), lambda: writer.op("aten::isnan"))
        self.assertEqual(self.texts(WORK, control, eager(1)), ["aten::isnan gone, 1 per step"])
        self.assertEqual(self.texts(WORK, eager(1), control), ["aten::isnan new, 1 per step"])

    def test_an_operator_that_runs_less_often(self):
        def test(writer):
            eager(1)(writer)
            eager(2, "aten::matmul")(writer)
        self.assertEqual(self.texts(WORK, eager(3), test), [])


def random_step(rng):
    """A list of calls: (operators from outer to inner, kernels (name, us), count)."""
    return [([f"aten::op{rng.randrange(6)}" for _ in range(rng.randrange(1, 4))],
             [(f"kernel_{rng.choice('abcdef')}", rng.randrange(1, 60)) for _ in range(rng.randrange(3))],
             rng.randrange(1, 4)) for _ in range(rng.randrange(2, 7))]


def write_random(calls, in_graphs):
    """Writes a step that runs the calls at these places in graphs of one or two calls each."""
    def make(writer):
        held = []
        for place, (operators, kernels, often) in enumerate(calls):
            for _ in range(often):
                if place in in_graphs:
                    held.append(kernels)
                    continue

                def call(left):
                    writer.op(left[0], *([lambda: call(left[1:])] if left[1:] else kernels))
                call(operators)
        for at in range(0, len(held), 2):
            kernels = [each for kernels in held[at:at + 2] for each in kernels]
            if kernels:  # in a graph without kernels, they would be lost (I4)
                writer.graph(*kernels)
    return make


class Metamorphic(Sides):
    """The lines for random programs whose operators run in graphs on one side."""

    def answer(self, control, test):
        self.put(control, test)
        found = self.rows(GRAPHS)
        return found[0] if found else None, sorted(self.rows("SELECT * FROM trace_work_diff('a', 'b')"))

    def test_random_programs(self):
        seen = 0
        for seed in range(series(25, 300)):
            rng = random.Random(seed)
            calls = random_step(rng)
            other = calls if seed % 2 else random_step(rng)
            graphs = [{place for place in range(len(each)) if rng.random() < share}
                      for each, share in ((calls, rng.choice((0, 0.3))), (other, rng.choice((0.5, 1))))]
            control, test = side(write_random(calls, graphs[0])), side(write_random(other, graphs[1]))
            line, rows = self.answer(control, test)
            seen += line is not None
            self.put(control, test)
            change = graph_change(sides_of(self.db, "a", "b", True))
            self.assertEqual(line and (line[0], line[1].split()[0], line[1].split("(")[1].split()[0]),
                             change and ("into" if change[1] else "out of", str(change[0]), f"{change[2]:g}"), seed)
            with self.subTest("swapped", seed=seed):
                back, rows_back = self.answer(test, control)
                turned = {"into": "out of", "out of": "into"}
                self.assertEqual(back and (turned[back[0]], back[1].split()[0], back[1].split("(")[1]),
                                 line and (line[0], line[1].split()[0], line[1].split("(")[1]))
                self.assertEqual([row[:2] for row in rows_back], [row[:2] for row in rows])
            with self.subTest("shifted", seed=seed):
                self.assertEqual(self.answer(control, [{**each, "ts": each["ts"] + 7000000} for each in test]),
                                 (line, rows))
            with self.subTest("permuted", seed=seed):
                mixed = [rng.sample(each, len(each)) for each in (control, test)]
                self.assertEqual(self.answer(*mixed), (line, rows))
            with self.subTest("relabelled", seed=seed):
                relabelled = [{**each, "name": each["name"] + " of test"} if each["cat"] == "cpu_op" else each
                              for each in test]
                self.assertEqual(self.answer(control, relabelled)[0], line)
        self.assertGreater(seen, 10)


if __name__ == "__main__":
    unittest.main()
