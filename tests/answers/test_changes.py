"""trace_change_points: Apache Otava's answers, recorded and live; an independent implementation of the rules of
ext/analysis/samples/changes.h; planted changes, false alarms, and changes that must not matter.

`make setup-hosts` installs Otava in build/hosts/otava; without it, the recorded answers are compared. To record anew:
    python3 tests/answers/test_changes.py
To measure false alarms and power on many series (the numbers of examples/history.md):
    python3 tests/answers/test_changes.py 2000
"""
import itertools
import json
import math
import os
import random
import resource
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
from fractions import Fraction

import generate_history
from support import ROOT, alone, connect, series, slow

PYTHON = os.path.join(ROOT, "build", "hosts", "otava", "bin", "python")


def noise(seed, *parts):
    """Values from several parts: (count, mean, standard deviation)."""
    rng = random.Random(seed)
    return [round(rng.gauss(mean, deviation), 2) for count, mean, deviation in parts for _ in range(count)]


# name: series, window, significance, min_pct. A letter names the difference from Otava that the case shows.
CASES = {
    "A: an outlier beside a step": (noise(19, (15, 100, 1), (15, 102.5, 1), (1, 114, 1), (4, 102.5, 1)), 50, 0.01, 0),
    "B: few values": (noise(24, (4, 100, 1), (4, 105, 1)), 50, 0.01, 0),
    "C: an outlier where a window ends": (noise(0, (48, 100, 1), (1, 115, 1), (20, 100, 1)), 50, 0.001, 0),
    "D: loud, then quiet": (noise(1, (15, 100, 8), (9, 130, 0.2), (9, 130.6, 0.2)), 50, 0.001, 0),
    "E: dropped changes": (noise(133, (8, 100, 1), (4, 101.5, 1), (8, 103, 1), (5, 101, 1), (10, 100, 1)), 50, 0.001,
                           0),
    "no change": (noise(1, (60, 100, 1)), 50, 0.001, 0),
    "10 %": (noise(2, (30, 100, 1), (30, 110, 1)), 50, 0.001, 0),
    "5 % at the end": (noise(3, (40, 100, 1), (5, 105, 1)), 50, 0.001, 0),
    "-2 %": (noise(4, (30, 100, 1), (30, 98, 1)), 50, 0.001, 0),
    "up and down": (noise(5, (20, 100, 1), (15, 104, 1), (25, 100, 1)), 50, 0.001, 0),
    "stairs": (noise(6, (25, 100, 1), (25, 103, 1), (25, 106, 1), (25, 109, 1)), 50, 0.001, 0),
    "stairs of at least 3.5 %": (noise(6, (25, 100, 1), (25, 103, 1), (25, 106, 1), (25, 112, 1)), 50, 0.001, 3.5),
    "short windows": (noise(7, (40, 100, 1), (40, 105, 1), (40, 102, 1)), 10, 0.001, 0),
    "windows of 4": (noise(8, (12, 100, 1), (12, 130, 1)), 4, 0.01, 0),
    "a long series": (noise(9, (130, 50, 1), (90, 53, 1), (180, 49, 1), (60, 55, 2)), 50, 0.001, 0),
    "drift": ([100 + 0.1 * i + x for i, x in enumerate(noise(10, (60, 0, 0.5)))], 50, 0.001, 0),
    "around 0": (noise(11, (25, -1, 1), (25, 1.5, 1)), 50, 0.001, 10),
    "negative": (noise(12, (25, -100, 1), (25, -94, 1)), 50, 0.001, 5),
    "significance 0.2": (noise(13, (20, 100, 1), (10, 101, 1)), 30, 0.2, 0),
    "significance 0.6": (noise(14, (12, 100, 1), (12, 101, 1)), 50, 0.6, 0.5),
    "counts": ([120] * 20 + [121] * 20, 50, 0.001, 0),
    "huge": ([x * 1e100 for x in noise(15, (20, 100, 1), (20, 105, 1))], 50, 0.001, 0),
    "two values": ([1.0, 2.0], 50, 0.05, 0),
}
# Otava 0.8.0's indexes; then index and p after correcting differences A to E
RECORDED = {
    "A: an outlier beside a step": ([15], []),
    "B: few values": ([4], []),
    "C: an outlier where a window ends": ([48, 50], []),
    "D: loud, then quiet": ([15], [(15, 5.02341564059108e-11), (24, 2.449886288457827e-06)]),
    "E: dropped changes": ([], [(8, 3.7531774318166523e-06), (20, 1.3071329520019203e-06)]),
    "no change": ([], []),
    "10 %": ([30], [(30, 7.493803689607405e-39)]),
    "5 % at the end": ([40], [(40, 1.0030432957679402e-11)]),
    "-2 %": ([30], [(30, 4.8852167608901504e-12)]),
    "up and down": ([19, 35], [(19, 2.7193228057332136e-13), (35, 1.6462852550598612e-14)]),
    "stairs": ([24, 50, 75], [(24, 1.584016056859109e-13), (50, 8.126359694361342e-16), (75, 5.021421089492767e-10)]),
    "stairs of at least 3.5 %": ([50, 75], [(50, 4.066447981638514e-19), (75, 1.0575988042880246e-22)]),
    "short windows": ([40, 80], [(40, 8.932137767628939e-36), (80, 2.5731219439792457e-18)]),
    "windows of 4": ([8, 12], [(12, 5.1453352823094013e-26)]),
    "a long series": ([118, 130, 220, 400, 406],
        [(130, 1.5452193991856346e-53),
         (220, 1.884974398352654e-88),
         (400, 5.176287000455704e-88)]),
    "drift": ([9, 22, 48, 56],
        [(9, 1.247723300647051e-06),
         (22, 6.486816558149124e-08),
         (33, 2.8210477900850298e-05),
         (48, 3.661873177164239e-05),
         (56, 0.0005415314225527276)]),
    "around 0": ([25], [(25, 1.0993676160905829e-10)]),
    "negative": ([25], [(25, 5.575621067141715e-25)]),
    "significance 0.2": ([18], [(18, 0.02671970938008023)]),
    "significance 0.6": ([2, 4, 11],
        [(2, 0.11833514193418104),
         (4, 0.339520586550472),
         (11, 0.013777365860925143),
         (18, 0.0966711109498839),
         (22, 0.08139411367882551)]),
    "counts": ([20], [(20, 0.0)]),
    "huge": ([20], [(20, 7.799261680717935e-15)]),
    "two values": ([], []),
}


