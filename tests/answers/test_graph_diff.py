"""trace_graph_diff aligns two replays node by node (A16): against oracle_serving.py on random traces, and on examples
made by hand.
"""
import os
import random
import sqlite3
import unittest

import generate_serving
import oracle
import oracle_serving
from made import InFolder, document, event, step, write
from support import alone, corpus, series, slow
from test_nsys_cost import SLACK, fastest
from test_replays import node, replay

COLUMNS = "graph, control_position, test_position, name, change, control_time, test_time, diff_time"
QUERY = f"SELECT {COLUMNS} FROM trace_graph_diff(?, ?, ?, ?, ?, ?, ?)"


def side(path, *graphs):
    """A step in which each graph, a list of (name, us), is replayed."""
    events = [step(1, 0, 100_000)]
    for number, nodes in enumerate(graphs):
        events.append(replay(1000 * number, number + 1))
        at = 1000 * number + 5
        for name, time in nodes:
            events.append(node(name, at, time, number + 1))
            at += time + 1
    return write(path, document(*events))


def names(letters, time=2):
    return [(letter, time) for letter in letters]


class Made(InFolder):
    def diff(self, control, test):
        side("a.json", *control)
        side("b.json", *test)
        return self.rows(f"SELECT {COLUMNS} FROM trace_graph_diff('a.json', 'b.json')")

    def test_the_same(self):
        self.assertEqual(self.diff([[("a", 2), ("b", 3)]], [[("a", 2), ("b", 5)]]),
                         [(0, 0, 0, "a", "same", 2, 2, 0), (0, 1, 1, "b", "same", 3, 5, 2)])

    def changes(self, control, test):
        marks = {"same": " ", "deleted": "-", "added": "+"}
        return " ".join(f"{marks[row[4]]}{row[3]}".strip() for row in self.diff([names(control)], [names(test)]))

    def test_alignment(self):
        for control, test, expected in (
                ("abcd", "abd", "a b -c d"), ("abd", "abcd", "a b +c d"), ("abc", "axc", "a -b +x c"),
                ("ab", "ba", "-a b +a"), ("aab", "ab", "a -a b"), ("abcabba", "cbabac", "-a -b c -a b +a b a +c"),
                ("ab", "cd", "-a -b +c +d"), ("abc", "bca", "-a b c +a")):
            self.assertEqual(self.changes(control, test), expected, (control, test))

    def test_alignment_of_random_names(self):
        """Alignments with few names, of which many are equally long, and of two graphs that are almost equal."""
        rng = random.Random(1)
        for _ in range(series(30, 600)):
            letters = "abcdefgh"[:rng.choice((1, 2, 2, 3, 8))]
            control = rng.choices(letters, k=rng.randrange(1, rng.choice((5, 20, 60, 300, 600))))
            test = rng.choices(letters, k=rng.randrange(1, rng.choice((5, 20, 60, 300, 600))))
            if rng.random() < .4:
                test = [letter for letter in control for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 2)))] or ["a"]
            found = [row[1:4] for row in self.diff([names(control, 1)], [names(test, 1)])]
            expected = [(i, j, control[i] if j is None else test[j])
                        for i, j in oracle_serving.aligned(control, test)]
            self.assertEqual(found, expected, (control, test))

    def test_alignment_of_many_names(self):
        """Alignments of graphs with more names than are aligned at once; one name in 100 on each side is missing on the
        other.
        """
        rng = random.Random(2)
        both = [f"k{rng.randrange(20_000)}" for _ in range(series(50_000, 100_000))]
        sides, expected = [[], []], []
        for name in both:
            alone = rng.random()
            if alone < .02:
                sides[alone < .01].append(f"only{rng.randrange(99)}{alone < .01}")
                expected.append((None, len(sides[1]) - 1) if alone < .01 else (len(sides[0]) - 1, None))
            for each in sides:
                each.append(name)
            expected.append(tuple(len(each) - 1 for each in sides))
        found = [row[1:3] for row in self.diff([names(sides[0], 1)], [names(sides[1], 1)])]
        self.assertEqual(sorted(found, key=str), sorted(expected, key=str))

    @alone
    @slow
    def test_unlike_graphs_take_not_much_longer_than_equal_ones(self):
        rng, size = random.Random(3), 32_000
        for letters in ("abc", [f"k{number}" for number in range(40)], [f"k{number}" for number in range(size)]):
            graphs = [names(rng.choices(letters, k=size), 1) for _ in range(2)]
            for name, graph in zip("ab", graphs):
                side(f"{name}.json", graph)
            ask = "SELECT count(*), count(control_position), count(test_position) FROM trace_graph_diff(?, ?)"
            self.assertEqual(self.rows(ask, "a.json", "b.json")[0][1:], (size, size))
            equal, unlike = fastest(lambda: self.rows(ask, "a.json", "a.json"),
                                    lambda: self.rows(ask, "a.json", "b.json"), times=3)
            self.assertLess(unlike, 8 * equal * SLACK)

    def test_deleted_and_added(self):
        self.assertEqual(self.diff([[("a", 2), ("b", 3)]], [[("c", 7), ("b", 3)]]),
                         [(0, 0, None, "a", "deleted", 2, 0, -2), (0, None, 0, "c", "added", 0, 7, 7),
                          (0, 1, 1, "b", "same", 3, 3, 0)])

    def test_times_are_means_over_the_replays(self):
        self.assertEqual(self.diff([[("a", 2)], [("a", 4)], [("a", 9)]], [[("a", 1)], [("a", 2)]]),
                         [(0, 0, 0, "a", "same", 5, 1.5, -3.5)])

    def test_names_are_stable_ones(self):
        rows = self.diff([[("triton_poi_fused_add_3", 2), ("b", 2)]], [[("triton_poi_fused_add_7", 2), ("b", 2)]])
        self.assertEqual([row[3:5] for row in rows], [("triton_poi_fused_add", "same"), ("b", "same")])

    def test_equal_sequences_are_a_pair_first(self):
        """Equal sequences are paired first: the largest graphs differ, and so do the second largest; both sides have
        `ab`.
        """
        rows = self.diff([names("ab", 1), names("xy", 50), names("pq", 30)],
                         [names("st", 90), names("ab", 1), names("uv", 20)])
        self.assertEqual([(row[0], row[3], row[4]) for row in rows],
                         [(0, "x", "deleted"), (0, "y", "deleted"), (0, "s", "added"), (0, "t", "added"),
                          (1, "p", "deleted"), (1, "q", "deleted"), (1, "u", "added"), (1, "v", "added"),
                          (2, "a", "same"), (2, "b", "same")])

    def test_a_sequence_without_a_pair(self):
        rows = self.diff([names("ab", 9), names("xy", 5)], [names("ab", 9)])
        self.assertEqual([(row[0], *row[1:5]) for row in rows],
                         [(0, 0, 0, "a", "same"), (0, 1, 1, "b", "same"), (1, 0, None, "x", "deleted"),
                          (1, 1, None, "y", "deleted")])

    def test_total_time_is_of_all_replays(self):
        """Total time covers all replays: `xy` is replayed three times, so it is the larger graph."""
        rows = self.diff([names("ab", 5), names("xy", 2), names("xy", 2), names("xy", 2)], [names("abc", 9)])
        self.assertEqual([row[3] for row in rows if row[0] == 0], list("xyabc"))

    def test_a_graph_that_is_longer_by_a_node(self):
        rows = self.diff([names("abc")] * 2, [names("abxc")] * 3)
        self.assertEqual([(row[1], row[2], row[3], row[7]) for row in rows],
                         [(0, 0, "a", 0), (1, 1, "b", 0), (None, 2, "x", 2), (2, 3, "c", 0)])

    def test_no_replays(self):
        write("a.json", document(step(1, 0, 5), event("op", 1, 2)))
        self.assertEqual(self.rows("SELECT * FROM trace_graph_diff('a.json', 'a.json')"), [])
        side("b.json", names("a"))
        self.assertEqual(self.rows(f"SELECT {COLUMNS} FROM trace_graph_diff('a.json', 'b.json')"),
                         [(0, None, 0, "a", "added", 0, 2, 2)])

    def test_replays_of_the_steps_chosen(self):
        for name in "ab":
            write(f"{name}.json", document(*(
                each for number in range(4) for each in (
                    step(number, 100 * number, 100), replay(100 * number, number + 1),
                    node("k", 100 * number + 10, number + 1 + (name == "b"), number + 1)))))
        query = f"SELECT {COLUMNS} FROM trace_graph_diff('a.json', 'b.json'"
        self.assertEqual(self.rows(f"{query})"), [(0, 0, 0, "k", "same", 2.5, 3.5, 1)])
        self.assertEqual(self.rows(f"{query}, NULL, NULL, 3, 'all')"), [(0, 0, 0, "k", "same", 4, 3.5, -.5)])


