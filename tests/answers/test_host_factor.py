"""trace_host_factor and differences in types (L6 and L7): an independent implementation in Python on the events,
planted changes, and time warps.
"""
import glob
import json
import math
import os
import random
import unittest
from collections import Counter, defaultdict

from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, connect, corpus, series
from test_clock_factor import cap_of, quantile

COLUMNS = ("kind, outcome, name, shapes, types, counts, factor, low, high, operators, share, control_time, test_time,"
           " explained_time, beyond_time")


# ---- an independent implementation of the rules ------------------------------

def operators_of(db, trace):
    """{(name, shapes, types): [runs, us of self time]} per step, over the steady steps of the lowest rank."""
    windows = set(db.execute("SELECT DISTINCT rank, iteration FROM trace_step_time(?, NULL, NULL, 'annotation')",
                             (trace,)))
    sums = defaultdict(lambda: [0, 0])
    for rank, iteration, name, args, self_time in db.execute(
            "SELECT rank, iteration, trace_stable_name(name), args, round(1000 * self_dur) FROM trace_events(?)"
            " WHERE cat IN ('cpu_op', 'Operator') AND dur IS NOT NULL AND name IS NOT NULL", (trace,)):
        if (rank, iteration) in windows:
            inputs = [json.loads(args or "{}").get(key) for key in ("Input Dims", "Input type")]
            key = (name, *(each if each is None else json.dumps(each, separators=(",", ":")) for each in inputs))
            sums[key][0] += 1
            sums[key][1] += self_time or 0
    return {key: (runs / len(windows), time / 1000 / len(windows)) for key, (runs, time) in sums.items()}


def load(mine, theirs):
    """{column: value} of the host, and {operator: factor}."""
    for place in (1, 2):  # recorded on one side only
        if not all(any(key[place] is not None for key in side) for side in (mine, theirs)):
            mine, theirs = (merged(side, place) for side in (mine, theirs))
    both = {key: theirs[key][1] / mine[key][1] for key in mine
            if key in theirs and abs(theirs[key][0] - mine[key][0]) < 1e-9 and theirs[key][1] > 0 and mine[key][1] > 0}
    all_mine, all_theirs = (sum(time for _, time in side.values()) for side in (mine, theirs))
    found = {"operators": len(both), "outcome": "too few operators", "explained": 0}
    if not both:
        return found, both
    times = {key: mine[key][1] + theirs[key][1] for key in both}
    cap = cap_of(list(times.values()))
    pairs = [(math.log(both[key]), min(times[key], cap)) for key in both]
    factor = math.exp(sum(quantile(pairs, 0.5)) / 2)
    low, high = math.exp(quantile(pairs, 0.25)[0]), math.exp(quantile(pairs, 0.75)[1])
    away = max(factor, 1 / factor)
    compared = [sum(side[key][1] for key in both) for side in (mine, theirs)]
    if len(both) >= 3 and compared[0] >= 0.1 * all_mine and compared[1] >= 0.1 * all_theirs:
        found["outcome"] = ("one factor" if away >= 1.15 and high / low < away else
                            "load differs" if away >= 1.15 or low <= 1 / 1.15 and high >= 1.15 else "no change")
    found.update(factor=factor, low=low, high=high, share=sum(compared) / (all_mine + all_theirs))
    if found["outcome"] == "one factor":
        found["explained"] = compared[0] * (factor - 1)
    return found, both


def merged(side, place):
    made = defaultdict(lambda: (0, 0))
    for key, (runs, time) in side.items():
        key = (*key[:place], None, *key[place + 1:])
        made[key] = made[key][0] + runs, made[key][1] + time
    return dict(made)


def is_float(name):
    return name in ("float", "double") or name.endswith(("BFloat16", "Half")) or "Float8" in name or "Float4" in name


def retyped(mine, theirs):
    """(type, type, share) of the largest change of types, or None."""
    sides = [{key: time for key, (_, time) in side.items() if (key[2] or "").startswith("[")}
             for side in (mine, theirs)]
    wholes = [sum(side.values()) for side in sides]
    groups = defaultdict(lambda: ({}, {}))
    for number, side in enumerate(sides):
        for (name, shapes, types), time in side.items():
            if time:
                groups[name, shapes][number][types] = time / wholes[number]
    shares = Counter()
    for pair in groups.values():
        lacking = [{types: time for types, time in pair[i].items() if types not in pair[1 - i]} for i in (0, 1)]
        if not all(pair) or not any(lacking):
            continue
        largest = [json.loads(min(found or every, key=lambda types: (-(found or every)[types], types)))
                   for found, every in zip(lacking, pair)]
        change = next((two for two in zip(*largest) if two[0] != two[1] and all(map(is_float, two))), None)
        if change:
            shares[change] += sum(sum(each.values()) for each in lacking) / 2
    return min(((*change, share) for change, share in shares.items()), key=lambda row: (-row[2], row[:2]), default=None)


