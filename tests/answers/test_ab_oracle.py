"""trace_ab (V1 to V12) against an independent implementation of its rules (oracle_ab.py), on random families of runs
from generate_ab.py. The oracle's distributions are checked against R's, recorded and live. Changes that must not matter
are applied, too.

To record anew: python3 tests/answers/test_ab_oracle.py
"""
import copy
import glob
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from collections import Counter

import generate_ab
import oracle
import oracle_ab
import oracle_marks
from made import InFolder
from support import series

ARGUMENTS = ("ranks", "iterations", "device_type", "use_short_name", "runs", "by_unit", "measure", "min_effect",
             "names",
             "min_diff", "steps")
EXACT = {"name", "device", "unit", "control_n", "test_n", "control_steps", "test_steps", "verdict", "gate",
         "runs_needed",
         "note"}
CHOICES = {
    "ranks": (None, None, None, None, "all", "all", 0, "[0, 1]", 1),
    "iterations": (None, None, None, None, None, "steady", "all", 2, "[1, 2]"),
    "device_type": (None, None, "ALL", "GPU", "CPU"),
    "use_short_name": (None, None, 0, 1, 2),
    "runs": (None, None, "auto", "file"),
    "by_unit": (None, None, None, "auto", "run", "step"),
    "measure": (None, None, "self", "total", "count"),
    "min_effect": (None, None, 0.0213, 0.1171),
    "names": (None, None, None, "%gemm%", '["step", "aten::%"]', "ATEN::_M"),
    "min_diff": (None, None, None, 3.217),
    "steps": (None, None, None, "profiler", "ProfilerStep#%"),
}


def chosen(rng, names=ARGUMENTS):
    return {name: value for name in names if (value := rng.choice(CHOICES[name])) is not None}


def files_of(folders, arguments):
    """The sides for these arguments; a run is a file or a folder."""
    return [f"{folder}/*" for folder in folders] if arguments.get("runs") == "file" else folders


class OfAB(InFolder):
    def ab(self, control, test, **arguments):
        where = "".join(f" AND {name} = ?" for name in arguments)
        columns = ", ".join(oracle_ab.Row._fields)
        return [oracle_ab.Row(*row) for row in self.rows(
            f"SELECT {columns} FROM trace_ab(?, ?) WHERE 1{where}", control, test, *arguments.values())]

    @staticmethod
    def expected(control, test, **arguments):
        for name in ("ranks", "iterations"):
            if isinstance(value := arguments.get(name), str) and value.startswith("["):
                arguments[name] = json.loads(value)
        return oracle_ab.ab(control, test, **arguments)

    def assert_near(self, column, value, wanted, scale, message):
        if column == "detectable":  # large changes are exponentials of the computed values
            value, wanted = (math.log1p(each / 100) for each in (value, wanted))
        largest = {"diff": scale, "diff_pct": 100, "ci_low": 100, "ci_high": 100}.get(column, 0)
        self.assertLessEqual(abs(value - wanted), 1e-9 * max(abs(wanted), largest), message)

    def assert_rows(self, found, expected, message, but=()):
        """Asserts that both have the same rows in the same order, ignoring the columns `but`."""
        by_key = [{(row.device, row.name): row for row in rows} for rows in (found, expected)]
        self.assertEqual(len(by_key[0]), len(found), message)
        self.assertEqual(set(by_key[0]), set(by_key[1]), message)
        for key, row in by_key[1].items():
            for column, value, wanted in zip(row._fields, by_key[0][key], row):
                where = f"{message} {key} {column}: {value} is not {wanted}\n{by_key[0][key]}\n{row}"
                if column in but:
                    continue
                if column in EXACT or value is None or wanted is None:
                    self.assertEqual(value, wanted, where)
                else:
                    self.assert_near(column, value, wanted, max(row.control_mean, row.test_mean), where)
        sizes = [abs(row.diff) for row in found if row.device != "step"]
        self.assertTrue(all(a >= b * (1 - 1e-9) for a, b in zip(sizes, sizes[1:])), message)
        self.assertNotIn("step", [row.device for row in found[1:]], message)


