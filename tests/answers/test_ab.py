"""trace_ab on examples made by hand (V1 to V12): runs, units, verdicts, the gate and notes. R gives the expected t
tests and power.

test_ab_oracle compares random runs with an oracle. test_ab_power measures false alarms and power.
"""
import glob
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, EXTENSION, ROOT, alone, series, slowest
from test_step_time import PEAKS

HOUR = 3600 * 10 ** 9
SINCE_BOOT = itertools.count(1)  # ns, so that no two recordings are equal
NOTE = ("these recordings differ; running the same program again may differ too. Record 3 or more runs per side,"
        " interleaved.")


def run(durations, start=None, name="op", more=()):
    """A trace whose steps have these durations of an operator (us), between a first and a last step."""
    events = []
    for number, duration in enumerate([5, *durations, 5]):
        events += [step(number, 10000 * number, 9000), event(name, 10000 * number + 10, duration)]
        events += [event(other, 10000 * number + 3000 + 200 * place, value)
                   for place, (other, value) in enumerate(more)]
    return document(*events, baseTimeNanoseconds=next(SINCE_BOOT) if start is None else start)


class Ab(InFolder):
    def save(self, side, values, starts=None, **keys):
        """Writes runs of one value each: three steps of that length."""
        for number, value in enumerate(values):
            write(f"{side}/{number}/rank0.json", run([value] * 3, starts and starts[number], **keys))

    def ask(self, columns, extra="", name="op"):
        [row] = self.rows(f"SELECT {columns} FROM trace_ab('control/*', 'test/*') WHERE name = '{name}'{extra}")
        return row

    def close(self, found, wanted):
        self.assertEqual(len(found), len(wanted))
        for a, b in zip(found, wanted):
            if isinstance(b, float):
                self.assertAlmostEqual(a, b, delta=abs(b) * 1e-9)
            else:
                self.assertEqual(a, b)


class Numbers(Ab):
    """Numbers equal those of R 4.2: t.test(log(test), log(control), var.equal = TRUE) and power.t.test(sd = , power =
    0.8).
    """

    def test_three_against_three(self):
        self.save("control", [100, 102, 101])
        self.save("test", [110, 113, 111])
        self.close(self.ask("unit, control_n, test_n, control_steps, test_steps, p_value, ci_low, ci_high, diff_pct,"
                            " verdict"),
                   ("run", 3, 3, 9, 9, 5.65942883519896e-04, 7.28223840248117, 13.2540865426029, 10.2277275122678,
                    "slower"))
        self.assertAlmostEqual(self.ask("detectable")[0], 3.73721128387, 9)

    def test_five_against_five(self):
        self.save("control", [100, 101, 99, 102, 100])
        self.save("test", [104, 103, 105, 102, 104])
        self.close(self.ask("p_value, ci_low, ci_high, verdict, gate"),
                   (0.00217752857563014, 1.51831775882010, 4.88424131534875, "same", "not slower"))
        self.assertAlmostEqual(self.ask("detectable")[0], 2.2896432571484278, 9)

    def test_means_are_geometric(self):
        self.save("control", [100, 400, 200])
        self.save("test", [100, 900, 300])
        self.close(self.ask("control_mean, test_mean, diff, diff_pct"), (200.0, 300.0, 100.0, 50.0))

    def test_three_runs_in_all_by_run(self):
        """With three runs in all there is one degree of freedom; R gives p for log(c(100, 101)) and log(150)."""
        self.save("control", [100, 101])
        self.save("test", [150])
        self.assertEqual(self.ask("unit")[0], "step")
        self.close(self.ask("unit, p_value", " AND by_unit = 'run'"), ("run", 2 / math.pi * math.atan(
            math.log(1.01) / math.sqrt(2) * math.sqrt(1.5) / (math.log(150) - math.log(10100) / 2))))

    def test_one_run_a_side_by_run(self):
        self.save("control", [100])
        self.save("test", [150])
        self.assertEqual(self.ask("unit, p_value, ci_low, detectable, verdict, gate, runs_needed",
                                  " AND by_unit = 'run'"),
                         ("run", None, None, None, "too few", "inconclusive", None))

    def test_without_variance(self):
        """V4: when all runs are equal, a count that differs is no coincidence, but a time could differ by rounding."""
        self.save("control", [100, 100, 100])
        self.save("test", [107, 107, 107])
        sd = 1 / math.sqrt(12 * 100 * 107)
        low, high = (100 * (1.07 * math.exp(sign * 2.776445105197793 * sd * math.sqrt(2 / 3)) - 1) for sign in (-1, 1))
        self.close(self.ask("ci_low, ci_high, verdict, gate, runs_needed"), (low, high, "slower", "slower", None))
        self.save("control", [100.001, 100.001, 100.001])
        low, high = self.ask("ci_low, ci_high")
        self.assertLess(high - low, 0.002)
        self.save("control", [2, 2, 2])
        self.save("test", [3, 3, 3])
        self.assertGreater(self.ask("p_value")[0], 0.01)
        self.close(self.ask("p_value, ci_low, ci_high, detectable, verdict, gate", " AND measure = 'count'"),
                   (1.0, 0.0, 0.0, 0.0, "same", "not slower"))

    def test_runs_needed(self):
        """Finds, with R, the smallest n with (qt(0.975, 2n - 2) + qt(0.8, 2n - 2)) sd sqrt(2 / n) <= |log ratio - log(1
        + effect)|.
        """
        self.save("control", [100, 101, 99, 102, 100])
        self.save("test", [104, 103, 105, 102, 104])
        for effect, runs in ((0.04, 33), (0.035, 216), (0.045, 14), (0.0318, None)):
            self.assertEqual(self.ask("gate, runs_needed", f" AND names = 'op' AND min_effect = {effect}"),
                             ("inconclusive", runs))