# ---- random programs ---------------------------------------------------------

def program(operators, steps=4, base=0):
    """Steps of nested operators: (name, us, shapes, types, us of an inner one)."""
    events, at = [], base
    for number in range(steps):
        begin = at
        for name, us, shapes, types, inner in operators:
            args = {key: value for key, value in (("Input Dims", shapes), ("Input type", types)) if value is not None}
            events.append(event(name, at, us + inner, args=args))
            if inner:
                events.append(event("aten::empty", at + us / 2, inner, args={"Input Dims": [[]], "Input type": [""]}))
            at += us + inner + 1
        events.append(step(number, begin, at - begin + 1))
        at += 10
    return document(*events)


def random_pair(rng):
    names = [f"aten::op{number}" for number in range(rng.choice((2, 5, 12)))]
    recorded = [rng.random() < 0.9, rng.random() < 0.9]
    factor, spread = rng.choice((1, 1, 1.4, 0.5, 3)), rng.choice((0, 0.1, 0.8))
    mine, theirs = [], []
    for name in names:
        for shape in range(rng.choice((1, 1, 2))):
            us, types = rng.randint(4, 60), rng.choice((["float"], ["float", "Scalar"], ["Scalar", "float"],
                                                        ["long", ""]))
            inner = rng.choice((0, 0, 8))
            row = (name, us, [[shape, 8]], types, inner)
            mine += [row] * rng.choice((1, 1, 2))
            other = [rng.choice(("double", "c10::Half", "long", each)) if each == "float" else each
                     for each in types] if rng.random() < 0.3 else types
            theirs += [(name, us * factor * math.exp(rng.uniform(-spread, spread)), row[2], other, inner * factor)] * (
                mine.count(row) if rng.random() < 0.9 else 3)
    made = []
    for operators, with_types, steps in ((mine, recorded[0], 4), (theirs, recorded[1], rng.choice((3, 5)))):
        made.append(program([(*row[:3], row[3] if with_types else None, row[4]) for row in operators], steps))
    return made