class Random(OfAB):
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(10, 75))

    @staticmethod
    def near_the_floor(rng):
        """Makes a family in which the gate and 'same' are often borderline."""
        planted = {at: rng.choice((0.86, rng.uniform(1.08, 1.18))) for at in rng.sample(range(8), 6)}
        return generate_ab.Family(rng, generate_ab.Plan(
            runs=(rng.randrange(3, 6), rng.randrange(3, 6)), effect=0.02, planted=planted,
            tails=rng.choice(generate_ab.TAILS)))

    @staticmethod
    def like_nothing(names, rows):
        """The first pattern that matches the name of no row."""
        patterns = json.loads(names) if names and names.startswith("[") else [names] if names else []
        return next((pattern for pattern in patterns
                     if not any(oracle_marks.matches(pattern, row.name) for row in rows)), None)

    @staticmethod
    def tamper(rng, seed):
        """Sometimes a run loses a rank (V10) or gets a file of another run (V11)."""
        files = sorted(glob.glob(f"{seed}/*/*.json"))
        beside = [path for path in files if len(os.listdir(os.path.dirname(path))) > 1]
        if beside and rng.random() < 0.05:
            os.unlink(rng.choice(beside))
        elif rng.random() < 0.1:
            one, other = rng.choices(files, k=2)
            if one != other:
                os.unlink(other)
                rng.choice((os.link, os.symlink, shutil.copy))(os.path.abspath(one), other)

    def test_every_column(self):
        seen = Counter()
        for seed in range(self.COUNT):
            rng, others = random.Random(seed), random.Random(-seed - 1)
            folders = (generate_ab.Mixed(rng) if seed % 4 else self.near_the_floor(rng)).write(str(seed))
            for _ in range(3):
                self.tamper(others, seed)
                arguments = chosen(rng, ARGUMENTS if seed % 4 else ("device_type", "min_effect", "min_diff"))
                control, test = files_of(folders, arguments)
                message = f"seed {seed} {arguments}"
                try:
                    wanted = self.expected(control, test, **arguments)
                except oracle.Refused as refused:
                    seen["refused"] += 1
                    with self.assertRaises(sqlite3.Error, msg=f"{message}: {refused}"):
                        self.ab(control, test, **arguments)
                    continue
                if missing := self.like_nothing(arguments.get("names"), wanted):
                    seen["misspelt"] += 1
                    with self.assertRaisesRegex(sqlite3.Error, re.escape(f"names: nothing is like '{missing}'"),
                                                msg=message):
                        self.ab(control, test, **arguments)
                    continue
                self.assert_rows(self.ab(control, test, **arguments), wanted, message)
                for row in wanted:
                    seen.update((row.unit, row.verdict, row.gate, *(row.note or "").split("; ")))
        self.assertGreater(sum(seen[what] for what in seen if what.endswith("are one recording, not two runs")), 0,
                           seen)
        for what in ("refused", "run", "step", "slower", "faster", "same", "~", "added", "deleted", "too few",
                     "slower here",
                     "not slower", "inconclusive", oracle_ab.NOT_EVERY_STEP,
                     *(("more", "fewer", "faster here", oracle_ab.ASK_BY_RUN) if self.COUNT > 100 else ())):
            self.assertGreater(seen[what], 0, (what, seen))