class Units(Ab):
    def test_one_run_a_side(self):
        """With one run per side there is no p and no q, and rows say 'here' instead of 'slower'."""
        self.save("control", [100])
        self.save("test", [150])
        write("control/0/rank0.json", run([100, 101, 102, 99, 100, 98]))
        write("test/0/rank0.json", run([150, 151, 152, 149, 150, 148]))
        self.assertEqual(self.ask("unit, p_value, q_value, detectable, verdict, gate, runs_needed, note"),
                         ("step", None, None, None, "slower here", "inconclusive", 3, f"one run per side: {NOTE}"))
        self.assertEqual(self.ask("verdict", " AND min_diff = 60")[0], "~")
        self.assertEqual(self.rows("SELECT DISTINCT verdict FROM trace_ab('test/0', 'control/0')"),
                         [("~",), ("faster here",)])

    def test_two_against_two(self):
        self.save("control", [100, 101])
        self.save("test", [150, 151])
        self.assertEqual(self.ask("unit, control_n, control_steps, p_value, verdict, note"),
                         ("step", 2, 6, None, "slower here", f"too few runs (2 against 2): {NOTE}"))

    def test_one_against_four_is_by_run(self):
        self.save("control", [100])
        self.save("test", [100, 101, 99, 100])
        self.assertEqual(self.ask("unit, control_n, test_n"), ("run", 1, 4))

    def test_by_unit(self):
        self.save("control", [100, 101, 99])
        self.save("test", [150, 151, 149])
        self.assertEqual(self.ask("unit, p_value, verdict, note", " AND by_unit = 'step'"),
                         ("step", None, "slower here", "steps of one run are not independent: ask by run"))
        self.assertEqual(self.ask("runs_needed", " AND by_unit = 'step'"), (None,))

    def test_too_few_steps(self):
        """3 against 3 values have no 95 % interval; 4 against 4 have one."""
        self.save("control", [100])
        self.save("test", [150])
        self.assertEqual(self.ask("ci_low, ci_high, verdict"), (None, None, "too few"))
        write("control/0/rank0.json", run([100] * 4))
        write("test/0/rank0.json", run([150] * 4))
        self.close(self.ask("ci_low, ci_high, verdict"), (50.0, 50.0, "slower here"))

    def test_steps_that_follow_each_other_widen_the_interval(self):
        """V6: the same steps in another order give another interval; ranks 0 to 11 in order have r = (143 - 30.25 -
        30.25) / 143.
        """
        steady = [100, 111, 101, 110, 102, 109, 103, 108, 104, 107, 105, 106]
        widths = []
        for order in (steady, sorted(steady)):
            write("control/0/rank0.json", run(order))
            write("test/0/rank0.json", run([value + 20 for value in order]))
            low, high = self.ask("ci_low, ci_high")
            widths.append(high - low)
        mean, ranks = 5.5, range(12)
        r = sum((i - mean) * (i + 1 - mean) for i in range(11)) / sum((i - mean) ** 2 for i in ranks)
        self.assertAlmostEqual(widths[1] / widths[0], math.sqrt((1 + r) / (1 - r)))

    def test_a_slow_step_is_not_a_slow_run(self):
        """V2: a run counts with its median step, so one slow step does not make it slow."""
        self.save("control", [100, 101, 99])
        for number in range(3):
            write(f"test/{number}/rank0.json", run([100, 100, 9000, 101, 99]))
        self.close(self.ask("test_mean"), (100.0,))

    def test_some_slow_steps_are_not_the_same(self):
        """V2: a side in which a quarter of the steps takes three times as long is not the same."""
        for number in range(3):
            write(f"control/{number}/rank0.json", run([100, 100, 100, 100 + number]))
            write(f"test/{number}/rank0.json", run([100, 100, 300, 100 + number]))
        self.assertEqual(self.ask("verdict, gate, runs_needed, note"),
                         ("~", "inconclusive", None, "means over steps differ by +49.9 %"))
        [row] = self.rows("SELECT verdict, gate, note FROM trace_ab('test/*', 'control/*') WHERE name = 'op'")
        self.assertEqual(row, ("~", "not slower", "means over steps differ by -33.3 %"))
        [row] = self.rows("SELECT diff_pct, note FROM trace_ab('control/0', 'test/0') WHERE name = 'op'")
        self.assertEqual(row, (0, f"means over steps differ by +50.0 %; one run per side: {NOTE.partition('; ')[2]}"))

    def test_few_runs_on_one_side(self):
        self.save("control", [100])
        self.save("test", [100, 101, 99, 100])
        self.assertEqual(self.ask("note")[0], "1 run of control: if its runs differ more than the others, p is too"
                                              " small")

    def test_what_is_not_in_every_step(self):
        """V2: an operator that runs in every third step is compared by means, on both sides."""
        for side, factor in (("control", 1), ("test", 2)):
            for number in range(3):
                write(f"{side}/{number}/rank0.json", run([50, 50, 50], more=()))
                write(f"{side}/{number}/rank0.json", document(
                    *[step(i, 10000 * i, 9000) for i in range(8)],
                    *[event("op", 10000 * i + 10, (90 + number) * factor) for i in (1, 4)]))
        self.close(self.ask("control_steps, diff_pct, verdict, note"),
                   (18, 100.0, "slower", "not in every step: means over steps"))
        self.close(self.ask("control_mean"), ((2 / 6 * (90 * 91 * 92) ** (1 / 3)),))

    def test_ranks_are_averaged(self):
        """V1: two ranks of a run give one value."""
        for side, values in (("control", (100, 102, 101)), ("test", (110, 113, 111))):
            for number, value in enumerate(values):
                write(f"{side}/{number}/rank0.json", run([value] * 3))
                write(f"{side}/{number}/rank1.json", run([value + 20] * 3))
        self.close(self.ask("control_n, control_steps, control_mean, test_mean"),
                   (3, 9, (100 * 101 * 102) ** (1 / 3), (110 * 113 * 111) ** (1 / 3)))
        self.close(self.ask("control_n, control_steps, control_mean, test_mean", " AND ranks = 'all'"),
                   (3, 9, (110 * 111 * 112) ** (1 / 3), (120 * 123 * 121) ** (1 / 3)))

    def test_a_rank_without_the_operator(self):
        """V1: an operator counts as 0 on a rank that lacks it."""
        for side in ("control", "test"):
            for number in range(3):
                write(f"{side}/{number}/rank0.json", run([100 + number] * 3))
                write(f"{side}/{number}/rank1.json", run([70] * 3, name="other"))
        self.close(self.ask("control_mean", " AND ranks = 'all'"), ((50 * 50.5 * 51) ** (1 / 3),))

    def test_all_iterations(self):
        """V1: with all iterations, each run gives one value, divided by its steps."""
        self.save("control", [100, 102, 101])
        self.save("test", [110, 113, 111])
        self.close(self.ask("control_steps, control_mean", " AND iterations = 'all'"),
                   (3, (310 / 5 * 316 / 5 * 313 / 5) ** (1 / 3)))

    def test_traces_without_steps(self):
        for side, values in (("control", (100, 102, 101)), ("test", (110, 113, 111))):
            for number, value in enumerate(values):
                write(f"{side}/{number}/rank0.json", document(event("op", 1, value), event("op", 500, 1)))
        self.assertEqual(self.rows("SELECT name, device, control_steps, verdict FROM trace_ab('control/*', 'test/*')"),
                         [("op", "CPU", 3, "slower")])