class Random(InFolder):
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(60, 250))

    def test_random_traces(self):
        before, compared = None, 0
        for seed in range(50_000, 50_000 + self.COUNT):
            rng = random.Random(seed)
            trace, _ = generate_serving.generate(rng).write(str(seed))
            control, before = before or trace, trace
            ranks, wanted = rng.choice((None, "all")), rng.choice(("all", "all", "steady", "decode"))
            steps = rng.choice((None, None, "%", "profiler"))
            arguments = (control, trace, ranks, ranks, wanted, wanted, steps)
            with self.subTest(seed=seed):
                try:
                    sides = [oracle_serving.replays_of(oracle.read_trace(path, steps), ranks, wanted)
                             for path in (control, trace)]
                except oracle.Refused as refused:
                    with self.assertRaises(sqlite3.Error, msg=f"{arguments}: {refused}"):
                        self.rows(QUERY, *arguments)
                    continue
                expected = [(*row[:5], *(float(value / 1000) for value in row[5:]))
                            for row in oracle_serving.graph_diff(*sides)]
                found = self.rows(QUERY, *arguments)
                self.assertEqual([row[:5] for row in found], [row[:5] for row in expected], arguments)
                for row, wanted_row in zip(found, expected):
                    for value, exact in zip(row[5:], wanted_row[5:]):
                        self.assertAlmostEqual(value, exact, delta=1e-9 * max(abs(exact), 1), msg=str(arguments))
                compared += len(expected) > 0
        self.assertGreater(compared, self.COUNT // 5)

    @slow
    def test_a_real_pair(self):
        """A real pair has graphs of two sizes, and none in control."""
        rows = self.rows("SELECT graph, count(*), min(change), max(change) FROM trace_graph_diff(?, ?) GROUP BY 1",
                         corpus("hta", "trace_diff", "control"), corpus("hta", "trace_diff", "test"))
        self.assertEqual(sorted(row[1:] for row in rows), [(339, "added", "added"), (502, "added", "added")])


if __name__ == "__main__":
    unittest.main()