class WhatMustNotMatter(OfAB):
    COUNT = series(3, 15)

    def families(self, first):
        """Yields (seed, rng, family, its folders)."""
        for seed in range(first, first + self.COUNT):
            rng = random.Random(seed)
            family = generate_ab.Mixed(rng)
            yield seed, rng, family, family.write(f"{seed}-as it is")

    def changed(self, seed, family, alter, name=lambda name: name):
        """The folders of a family after alter(document) has changed each document."""
        other = copy.copy(family)
        other.runs = [[{name(file): alter(copy.deepcopy(document)) for file, document in run.items()} for run in side]
                      for side in family.runs]
        return other.write(f"{seed}-{len(os.listdir())}")

    @staticmethod
    def each_event(change):
        def alter(document):
            return {**document, "traceEvents": [change(event) for event in document["traceEvents"]]}
        return alter

    def test_which_side_is_which(self):
        mirror = {"slower": "faster", "faster": "slower", "added": "deleted", "deleted": "added"}
        for seed, rng, family, (control, test) in self.families(100):
            measure, beyond = rng.choice(("self", "total")), 0.06
            rows, others = (self.ab(*sides, measure=measure, by_unit="run", min_effect=0.05)
                            for sides in ((control, test), (test, control)))
            others = {(row.device, row.name): row for row in others}
            self.assertEqual(len(rows), len(others))
            for row in rows:
                other, message = others[row.device, row.name], f"seed {seed} {row}"
                self.assertEqual(row[3:7:2] + row[4:8:2], other[4:8:2] + other[3:7:2], message)
                self.assert_near("diff", other.diff, -row.diff, row.control_mean + row.test_mean, message)
                for here, there in ((row.control_mean, other.test_mean), (row.test_mean, other.control_mean)):
                    self.assert_near("control_mean", here, there, 0, message)
                if not 1 - beyond < row.test_mean / (row.control_mean or 1) < 1 + beyond:  # 5 % more is 4.8 % less
                    self.assertEqual(other.verdict, mirror.get(row.verdict, row.verdict), message)
                if row.p_value is not None:
                    for column in ("p_value", "q_value", "detectable"):
                        self.assert_near(column, getattr(other, column), getattr(row, column), 0, message)
                    for here, there in ((row.ci_low, other.ci_high), (row.ci_high, other.ci_low)):
                        low, high = sorted((1 + here / 100, 1 + there / 100))
                        self.assertAlmostEqual(low, 1 / high, 12, message)

    def test_order_of_runs_and_of_files_and_how_they_are_given(self):
        for seed, rng, family, folders in self.families(200):
            arguments = {"ranks": rng.choice((None, "all")), "by_unit": rng.choice(("auto", "step"))}
            arguments = {name: value for name, value in arguments.items() if value}
            rows = self.ab(*folders, **arguments)
            arrays = []
            for folder in folders:
                runs = sorted(glob.glob(folder))
                rng.shuffle(runs)
                given = [run if rng.random() < 0.5 else f"{run}/*.json" for run in runs]
                arrays.append(json.dumps(given))
            self.assert_rows(self.ab(*arrays, **arguments), rows, f"seed {seed} {arguments} {arrays}")
            files = [json.dumps(rng.sample(found, len(found))) for folder in folders
                     for found in [glob.glob(f"{folder}/rank0.json")]]
            self.assert_rows(self.ab(*files), self.ab(*(f"{folder}/rank0*" for folder in folders), runs="file"),
                             f"seed {seed}")
            self.assert_rows(self.ab(*files, runs="file"), self.ab(*files), f"seed {seed}")

    def test_the_order_and_place_of_events(self):
        def later(event):
            return {**event, "ts": event["ts"] + 5_000_000, "pid": event["pid"] + 3, "tid": event["tid"] + 9}

        for seed, rng, family, folders in self.families(300):
            def shuffled(document):
                rng.shuffle(document["traceEvents"])
                return document
            rows = self.ab(*folders)
            for name, alter in (("shuffled", shuffled), ("later", self.each_event(later)),
                                ("clock", self.two_hours_later)):
                self.assert_rows(self.ab(*self.changed(seed, family, alter)), rows, f"seed {seed} {name}")

    @staticmethod
    def two_hours_later(document):
        if document.get("baseTimeNanoseconds"):
            document["baseTimeNanoseconds"] += 2 * 3600 * 10 ** 9
        return document

    def test_the_numbers_of_ranks(self):
        for seed, rng, family, folders in self.families(400):
            others = self.changed(seed, family, lambda document: document,
                                  lambda name: f"rank{int(name[4]) * 3 + 5}.json")
            for ranks, their in (("all", "all"), (0, 5), (None, None)):
                self.assert_rows(self.ab(*others, **({"ranks": their} if ranks is not None else {})),
                                 self.ab(*folders, **({"ranks": ranks} if ranks is not None else {})), f"seed {seed}")

    def test_the_unit_of_time(self):
        def twice(event):
            return {**event, "ts": 2 * event["ts"], "dur": 2 * event["dur"]}

        for seed, rng, family, folders in self.families(500):
            measure, least = rng.choice(("self", "total", "count")), rng.choice((0, 2.3))
            by = 1 if measure == "count" else 2
            rows = self.ab(*self.changed(seed, family, self.each_event(twice)), measure=measure, min_diff=by * least)
            wanted = self.ab(*folders, measure=measure, min_diff=least)
            scale = {(row.device, row.name): 2 if row.device == "step" else by for row in wanted}
            if measure == "count" and least:
                rows, wanted = ([row for row in them if row.device != "step"] for them in (rows, wanted))
            wanted = [row._replace(**{column: getattr(row, column) * scale[row.device, row.name]
                                      for column in ("control_mean", "test_mean", "diff")}) for row in wanted]
            but = ("q_value", "gate", "runs_needed", "verdict") if measure == "count" and least else ()
            if measure != "count" and any(row.control_mean * 16 % 1 == 0 or row.test_mean * 16 % 1 == 0
                                          for row in wanted):
                # rounding to whole us does not double
                but = ("ci_low", "ci_high", "detectable", "p_value", "q_value", "verdict", "gate", "runs_needed")
            self.assert_rows(rows, wanted, f"seed {seed} {measure} {least}", but)

    def test_an_operator_beside_the_others(self):
        """An operator added to the others adds its row. If only the other operators are selected, everything that
        depends on the whole family of rows is unchanged.
        """
        def with_another(document):
            steps = [event for event in document["traceEvents"] if event["name"].startswith(generate_ab.STEP_NAME)]
            added = [{**event, "cat": "cpu_op", "name": "an operator beside", "tid": 77, "ts": event["ts"] + 0.5,
                      "dur": 0.25}
                     for event in steps]
            return {**document, "traceEvents": document["traceEvents"] + added}

        for seed, rng, family, folders in self.families(600):
            others = self.changed(seed, family, with_another)
            rows, more = self.ab(*folders), self.ab(*others)
            added = [row for row in more if row.name == "an operator beside"]
            self.assertEqual(len(added), 0 if family.without_steps else 1)
            names = json.dumps(sorted({row.name for row in rows}))
            self.assert_rows([row for row in more if row not in added], rows, f"seed {seed}",
                             ("q_value", "verdict", "gate", "runs_needed"))
            self.assert_rows(self.ab(*others, names=names), self.ab(*folders, names=names), f"seed {seed} {names}")