class Verdicts(Ab):
    def test_same_must_be_earned(self):
        """'same' needs an interval within 5 % and enough power to see 5 %; noisy runs never get it, even with equal
        means.
        """
        self.save("control", [100, 101, 99, 100, 100.5])
        self.save("test", [100.5, 101, 99.5, 100, 100])
        self.assertEqual(self.ask("verdict, gate, runs_needed"), ("same", "not slower", None))
        self.save("test", [100, 120, 84, 99, 101])
        verdict, p, detectable = self.ask("verdict, p_value, detectable")
        self.assertEqual(verdict, "~")
        self.assertGreater(p, 0.9)
        self.assertGreater(detectable, 5)

    def test_added_deleted_and_sometimes(self):
        self.save("control", [100, 101, 99])
        self.save("test", [100, 101, 99])
        for side, number, name in (("control", 0, "gone"), ("control", 1, "gone"), ("control", 2, "gone"),
                                   ("test", 0, "new"), ("test", 1, "new"), ("test", 2, "new"), ("control", 1, "rare"),
                                   ("control", 2, "rare"), ("test", 0, "rare"), ("test", 1, "rare"),
                                   ("test", 2, "rare")):
            path = f"{side}/{number}/rank0.json"
            with open(path) as file:
                trace = json.load(file)
            trace["traceEvents"] += [event(name, 10000 * i + (4000 if name == "rare" else 5000), 20)
                                     for i in range(1, 4)]
            write(path, trace)
        wanted = {"gone": (3, 0, 20.0, 0.0, -20.0, -100.0, None, "deleted", "not slower", None),
                  "new": (0, 3, 0.0, 20.0, 20.0, None, None, "added", "slower", None),
                  "rare": (2, 3, 20.0, 20.0, 0.0, 0.0, None, "~", "inconclusive", "in 2 of 3 runs of control")}
        for name, row in wanted.items():
            self.close(self.ask("control_n, test_n, control_mean, test_mean, diff, diff_pct, p_value, verdict, gate,"
                                " note",
                                name=name), row)
        self.assertEqual(self.ask("gate", " AND min_diff = 21", name="new")[0], "not slower")

    def test_kernels_that_come_and_go(self):
        for side, name in (("control", "a"), ("test", "b")):
            write(f"{side}/0/rank0.json", document(*[part for i in range(6) for part in (
                step(i, 1000 * i, 900), launch(1000 * i + 10, 5, i), kernel(name, 1000 * i + 50, 40, i))]))
        note = f"autotuning may pick other kernels from run to run; one run per side: {NOTE.partition('; ')[2]}"
        self.assertEqual(self.ask("device, verdict, gate, note", name="a"), ("GPU", "deleted", "inconclusive", note))
        self.assertEqual(self.ask("device, verdict, gate, note", name="b"), ("GPU", "added", "inconclusive", note))

    def test_no_time(self):
        """A time of 0 has no logarithm and is not compared."""
        self.save("control", [100, 101, 99], more=[("empty", 0)])
        self.save("test", [100, 101, 99], more=[("empty", 0)])
        self.assertEqual(self.ask("p_value, diff, diff_pct, verdict, gate, note", name="empty"), (
            None, 0, None, "~", "inconclusive", "no time in 3 of 3 runs of control; no time in 3 of 3 runs of test; "
            "not in every step: means over steps"))

    def test_words_of_counts(self):
        self.save("control", [100, 101, 99])
        for number in range(3):
            write(f"test/{number}/rank0.json", run([100] * 3, more=[("op", 10)]))
        self.assertEqual(self.ask("control_mean, test_mean, verdict", " AND measure = 'count'"), (1, 2, "more"))
        self.assertEqual(self.rows("SELECT verdict FROM trace_ab('test/*', 'control/*') WHERE measure = 'count'"
                                   " AND name = 'op'"), [("fewer",)])

    def test_step_comes_first(self):
        """The row of the step comes first and has the step's own duration for every measure; with a device selected it
        is absent.
        """
        self.save("control", [100, 101, 99])
        self.save("test", [100, 101, 99])
        ask = "SELECT name, device, control_mean FROM trace_ab('control/*', 'test/*') WHERE device_type = ? LIMIT 1"
        self.assertEqual(self.rows(ask, "ALL"), [("step", "step", 9000)])
        self.assertNotEqual(self.rows(ask, "CPU")[0][1], "step")
        self.assertEqual(self.ask("control_mean", " AND measure = 'count'", name="step")[0], 9000)

    def test_steps_are_those_of_the_device(self):
        """V1.2: steps follow the device: the host runs ahead and launches a step in 10 us, for which the device takes
        100 or 150.
        """
        for side, durations in (("control", (100, 102, 101)), ("test", (150, 151, 152))):
            for number, each in enumerate(durations):
                events = []
                for at in range(5):
                    events += [step(at, 10 * at, 10), launch(10 * at + 1, 1, at),
                               kernel("k", 100 + each * at, each, at)]
                write(f"{side}/{number}/rank0.json", document(*events, baseTimeNanoseconds=next(SINCE_BOOT)))
        self.close(self.ask("control_mean, test_mean, gate", name="step"),
                   ((100 * 102 * 101) ** (1 / 3), (150 * 151 * 152) ** (1 / 3), "slower"))

    def test_names_are_the_family(self):
        """q and the gate cover the rows of the call."""
        others = [(f"other{i}", 50) for i in range(20)]
        self.save("control", [100, 104, 96, 101], more=others)
        self.save("test", [112, 109, 113, 116], more=others)
        p, q = self.ask("p_value, q_value", " AND names = 'op'")
        self.assertEqual(p, q)
        self.assertGreater(self.ask("q_value")[0], 5 * p)
        self.assertEqual([name for name, in self.rows(
            "SELECT name FROM trace_ab('control/*', 'test/*') WHERE names = '[\"STEP\", \"o_\", \"other1%\"]'"
            " ORDER BY 1 LIMIT 3")],
            ["op", "other1", "other10"])
        self.assertEqual(self.ask("control_mean", " AND names = 'step'", name="step"), (9000,))

    def test_floors(self):
        """V8: the larger of both floors applies."""
        self.save("control", [100, 100.1, 99.9, 100])
        self.save("test", [110, 110.1, 109.9, 110])
        for effect, diff, gate, verdict in ((0.05, 0, "slower", "slower"), (0.05, 15, "not slower", "~"),
                                            (0.2, 0, "not slower", "same"), (0, 9, "slower", "slower")):
            self.assertEqual(self.ask("gate, verdict", f" AND min_effect = {effect} AND min_diff = {diff}"),
                             (gate, verdict))

    def test_order_of_recording(self):
        """V9: a drift in the order of recording is noted."""
        first, later = [1700000000 * 10 ** 9 + HOUR * i
                        for i in (1, 2, 3)], [1700000000 * 10 ** 9 + HOUR * i for i in (4, 5, 6)]
        turns = first[0], later[0], later[1]
        others = first[1], first[2], later[2]
        for control, test, note in ((first, later, "control"), (later, first, "test"), (turns, others, None),
                                    (first, None, None), ([1, 2, 3], [4, 5, 6], None)):
            self.save("control", [100, 101, 99], control)
            self.save("test", [100, 101, 99], test)
            self.assertEqual(self.ask("note")[0],
                             note and f"all runs of {note} came first: a drift of the machine looks"
                                                           " like a difference")


