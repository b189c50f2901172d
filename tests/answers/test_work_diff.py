"""trace_work_diff: an independent implementation of L5 in Python, on random programs; planted changes in recordings;
A/A pairs.
"""
import json
import os
import random
import unittest
from collections import Counter

from made import InFolder, document, event, kernel, launch, step, write
from oracle_runs import expected
from support import EXAMPLES, connect, corpus, series, slow

COLUMNS = ("name, kind, control_counts, test_counts, control_low, control_high, test_low, test_high,"
           " round(median_duration, 4),"
           " round(size, 4), text")


# ---- random programs ---------------------------------------------------------

NAMES = ("aten::mm", "aten::add", "aten::to", "MulBackward0", "triton_poi_fused_add_0", "triton_poi_fused_add_1",
         "Region: 1", "fused_0badc0de", "fused_c0ffee42")
KERNELS = ("k_1", "k_2", "k_c0ffee42", "k_graph")  # the last operator launches the others, in a graph


def tree(rng, depth):
    """A list of nodes [name, nodes, thread]; a name without nodes may be a kernel's or a frame's."""
    return [[rng.choice(NAMES + KERNELS + ("frame",)), tree(rng, depth - 1) if depth else [], rng.random() < 0.2]
            for _ in range(rng.randint(0, 3) if depth < 2 else rng.randint(2, 5))]


def mutated(rng, nodes):
    """The same tree with a node added, removed or doubled, at this level or deeper."""
    nodes = [list(node) for node in nodes]
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(nodes) + 1)
        kind = rng.random()
        if place == len(nodes) or kind < 0.2:
            nodes.insert(place, tree(rng, 2)[0])
        elif kind < 0.4:
            del nodes[place]
        elif kind < 0.6:
            nodes.insert(place, nodes[place])
        else:
            nodes[place][1] = mutated(rng, nodes[place][1])
    return nodes


class Trace:
    """Writes a tree as the events of each step. Some runs end after their parents, or have no duration."""

    def __init__(self, rng, noise, **head):
        self.rng, self.noise, self.head, self.events, self.correlation, self.at = rng, noise, head, [], 0, 0

    def nodes(self, nodes):
        for name, inner, other in nodes:
            begin, self.at = self.at, self.at + self.rng.choice((0, 1, 1, 2))
            fields = {"tid": 2} if other else {}
            if name.startswith("k_"):
                self.correlation += 1
                graph = name == "k_graph"
                if self.rng.random() < 0.9:
                    self.events.append({**launch(begin, 1, self.correlation, **fields),
                                        **({"name": "cudaGraphLaunch"} if graph else {})})
                self.events += [kernel(each, begin + 3, self.rng.randint(0, 9), self.correlation)
                                for each in (KERNELS[:-1] if graph else [name])]
            elif self.rng.random() < self.noise:
                continue
            else:
                own = len(self.events)
                self.nodes(inner)
                self.at += self.rng.choice((0, 0, 1, 3))
                over = self.rng.choice((0, 0, 0, 2))
                self.events.insert(own, event(name, begin, self.at - begin + over, **fields, **(
                    {"cat": "python_function"} if name == "frame" else {"cat": "Operator"} if self.rng.random() < 0.1
                    else {})))

    def made(self, nodes, steps):
        for number in range(steps or 1):
            begin = self.at
            self.nodes(nodes)
            self.at += 5
            if steps:
                self.events.append(step(number, begin, self.at - begin))
            self.at += self.rng.choice((0, 3))
        return document(*self.events, **self.head)