# ---- the oracle itself
# ------------------------------------------------------------------------------------------------

LIKELY = [0.2, 0.01, 0.04, 0.04, 0.011, 0.6, 0.0005]
TIED = [[5, 7, 7, 9, 12, 12.5], [7, 9, 9, 14, 15]]
MANY = [[i * 37 % 101 / 4 for i in range(60)], [i * 53 % 97 / 4 + 2 for i in range(55)]]


def of_r():
    """{expression in R: value of the oracle}"""
    made = {}
    for df in (1, 2, 3, 4, 8, 18, 198):
        for p in (0.025, 0.2, 0.00125):
            made[f"qt({p}, {df}, lower.tail = FALSE)"] = oracle_ab.exceeded(p, df)
        for t in (0, 0.3, 2.5, 40):
            made[f"pt({t}, {df}, lower.tail = FALSE)"] = oracle_ab.upper_tail(t, df)
        made[f"uniroot(function(x) pt(qt(0.975, {df}), {df}, x, lower.tail = FALSE) - 0.8, c(0.1, 36), tol ="
             f" 1e-13)$root"
             ] = oracle_ab.needed_ncp(df)
    for n in (3, 5, 8, 20):
        made[f"power.t.test(power = 0.8, n = {n}, sd = 0.02, tol = 1e-12)$delta"] = (
            oracle_ab.needed_ncp(2 * n - 2) * 0.02 * math.sqrt(2 / n))
    likely = f"c({', '.join(map(str, LIKELY))})"
    for at, q in enumerate(oracle_ab.benjamini_hochberg(LIKELY)):
        made[f'p.adjust({likely}, "BH")[{at + 1}]'] = q
    for level in (0.005, 0.07, 0.15):
        made[f'sum(p.adjust({likely}, "holm") <= {level})'] = sum(oracle_ab.holm(LIKELY, level))
    for control, test in (TIED, MANY, ([1, 4, 6, 9], [2, 8, 12.5, 30, 31])):
        sides = ", ".join(f"c({', '.join(map(str, side))})" for side in (test, control))
        _, low, high, _ = oracle_ab.shift(control, test)
        for at, end in enumerate((low, high)):
            made[f"suppressWarnings(wilcox.test({sides}, conf.int = TRUE, tol.root = 1e-13))$conf.int[{at + 1}]"] = end
    return made