def otava(questions):
    """Otava's changes [[index, before, after, p], ...] for each (series, window, significance, min_pct, letters)."""
    done = subprocess.run([PYTHON, os.path.join(ROOT, "tests", "oracles", "otava_live.py")],
                          input=json.dumps(questions), text=True,
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


SLACK = float(os.environ.get("SLACK") or 1)


class Series(unittest.TestCase):
    def setUp(self):
        self.db = connect()
        self.addCleanup(self.db.close)
        self.db.execute("CREATE TABLE t(x, position)")

    def ask(self, rows, *arguments):
        """The changes of (x, position) rows."""
        self.db.execute("DELETE FROM t")
        self.db.executemany("INSERT INTO t VALUES (?, ?)", rows)
        marks = "".join(", ?" for _ in arguments)
        return json.loads(self.db.execute(f"SELECT trace_change_points(x, position{marks}) FROM t",
                                          arguments).fetchone()[0])

    def of(self, values, *arguments):
        return self.ask([(x, i) for i, x in enumerate(values)], *arguments)

    def at(self, values, *arguments):
        return [change["index"] for change in self.of(values, *arguments)]


def made(rng):
    """A random series with steps and outliers, without equal values."""
    values = [100 + rng.gauss(0, 1) for _ in range(rng.choice((1, 2, 3, 4, 5, 8, 20, 60, 100, 160)))]
    for _ in range(rng.randrange(4)):
        start, by = rng.randrange(len(values)), rng.gauss(0, 4)
        if rng.random() < 0.3:
            values[start] += 5 * by
        else:
            values[start:] = [x + by for x in values[start:]]
    return values


class OfOtava(Series):
    def compare(self, name, case, expected):
        values, window, significance, min_pct = case
        found = self.of(values, significance, min_pct, window)
        with self.subTest(name):
            self.assertEqual([change["index"] for change in found], [index for index, *_ in expected])
            for change, (_, *means, p) in zip(found, expected):
                self.assertTrue(math.isclose(change["p"], p, rel_tol=1e-9, abs_tol=1e-290), (change["p"], p))
                for key, mean in zip(("before", "after"), means):
                    self.assertTrue(math.isclose(change[key], mean, rel_tol=1e-12, abs_tol=1e-12), (change[key], mean))

    def test_changes_are_those_recorded_of_otava(self):
        self.assertEqual(list(RECORDED), list(CASES))
        for name, case in CASES.items():
            self.compare(name, case, RECORDED[name][1])
            if name[1] == ":":
                self.assertNotEqual(RECORDED[name][0], [index for index, _ in RECORDED[name][1]], name)

    @slow
    @unittest.skipUnless(os.path.exists(PYTHON), "no Otava in build/hosts/otava: run `make setup-hosts`")
    def test_changes_are_those_of_otava_itself(self):
        """Otava gives these changes once its differences are corrected, and each correction is needed."""
        rng = random.Random(1)
        cases = list(CASES.items()) + [
            (f"random {i}", (made(rng), rng.choice((4, 5, 10, 30, 50)), rng.choice((0.001, 0.01, 0.05, 0.2, 0.6)),
                             rng.choice((0, 0, 1, 3)))) for i in range(500)]
        whole = "ABCDE"
        answers = otava([[*case, letters] for name, case in cases
                         for letters in ("", whole, *([whole.replace(name[0], "")] if name[1] == ":" else []))])
        answers = iter(answers)
        for name, case in cases:
            as_it_is, right = next(answers), next(answers)
            self.compare(name, case, right)
            if name in RECORDED:
                self.assertEqual([index for index, *_ in as_it_is], RECORDED[name][0], name)
            if name[1] == ":":
                self.assertNotEqual([index for index, *_ in next(answers)], [index for index, *_ in right], name)


class Rules(Series):
    """The rules of changes.h, implemented again: all sums are fractions, and p comes from trace_ttest."""

    def student(self, left, right):
        rows = [(x, 0) for x in left] + [(x, 1) for x in right]
        self.db.execute("DELETE FROM t")
        self.db.executemany("INSERT INTO t VALUES (?, ?)", rows)
        p = json.loads(self.db.execute("SELECT trace_ttest(x, position) FROM t").fetchone()[0])["p"]
        return float(sum(left) * len(right) == sum(right) * len(left)) if p is None else p

    def strict(self, left, right):
        up = sum(right) * len(left) > sum(left) * len(right)
        less = [sorted(side)[up == (side is left):][:len(side) - 1] for side in (left, right)]
        return max(self.student(left, right), self.student(less[0], right), self.student(left, less[1]))

    @staticmethod
    def energy(left, right):
        def mean(pairs):
            pairs = [abs(a - b) for a, b in pairs]
            return Fraction(sum(pairs), len(pairs))
        within = mean(itertools.combinations(left, 2)) + mean(itertools.combinations(right, 2))
        return (Fraction(len(left) * len(right), len(left) + len(right))
                * (2 * mean(itertools.product(left, right)) - within))

    def split(self, values, weak, start):
        splits = [(self.energy(values[:at], values[at:end]), -at) for at in range(2, len(values))
                  for end in range(at + 2, len(values) + 1)]
        best, at = max(splits, default=(0, 0))
        if best <= 0 or self.student(values[:-at], values[-at:]) > weak:
            return []
        return self.split(values[:-at], weak, start) + [start - at] + self.split(values[-at:], weak, start - at)

    def expected(self, values, significance, min_pct, window):
        weak = significance * (10 if significance < 0.05 else 2 if significance < 0.5 else 1)
        start, found = 0, set()
        while start < len(values):
            new = self.split(values[start:start + window], weak, start)
            start = max([start + window // 2, *new])
            found.update(new)
        found = sorted(found)
        while found:
            ends = [0, *found, len(values)]
            pieces = [values[a:b] for a, b in itertools.pairwise(ends)]
            ps = [self.strict(left, right) for left, right in itertools.pairwise(pieces)]
            means = [Fraction(sum(piece), len(piece)) for piece in pieces]
            sizes = [abs(b - a) / min(abs(a), abs(b)) if min(abs(a), abs(b)) else math.inf
                     for a, b in itertools.pairwise(means)]
            if max(ps) >= significance:
                drop = next(i for i, p in enumerate(ps) if p >= max(ps) * (1 - 1e-10))
            elif min(sizes) * 100 < min_pct:
                drop = sizes.index(min(sizes))
            else:
                return [(at, p) for at, p in zip(found, ps)]
            del found[drop]
        return []

    def test_random_series_by_the_rules(self):
        """Random series follow the rules, also with many equal values, where p and energies tie."""
        rng, some = random.Random(2), 0
        for _ in range(series(100, 1500)):
            most = rng.choice((1, 3, 20, 1000))
            values = [rng.randrange(-most, most + 1) + rng.choice((0, 0, most)) for _ in range(rng.randrange(1, 22))]
            arguments = rng.choice((0.001, 0.04, 0.2, 0.7)), rng.choice((0, 20, 150)), rng.randrange(4, 16)
            expected, found = self.expected(values, *arguments), self.of(values, *arguments)
            self.assertEqual([change["index"] for change in found], [at for at, _ in expected], (values, arguments))
            for change, (_, p) in zip(found, expected):
                self.assertTrue(math.isclose(change["p"], p, rel_tol=1e-12, abs_tol=1e-300), (change, p))
            some += len(found)
        self.assertGreater(some, 50)


class Noise:
    """Series without a change, by the kind of noise."""

    @staticmethod
    def white(rng, count):
        return [rng.gauss(100, 1) for _ in range(count)]

    @staticmethod
    def correlated(rng, count, by):
        values = [rng.gauss(0, 1)]
        while len(values) < count:
            values.append(by * values[-1] + rng.gauss(0, math.sqrt(1 - by * by)))
        return [100 + x for x in values]

    @staticmethod
    def heavy(rng, count):
        """Student's t with 3 degrees of freedom."""
        return [100 + rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 2) / 3) for _ in range(count)]

    @staticmethod
    def outliers(rng, count, by):
        values = Noise.white(rng, count)
        values[rng.randrange(count)] += by
        return values

    ALL = {"white": white, "correlated, 0.3": lambda rng, count: Noise.correlated(rng, count, 0.3),
           "correlated, 0.6": lambda rng, count: Noise.correlated(rng, count, 0.6), "heavy tails": heavy,
           "lognormal": lambda rng, count: [100 + 10 * math.exp(rng.gauss(0, 1)) for _ in range(count)],
           "one outlier of 10": lambda rng, count: Noise.outliers(rng, count, 10),
           "one outlier of 100": lambda rng, count: Noise.outliers(rng, count, 100)}
    ALL = {name: getattr(function, "__func__", function) for name, function in ALL.items()}


class Power(Series):
    def alarms(self, noise_of, count):
        """Percentage of series of 60 values with a change."""
        rng = random.Random(3)
        return 100 * sum(bool(self.of(noise_of(rng, 60))) for _ in range(count)) / count

    def found(self, percent, count, after=30, outlier=0):
        """Percentage of series of 60 values in which exactly the planted change is found, within two places; the noise
        is 1 %.
        """
        rng, hits = random.Random(4), 0
        for _ in range(count):
            values = [x * (1 + percent / 100 * (i >= 60 - after)) for i, x in enumerate(Noise.white(rng, 60))]
            values[rng.randrange(60)] += outlier
            at = self.at(values)
            hits += len(at) == 1 and abs(at[0] - 60 + after) <= 2
        return 100 * hits / count

    def test_false_alarms(self):
        count = series(100, 1000)
        for name, most in (("white", 2), ("heavy tails", 2), ("lognormal", 4), ("one outlier of 10", 2),
                           ("one outlier of 100", 2),
                           ("correlated, 0.3", 14)):
            self.assertLessEqual(self.alarms(Noise.ALL[name], count), most, name)

    def test_planted_changes(self):
        count = series(50, 500)
        for percent, least in ((2, 80), (-2, 80), (5, 97), (-5, 97), (10, 97)):
            self.assertGreaterEqual(self.found(percent, count), least, percent)
        self.assertGreaterEqual(self.found(5, count, after=3), 85)

    def test_an_outlier_is_not_a_change(self):
        """An outlier is not a change, wherever it is."""
        values = noise(3, (120, 100, 1))
        self.assertEqual(self.of(values), [])
        for at in range(0, 120, series(5, 1)):
            for by in (-1e6, -15, 8, 15, 1000):
                self.assertEqual(self.of(values[:at] + [values[at] + by] + values[at + 1:]), [], (at, by))

    def test_the_generated_history(self):
        done = subprocess.run([sys.executable, generate_history.__file__, "--check"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = list(generate_history.history())
        found = {(name, change["position"]): change["diff_pct"] for name in {row[2] for row in rows}
                 for change in self.ask([(float(ms), date) for date, _, of, ms in rows if of == name])}
        planted = {(name, date): 100 * factor - 100 for name, date, _, factor in generate_history.PLANTED}
        self.assertEqual({key for key in found if key[0] != "step"}, set(planted))
        for key, percent in planted.items():
            self.assertLess(abs(found[key] - percent), 1, key)


class Matters(Series):
    """Changes of the input that must not matter."""

    def samples(self, count):
        rng = random.Random(5)
        for _ in range(count):
            yield rng, made(rng)

    def test_order_of_rows(self):
        for rng, values in self.samples(series(30, 200)):
            rows = [(x + part, i) for i, x in enumerate(values)
                    for part in rng.choice(((0,), (0, 1e-3), (0.1, -0.1, 0.3)))]
            expected = self.ask(rows)
            rng.shuffle(rows)
            self.assertEqual(self.ask(rows), expected)

    def test_unit_and_origin(self):
        """Scaling by powers of two is exact, and changing the sign of x changes the sign of diff."""
        for rng, values in self.samples(series(60, 400)):
            pct = rng.choice((0, 2))
            expected = self.of(values, 0.001, pct)
            by = 2.0 ** rng.randrange(-900, 900)
            scaled = {key: lambda change, key=key: change[key] * by for key in ("before", "after", "diff")}
            self.assertEqual(self.of([x * by for x in values], 0.001, pct),
                             [{key: scaled[key](change) if key in scaled else change[key] for key in change}
                              for change in expected])
            origin, factor, same = rng.choice((-1000, 12345,
                                               0.1)), rng.choice((-1, 3, 1e-3)), ("index", "before_n", "after_n")
            others = [[factor * x for x in values], *([[x + origin for x in values]] if pct == 0 else [])]
            for other in (self.of(changed, 0.001, pct) for changed in others):
                self.assertEqual([[change[key] for key in same] for change in other],
                                 [[change[key] for key in same] for change in expected])
                self.assertTrue(all(math.isclose(a["p"], b["p"], rel_tol=1e-6, abs_tol=1e-30)
                                    for a, b in zip(other, expected)))

    def test_types_of_positions(self):
        """Positions may have any type; only their order matters."""
        for rng, values in self.samples(series(30, 200)):
            expected = self.of(values)
            reals = sorted(rng.uniform(-1e3, 1e3) for _ in values)
            large = [2 ** 62 + i for i in range(len(values))]       # equal as doubles
            dates = [f"2025-{i // 28 + 1:02}-{i % 28 + 1:02}" for i in range(len(values))]
            mixed = [-9e999, *(i if i % 2 else i + 0.5 for i in range(len(values)))][:len(values) - 1] + ["a"]
            text = sorted("".join(rng.choice("ab\"\\<é漢\0") for _ in range(rng.randrange(12))) + f"{i:03}"
                          for i in range(len(values)))
            text.sort(key=str.encode)
            for positions in (reals, large, dates, mixed, text):
                found = self.ask(list(zip(values, positions)))
                self.assertEqual(found, [{**change, "position": positions[change["index"]],
                                          "previous": positions[change["index"] - 1]}
                                         for change in expected])

    def test_a_window_beyond_the_series_is_the_series(self):
        for _, values in self.samples(40):
            self.assertEqual(self.of(values, 0.001, 0, 1000), self.of(values, None, None, 10 ** 9))

    def test_defaults(self):
        for _, values in self.samples(20):
            expected = self.of(values)
            for arguments in ((None,), (0.001,), (None, None, None), (0.001, 0, 50), (0.001, 0.0, 50.0), (None, 0)):
                self.assertEqual(self.of(values, *arguments), expected)


class Cases(Series):
    def test_nothing_to_find(self):
        for values in ([], [1], [1, 2], [1, 1, 1], [1, 1, 2], [0.1] * 100, [5] * 99 + [6], [1e308, -1e308], [1, 2] * 30,
                       [6] + [5] * 99, [5] * 40 + [6] + [5] * 40):
            for level in (0.001, 0.05):
                self.assertEqual(self.of(values, level), [], values)

    def test_without_noise(self):
        for before, after in itertools.product((2, 3, 30), repeat=2):
            change, = self.of([120] * before + [121] * after)
            self.assertEqual(change, {"position": before, "previous": before - 1, "index": before, "before": 120.0,
                                      "after": 121.0,
                                      "diff": 1.0, "diff_pct": 100 / 120, "p": 0.0, "before_n": before,
                                      "after_n": after})
        self.assertEqual(self.at([1] * 10 + [2] * 10 + [4] * 10), [10, 20])
        self.assertEqual(self.at([0.1] * 3 + [0.1 + 2 ** -56] * 3), [3])

    def test_percent_of_a_mean_that_is_not_positive(self):
        change, = self.of([0, 0, 0, 5, 5, 5])
        self.assertEqual((change["diff"], change["diff_pct"]), (5, None))
        change, = self.of([-10, -10, -10, -5, -5, -5])
        self.assertEqual((change["diff"], change["diff_pct"]), (5, 50))
        for least, found in ((0, 1), (5, 1), (5.26, 1), (5.27, 0), (1e300, 0)):     # the smaller of the two at 95
            self.assertEqual(len(self.of([100] * 5 + [95] * 5, 0.001, least)), found, least)
            self.assertEqual(len(self.of([95] * 5 + [100] * 5, 0.001, least)), found, least)
        self.assertEqual(len(self.of([0] * 5 + [1e-9] * 5, 0.001, 1e300)), 1)

    def test_pieces_end_at_the_changes_beside(self):
        """After a small change is dropped, the pieces beside it are joined."""
        values = [100] * 10 + [101] * 10 + [200] * 10
        self.assertEqual([(change["index"], change["before"], change["before_n"]) for change in self.of(values)],
                         [(10, 100, 10), (20, 101, 10)])
        self.assertEqual([(change["index"], change["before"], change["before_n"])
                          for change in self.of(values, 0.001, 5)],
                         [(20, 100.5, 20)])

    def test_drift_is_a_flight_of_steps(self):
        found = self.of([100 + i + x for i, x in enumerate(noise(1, (100, 0, 0.5)))])
        self.assertGreater(len(found), 5)
        self.assertTrue(all(change["diff"] > 0 for change in found))

    def test_a_position_is_one_value(self):
        rows = [(x + by, i) for i, x in enumerate([10, 10, 10, 10, 20, 20, 20, 20]) for by in (-6, 0, 6)]
        found, = self.ask(rows)
        self.assertEqual((found["before"], found["after"], found["before_n"], found["after_n"], found["p"]),
                         (10, 20, 4, 4, 0))
        self.assertEqual(self.ask([(1, 1), (1, 1.0), (2, 2), (2, "2")]), [])
        found, = self.ask([(1, 0.0), (1, 1), (5, 2.0), (5, 2), (5, 3), (9, None), (None, 4)])
        self.assertEqual((found["position"], found["previous"], found["before_n"], found["after_n"]), (2, 1, 2, 2))
        self.assertIsInstance(found["position"], int)

    def test_numbers_come_before_text(self):
        found, = self.ask([(5, "1"), (1, 3), (1, 2), (5, "")])
        self.assertEqual((found["position"], found["previous"]), ("", 3))

    def test_types_in_sql(self):
        found = self.db.execute(
            "SELECT typeof(f), typeof(c.value ->> '$.position'), typeof(c.value ->> '$.index'), typeof(c.value ->>"
            " '$.before')"
            " FROM (SELECT trace_change_points(column1, column2) AS f FROM (VALUES (1, 'a'), (1, 'b'), (2, 'c'), (2,"
            " 'd'))),"
            " json_each(f) AS c").fetchall()
        self.assertEqual(found, [("text", "text", "integer", "real")])

    def test_groups(self):
        found = self.db.execute(
            "SELECT column3, trace_change_points(column1, column2) ->> '$[0].after'"
            " FROM (VALUES (1, 1, 'a'), (1, 2, 'a'), (1, 1, 'b'),"
            " (1, 2, 'b'), (7, 3, 'a'), (9, 3, 'b'), (7, 4, 'a'), (9, 4, 'b')) GROUP BY column3").fetchall()
        self.assertEqual(found, [("a", 7.0), ("b", 9.0)])

    def test_errors(self):
        for call, said in (("'5', 1", "x must be a number"), ("x'35', 1", "x must be a number"),
                           ("9e999, 1", "x must be finite: leave out such rows"),
                           ("1, x'31'", "position must be a number or text"),
                           ("1, 1, 0", "significance must be a number above 0 and below 1"),
                           ("1, 1, 1", "significance must be a number above 0 and below 1"),
                           ("1, 1, '0.5'", "significance must be a number above 0 and below 1"),
                           ("NULL, 1, 0.05, -1", "min_pct must be a number, at least 0"),
                           ("1, 1, NULL, 'x'", "min_pct must be a number, at least 0"),
                           ("1, 1, 0.1, 0, 3", "window must be a whole number from 4 to 1e9"),
                           ("1, 1, 0.1, 0, 4.5", "window must be a whole number from 4 to 1e9"),
                           ("1, 1, column1 / 10.0", "significance, min_pct and window must be the same in every row"),
                           ("1, 1, NULL, column1", "significance, min_pct and window must be the same in every row"),
                           ("1, 1, NULL, NULL, column1 + 3",
                            "significance, min_pct and window must be the same in every row")):
            with self.assertRaises(sqlite3.OperationalError) as caught:
                self.db.execute(f"SELECT trace_change_points({call}) FROM (VALUES (1), (2))").fetchall()
            self.assertEqual(str(caught.exception), f"trace_change_points: {said}")
        for call in ("1", "1, 1, 1, 1, 1, 1"):
            with self.assertRaisesRegex(sqlite3.OperationalError, "wrong number of arguments"):
                self.db.execute(f"SELECT trace_change_points({call})")


class Time(Series):
    def seconds(self, values, *arguments):
        rows = [(x, i) for i, x in enumerate(values)]
        began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        self.ask(rows, *arguments)
        return resource.getrusage(resource.RUSAGE_SELF).ru_utime - began

    @alone
    def test_grows_with_the_number_of_values(self):
        """Time grows with the number of values, also where most values are weak changes that get dropped."""
        for significance in (0.001, 0.5):
            rng = random.Random(6)
            values = Noise.white(rng, series(4000, 10000))
            short = min(self.seconds(values[:len(values) // 4], significance) for _ in range(2))
            self.assertLess(min(self.seconds(values, significance) for _ in range(2)), 10 * short + 0.02)
        self.assertLess(self.seconds(list(range(10000))), 2 * SLACK)

    @slow
    @alone
    def test_interrupt(self):
        values = [(x, i) for i, x in enumerate(Noise.white(random.Random(7), 15000))]
        self.db.executemany("INSERT INTO t VALUES (?, ?)", values)
        stopped = []
        timer = threading.Timer(0.2, lambda: (stopped.append(time.monotonic()), self.db.interrupt()))
        timer.start()
        with self.assertRaisesRegex(sqlite3.OperationalError, "interrupted"):
            self.db.execute("SELECT trace_change_points(x, position, 0.9, 0, 15000) FROM t").fetchone()
        self.assertLess(time.monotonic() - stopped[0], 0.2 * SLACK)
        timer.join()
        self.assertEqual(self.at([1, 1, 2, 2]), [2])


def measure(count):
    """Prints the numbers of examples/history.md."""
    test = Power()
    test.setUp()
    for name, noise_of in Noise.ALL.items():
        print(f"{name}: {test.alarms(noise_of, count):.1f} % false alarms")
    for percent, after in itertools.product((1, 2, 5, 10), (2, 3, 5, 10, 30)):
        print(f"{percent} %, {after} after: {test.found(percent, count // 4, after):.0f} % found")
    for outlier in (5, 10, 20):
        print(f"2 %, 30 after, an outlier of {outlier} %: {test.found(2, count // 4, 30, outlier):.0f} % found")


def record():
    answers = iter(otava([[*case, letters] for case in CASES.values() for letters in ("", "ABCDE")]))
    for name in CASES:
        as_it_is, right = ([(change[0], change[3]) for change in next(answers)] for _ in range(2))
        print(f'    "{name}": ({[index for index, _ in as_it_is]}, {right}),')


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
    else:
        record()