class SecondReading(InFolder):
    def check(self, control, test, same_device, ranks=None, iterations=None):
        found = self.rows(f"SELECT {COLUMNS} FROM trace_work_diff(?, ?, ?, ?, ?, ?)", control, test, ranks, ranks,
                          iterations,
                          iterations)
        self.assertEqual(found, expected(self.db, control, test, same_device, ranks, iterations), (control, test))
        return found

    @slow
    def test_examples(self):
        for folder in ("gpu", "cpu", "serving"):
            for ranks, iterations in ((None, None), ("all", "all"), (0, "all")):
                self.check(*(os.path.join(EXAMPLES, folder, side) for side in ("control", "test")), True, ranks,
                           iterations)

    def test_random_programs(self):
        seen, count = Counter(), series(60, 500)
        for seed in range(count):
            rng = random.Random(seed)
            noise, steps = rng.choice((0, 0, 0.1)), rng.choice((0, 1, 2, 3, 5))
            devices = rng.choice(((None, None), ("A100", "A100"), ("A100", "H100"), ("A100", None)))
            nodes = tree(rng, 3)
            for side, its_nodes, device in zip("ab", (nodes, mutated(rng, nodes)), devices):
                for rank in range(2):
                    head = {"deviceProperties": [{"name": device}]} if device else {}
                    write(f"{side}/rank{rank}.json", Trace(rng, noise, **head).made(its_nodes, steps))
            for ranks, iterations in ((None, None), ("all", "all"), (1, None)):
                rows = self.check("a", "b", devices[0] == devices[1], ranks, iterations)
                back = self.check("b", "a", devices[0] == devices[1], ranks, iterations)
                self.assertEqual([(*row[:2], row[3], row[2]) for row in rows], [row[:4] for row in back])
                seen.update(row[1] for row in rows)
                seen.update(word for row in rows for word in ("new", "gone", "->") if f" {word}" in row[10])
            self.assertEqual(self.rows("SELECT * FROM trace_work_diff('a', 'a', 'all', 'all')"), [])
        for what in ("operator", "kernel", "new", "gone", "->"):
            self.assertGreater(seen[what], count // 5, what)


class Rules(InFolder):
    def texts(self, *given):
        return [row[0] for row in self.rows("SELECT text FROM trace_work_diff('a.json', 'b.json'"
                                            + "".join(f", {each}" for each in given) + ")")]

    def pair(self, control, test, **head):
        """Each side is a list of steps; a step is a list of (name, start, length), or of events."""
        for path, steps in (("a.json", control), ("b.json", test)):
            events = []
            for number, runs in enumerate(steps):
                events.append(step(number, 1000 * number, 900))
                events += [run if isinstance(run, dict) else event(run[0], 1000 * number + run[1], run[2])
                           for run in runs]
            write(path, document(*events, **head))

    def test_ranges_that_overlap_are_no_change(self):
        few, some, many = [("x", 0, 5)], [("x", 0, 5), ("x", 10, 5)], [("x", 0, 5), ("x", 10, 5), ("x", 20, 5)]
        self.pair([few, some], [some, many])
        self.assertEqual(self.texts(), [])
        self.pair([few, few], [some, many])
        self.assertEqual(self.texts(), ["x 1 -> 2.5 per step"])

    def test_a_step_without_the_operator_has_none(self):
        self.pair([[("x", 0, 5)], []], [[("x", 0, 5)], [("x", 0, 5)]])
        self.assertEqual(self.texts(), [])
        self.pair([[], []], [[("x", 0, 5)], [("x", 0, 5)]])
        self.assertEqual(self.texts(), ["x new, 1 per step"])

    def test_a_run_in_a_run_of_its_name_does_not_count(self):
        """A run within a run of the same name does not count: aten::abs calls its own variant with an output."""
        self.pair([[("aten::abs", 0, 9)]], [[("aten::abs", 0, 9), ("aten::abs", 2, 5), ("aten::add", 20, 2)]])
        self.assertEqual(self.texts(), ["aten::add new, 1 per step"])

    def test_one_row_for_a_subtree(self):
        """A subtree has one row, and its content has none unless it also changed elsewhere."""
        self.pair([[("aten::linear", 0, 9), ("aten::addmm", 1, 5)]],
                  [[("aten::linear", 0, 9), ("aten::addmm", 1, 5), ("aten::linear", 20, 9), ("aten::addmm", 21, 5)]])
        self.assertEqual(self.texts(), ["aten::linear 1 -> 2 per step"])
        self.pair([[("aten::linear", 0, 9), ("aten::addmm", 1, 5)]],
                  [[("aten::linear", 0, 9), ("aten::addmm", 1, 5), ("aten::linear", 20, 9), ("aten::addmm", 21, 5),
                    ("aten::addmm", 40, 5)]])
        self.assertEqual(self.texts(), ["aten::addmm 1 -> 3 per step", "aten::linear 1 -> 2 per step"])

    def test_what_changed_places_is_no_change(self):
        self.pair([[("aten::linear", 0, 9), ("aten::addmm", 1, 5)]], [[("aten::linear", 0, 9), ("aten::addmm", 20, 5)]])
        self.assertEqual(self.texts(), [])

    def test_kernels_count_where_no_operator_launches_them(self):
        def calls(count, inside):
            made = [event("aten::mm", 0, 50)] if inside else []
            for number in range(count):
                made += [launch(5 * number, 3, number + 1), kernel("gemm", 100 + 10 * number, 5, number + 1)]
            return [made]
        self.pair(calls(1, False), calls(3, False))
        self.assertEqual(self.texts(), ["gemm 1 -> 3 per step"])
        self.pair(calls(1, True), calls(3, True))
        self.assertEqual(self.texts(), [])

    def test_kernels_count_on_equal_devices(self):
        work = [[launch(0, 3, 1), kernel("gemm", 100, 5, 1)]]
        for mine, theirs, counts in (("A100", "A100", True), ("A100", "H100", False), (None, "H100", False),
                                     (None, None, True)):
            self.pair(work, [])
            for path, device in (("a.json", mine), ("b.json", theirs)):
                write(path, document(step(0, 0, 900), *(work[0] if path == "a.json" else []),
                                     **({"deviceProperties": [{"name": device}]} if device else {})))
            self.assertEqual(self.texts(), ["gemm gone, 1 per step"] if counts else [], (mine, theirs))

    def test_traces_without_steps(self):
        for path, count in (("a.json", 2), ("b.json", 3)):
            write(path, document(*[event("aten::mm", 10 * number, 5) for number in range(count)]))
        self.assertEqual(self.texts(), ["aten::mm 2 -> 3 per trace"])

    def test_nothing_to_compare(self):
        write("a.json", document())
        write("b.json", document(event("aten::mm", 0, 5)))
        self.assertEqual(self.texts(), [])


PLANTED = {"double_forward": "aten::linear 9 -> 18 per step",
           "unfused_attn": "aten::masked_fill new, 4 per step",
           "python_loop": "SliceBackward0 new, 192 per step",
           "item_sync": "aten::abs new, 324 per step",
           "grad_hook": "aten::nan_to_num new, 270 per step",
           "clip": "aten::linalg_vector_norm new, 28 per step",
           "anomaly": "aten::isnan new, 97 per step"}


class Recordings(unittest.TestCase):
    """PyTorch on a CPU, with one planted change in test."""

    @classmethod
    def setUpClass(cls):
        cls.folder, cls.db = corpus("own", "torch_planted"), connect()

    def texts(self, control, test, *given):
        marks = "".join(", ?" for _ in given)
        return [row[0] for row in self.db.execute(f"SELECT text FROM trace_work_diff(?, ?{marks})",
                                                  (os.path.join(self.folder, control), os.path.join(self.folder, test),
                                                   *given))]

    def test_what_was_planted_is_among_the_first_three(self):
        for pair, text in PLANTED.items():
            self.assertIn(text, self.texts(f"{pair}/control", f"{pair}/test")[:3], pair)

    def test_no_work_was_planted(self):
        for pair in ("same", "slow_loader"):
            self.assertEqual(self.texts(f"{pair}/control", f"{pair}/test"), [], pair)
        self.assertEqual(self.texts("float64_all/control", "float64_all/test"),
                         ["aten::to 138 -> 28 per step", "aten::ones new, 1 per step"])

    @slow
    def test_halves_of_one_run(self):
        for pair in sorted(os.listdir(self.folder)):
            for side in ("control", "test"):
                trace = f"{pair}/{side}"
                if os.path.isdir(os.path.join(self.folder, trace)):
                    for mine, theirs in ((range(1, 7), range(7, 13)), (range(1, 13, 2), range(2, 13, 2))):
                        numbers = self.db.execute("SELECT iteration FROM trace_steps(?)",
                                                  (os.path.join(self.folder, trace),))
                        numbers = [row[0] for row in numbers]
                        halves = [json.dumps([numbers[i] for i in each]) for each in (mine, theirs)]
                        self.assertEqual(self.texts(trace, trace, None, None, *halves), [], trace)
                    self.assertEqual(self.texts(trace, trace), [])


if __name__ == "__main__":
    unittest.main()
