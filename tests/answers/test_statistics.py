"""trace_mannwhitney, trace_shift and trace_ttest: R's answers, recorded and live; all orders of a few values; exact
fractions; and changes that must not matter.

`Rscript -e ...` comes with Debian's r-base-core; without it, the recorded answers are compared. To record anew:
    python3 tests/answers/test_statistics.py
"""
import collections
import ctypes
import itertools
import json
import math
import mmap
import random
import shutil
import sqlite3
import statistics
import subprocess
import sysconfig
import tempfile
import unittest
from fractions import Fraction

from support import connect, series, slow

NAMES = ("u", "p", "low", "high", "shift", "t", "df", "t.p", "t.low", "t.high", "w.t", "w.df", "w.p", "w.low", "w.high")
# a unordered values modulo b, all different if b is a prime
SPREAD = {count: [i * 7919 % 10007 / 16 for i in range(1, count + 1)] for count in (49, 50, 300)}
# name: (control, test)
CASES = {
    "1 against 1": ([1], [2]),
    "1 against 3": ([4.5], [1, 2, 3]),
    "2 against 2": ([1, 4], [2, 3.5]),
    "3 against 3": ([1.1, 2.3, 2.9], [4.1, 3.7, 5.2]),
    "3 against 3 with ties": ([1, 2, 2], [2, 3, 4]),
    "5 against 5": ([10.2, 11.5, 9.7, 10.9, 10.1], [11.9, 12.4, 10.4, 13.1, 12.2]),
    "5 against 5 with ties": ([10, 11, 10, 12, 10], [12, 12, 11, 13, 10]),
    "5 against 1": ([1, 2, 3.5, 5, 8], [100]),
    "2 against 5, all of one above": ([1, 2], [3, 4, 5.5, 7, 9]),
    "20 against 20 that differ greatly": (list(range(20)), [x + 1000.5 for x in range(20)]),
    "sleep (Student, 1908)": ([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
                              [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]),
    "permeability (Hollander and Wolfe, 1973)": ([1.15, 0.88, 0.90, 0.74, 1.21],
                                                 [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]),
    "plants, control and treatment 1 (Dobson, 1983)": ([4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
                                                       [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69]),
    "4 against 7": ([0.8, 1.9, 2.2, 3.1], [2.9, 3.3, 4.0, 4.1, 5.8, 6.1, 7.7]),
    "fuel, manual and automatic (Henderson and Velleman, 1981)": (
        [21, 21, 22.8, 32.4, 30.4, 33.9, 27.3, 26, 30.4, 15.8, 19.7, 15, 21.4],
        [21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4, 10.4, 14.7, 21.5, 15.5, 15.2, 13.3,
         19.2]),
    "ozone, August and May (Chambers, 1983)": (
        [39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85],
        [41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37]),
    "negative": ([-5, -4.25, -9, -1.5], [-2, -8.5, -3, -0.5, -0.25]),
    "huge": ([1e140, 3e140, 2.5e140, 7e140], [9e140, 4e140, 8.5e140, 1.1e141]),
    "tiny": ([1e-140, 3e-140, 2.5e-140, 7e-140], [9e-140, 4e-140, 8.5e-140, 1.1e-139]),
    "huge and tiny": ([1e-30, 2e30, 5.0, -4e-20], [1e10, -3e30, 2e-5, 6.0, 8e29]),
    "far from zero": ([1e5 + x for x in (1, 5, 2, 8)], [1e5 + x for x in (9, 4, 7, 12, 11)]),
    "equal means": ([1, 3, 5], [2, 3, 4]),
    "one side is constant": ([2, 2, 2, 2], [1, 3, 4, 7, 9]),
    "49 against 49": (SPREAD[49], [x + 37.03 for x in SPREAD[49]]),
    "49 against 50": (SPREAD[49], [x * 1.3 + 17.03 for x in SPREAD[50]]),
    "50 against 50 with ties": ([x // 64 for x in SPREAD[50]], [x // 64 + 1 for x in SPREAD[50]]),
    "300 against 49": (SPREAD[300], [x * 0.8 - 60 for x in SPREAD[49]]),
    "300 against 300 with ties": ([x // 8 for x in SPREAD[300]], [x // 8 + 3 for x in SPREAD[300]]),
    "10,000 against 10,000": ([i * 7919 % 10007 for i in range(10000)],
                              [i * 6607 % 10009 + 100.5 for i in range(10000)]),
    "10,000 against 10,000 with ties": ([i * 7919 % 107 for i in range(10000)], [i * 6607 % 109 for i in range(10000)]),
}
# printed in R's manual and in textbooks, by the first word of a case
PUBLISHED = {
    "sleep": {"w.t": "1.8608", "w.df": "17.776", "w.p": "0.07939", "t.p": "0.07919"},
    "permeability": {"u": "35.0", "p": "0.2544"},
    "plants,": {"w.t": "-1.1913", "w.df": "16.524", "w.p": "0.2504"},
    "fuel,": {"u": "42.0", "w.t": "-3.7671", "w.df": "18.332", "w.p": "0.001374", "w.low": "-11.280194",
              "w.high": "-3.209684"},
    "ozone,": {"u": "127.5"},
}
LARGE = 1000  # values per side above which R is not called for differences
R = r"""
none <- function(e) rep(NaN, 5)
ask <- function(x, y, small) {
    w <- tryCatch({it <- suppressWarnings(wilcox.test(x, y, conf.int = small, tol.root = 1e-13))
                   c(it$statistic, it$p.value, if (small) it$conf.int else c(NaN, NaN),
                     if (small) median(outer(x, y, "-")) else NaN)}, error = none)
    t <- function(equal) tryCatch({it <- t.test(x, y, var.equal = equal)
                                   c(it$statistic, it$parameter, it$p.value, it$conf.int)}, error = none)
    cat(sprintf("%.17g", c(w, t(TRUE), t(FALSE))), "\n")
}
"""
NAN = math.nan
RECORDED = {
    "1 against 1":
        (1.0, 1.0, 1.0, 1.0, 1.0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN),
    "1 against 3":
        (0.0, 0.5, -3.5, -1.5, -2.5, -2.165063509461097, 2.0, 0.16278164172107862, -7.468275423500659,
         2.4682754235006596, NAN, NAN, NAN, NAN, NAN),
    "2 against 2":
        (2.0, 1.0, -2.0, 2.5, 0.25, 0.14907119849998599, 2.0, 0.8951715163278082, -6.965767990471121,
         7.4657679904711225, 0.14907119849998599, 1.470588235294118, 0.8993275546193459, -10.127784245106595,
         10.627784245106596),
    "3 against 3":
        (9.0, 0.1, 0.8000000000000003, 4.1, 2.3000000000000003, 3.2198145199258246, 4.0, 0.03228620192802059,
         0.3075306626405964, 4.159136004026069, 3.219814519925825, 3.895268269880017, 0.03353503295756149,
         0.28693720977152, 4.179729456895146),
    "3 against 3 with ties":
        (8.0, 0.16415972847851518, 0.0, 3.0, 1.0, 2.0, 4.0, 0.1161165235168155, -0.5176300701318622,
         3.1842967367985286, 2.0, 3.1999999999999997, 0.13358324311803702, -0.7152192864754415,
         3.3818859531421084),
    "5 against 5":
        (23.0, 0.031746031746031744, 0.20000000000000107, 2.9000000000000004, 1.700000000000001,
         2.768674902666545, 8.0, 0.02434643960703111, 0.25400582996057, 2.7859941700394293, 2.768674902666545,
         7.254768326000731, 0.02677797459861623, 0.23100813688031704, 2.808991863119682),
    "5 against 5 with ties":
        (19.0, 0.1886665176786853, -0.9999999999999247, 2.9999999999999356, 1.0, 1.543033499620919, 8.0,
         0.16139748875275295, -0.49446148497144604, 2.4944614849714464, 1.543033499620919, 7.570815450643777,
         0.1635194979927123, -0.5093373815901944, 2.5093373815901945),
    "5 against 1":
        (5.0, 0.3333333333333333, 92.0, 99.0, 96.5, 31.927086495593837, 4.0, 5.736923451051525e-06,
         87.74294635383248, 104.4570536461675, NAN, NAN, NAN, NAN, NAN),
    "2 against 5, all of one above":
        (10.0, 0.09523809523809523, 1.0, 8.0, 4.0, 2.3254516382604935, 5.0, 0.06759298660877781,
         -0.4427298388146985, 8.8427298388147, 3.5623935046558777, 4.987351574599898, 0.01624276428559605,
         1.167015452414498, 7.2329845475855015),
    "20 against 20 that differ greatly":
        (400.0, 1.4508889103849688e-11, 996.5, 1004.5, 1000.5, 534.7897450667612, 38.0, 2.838272910229347e-75,
         996.7127053114282, 1004.2872946885716, 534.7897450667612, 38.00000000000001, 2.838272910229266e-75,
         996.7127053114283, 1004.2872946885717),
    "sleep (Student, 1908)":
        (74.5, 0.06932757543362658, -0.0999999999999528, 3.5999999999999712, 1.35, 1.8608134674868528, 18.0,
         0.07918671421593818, -0.2038740322875986, 3.3638740322875984, 1.860813467486853, 17.7764735161785,
         0.07939414018735817, -0.20548323071171018, 3.3654832307117104),
    "permeability (Hollander and Wolfe, 1973)":
        (35.0, 0.2544122544122544, -0.15000000000000002, 0.7599999999999999, 0.30500000000000005,
         1.606136660273869, 13.0, 0.13225051067782634, -0.1162890975191482, 0.7902890975191481,
         2.0413830922100695, 12.970538443257542, 0.06210134378107847, -0.019724996335104026,
         0.6937249963351039),
    "plants, control and treatment 1 (Dobson, 1983)":
        (32.5, 0.19859575863321524, -1.0100000000000613, 0.2899999999999453, -0.40500000000000025,
         -1.1912603818487038, 18.0, 0.2490231659730055, -1.02530034340588, 0.2833003434058792,
         -1.191260381848704, 16.5235850568593, 0.25038250858754757, -1.0295162213468112, 0.2875162213468102),
    "4 against 7":
        (27.0, 0.012121212121212121, 0.8999999999999999, 5.3, 2.5999999999999996, 2.9851492611946826, 9.0,
         0.015321020957860653, 0.688529474178831, 4.997184811535454, 3.511552075083561, 8.995980748938761,
         0.006607075706283004, 1.0113514371149408, 4.674362848599344),
    "fuel, manual and automatic (Henderson and Velleman, 1981)":
        (42.0, 0.0018713913331785568, -11.699999999999946, -2.9000000000000132, -6.800000000000001,
         -4.10612698310069, 30.0, 0.0002850207439350673, -10.848368970861245, -3.641509571648875,
         -3.767123145144925, 18.33225163840046, 0.0013736383330710284, -11.28019435504016, -3.2096841874699598),
    "ozone, August and May (Chambers, 1983)":
        (127.5, 0.00012080783076877442, -52.999999999999964, -14.999999999999996, -32.0, -4.074879662210763,
         50.0, 0.0001645159796257118, -54.261627320013815, -18.430680372293867, -4.074879662210763,
         39.27915930276597, 0.0002168565591924231, -54.383578186011725, -18.308729506295954),
    "negative":
        (15.0, 0.2857142857142857, -4.25, 8.5, 2.125, 0.9587324703365986, 7.0, 0.36962829969845856,
         -3.061124123961211, 7.23612412396121, 0.9683424099905549, 6.786341523458754, 0.3661079507005168,
         -3.0427436695075456, 7.217743669507545),
    "huge":
        (15.0, 0.05714285714285714, -2.9999999999999995e+140, 1e+141, 5.7499999999999995e+140,
         2.4293841517858454, 6.0, 0.0512052995762886, -3.42706491662234e+138, 9.534270649166226e+140,
         2.4293841517858454, NAN, NAN, NAN, NAN),
    "tiny":
        (15.0, 0.05714285714285714, -2.9999999999999997e-140, 1e-139, 5.749999999999999e-140,
         2.4293841517858445, 6.0, 0.051205299576288645, -3.4270649166225144e-142, 9.534270649166224e-140,
         2.4293841517858445, NAN, NAN, NAN, NAN),
    "huge and tiny":
        (11.0, 0.9047619047619047, -3e+30, 8e+29, 2.0000000000000022e-05, -1.085170495446942, 7.0,
         0.31379861909621876, -2.9882926930129535e+30, 1.108292693012953e+30, -1.1369119375119208,
         6.888848093075258, 0.2935707153787036, -2.901486843477582e+30, 1.0214868434775822e+30),
    "far from zero":
        (17.0, 0.1111111111111111, -1.0, 10.0, 4.5, 2.1501095985796477, 7.0, 0.06860252397508232,
         -0.4589381883200427, 9.658938188331684, 2.154147366640622, 6.613249652803544, 0.07046470947421486,
         -0.5099390990435436, 9.709939099055186),
    "equal means":
        (4.5, 1.0, -3.0, 3.0, 0.0, 0.0, 4.0, 1.0, -3.584375218030051, 3.584375218030051, 0.0,
         2.9411764705882355, 1.0, -4.155399503182504, 4.155399503182504),
    "one side is constant":
        (16.0, 0.15939040677403393, -1.0, 7.0, 2.0, 1.7289033384815462, 7.0, 0.12745351905166244,
         -1.0295651104906849, 6.6295651104906845, 1.9603921176392136, 4.0, 0.12149999999999994,
         -1.1655568009096333, 6.765556800909633),
    "49 against 49":
        (1347.0, 0.3010096337975096, -39.34500000000003, 113.40499999999997, 37.02999999999997,
         1.0069447362672206, 96.0, 0.31649265286473754, -35.96702397587215, 110.02702397587211,
         1.0069447362672204, 96.00000000000001, 0.31649265286473743, -35.96702397587216, 110.0270239758721),
    "49 against 50":
        (1580.0, 0.01310205545988985, 25.448749999999972, 208.03000000000003, 116.16750000000002,
         2.7255816449343526, 97.0, 0.007616540618828487, 31.281719058774804, 198.88607685959252,
         2.732463794620482, 92.23406534597582, 0.007534222102169165, 31.438205257607454, 198.7295906607599),
    "50 against 50 with ties":
        (1494.0, 0.09162456361036539, -4.089185224626358e-14, 2.0000000000000404, 1.0, 1.771567244603512, 98.0,
         0.07957482881885784, -0.12017619458335486, 2.120176194583355, 1.771567244603512, 98.0,
         0.07957482881885784, -0.12017619458335486, 2.120176194583355),
    "300 against 49":
        (4732.0, 6.402456871819261e-05, -168.7249999999999, -59.63750000000006, -114.125, -4.204021064326005,
         347.0, 3.340178412741185e-05, -167.24162821353553, -60.632291854491655, -4.8981085955937465,
         74.29276692771452, 5.500365035711173e-06, -160.28331596727352, -67.5906041007537),
    "300 against 300 with ties":
        (48392.0, 0.11013847175855619, -0.9999999999999758, 6.999999999999926, 3.0, 1.630364134099238, 598.0,
         0.1035511142580604, -0.6138041624803572, 6.613804162480356, 1.6303641340992383, 597.9999999999999,
         0.10355111425806035, -0.6138041624803566, 6.613804162480356),
    "10,000 against 10,000":
        (51014510.0, 0.012956290195331314, NAN, NAN, NAN, 2.4975040261785737, 19998.0, 0.012515076735638574,
         21.958949582536526, 182.1362504174632, 2.4975040261785737, 19997.99978318368, 0.012515076735725023,
         21.958949582483967, 182.1362504175158),
    "10,000 against 10,000 with ties":
        (51052135.5, 0.009959300702220545, NAN, NAN, NAN, 2.600532372110142, 19998.0, 0.00931477101276366,
         0.28242977746091746, 2.0111702225390804, 2.600532372110142, 19991.267041774056, 0.009314773319269446,
         0.28242975984032587, 2.011170240159672),
}


def ask_r(cases):
    """[{name: number, or NaN where R has an error}]"""
    with tempfile.NamedTemporaryFile("w", suffix=".R") as file:
        file.write(R)
        for control, test in cases:
            marks = (f"c({', '.join(map(repr, side))})" for side in (test, control))
            file.write(f"ask({', '.join(marks)}, {'TRUE' if len(control) < LARGE else 'FALSE'})\n")
        file.flush()
        done = subprocess.run(["Rscript", "--vanilla", file.name], capture_output=True, text=True, check=True)
    return [dict(zip(NAMES, map(float, line.split()))) for line in done.stdout.splitlines()]


def rows_of(control, test):
    return [(x, 0) for x in control] + [(x, 1) for x in test]


class Statistics(unittest.TestCase):
    def setUp(self):
        self.db = connect()
        self.db.execute("CREATE TABLE t(x, side)")

    def ask(self, rows):
        """The JSON results of the three functions."""
        self.db.execute("DELETE FROM t")
        self.db.executemany("INSERT INTO t VALUES (?, ?)", rows)
        return self.db.execute("SELECT trace_mannwhitney(x, side), trace_shift(x, side),"
                               " trace_ttest(x, side) FROM t").fetchone()

    def of(self, control, test):
        return map(json.loads, self.ask(rows_of(control, test)))

    def flat(self, control, test):
        """R's results, by the names used here."""
        ranks, shift, t = self.of(control, test)
        return dict(zip(NAMES, (ranks["u"], ranks["p"], shift["low"], shift["high"], shift["shift"], t["t"], t["df"],
                                t["p"],
                                t["low"], t["high"], *t["welch"].values())))

    def assert_near(self, found, expected, message, relative=1e-10, scale=0.0):
        self.assertIsNotNone(found, message)
        self.assertLessEqual(abs(Fraction(found) - Fraction(expected)),
                             Fraction(relative) * max(abs(Fraction(expected)), Fraction(scale)), message)

    def compare(self, name, control, test, expected):
        """Intervals and differences near 0 are as exact as the input. With ties, R 4.2 has no exact p; OfRanks covers
        these.
        """
        scale = max(map(abs, control + test))
        equal = len({*control, *test}) < len(control) + len(test)
        for key, found in self.flat(control, test).items():
            if math.isnan(expected[key]) or key == "p" and equal and max(len(control), len(test)) < 50:
                continue
            with self.subTest(name, key=key):
                unit = scale if key.endswith(("low", "high", "shift")) else 1e-3 if key.endswith("t") else 0
                self.assert_near(found, expected[key], (key, found, expected[key]), scale=unit)


class OfR(Statistics):
    def test_values_are_those_recorded_of_r(self):
        self.assertEqual(set(RECORDED), set(CASES))
        for name, (control, test) in CASES.items():
            self.compare(name, control, test, dict(zip(NAMES, RECORDED[name])))

    def test_values_are_those_published(self):
        for word, published in PUBLISHED.items():
            case, = (case for name, case in CASES.items() if name.split()[0] == word)
            found = self.flat(*case)
            for key, text in published.items():
                self.assertEqual(f"{found[key]:.{len(text.partition('.')[2])}f}", text, (word, key))

    @unittest.skipUnless(shutil.which("Rscript"), "no Rscript: install r-base-core")
    def test_values_are_those_of_r_itself(self):
        rng = random.Random(5)
        cases = list(CASES.values())
        for _ in range(series(60, 200)):
            n, m = (rng.choice((1, 2, 3, 5, 8, 20, 49, 50, 60)) for _ in range(2))
            step = rng.choice((0.001, 1, 40))
            cases.append(tuple([round(rng.gauss(100, 30) / step) * step for _ in range(size)] for size in (n, m)))
        for at, ((control, test), expected) in enumerate(zip(cases, ask_r(cases), strict=True)):
            self.compare(f"case {at}", control, test, expected)


class OfRanks(Statistics):
    def test_every_order_of_few_values(self):
        """p is the share of all orders whose U is at least as far from the mean, and the interval follows its level."""
        rng = random.Random(6)
        for n, m in itertools.product(range(1, 7), repeat=2):
            us = [sum(chosen) - m * (m - 1) // 2 for chosen in itertools.combinations(range(n + m), m)]
            values = [rng.uniform(-50, 50) for _ in range(n + m)]
            rng.shuffle(values)
            control, test = values[:n], values[n:]
            u = sum(y > x for x in control for y in test)
            ranks, shift, _ = self.of(control, test)
            self.assertEqual((ranks["u"], ranks["exact"], ranks["control_n"], ranks["test_n"]), (u, True, n, m))
            self.assert_near(ranks["p"], Fraction(sum(abs(2 * other - n * m) >= abs(2 * u - n * m) for other in us),
                                                  len(us)),
                             (n, m), 1e-15)
            differences = sorted(y - x for x in control for y in test)
            self.assert_near(shift["shift"], statistics.median(differences), (n, m), 1e-15)
            rank = max(1, min(k for k in range(n * m + 1) if 40 * sum(other <= k for other in us) >= len(us)))
            self.assertEqual((shift["low"], shift["high"]), (differences[rank - 1], differences[n * m - rank]))
            covered = 1 - 2 * sum(other <= rank - 1 for other in us) / len(us)
            self.assertGreaterEqual(covered + 1e-12, shift["level"])
            self.assertAlmostEqual(shift["level"], min(0.95, 1 - 2 / len(us)), places=15)

    def test_every_order_of_few_values_with_ties(self):
        """For all groups of ties and all ways to divide them, p is the share of ways whose U is at least as far from
        the mean.
        """
        compared = 0
        for n, m in itertools.product(range(1, series(4, 5)), repeat=2):
            for sizes in (sizes for count in range(1, n + m)
                          for sizes in itertools.product(range(1, n + m + 1), repeat=count)
                          if sum(sizes) == n + m):
                values = [value for value, size in enumerate(sizes) for _ in range(size)]
                ways, twice_us = {}, collections.Counter()
                for chosen in itertools.combinations(range(n + m), m):
                    sides = tuple(v for i, v in enumerate(values) if i not in chosen), tuple(values[i] for i in chosen)
                    ways[sides] = sum((y > x) + (y >= x) for x in sides[0] for y in sides[1])
                    twice_us[ways[sides]] += 1
                for (control, test), twice_u in ways.items():
                    ranks = next(self.of(control, test))
                    self.assertEqual((ranks["u"], ranks["exact"]), (twice_u / 2, True))
                    as_far = sum(count for other, count in twice_us.items()
                                 if abs(other - n * m) >= abs(twice_u - n * m))
                    self.assert_near(ranks["p"], Fraction(as_far, math.comb(n + m, m)), (control, test), 1e-15)
                    compared += 1
        self.assertGreater(compared, 400)

    @staticmethod
    def part_of_all_orders(control, test):
        """The same share by sums of m of all midranks; a bit field holds the number of choices for each sum."""
        n, m, both = len(control), len(test), sorted(control + test)
        # twice the midrank
        rank = {value: both.index(value) + both.index(value) + both.count(value) + 1 for value in both}
        bits = math.comb(n + m, m).bit_length()
        choices = [1] + [0] * m
        for value in both:
            for k in range(m, 0, -1):
                choices[k] += choices[k - 1] << rank[value] * bits
        mean, found = m * (n + m + 1), sum(map(rank.get, test))
        counts = [choices[m] >> at * bits & (1 << bits) - 1 for at in range(2 * mean + 1)]
        return Fraction(sum(count for at, count in enumerate(counts) if abs(at - mean) >= abs(found - mean)),
                        sum(counts))

    def test_all_orders_of_many_values_with_ties(self):
        rng = random.Random(11)
        cases = [case for case in CASES.values() if max(map(len, case)) < 50]
        cases += [([0] * 49, [0] * 24 + [1] * 25), (SPREAD[49], SPREAD[49]), ([0] * 48 + [1], [1] * 49),
                  ([5], [5] * 49)]
        for _ in range(series(30, 300)):
            values = rng.choice((2, 3, 10, 100))
            cases.append(tuple([rng.randrange(values) for _ in range(rng.randrange(1, 50))] for _ in range(2)))
        for control, test in cases:
            ranks = next(self.of(control, test))
            self.assertTrue(ranks["exact"])
            self.assert_near(ranks["p"], self.part_of_all_orders(list(control), list(test)), (control, test), 1e-15)

    def test_the_limit_of_the_exact_distribution(self):
        for control, test, exact in (([1, 2], [3], True), ([1, 1], [3], True), (SPREAD[49], [0.5], True),
                                     (SPREAD[50], [0.5], False), ([1] * 49, [1] * 49, True), ([1], [1] * 50, False)):
            self.assertEqual(next(self.of(control, test))["exact"], exact)

    def test_differences_are_chosen_without_listing_them(self):
        rng = random.Random(7)
        for _ in range(series(100, 1000)):
            scale = rng.choice((1, 1e300, 1e-300, 5e-324))
            control, test = ([rng.choice((rng.randrange(-9, 10), rng.gauss(0, 9))) * scale
                              for _ in range(rng.randrange(1, 30))] for _ in range(2))
            differences = sorted(y - x for x in control for y in test)
            _, shift, _ = self.of(control, test)
            self.assert_near(shift["shift"], statistics.median(map(Fraction, differences)), (control, test), 1e-15,
                             1e-308)
            for end in ("low", "high"):
                self.assertTrue(any(abs(shift[end] - other) <= 1e-15 * abs(other) for other in differences))
            self.assertLessEqual(shift["low"], shift["shift"])
            self.assertLessEqual(shift["shift"], shift["high"])

    @slow
    def test_a_million_values(self):
        text, = self.db.execute("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 1000000)"
                                " SELECT trace_shift(i * 7919 % 1000003 + i % 2 * 0.25, i % 2) FROM n").fetchone()
        found = json.loads(text)
        self.assertLess(abs(found["shift"]), 3000)
        self.assertLess(found["high"] - found["low"], 6000)

    def test_all_equal(self):
        """R gives NaN when all values are equal, but every order of equal values has the observed U."""
        for n, m in ((1, 1), (3, 4), (100, 60)):
            ranks, shift, _ = self.of([7] * n, [7] * m)
            self.assertEqual((ranks["u"], ranks["p"], ranks["exact"]), (n * m / 2, 1, n < 50))
            self.assertEqual((shift["shift"], shift["low"], shift["high"]), (0, 0, 0))


class OfMeans(Statistics):
    def expected(self, control, test):
        """diff, t squared and df of both tests, as exact fractions."""
        sides = [list(map(Fraction, side)) for side in (control, test)]
        n, m = map(len, sides)
        means = [sum(side) / len(side) for side in sides]
        squares = [sum((x - mean) ** 2 for x in side) for side, mean in zip(sides, means)]
        diff, pooled = means[1] - means[0], sum(squares) / (n + m - 2) * (Fraction(1, n) + Fraction(1, m))
        parts = [square / (count - 1) / count for square, count in zip(squares, (n, m))]
        return diff, diff * diff / pooled, diff * diff / sum(parts), sum(parts) ** 2 / (
            parts[0] ** 2 / (n - 1) + parts[1] ** 2 / (m - 1))

    def test_exact_fractions(self):
        rng = random.Random(8)
        for _ in range(series(200, 2000)):
            scale, origin = rng.choice(((1, 0), (1e300, 0), (1e-300, 0), (1, 1712165518380212481), (0.001, 1e6)))
            control, test = ([origin + rng.randrange(1000) * scale for _ in range(rng.randrange(2, 20))]
                             for _ in range(2))
            if len(set(control)) == 1 or len(set(test)) == 1:
                continue
            diff, square, welch_square, df = self.expected(control, test)
            _, _, found = self.of(control, test)
            self.assert_near(found["diff"], diff, (control, test), 1e-12, scale)
            self.assert_near(Fraction(found["t"]) ** 2, square, (control, test), 1e-12, 1e-9)
            self.assert_near(Fraction(found["welch"]["t"]) ** 2, welch_square, (control, test), 1e-12, 1e-9)
            self.assert_near(found["welch"]["df"], df, (control, test), 1e-12)
            self.assertEqual(found["df"], len(control) + len(test) - 2)
            self.assertAlmostEqual((found["low"] + found["high"]) / 2 / scale, found["diff"] / scale)
            self.assertEqual(found["p"] < 0.05, found["low"] > 0 or found["high"] < 0)

    def test_df_of_1_and_2_in_closed_form(self):
        for t in (1e-9, 0.001, 0.5, 1, 1.95, 7, 1000, 1e9):  # the mean of control is 0, its error 1
            _, _, found = self.of([-1, 1], [t * math.sqrt(3)])
            self.assert_near(found["p"], 2 * math.atan2(1, found["t"]) / math.pi, t, 1e-13)
            self.assert_near(found["high"] - found["low"], 2 * math.sqrt(3) * math.tan(math.pi * 0.475), t, 1e-7)
            _, _, found = self.of([-1, 1], [t - 1, t + 1])
            root = math.sqrt(2 + found["t"] ** 2)
            self.assert_near(found["p"], 2 / (root * (root + found["t"])), t, 1e-13)

    def test_values_that_are_equal_and_too_few(self):
        nothing = {"t": None, "df": None, "p": None, "low": None, "high": None}

        def expect(control, test, diff, means, student=None):
            _, _, found = self.of(control, test)
            self.assertEqual({key: found["welch"][key] for key in nothing}, nothing)
            self.assertEqual((found["diff"], found["control_mean"], found["test_mean"]), (diff, *means))
            self.assertEqual((found["control_n"], found["test_n"]), (len(control), len(test)))
            self.assertEqual({key: found[key] is None for key in nothing}, dict.fromkeys(nothing, student is None))

        expect([], [], None, (None, None))
        expect([1, 2, 3], [], None, (2, None))
        expect([], [5], None, (None, 5))
        expect([1], [3], 2, (1, 3))
        expect([0.1] * 7, [0.3] * 10, 0.3 - 0.1, (0.1, 0.3))
        expect([1, 2], [5], 3.5, (1.5, 5), student=True)
        for control, test in (([], []), ([1], []), ([], [1, 2])):
            ranks, shift, _ = self.of(control, test)
            self.assertEqual([ranks[key] for key in ("u", "p", "exact")], [None] * 3)
            self.assertEqual([shift[key] for key in ("shift", "low", "high", "level")], [None] * 4)
            self.assertEqual((shift["control_n"], shift["test_n"]), (len(control), len(test)))


class WhatMustNotMatter(Statistics):
    def samples(self, count):
        rng = random.Random(9)
        for _ in range(count):
            step = rng.choice((0.125, 1, 16))
            yield rng, *([round(rng.gauss(200, 50) / step) * step for _ in range(rng.randrange(1, 60))]
                         for _ in range(2))

    def test_order_of_rows_and_how_a_side_is_written(self):
        names = [(0, 0.0, "control"), (1, 1.0, "test")]
        for rng, control, test in self.samples(50):
            control, test = ([x * math.pi * 10 ** rng.randrange(-9, 9) for x in side] for side in (control, test))
            expected = self.ask(rows_of(control, test))
            rows = [(x, rng.choice(names[side]))
                    for x, side in rows_of(control, test)] + [(None, 0), (5, None), (None, None)]
            rng.shuffle(rows)
            self.assertEqual(self.ask(rows), expected)

    def test_shifts(self):
        for rng, control, test in self.samples(50):
            by = rng.randrange(-10000, 10000)
            ranks, shift, t = self.of(control, test)
            _, moved, moved_t = self.of(control, [x + by for x in test])
            equal, moved_equal = (len({*control, *other}) < len(control) + len(other)
                                  for other in (test, [x + by for x in test]))
            keys = ("shift", "low", "high") if equal == moved_equal else ("shift",)
            self.assertEqual([moved[key] for key in keys], [shift[key] + by for key in keys])
            self.assertAlmostEqual(moved_t["diff"], t["diff"] + by)
            both, both_shift, both_t = self.of([x + by for x in control], [x + by for x in test])
            self.assertEqual((both, both_shift, both_t["p"], both_t["welch"]), (ranks, shift, t["p"], t["welch"]))

    def test_swapped_sides_mirror(self):
        def mirrored(it):
            low, high = it["low"], it["high"]
            it = {**it, **{key: it[key] and -it[key] for key in ("shift", "t", "diff") if key in it}}
            return {**it, "low": high and -high, "high": low and -low}

        for _, control, test in self.samples(100):
            (ranks, shift, t), (other, other_shift, other_t) = self.of(control, test), self.of(test, control)
            self.assertEqual((other["u"], other["p"]), (len(control) * len(test) - ranks["u"], ranks["p"]))
            for it, swapped in ((shift, other_shift), (t, other_t), (t["welch"], other_t["welch"])):
                swapped, it = mirrored(swapped), dict(it)
                self.assertEqual({key: swapped[key]
                                  for key in ("low", "high", *({"t", "p", "df", "shift", "diff"} & set(it)))},
                                 {key: it[key]
                                  for key in ("low", "high", *({"t", "p", "df", "shift", "diff"} & set(it)))})

    def test_unit(self):
        for rng, control, test in self.samples(50):
            by = 2.0 ** rng.randrange(-900, 900)
            ranks, shift, t = self.of(control, test)
            scaled, scaled_shift, scaled_t = self.of([x * by for x in control], [x * by for x in test])
            self.assertEqual(scaled, ranks)
            self.assertEqual(scaled_shift, {**shift, **{key: shift[key] * by for key in ("shift", "low", "high")}})
            self.assertEqual([scaled_t[key] for key in ("t", "df", "p")], [t[key] for key in ("t", "df", "p")])

    def test_numbers_read_back(self):
        """The mean of one value is exactly that value."""
        rng = random.Random(10)
        values = [0.1, -0.1, 1e22, 1e23, 9007199254740993.0, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308,
                  1e-3,
                  0.00012345, 123456789012345680.0, 1e17, 1e16, 100.0, 0.5, 2.0 ** -1074, 2.0 ** 1023, 4.35, 0.3 - 0.1]
        values += [float(f"{rng.uniform(-1, 1):.17f}e{rng.randrange(-320, 308)}") for _ in range(series(2000, 20000))]
        values += [round(rng.uniform(-1000, 1000), rng.randrange(9)) for _ in range(2000)]
        for value in values:
            text, = self.db.execute("SELECT trace_ttest(?, 1)", (value,)).fetchone()
            mean = text.split('"test_mean": ')[1].split(",")[0]
            self.assertEqual(float(mean), value)
            self.assertRegex(mean, r"^-?\d+(\.\d+)?(e-?\d+)?$")
            self.assertRegex(mean, r"[.e]")
            found, shortest = (len(text.split("e")[0].strip("-").replace(".", "").strip("0"))
                               for text in (mean, repr(value)))
            if found > max(15, shortest):  # the shortest notation is almost halfway to the next double, like 1e23
                away = Fraction(repr(value)) - Fraction(value)
                gap = Fraction(math.nextafter(value, math.copysign(math.inf, away))) - Fraction(value)
                self.assertGreater(away / gap, 0.46, value)
        text = self.ask([(1.7e308, 1), (-1.7e308, 0)])[1]
        self.assertIn('"shift": 9e999', text)
        self.assertEqual(self.db.execute("SELECT ? ->> '$.shift'", (text,)).fetchone(), (math.inf,))

    def test_types_in_sql(self):
        found = self.db.execute(
            "SELECT typeof(a ->> '$.u'), typeof(a ->> '$.test_n'), a ->> '$.exact', typeof(a) FROM"
            " (SELECT trace_mannwhitney(column1, column2) AS a FROM (VALUES (1, 0), (2, 1)))").fetchone()
        self.assertEqual(found, ("real", "integer", 1, "text"))


class Precision(Statistics):
    @unittest.skipUnless(sysconfig.get_platform() == "linux-x86_64", "needs machine code of Linux on x86_64")
    def test_that_the_program_chose_does_not_matter(self):
        """The program's floating-point mode does not matter: with 53 bits, the default of Windows threads, results are
        equal, and the mode is restored.
        """
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xd9\x2f\xc3\x90" b"\xd9\x3f\xc3")  # fldcw (%rdi); ret; nop; fnstcw (%rdi); ret
        at = ctypes.addressof(ctypes.c_char.from_buffer(code))
        load, store = (ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint16))(at + place) for place in (0, 4))
        before, chosen, after = ctypes.c_uint16(), ctypes.c_uint16(0x27f), ctypes.c_uint16()
        rng = random.Random(53)
        store(before)
        for _ in range(20):
            rows = [(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300), i % 2) for i in range(9)]
            expected = self.ask(rows)
            load(chosen)
            try:
                found = self.ask(rows)
                store(after)
            finally:
                load(before)
            self.assertEqual((found, after.value), (expected, chosen.value))


class Misuse(Statistics):
    def test_errors(self):
        for name in ("trace_mannwhitney", "trace_shift", "trace_ttest"):
            for call, said in (("1, 2", "side must be 0 or 'control', or 1 or 'test'"),
                               ("1, 0.5", "side must be 0 or 'control', or 1 or 'test'"),
                               ("1, 'Test'", "side must be 0 or 'control', or 1 or 'test'"),
                               ("1, '1'", "side must be 0 or 'control', or 1 or 'test'"),
                               ("1, x'74657374'", "side must be 0 or 'control', or 1 or 'test'"),
                               ("'5', 1", "x must be a number"), ("9e999, 1", "x must be finite: leave out such rows"),
                               ("-9e999, 'control'", "x must be finite: leave out such rows")):
                with self.assertRaises(sqlite3.OperationalError) as caught:
                    self.db.execute(f"SELECT {name}({call})").fetchall()
                self.assertEqual(str(caught.exception), f"{name}: {said}")
            for call in ("1", "1, 1, 1"):
                with self.assertRaisesRegex(sqlite3.OperationalError, "wrong number of arguments"):
                    self.db.execute(f"SELECT {name}({call})")


if __name__ == "__main__":
    for case, answer in zip(CASES, ask_r(CASES.values())):
        print(f'    "{case}":\n        ({", ".join("NAN" if math.isnan(x) else repr(x) for x in answer.values())}),')