class Runs(Ab):
    """How arguments become runs."""

    def counts(self, control, test, runs=None):
        [row] = self.rows("SELECT DISTINCT control_n, test_n FROM trace_ab(?, ?) WHERE runs IS ? AND name = 'op'"
                          if runs is None
                          else "SELECT control_n, test_n FROM trace_ab(?, ?) WHERE runs = ? AND name = 'op'",
                          control, test, runs)
        return row

    def setUp(self):
        super().setUp()
        self.save("control", [100, 101, 99])
        self.save("test", [100, 101])
        write("flat/a.json", run([100] * 3))
        write("flat/b.json", run([101] * 3))

    def test_what_is_a_run(self):
        for text, count in (("control/*", 3), ("control/[01]", 2), ("control/0", 1), ("control/0/rank0.json", 1),
                            ("flat", 1), ("flat/*.json", 1), ('["control/0", "flat/a.json"]', 2),
                            ('["control/*", "flat"]', 4),
                            (f"{self.folder}/control/*/", 3)):
            ranks = "WHERE ranks = 0" if "flat" in text else "WHERE 1"
            self.assertEqual(self.rows(f"SELECT control_n, test_n FROM trace_ab(?, ?) {ranks} AND name = 'op'", text,
                                       "control/*"),
                             [(count, 3)], text)

    def test_files_as_runs(self):
        for text, count in (("flat", 2), ("flat/*", 2), ("control/*/*.json", 3), ("control/0", 1),
                            ('["flat/a.json", "control/1"]', 2)):
            self.assertEqual(self.rows("SELECT control_n, test_n FROM trace_ab(?, 'flat') WHERE runs = 'file'"
                                       " AND name = 'op'", text),
                             [(count, 2)], text)

    def test_runs_given_twice_count_once(self):
        """A run that is given twice counts once, however its path is spelt."""
        os.symlink("0", "control/link")
        texts = json.dumps(["control/0", "./control/0", "control/0/", f"{self.folder}/control/0", "control/link",
                            "control/1"])
        self.assertEqual(self.rows("SELECT control_n, test_n FROM trace_ab(?, 'test/*') WHERE name = 'op'", texts),
                         [(2, 2)])
        os.unlink("control/link")
        self.assertEqual(self.rows("SELECT control_n FROM trace_ab('[\"control/*\", \"control/0\"]', 'test/*')"
                                   " WHERE name = 'op'"),
                         [(3,)])

    def test_order_of_runs_does_not_matter(self):
        wanted = self.rows("SELECT * FROM trace_ab('control/*', 'test/*')")
        self.assertEqual(self.rows("SELECT * FROM trace_ab('[\"control/2\", \"control/0\", \"control/1\"]', 'test/*')"),
                         wanted)

    def test_errors(self):
        write("control/notes.json", "{}")
        for sql, message in (
                ("('none/*', 'test/*')", "cannot read 'none/*': No such file or directory"),
                ("('control/*', 'test/*')", "'control/*' matches directories and the file 'control/notes.json': runs"
                                            " are the"
                                            " one or the other"),
                ("('control', 'test/*')", "'control/notes.json': not a trace"),
                ("('', 'test/*')", "the trace is an empty text: name a directory, a file or a pattern"),
                ("('[]', 'test/*')", "control must be the path of a directory or a file, a pattern, or a JSON array of"
                                     " these, not '[]'"),
                ("('control/0', 'test/*', 7)", "'control/0' has no rank 7 (ranks: 0)"),
                ("('control/0', 'test/*') WHERE runs = 'dir'", "runs must be 'auto' or 'file', not 'dir'"),
                ("('control/0', 'test/*') WHERE by_unit = 'rank'",
                 "by_unit must be 'auto', 'run' or 'step', not 'rank'"),
                ("('control/0', 'test/*') WHERE measure = 'max'",
                 "measure must be 'self', 'total' or 'count', not 'max'"),
                ("('control/0', 'test/*') WHERE min_effect = -1", "min_effect must be a number from 0 to 1, not -1"),
                ("('control/0', 'test/*') WHERE min_effect = 5", "min_effect must be a number from 0 to 1, not 5"),
                ("('control/0', 'test/*') WHERE names = 7",
                 "names must be a LIKE pattern or a JSON array of patterns, not 7"),
                ("('control/0', 'test/*') WHERE iterations = 9", "'control/0' has no step 9 (steps: 0, 1, 2, 3, 4)")):
            with self.subTest(sql):
                with self.assertRaises(Exception) as raised:
                    self.rows(f"SELECT * FROM trace_ab{sql}")
                self.assertIn(message, str(raised.exception))

    def test_runs_that_differ_in_ranks(self):
        """V10: without its slow rank, a run would look faster."""
        for side in ("control", "test"):
            for number in range(3):
                write(f"{side}/{number}/rank0.json", run([100 + number] * 3))
                write(f"{side}/{number}/rank1.json", run([200 + number] * 3))
        self.assertEqual(self.rows("SELECT verdict FROM trace_ab('control/*', 'test/*', 'all') WHERE names = 'op'"),
                         [("same",)])
        choose = "choose ranks that all runs have"
        for gone, path, other, rank in (("test/1/rank1.json", "test/1", "control/0", 1),
                                        ("test/*/rank1.json", "test/0", "control/0", 1),
                                        ("control/0/rank1.json", "control/0", "control/1", 1),
                                        ("test/2/rank0.json", "test/2", "control/0", 0)):
            with self.subTest(gone):
                kept = {place: open(place, "rb").read() for place in glob.glob(gone)}
                for place in kept:
                    os.unlink(place)
                for ranks in ("'all'",) if rank else ("'all'", "NULL"):
                    self.assert_error(f"trace_ab: '{path}' has no rank {rank}, but '{other}' has: {choose}",
                                      f"SELECT * FROM trace_ab('control/*', 'test/*', {ranks})")
                self.assertEqual(len(self.rows("SELECT * FROM trace_ab('control/*', 'test/*', ?) WHERE names = 'op'",
                                               1 - rank)), 1)
                for place, content in kept.items():
                    write(place, content)
        self.assert_error(f"trace_ab: 'test/0/rank1.json' has no rank 0, but 'test/0/rank0.json' has: {choose}; the"
                          f" files of a run's"
                          " ranks are one run, a directory",
                          "SELECT * FROM trace_ab('test/0', 'test/1') WHERE runs = 'file'")

    def save_job(self, side, number, late):
        """Writes a run of two ranks: rank 1 loads data that much longer, and rank 0 waits for it in gloo."""
        for rank in range(2):
            events, at = [], 0
            for which in range(5):
                start, end = 140 + late * rank, late + 500 + which
                events += [step(which, at, end + 100), event("load", at, start - 20),
                           event("aten::linear", at + start, 5),
                           event("gloo:all_reduce", at + start + 10, end - start - 10, cat="user_annotation", tid=2),
                           event("aten::add_", at + end + 10, 50)]
                at += end + 101
            write(f"{side}/{number}/rank{rank}.json", document(
                *events, baseTimeNanoseconds=next(SINCE_BOOT),
                distributedInfo={"backend": "gloo", "rank": rank, "world_size": 2}))

    def test_a_job(self):
        """V12: on the lowest rank the collective is slower; on the job's path the cause is the work of rank 1."""
        for number in range(3):
            self.save_job("control", number, number)
            self.save_job("test", number, 1000 + number)
        slower = ("SELECT name, device, round(diff) FROM trace_ab('control/*', 'test/*', {}) WHERE unit = 'run'"
                  " AND verdict = 'slower' AND name <> 'step'")
        self.assertEqual([name for name, *_ in self.rows(slower.format("NULL"))], ["gloo:all_reduce", "ProfilerStep"])
        self.assertEqual(self.rows(slower.format("'job'")), [("load", "CPU", 1000)])
        self.assertEqual(self.rows("SELECT name, note FROM trace_ab('control/*', 'test/*', 'job')"
                                   " WHERE name IN ('step', 'load')"), [
            ("step", None), ("load", "rank 1 has 100 % of it in test")])
        self.assertEqual(self.rows("SELECT name FROM trace_ab('control/*', 'test/*', 'job') WHERE names = 'load'"),
                         [("load",)])
        for measure in ("total", "count"):
            self.assert_error("trace_ab: measure must be 'self' with ranks 'job', whose path has times alone",
                              f"SELECT * FROM trace_ab('control/*', 'test/*', 'job') WHERE measure = '{measure}'")

    def test_values_of_a_job_are_those_of_its_path(self):
        """V12: the values are the means of both sides along the job's path, with the ranks' shares by
        trace_step_time.
        """
        sides = [os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")]
        for iterations in (None, "all"):
            found = self.rows("SELECT device, name, control_mean, test_mean, note FROM trace_ab(?, ?, 'job', ?)"
                              " WHERE use_short_name = 0", *sides, iterations)
            means = [dict(((device, name), mean) for device, name, mean in self.rows(
                "SELECT CASE WHEN class IN ('compute', 'comm', 'memory') THEN 'GPU' ELSE 'CPU' END,"
                " coalesce(name, class), sum(time) / ?3"
                " FROM trace_step_time(?1, 'job', ?2) GROUP BY 1, 2", side, iterations, 6 if iterations else 4))
                     for side in sides]
            self.assertEqual({row[:2] for row in found}, {("step", "step"), *means[0], *means[1]})
            for device, name, control, test, note in found:
                for mean, of in zip((control, test), means):
                    self.assertAlmostEqual(mean, of.get((device, name), 0) if name != "step" else sum(of.values()), 6)
                self.assertEqual(bool(re.match(r"rank [01] has \d+ % of it in (control|test);", note)), name != "step")
        for device_type, devices in (("CPU", {"CPU"}), ("GPU", {"GPU"})):
            self.assertEqual({device for device, in self.rows("SELECT device FROM trace_ab(?, ?, 'job')"
                                                              " WHERE device_type = ?", *sides, device_type)}, devices)

    def test_one_recording_in_two_runs(self):
        """V11: one recording in two runs is an error, because a gate must not pass when a run is compared with
        itself.
        """
        def ask(sides, by="run"):
            return self.rows(f"SELECT verdict, gate, runs_needed, note FROM trace_ab({sides}) WHERE names = 'op'"
                             f" AND by_unit = ?", by)

        one = ("~", "inconclusive", None, "'control/0/rank0.json' and '{}' are one recording, not two runs")
        self.assertEqual(ask("'control/*', 'control/*'"), [(*one[:3], one[3].format("control/0/rank0.json"))])
        self.assertEqual(ask("'control/*', 'control/*'", "step"),
                         [(*one[:3], one[3].format("control/0/rank0.json")
                           + "; steps of one run are not independent: ask by run")])
        other = json.loads(open("control/0/rank0.json").read())
        other["traceEvents"].reverse()
        self.save("test", [100, 101, 99])
        self.assertEqual(ask("'control/*', 'test/*'")[0][:2], ("same", "not slower"))
        for name, make in (("copy", lambda path: shutil.copy("control/0/rank0.json", path)),
                           ("symbolic link", lambda path: os.symlink(os.path.abspath("control/0/rank0.json"), path)),
                           ("hard link", lambda path: os.link("control/0/rank0.json", path)),
                           ("written anew", lambda path: write(path, json.dumps({**other, "more": 1}, indent=1)))):
            with self.subTest(name):
                made = "made.json"
                make(made)
                os.replace(made, "test/1/rank0.json")
                self.assertEqual(ask("'control/*', 'test/*'"), [(*one[:3], one[3].format("test/1/rank0.json"))])
        self.save("test", [100, 101])
        write("test/2/rank0.json.gz", open("test/1/rank0.json", "rb").read())
        os.unlink("test/2/rank0.json")
        self.assertEqual(ask("'control/*', 'test/*'"),
                         [(*one[:3], "'test/1/rank0.json' and 'test/2/rank0.json.gz' are one recording,"
                                                         " not two runs")])

    def test_files_without_events_are_no_copies(self):
        """V11: files without events, from ranks that recorded nothing, are not copies of each other."""
        for side in ("control", "test"):
            self.save(side, [100, 101, 99])
            for number in range(3):
                write(f"{side}/{number}/rank1.json", document())
        self.assertEqual(self.rows("SELECT verdict, note FROM trace_ab('control/*', 'test/*', 'all') WHERE names = 'op'"
                                   " AND iterations = 'all'"), [("same", None)])

    def test_steps_in_some_runs_only(self):
        """V1: sums over a whole trace are not compared with sums over a step."""
        for path in ("control/1", "test/0"):
            write(f"{path}/rank0.json", document(event("op", 1, 100)))
            self.assert_error(f"trace_ab: '{path}' has no steps, but 'control/0' has: choose runs that have steps, or"
                              f" iterations"
                              " 'all'", "SELECT * FROM trace_ab('control/*', 'test/*')")
            self.assertEqual(self.rows("SELECT control_n, test_n FROM trace_ab('control/*', 'test/*')"
                                       " WHERE iterations = 'all'"
                                       " AND name = 'op'"), [(3, 2)])
            self.save("control", [100, 101, 99])

    def test_a_side_without_events_is_an_error(self):
        """V8: a side without events is an error, because a gate must not pass when the program failed and recorded
        nothing.
        """
        whole = "WHERE iterations = 'all' AND names = 'op' AND device_type = "
        for number in range(3):
            write(f"nothing/{number}/rank0.json", document())
        for sides, device, error in (
                ("('control/*', 'nothing/*')", "ALL", "test has no events to compare"),
                ("('nothing/*', 'test/*')", "ALL", "control has no events to compare"),
                ("('nothing/*', 'nothing/*')", "ALL", "control has no events to compare"),
                ("('control/*', 'nothing/*')", "CPU", "test has no host events to compare"),
                ("('control/*', 'test/*')", "GPU", "control has no device work to compare")):
            self.assert_error(f"trace_ab: {error}", f"SELECT * FROM trace_ab{sides} {whole} '{device}'")
        write("test/9/rank0.json", document())
        self.assertEqual(self.rows(f"SELECT control_n, test_n, gate, note"
                                   f" FROM trace_ab('control/*', 'test/*') {whole} 'ALL'"),
                         [(3, 2, "inconclusive", "in 2 of 3 runs of test")])

    def test_files_that_are_no_ranks(self):
        with self.assertRaisesRegex(Exception, "both of rank 0, .*; if each file is a run, write runs = 'file'$"):
            self.rows("SELECT * FROM trace_ab('[\"control/*/rank0.json\"]', 'test/*')")

    def test_a_misspelt_name(self):
        """A name that matches nothing is an error, because a gate would pass."""
        for names, missing in (("opp%", "opp%"), ('["op", "step", "opp"]', "opp"), ('["nothing", "none"]', "nothing")):
            self.assert_error(f"trace_ab: names: nothing is like '{missing}'",
                              f"SELECT * FROM trace_ab('control/*', 'test/*') WHERE names = '{names}'")
        write("control/0/rank0.json", document(event("op", 1, 100)))
        self.assert_error("trace_ab: names: nothing is like 'step'",
                          "SELECT * FROM trace_ab('control/0', 'control/0') WHERE names = 'step'")

    def test_a_damaged_run_is_an_error(self):
        write("control/1/rank0.json", json.dumps(run([100] * 3))[:-200])
        with self.assertRaisesRegex(Exception, "trace_ab: 'control/1/rank0.json': the document is truncated"):
            self.rows("SELECT * FROM trace_ab('control/*', 'test/*')")


class Many(Ab):
    """Runs with many names, each in one of many steps."""

    def setUp(self):
        super().setUp()
        names = steps = series(700, 1500)
        write("many.json", document(*[step(number, 100 * number, 90) for number in range(steps)],
                                    *[event(f"op{number}", 100 * number + 1, 5) for number in range(names)]))

    def seconds(self, unit):
        start = time.process_time()
        self.rows("SELECT count(*) FROM trace_ab('many.json', 'many.json') WHERE by_unit = ?", unit)
        return time.process_time() - start

    @alone
    def test_steps_cost_little_more_than_runs(self):
        """Time grows with the number of runs (six or seven times here), not with the number of steps."""
        step, run = (min(self.seconds(unit) for _ in range(2)) for unit in ("step", "run"))
        self.assertLess(step, 20 * run)

    @alone
    def test_interrupt(self):
        """SQLite's interrupt works throughout, also where no run has many steps."""
        def longest_part(unit):
            """The largest share of the time that passes between two checks for an interrupt."""
            asked = []
            self.db.set_progress_handler(lambda: asked.append(time.process_time()), 1)
            self.seconds(unit)
            self.db.set_progress_handler(None, 0)
            return max(b - a for a, b in zip(asked, asked[1:])) / (asked[-1] - asked[0])
        for unit in ("run", "step"):
            self.assertTrue(any(longest_part(unit) < 1 / 3 for _ in range(3)), unit)


class Data(unittest.TestCase):
    def test_is_what_the_generator_makes(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "generators", "generate_runs.py"),
                               "--check"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Recorder(InFolder):
    """examples/record_runs.sh writes runs that trace_ab accepts."""

    def record(self, *arguments):
        return subprocess.run(["sh", os.path.join(ROOT, "examples/record_runs.sh"), *arguments], capture_output=True,
                              text=True,
                              check=False)

    def test_turns(self):
        write("trace.json", run([100] * 3))
        made = 'sed "s/[0-9]*,/$(date +%s%N),/" trace.json > "$TRACE_FOLDER/rank0.json"'  # baseTimeNanoseconds
        done = self.record("3", "runs", made, made.replace('"$TRACE', "$TRACE").replace('json"', "json"))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        with open("runs/runs.csv") as file:
            lines = [line.split(",") for line in file.read().splitlines()]
        self.assertEqual(lines[0], ["number", "side", "run", "start", "seconds", "status"])
        self.assertEqual([line[:3] + line[5:] for line in lines[1:]],
                         [[str(number + 1), side, f"{side}/0{pair}", "0"] for number, (side, pair) in enumerate(
                             [("control", 1), ("test", 1), ("test", 2), ("control", 2), ("control", 3), ("test", 3)])])
        self.assertEqual(self.rows("SELECT control_n, test_n, verdict FROM trace_ab('runs/control/*', 'runs/test/*')"
                                   " WHERE name = 'op'"), [(3, 3, "same")])

    def test_errors(self):
        os.mkdir("there")
        for arguments, status, said in (
                (("3", "runs", "true"), 2, "usage: record_runs.sh RUNS FOLDER CONTROL TEST"),
                (("0", "runs", "true", "true"), 2, "'0' is not a number of runs"),
                (("x", "runs", "true", "true"), 2, "'x' is not a number of runs"),
                (("3", "there", "true", "true"), 2, "'there' exists: name a new folder"),
                (("3", "a", "true", "true"), 1, "'true' left nothing in "),
                (("3", "b", "exit 7", "true"), 1, "'exit 7' ended with 7: see ")):
            done = self.record(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, ""))
            self.assertRegex(done.stderr.splitlines()[-1], "^record_runs: " + re.escape(said))

class Memory(InFolder):
    @alone
    @slowest
    def test_runs_that_are_done_with_are_dropped(self):
        """150 files hold 2.2 GB of names; only those within the cache's limit stay in memory."""
        write("one.json", document(event("op", 1, 8), event("n" * 15_000_000, 20, 8)))
        for side in ("control", "test"):
            for number in range(75):
                os.makedirs(f"{side}/{number}")
                os.link("one.json", f"{side}/{number}/rank0.json")
        sql = "SELECT * FROM trace_ab('control/*', 'test/*') WHERE names = 'op'"
        peak = subprocess.run([sys.executable, "-c", PEAKS, EXTENSION, sql], capture_output=True, text=True, check=True)
        self.assertLess(int(peak.stdout), 1_500_000)


if __name__ == "__main__":
    unittest.main()