class SecondReading(InFolder):
    def check(self, control, test):
        sides = [operators_of(self.db, trace) for trace in (control, test)]
        wanted, factors = load(*sides)
        rows = self.rows(f"SELECT {COLUMNS} FROM trace_host_factor(?, ?)", control, test)
        host, parts = rows[0], rows[1:]
        self.assertEqual((host[0], host[1], host[9]), ("host", wanted["outcome"], wanted["operators"]), (control, test))
        for place, column in ((6, "factor"), (7, "low"), (8, "high"), (10, "share")):
            self.assertAlmostEqual(host[place] or 0, wanted.get(column, 0), 6, column)
        self.assertAlmostEqual(host[13], wanted["explained"], 4)
        found = {tuple(row[2:5]): row[6] for row in parts if row[0] == "operator"}
        self.assertEqual(found.keys(), factors.keys())
        for key, factor in factors.items():
            self.assertAlmostEqual(found[key], factor, 6)
        for place in (11, 12, 13):
            self.assertAlmostEqual(host[place], sum(row[place] for row in parts), 4)
        self.assertEqual(parts[-1][0], "other")
        self.assertEqual({row[14] for row in rows[:-1]}, {None})
        mine, theirs = parts[-1][11:13]
        if factors:
            least, most = mine * min(wanted["low"], 1), mine * max(wanted["high"], 1)
            self.assertAlmostEqual(parts[-1][14], min(theirs - least, 0) if theirs < most else theirs - most, 4)
        else:
            self.assertIsNone(parts[-1][14])
        change = retyped(*sides)
        found = self.rows("SELECT control_value, test_value, matters, why FROM trace_comparability(?, ?)"
                          " WHERE topic = 'types' AND item = 'operators'", control, test)
        if not change or change[2] < 0.005:
            self.assertEqual(found, [])
        else:
            self.assertEqual(found, [(*change[:2], "yes" if change[2] >= 0.5 else "maybe",
                                      f"types differ: {change[0]} -> {change[1]} in {100 * change[2]:.0f} % of"
                                      f" operators' time")])
        return wanted["outcome"], change

    def test_random_pairs(self):
        seen, count = Counter(), series(60, 600)
        for seed in range(count):
            for path, content in zip(("a.json", "b.json"), random_pair(random.Random(seed))):
                write(path, content)
            outcome, change = self.check("a.json", "b.json")
            seen[outcome] += 1
            seen["types"] += change is not None
        for what in ("too few operators", "one factor", "load differs", "no change", "types"):
            self.assertGreater(seen[what], count // 20, (what, seen))

    def test_example_without_device_work(self):
        self.check(*(os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")))


class Rules(InFolder):
    OPERATORS = [(f"aten::op{number}", us, [[8, 8]], ["float", "float", "Scalar"], 0)
                 for number, us in enumerate((10, 20, 30, 40, 40, 50))]

    def pair(self, *changes, operators=None):
        """Test's operators cycle through the changes (factor, types)."""
        operators = operators or self.OPERATORS
        write("a.json", program(operators))
        write("b.json", program([(name, us * changes[i % len(changes)][0], shapes, changes[i % len(changes)][1]
                                  or types, inner)
                                 for i, (name, us, shapes, types, inner) in enumerate(operators)]))
        return self.rows("SELECT outcome, text FROM trace_host_factor('a.json', 'b.json') WHERE kind = 'host'")[0]

    def types(self):
        return self.rows("SELECT matters, why FROM trace_comparability('a.json', 'b.json')"
                         " WHERE topic = 'types' AND item = 'operators'")

    def test_words(self):
        for factors, outcome, text in (
                ([1.6], "one factor", "the host is 1.6 times as slow throughout: machine load?"),
                ([0.5], "one factor", "the host is 2.0 times as fast throughout: machine load?"),
                ([12], "one factor", "the host is 12 times as slow throughout: machine load?"),
                ([0.3, 2.5], "load differs", "operators of the host take 0.3 to 2.5 times as long: machine load?"),
                ([0.05, 20], "load differs", "operators of the host take 0.05 to 20 times as long: machine load?"),
                ([1.3, 1, 2], "load differs", "operators of the host take 1.0 to 2.0 times as long: machine load?"),
                ([1.1], "no change", None),
                ([1, 1, 1, 1, 1, 3], "no change", None)):
            self.assertEqual(self.pair(*((factor, None) for factor in factors)), (outcome, text), factors)

    def test_one_operator_that_is_slower_is_no_load(self):
        """One slower operator is not load, even if it is the longest."""
        self.assertEqual(self.pair(*[(1, None)] * 5, (20, None)), ("no change", None))

    def test_other_shapes_beside_load(self):
        """C7.3: all steps are longer, or all are shorter. The verdict is clear if load leaves a quarter of the
        difference.
        """
        for factor, shapes, us, said in ((2, [[8, 8]], 200, "test is slower, as load explains"),
                                         (2, [[16, 8]], 200, "test is slower, as load explains"),
                                         (2, [[16, 8]], 3000, "test is slower here"),
                                         (0.8, [[4, 8]], 75, "test is faster, as load explains"),
                                         (0.8, [[4, 8]], 1, "test is faster here")):
            write("a.json", program([*self.OPERATORS,
                                     ("aten::sort", 100 if factor > 1 else 1000, [[8, 8]], ["float"], 0)], 6))
            write("b.json", program([*((name, us * factor, *rest) for name, us, *rest in self.OPERATORS),
                                     ("aten::sort", us if factor > 1 else 10 * us, shapes, ["float"], 0)], 6))
            with self.subTest(factor=factor, shapes=shapes, us=us):
                self.assertRegex(self.value("SELECT text FROM trace_summary('a.json', 'b.json')"), f"^{said}: ")
                html = self.value("SELECT html FROM trace_diff_report('a.json', 'b.json')")
                self.assertIn(f": {said}</h1>", html)

    def test_other_shapes_and_types_are_not_compared(self):
        self.assertEqual(self.pair((2, ["double", "double", "Scalar"])), ("too few operators", None))
        write("b.json", program([(name, 2 * us, [[16, 8]], types, inner)
                                 for name, us, _, types, inner in self.OPERATORS]))
        self.assertEqual(self.value("SELECT outcome FROM trace_host_factor('a.json', 'b.json')"), "too few operators")

    def test_types_differ(self):
        self.pair((1, ["double", "double", "Scalar"]))
        self.assertEqual(self.types(), [("yes", "types differ: float -> double in 100 % of operators' time")])
        self.pair((1, None), (1, None), (1, ["float", "double", ""]))
        self.assertEqual(self.types(), [("maybe", "types differ: float -> double in 42 % of operators' time")])
        self.pair((1, ["float", "float", ""]))
        self.assertEqual(self.types(), [])
        self.pair((1, ["float", "c10::Half", ""]))
        self.assertEqual(self.types(), [("yes", "types differ: float -> c10::Half in 100 % of operators' time")])

    def test_types_without_shapes(self):
        """With shapes = 0, args are not read, and types still work."""
        self.pair((1, ["double", "double", "Scalar"]))
        self.assertEqual(self.rows("SELECT 1 FROM trace_comparability('a.json', 'b.json') WHERE topic = 'types'"
                                   " AND shapes = 0"), [])

    def test_types_that_are_no_list(self):
        for types in ("float", {"a": 1}, "[", ["x", ["y"]], [None], 7):
            self.pair((1, types))
            self.types()

    def test_types_of_device_work(self):
        """Types of device work give one caution, not two."""
        def trace(types):
            return document(*[step(0, 0, 900),
                              event("aten::mm", 10, 20, args={"Input Dims": [[8]], "Input type": types}),
                              launch(15, 5, 1), kernel("gemm", 50, 100, 1)])
        write("a.json", trace(["float"]))
        write("b.json", trace(["c10::BFloat16"]))
        self.assertIn(("yes", "types differ: float -> c10::BFloat16 in 100 % of operators' time"), self.types())
        self.assertEqual([why for matters, why in self.types() if matters == "yes"],
                         ["types differ: float -> c10::BFloat16 in 100 % of operators' time"])

    def test_nothing_to_compare(self):
        write("a.json", document())
        write("b.json", program(self.OPERATORS))
        self.assertEqual(self.rows("SELECT * FROM trace_host_factor('a.json', 'b.json') WHERE kind = 'operator'"), [])

    def test_turned_around(self):
        for seed in range(20):
            for path, content in zip(("a.json", "b.json"), random_pair(random.Random(seed))):
                write(path, content)
            there, back = (self.rows(f"SELECT outcome, factor, low, high, operators FROM trace_host_factor({sides})")[0]
                           for sides in ("'a.json', 'b.json'", "'b.json', 'a.json'"))
            self.assertEqual((there[0], there[4]), (back[0], back[4]))
            for mine, theirs in ((1, 1), (2, 3), (3, 2)):
                self.assertAlmostEqual(there[mine] * back[theirs], 1, 9) if there[1] else self.assertIsNone(back[1])


class Recordings(unittest.TestCase):
    """PyTorch on a CPU, on a machine with other load."""

    @classmethod
    def setUpClass(cls):
        cls.folder, cls.db = corpus("own", "torch_planted"), connect()

    def test_load_and_types(self):
        outcomes = {"double_forward": "one factor", "float64_all": "too few operators"}
        for pair in ("same", "slow_loader", "unfused_attn", "python_loop", "item_sync", "grad_hook", "float64_all",
                     "clip",
                     "double_forward", "anomaly"):
            sides = [os.path.join(self.folder, pair, side) for side in ("control", "test")]
            found = self.db.execute("SELECT outcome FROM trace_host_factor(?, ?)", sides).fetchone()[0]
            self.assertEqual(found, outcomes.get(pair, "load differs"), pair)
            types = self.db.execute("SELECT why FROM trace_comparability(?, ?) WHERE topic = 'types'"
                                    " AND matters = 'yes'",
                                    sides).fetchall()
            self.assertEqual(types, [("types differ: float -> double in 95 % of operators' time",)]
                             if pair == "float64_all"
                             else [], pair)

    def test_no_load_is_other_work(self):
        """Load never counts as other work: the controls are recordings of one program under ten loads."""
        controls = sorted(glob.glob(os.path.join(self.folder, "*", "control")))
        self.assertGreater(len(controls), 8)
        for pair in zip(controls, controls[1:]):
            self.assertEqual(self.db.execute("SELECT beyond_time FROM trace_host_factor(?, ?) WHERE kind = 'other'",
                                             pair).fetchall(), [(0,)])


if __name__ == "__main__":
    unittest.main()