def ask_r(expressions):
    with tempfile.NamedTemporaryFile("w", suffix=".R") as file:
        file.writelines(f'cat(sprintf("%.17g\\n", {each}))\n' for each in expressions)
        file.flush()
        done = subprocess.run(["Rscript", "--vanilla", file.name], capture_output=True, text=True, check=True)
    return list(map(float, done.stdout.split()))


RECORDED = [
    12.706204736174707, 1.3763819204711736, 254.64659994874776, 0.5, 0.4072264209222577, 0.12111894159084335,
    0.007956089912025812, 16.334008869898014, 4.302652729749464, 1.060660171779821, 19.96248045164297, 0.5,
    0.3962428304200888, 0.0648058601107554, 0.0003122073360923703, 5.653489266401831, 3.182446305283709,
    0.9784723123633045, 9.464899663536329, 0.5, 0.3918816460199595, 0.04385332350403275, 1.719034039457927e-05,
    4.255898820738429, 2.7764451051977943, 0.9409645772351811, 6.758252832704276, 0.5, 0.38956071413872984,
    0.03338327240599406, 1.1670081613006347e-06, 3.7610602610011794, 2.3060041352041662, 0.8888895177670197,
    4.3335498459753286, 0.5, 0.3859122408412493, 0.018471018856812033, 8.392859439572887e-11, 3.2009222385152305,
    2.1009220402410387, 0.8620486679895983, 3.510104130463421, 0.5, 0.3838070606467391, 0.011154010116011115,
    2.4326308461524985e-19, 2.962675796976596, 1.972017477836313, 0.8434403601287729, 3.0625112211125205, 0.5,
    0.3822459376265914, 0.006615694529307078, 4.195371727182993e-97, 2.8152652150089867, 0.061417856875412166,
    0.040488819547171595, 0.030132717004657392, 0.01818260255253886, 0.23333333333333336, 0.025666666666666667,
    0.055999999999999994, 0.055999999999999994, 0.025666666666666667, 0.6, 0.0035, 1.0, 3.0, 3.0,
    -3.4999999999999525, 7.999999999999929, -1.4999999999999516, 4.000000000000012, -4.0, 29.0]


class TheOracle(unittest.TestCase):
    def compare(self, answers):
        for (expression, value), answer in zip(of_r().items(), answers, strict=True):
            self.assertLessEqual(abs(value - answer), 1e-10 * max(abs(answer), 1e-3), f"{expression}: {value} {answer}")

    def test_r_as_recorded(self):
        self.compare(RECORDED)

    @unittest.skipUnless(shutil.which("Rscript"), "no Rscript: install r-base-core")
    def test_r_live(self):
        self.compare(ask_r(of_r()))

    def test_the_generator_knows_what_is_read(self):
        """The generator simulates rates from the same values that its files contain."""
        with tempfile.TemporaryDirectory() as folder:
            family = generate_ab.Family(random.Random(1), generate_ab.Plan(runs=(2, 1), tails="student", ranks=2))
            for pattern, runs in zip(family.write(folder), family.sides()):
                for paths, values in zip(oracle_ab.runs_of(pattern), runs, strict=True):
                    found = oracle_ab.read(paths).values
                    self.assertEqual({key: [round(float(us), 3) for us in found[key]] for key in found},
                                     {key: [round(us, 3) for us in values[key]] for key in values})


if __name__ == "__main__":
    print("RECORDED = [")
    for value in ask_r(of_r()):
        print(f"    {value!r},")
    print("]")
